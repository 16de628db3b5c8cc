"""A device must run long loops to their end: one unknown driver leaves them early and says nothing."""

import pytest
from says import says

from tilewright.errors import Unsupported
from tilewright.runtime.icd import preference
from tilewright.runtime.opencl import device as opencl_device
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.opencl.smoke import LOOP_ROUNDS, rounds_of_a_long_loop


def test_long_loops_run_to_their_end(device: Device) -> None:
    assert rounds_of_a_long_loop(device.device) == LOOP_ROUNDS


def test_an_unknown_driver_whose_loops_end_early_is_refused(
    one_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opencl_device, "preference", lambda *_: preference.UNKNOWN_DRIVER)
    monkeypatch.setattr(opencl_device, "rounds_of_a_long_loop", lambda _: 65_535)
    with pytest.raises(Unsupported) as refusal:
        opencl_device.open_device(one_device.info.label)
    assert says(str(refusal.value), one_device.info.label, "131,072", "65,535")
