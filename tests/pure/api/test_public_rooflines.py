"""`roofline` of a record, and what it refuses before a device is opened."""

from pathlib import Path

import pytest

import tilewright
from tilewright.api.planning import product_of
from tilewright.errors import InvalidInput

SAVED = Path(__file__).parents[3] / "benchmarks" / "h200-roofline-tiles.json"


def test_a_saved_roofline_is_given_back() -> None:
    for name in (SAVED, str(SAVED)):
        found = tilewright.roofline(name)
        assert isinstance(found, tilewright.LadderRoofline)
        assert f"{len(found.rungs)} rungs measured" in repr(found)
        assert len(found.to_rows()) > len(found.rungs)


def test_arguments_without_a_use_are_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"offset(?=.*settings)"):
        tilewright.roofline("tiles", offset=3, settings={"BK": 8})
    with pytest.raises(InvalidInput, match="size"):
        tilewright.roofline(SAVED, 64)


def test_sides_of_a_planned_product_are_counted_in_32_bits() -> None:
    assert product_of((2**31 - 1, 1, 1), "NN", "float32", 1, "").m == 2**31 - 1
    with pytest.raises(InvalidInput, match="2147483648"):
        product_of((2**31, 1, 1), "NN", "float32", 1, "")
