"""Rarely used parts of OpenCL C: what the drivers compute, `explain` computes, in every work-item."""

import numpy as np
import pytest
from language_corners import CORNERS, EACH, ITEM, LANES, corner_source
from launches import compare, launch

from tilewright.runtime.opencl.device import Device


@pytest.mark.parametrize("name", CORNERS)
def test_values_are_the_drivers(device: Device, name: str) -> None:
    arguments = {"out": np.zeros(LANES * EACH, np.int32), "a": np.arange(LANES, dtype=np.int32)}
    compare(device, corner_source(name), arguments, (LANES,), (LANES,))
    found = launch(device, corner_source(name), arguments, (LANES,), (LANES,), ("-cl-std=CL3.0",))
    assert found["out"].reshape(LANES, EACH)[ITEM].tolist() == CORNERS[name][2]
