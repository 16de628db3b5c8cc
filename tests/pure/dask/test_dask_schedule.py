"""The schedule of products of Dask arrays, as numbers: pieces, runs, the bytes that a task holds, and the public names."""

from typing import Any

import pytest

pytest.importorskip("dask", reason="Dask is not installed")

import dask.array as da

import tilewright.dask
from tilewright.dask import plan, schedule
from tilewright.dask.schedule import Grid, Sizes, scheduled
from tilewright.errors import InvalidInput

FLOATS = Sizes(4, 4, 4, 4)
GRID = Grid(((10, 10), (8, 8, 8)), ((8, 8, 8), (5, 5)))


def test_tasks_take_as_many_pieces_as_fit() -> None:
    """A tile of 10 x 5 takes 200 bytes, a piece of both operands 320 + 160."""

    def parts(made: tuple[bool, bool], split_k: int, memory: int) -> Any:
        return scheduled(GRID, FLOATS, made, split_k, memory).parts

    assert parts((False, False), 1, 680) == (((0, 1), (1, 2), (2, 3)),)
    assert parts((False, False), 1, 1160) == (((0, 2), (2, 3)),)
    assert parts((True, False), 1, 1000) == (((0, 3),),)
    assert parts((True, True), 1, 680) == (((0, 3),),)
    assert parts((True, True), 2, 680) == (((0, 1),), ((1, 3),))
    assert parts((True, True), 9, 680) == (((0, 1),), ((1, 2),), ((2, 3),))
    with pytest.raises(InvalidInput, match="holds 680 bytes, a tile of 10 x 5 elements"):
        parts((True, True), 1, 679)


@pytest.mark.parametrize("memory", [700, 1000, 1500, 3000])
@pytest.mark.parametrize("made", [(False, False), (True, False), (False, True), (True, True)])
def test_no_task_holds_more_than_it_may(made: tuple[bool, bool], memory: int) -> None:
    found = scheduled(GRID, FLOATS, made, 2, memory)
    assert found.task_bytes <= memory
    assert all(found.held(run) <= found.task_bytes for runs in found.parts for run in runs)
    assert [piece for runs in found.parts for begin, end in runs for piece in range(begin, end)] == [0, 1, 2]


def test_results_of_another_type_than_sums_are_counted() -> None:
    assert scheduled(GRID, Sizes(2, 2, 4, 2), (True, True), 1, None).task_bytes == 50 * 6 + 160 + 80


def test_a_plan_says_what_moves_and_what_is_held() -> None:
    a, b = da.ones((40, 60), chunks=10), da.ones((60, 20), chunks=10)
    found = plan(a, b, workers=4, threads=2)
    assert (found.tiles, found.pieces, found.tasks, found.chunks, found.made_chunks) == (8, 6, 8, 36, 0)
    assert (found.given_bytes, found.moved_bytes, found.result_bytes) == (28800, 86400, 6400)
    assert found.worker_bytes == 2 * found.task_bytes == 2 * (800 + 12 * 800)
    made = plan(a, b, workers=4, memory="2.4kB", split_k=2)
    assert (made.tasks, made.made_chunks, made.made_bytes) == (24, 8 * 12, 8 * 12 * 800)
    assert (made.given_bytes, made.task_bytes) == (0, 2400)
    assert "2 parts of k" in str(made)
    assert made.to_rows()[0]["worker_bytes"] == made.worker_bytes
    assert "40 x 20" in repr(made)


def test_chunks_are_counted_as_often_as_tasks_make_them() -> None:
    """Of unaligned chunks, a task makes one once for all its pieces in turn."""
    a, b = da.ones((4, 12), chunks=(4, 6)), da.ones((12, 4), chunks=(4, 4))
    assert plan(a, b, memory="1MB").made_chunks == 2 + 3


def test_public_names_are_documented_and_in_order() -> None:
    names = tilewright.dask.__all__
    assert names == sorted(names, key=lambda name: (name[0].islower(), name))
    assert all(len((getattr(tilewright.dask, name).__doc__ or "").split()) >= 3 for name in names)
    assert schedule.ProductPlan is tilewright.dask.ProductPlan
