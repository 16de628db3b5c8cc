"""How matrices are cut into panels, and where these lie; the public names of `tilewright.blocks`."""

import inspect
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from tilewright import blocks
from tilewright.blocks.panels import COLUMN_STEP, LEAST_COLUMNS, MOST_PANELS, Panel, Stored, panels_of, stored


@pytest.mark.parametrize("columns", [0, 1, 900, 1024, 2047, 2048, 3000, 4097, 16_384, 16_385, 32_768, 100_000])
def test_panels_are_all_columns_in_order(columns: int) -> None:
    found = panels_of(columns)
    assert found[0].begin == 0
    assert found[-1].end == columns
    assert all(one.end == other.begin for one, other in pairwise(found))
    assert len(found) <= MOST_PANELS
    assert all(panel.begin % COLUMN_STEP == 0 for panel in found)
    if len(found) > 1:
        assert min(panel.end - panel.begin for panel in found) >= LEAST_COLUMNS - COLUMN_STEP


def test_as_many_as_the_page_says() -> None:
    assert {panel.end - panel.begin for panel in panels_of(32_768)} == {2048}
    assert len(panels_of(2047)) == 1


@pytest.mark.parametrize("itemsize", [1, 2, 8, 16])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5, 7), (1, 7), (5, 1), (1, 1)])
def test_a_panel_is_a_rectangle(shape: tuple[int, int], order: str, itemsize: int) -> None:
    whole = (
        np.arange(np.prod(shape), dtype=np.uint8)
        .reshape(shape)
        .astype(f"V{itemsize}" if itemsize > 8 else f"u{itemsize}")
    )
    array = np.asarray(whole, order=order)  # type: ignore[call-overload]
    lies = stored(shape, tuple(each // itemsize for each in array.strides), itemsize)
    assert lies is not None
    memory, copied = array.tobytes(order="A"), lies.copied
    assert copied.pitch_bytes % 16 == 0
    target = bytearray(copied.shape[0] * copied.pitch_bytes)
    middle = shape[1] // 2
    for panel in (Panel(0, middle), Panel(middle, shape[1])):
        source, place = lies.rectangle(panel), copied.rectangle(panel)
        assert source[1:] == place[1:]
        for line in range(source.height):
            begin, there = source.origin + line * lies.pitch_bytes, place.origin + line * copied.pitch_bytes
            target[there : there + source.width] = memory[begin : begin + source.width]
    steps = tuple(step * itemsize for step in copied.strides)
    assert np.ndarray(shape, array.dtype, bytes(target), strides=steps).tobytes() == array.tobytes()


@pytest.mark.parametrize("strides", [(0, 1), (7, 2), (1, -5), (-7, 1), (3, 1)])
def test_other_strides_have_no_lines(strides: tuple[int, int]) -> None:
    assert stored((5, 7), strides, 4) is None


def test_wide_rows_are_lines() -> None:
    assert stored((5, 7), (100, 1), 4) == Stored(5, 7, 100, 4, False)
    assert stored((5, 7), (1, 100), 4) == Stored(5, 7, 100, 4, True)


def test_the_public_names() -> None:
    assert blocks.__all__ == ["gemm", "matmul"]
    for name in blocks.__all__:
        call = getattr(blocks, name)
        assert len((inspect.getdoc(call) or "").split()) > 30
        assert len(str(inspect.signature(call))) < 700


def test_importing_the_package_does_not_load_it() -> None:
    code = "import sys, tilewright; from tilewright import matmul; sys.exit('tilewright.blocks' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
