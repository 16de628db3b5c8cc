"""The tasks of a product, by their keys: tile by tile, parts of k, and runs of its pieces."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask.array as da
from dask.task_spec import DataNode, List, Task, TaskRef

from .arithmetic import Arithmetic
from .chunks import Source
from .schedule import Place, Schedule, Tile
from .tasks import Factors, Taken, add_products, merge_sums


class Request(NamedTuple):
    """A product that may be computed: its operands, types and schedule."""

    a: da.Array
    b: da.Array
    arithmetic: Arithmetic
    schedule: Schedule
    sources: tuple[Source, Source]


class Names:
    """The first parts of the tasks' keys. Dask's dashboard groups tasks by what stands before the token."""

    def __init__(self, token: str) -> None:
        self.tile = f"tilewright-matmul-tile-{token}"
        self.sum = f"tilewright-matmul-sum-{token}"
        self.merge = f"tilewright-matmul-merge-{token}"


def product_tasks(request: Request, names: Names) -> dict[Any, Any]:
    """The tasks of all tiles, by their keys."""
    graph: dict[Any, Any] = {key: node for source in request.sources for key, node in source.inputs.items()}
    for tile in request.schedule.grid.tiles():
        last = (names.tile, *tile.place)
        parts = request.schedule.parts
        if len(parts) == 1:
            _add_part(graph, request, tile, 0, (names.sum, last))
            continue
        sums = []
        for number in range(len(parts)):
            sums.append((names.sum, *tile.place, number))
            _add_part(graph, request, tile, number, (names.sum, sums[-1]))
        _merge(graph, request.arithmetic, sums, (names.merge, last))
    return graph


def _add_part(graph: dict[Any, Any], request: Request, tile: Tile, part: int, keys: tuple[str, Any]) -> None:
    """The tasks that sum a part of k, one after the other. `keys` are the name of those before the last, and its key."""
    runs = request.schedule.parts[part]
    before = None
    for run in runs:
        done = run == runs[-1]
        key = keys[1] if done else (keys[0], *tile.place, part, run[1])
        last = done and len(request.schedule.parts) == 1
        graph[key] = _addition(key, request, tile, (runs[0][0], *run), before, last)
        before = TaskRef(key)


def _addition(
    key: Any, request: Request, tile: Tile, run: tuple[int, int, int], before: TaskRef | None, last: bool
) -> Task:
    """The task that adds a run of products to a tile. `run` is where the part begins, and where the run begins and ends."""
    grid = request.schedule.grid
    first, begin, end = run
    places: tuple[list[Place], list[Place]] = ([], [])
    factors = []
    for piece in grid.depth[begin:end]:
        blocks = grid.blocks(tile, piece)
        for own, block in zip(places, blocks, strict=True):
            if block.place not in own:
                own.append(block.place)
        a, b = (
            Taken(own.index(block.place), source.shape(block.place), block.part)
            for source, own, block in zip(request.sources, places, blocks, strict=True)
        )
        factors.append(Factors(a, b))
    chunks = [List(*map(source.chunk, own)) for source, own in zip(request.sources, places, strict=True)]
    inputs = sorted(
        {each for source, own in zip(request.sources, places, strict=True) for place in own for each in source.inputs_of(place)},
        key=str,
    )  # fmt: skip
    return Task(
        key, add_products, before, tile.shape, begin - first, tuple(factors), List(*chunks),
        List(DataNode(None, inputs), List(*map(TaskRef, inputs))), request.arithmetic, last,
    )  # fmt: skip


def _merge(graph: dict[Any, Any], arithmetic: Arithmetic, sums: Sequence[Any], keys: tuple[str, Any]) -> None:
    """The tasks that add sums two by two, always in the same order. The last has the key `keys[1]`."""
    level = 0
    while len(sums) > 1:
        left: list[Any] = []
        for number in range(0, len(sums) - 1, 2):
            key = keys[1] if len(sums) == 2 else (keys[0], *keys[1][1:], level, number)
            one, other = (TaskRef(each) for each in sums[number : number + 2])
            graph[key] = Task(key, merge_sums, one, other, arithmetic, len(sums) == 2)
            left.append(key)
        sums = left + list(sums[2 * len(left) :])
        level += 1
