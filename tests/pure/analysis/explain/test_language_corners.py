"""Rarely used parts of OpenCL C have the values that are written down for them."""

import numpy as np
import pytest
from language_corners import CORNERS, EACH, ITEM, LANES, corner_source

from tilewright.analysis.explain import explain_source
from tilewright.errors import SourceError


@pytest.mark.parametrize("name", CORNERS)
def test_values_are_those_written_down(name: str) -> None:
    arguments = {"out": np.zeros(LANES * EACH, np.int32), "a": np.arange(LANES, dtype=np.int32)}
    found = explain_source(
        corner_source(name), global_size=(LANES,), local_size=(LANES,), arguments=arguments, groups="all"
    )
    assert found.faults == ()
    assert found.outputs["out"].reshape(LANES, EACH)[ITEM].tolist() == CORNERS[name][2]


def test_columns_behind_trigraphs_are_those_of_the_file() -> None:
    source = "??=define A ??(\n__kernel void k() ??< int x = unknown; ??>"
    with pytest.raises(SourceError, match=r"2:31: 'unknown' is not declared"):
        explain_source(source, global_size=(1,), local_size=(1,), arguments={})
