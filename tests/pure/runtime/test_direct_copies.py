"""Which rows of an array a device copies by itself."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from tilewright.runtime.opencl import direct_copies
from tilewright.runtime.opencl.direct_copies import read_directly, rows_of, write_directly

RNG = np.random.default_rng(5)
WHOLE = RNG.integers(0, 256, (6, 40, 700)).astype(np.uint8)
VIEWS: dict[str, Any] = {
    "whole": lambda x: x,
    "one matrix": lambda x: x[2],
    "some rows": lambda x: x[2, 3:17],
    "some columns": lambda x: x[2, :, 20:600],
    "rows apart": lambda x: x[1, ::3],
    "matrices apart": lambda x: x[::2, 3:, 10:],
    "sides of one": lambda x: x[:, None, 4:5, :, None],
    "four dimensions": lambda x: x.reshape(2, 3, 40, 700)[:, ::2, ::4, :600],
    "two bytes": lambda x: x.view(np.uint16)[:, :, 7:],
}


@pytest.mark.parametrize("view", VIEWS)
def test_rows_are_the_elements_in_c_order(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_copies, "LEAST_COMMAND", 512)
    array = VIEWS[view](WHOLE)
    flat = WHOLE.reshape(-1)
    found = [
        flat[block.span(0, block.rows)][row * block.pitch :][: block.row_bytes]
        for block in rows_of(array, WHOLE.__array_interface__["data"][0])
        for row in range(block.rows)
    ]
    assert np.array_equal(np.concatenate(found), np.ascontiguousarray(array).view(np.uint8).reshape(-1))


@pytest.mark.parametrize(
    "array",
    [
        WHOLE[..., ::2],
        WHOLE[..., ::-1],
        WHOLE[0, ::-1],
        WHOLE[::-1],
        WHOLE[0].T,
        WHOLE[0, :, :100],
        np.lib.stride_tricks.sliding_window_view(WHOLE[0, 0], 600),
        np.broadcast_to(WHOLE[0, 0], (30, 700)),
    ],
    ids=[
        "columns apart",
        "backwards",
        "rows backwards",
        "matrices backwards",
        "by columns",
        "short rows",
        "rows that overlap",
        "one row again",
    ],
)
def test_others_go_another_way(array: np.ndarray) -> None:
    assert rows_of(array, WHOLE.__array_interface__["data"][0]) == []


def test_small_blocks_of_many_matrices_go_another_way() -> None:
    many = np.zeros((400, 30, 700), np.uint8)
    assert len(rows_of(many, 0)) == 1
    assert rows_of(many[:, :20, :600], 0) == []


def test_long_copies_by_rows_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense memory goes in one command. Of rows each command has a limit, and few wait at a time."""
    begun: list[dict[str, Any]] = []
    running: list[int] = []

    class Event:
        def wait(self) -> None:
            running.pop()

    def enqueue(queue: Any, target: Any, source: Any, **where: Any) -> Event:
        begun.append(where)
        running.append(1)
        assert len(running) <= direct_copies.IN_FLIGHT + 1
        return Event()

    monkeypatch.setattr(direct_copies, "MOST_BY_ROWS", 6_000)
    monkeypatch.setattr(direct_copies, "LEAST_COMMAND", 512)
    monkeypatch.setattr(cl, "enqueue_copy", enqueue)
    array = np.zeros((40, 700), np.uint8)
    pinned: Any = SimpleNamespace(first=array.ctypes.data, bytes=array.reshape(-1))
    device: Any = SimpleNamespace(info=SimpleNamespace(label="a GPU"), pinned=SimpleNamespace(holding=lambda _: pinned))
    queue: Any = SimpleNamespace(flush=lambda: None)
    assert write_directly(device, queue, None, array)
    assert [each.get("region") for each in begun] == [None]
    begun.clear()
    assert read_directly(device, queue, None, array[:, :600])
    regions = [each["region"] for each in begun]
    assert regions == [(600, 10, 1)] * 4
    assert [each["buffer_origin"] for each in begun] == [(0, row, 0) for row in range(0, 40, 10)]
    assert not running
