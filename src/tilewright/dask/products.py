"""`matmul` of Dask arrays: arguments checked, and the graph of its tasks. `plan` is the same without the graph."""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph
from dask.task_spec import DataNode, List, Task, TaskRef
from dask.tokenize import tokenize
from dask.utils import parse_bytes
from numpy.typing import DTypeLike

from ..core.precision import check_precision
from ..core.types import element_type, numpy_dtype
from ..errors import InvalidInput
from ..library.requests import checked_precision
from ..library.result_types import asked_type, product_types, sum_type
from ..library.rules import check_cast
from ..library.shapes import product_shape
from .chunks import Source, source_of
from .operands import checked_array
from .schedule import Grid, Place, ProductPlan, Schedule, Sizes, Tile, scheduled, summary
from .tasks import Arithmetic, Factors, add_products, merge_sums


def matmul(
    a: Any,
    b: Any,
    *,
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    split_k: int | None = None,
    memory: int | str | None = None,
) -> da.Array:
    """Multiply Dask arrays by the rules of `numpy.matmul`. The result is a Dask array; the call computes nothing.

    Shapes: `a` is (..., m, k), `b` is (..., k, n), and the result is (..., m, n). Leading dimensions broadcast. A 1-D `a`
    is a row, a 1-D `b` is a column, and the result loses that dimension. Chunks of known sizes may end anywhere: the
    result has the row chunks of `a` and the column chunks of `b`.

    Arrays: chunks are NumPy arrays. One operand may be a NumPy array itself. Types, also the result's, are those of
    `tilewright.matmul`: int8 gives int32. Sums of 16-bit floats are float32 until they are complete.

    Workers: each task adds products to a tile of the result, in place. Every worker of a host has a device of its own, or that
    of its environment variable TILEWRIGHT_DEVICE. The same chunks and arguments give the same bits on any number of workers.

    Arguments:
        dtype: the type to compute and return.
        precision: as in `tilewright.matmul`.
        split_k: parts of k that are summed on their own, and then together. The default is 1, and more if the result has
            fewer tiles than the workers of the current `distributed.Client` have threads.
        memory: the most bytes that a task may hold, such as "2GB". Tasks then make the chunks of the operands
            themselves, one at a time and again for each tile, as from files. Without it, each chunk is made once, and Dask
            keeps it until its last use. `plan` tells what a product will hold.

    Raises:
        InvalidInput: shapes do not fit, chunks have unknown sizes, the product does not fit `memory`, or chunks that
            `memory` needs apart are made by the same tasks.
        UnsupportedType: no kernel multiplies the type, or Dask cannot send it.
        UnknownName: no precision has that name.

    >>> import dask.array as da, tilewright.dask
    >>> a = da.ones((300, 200), chunks=(150, 64), dtype="float32")
    >>> tilewright.dask.matmul(a, a.T)
    dask.array<tilewright-matmul-tile, shape=(300, 300), dtype=float32, chunksize=(150, 150), chunktype=numpy.ndarray>
    >>> tilewright.dask.matmul(a, a.T)[0, :2].compute()
    array([200., 200.], dtype=float32)
    """
    request = _requested(a, b, dtype, precision, split_k, memory)
    names = _Names(tokenize(request.a.name, request.b.name, request.schedule, request.arithmetic))
    graph = _tasks(request, names)
    layers = HighLevelGraph.from_collections(names.tile, graph, dependencies=[request.a, request.b])
    chunks = request.schedule.grid.result
    meta = np.empty((0,) * len(chunks), numpy_dtype(request.arithmetic.result))
    return da.Array(layers, names.tile, chunks, meta=meta)


def plan(
    a: Any,
    b: Any,
    *,
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    split_k: int | None = None,
    memory: int | str | None = None,
    workers: int | None = None,
    threads: int | None = None,
) -> ProductPlan:
    """What `matmul` with these arguments will take: tasks, chunks, and the most bytes that a worker holds. `print` it.

    Arguments, in addition to those of `matmul`:
        workers: how many workers there are. The default is those of the current `distributed.Client`, or 1.
        threads: of each worker. The default is the most that one of them has, or 1.

    >>> import dask.array as da, tilewright.dask
    >>> a = da.ones((4000, 4000), chunks=1000, dtype="float32")
    >>> print(tilewright.dask.plan(a, a, memory="20MB", workers=2, threads=1))
    4000 x 4000 float32: 16 tiles of up to 1000 x 1000, 4 pieces of k: 16 tasks.
    Tasks make 128 chunks of the operands themselves (512 MB); there are 32 different ones.
    A task holds at most 12 MB, a worker with 1 thread 12 MB.
    Dask holds besides: 0 bytes of operands, and finished tiles until they are stored, 64 MB in all.
    Between 2 workers move at most 0 bytes.
    """
    request = _requested(a, b, dtype, precision, split_k, memory)
    found = _threads_of_workers() or [1]
    given = tuple(
        0 if source.makes else array.nbytes for source, array in zip(request.sources, request[:2], strict=True)
    )
    return summary(
        request.schedule, request.arithmetic.result, (given[0], given[1]), (request.a.npartitions, request.b.npartitions),
        _count("workers", workers, len(found)), _count("threads", threads, max(found)),
    )  # fmt: skip


class _Request(NamedTuple):
    a: da.Array
    b: da.Array
    arithmetic: Arithmetic
    schedule: Schedule
    sources: tuple[Source, Source]


class _Names:
    """The first parts of the tasks' keys. Dask's dashboard groups tasks by what stands before the token."""

    def __init__(self, token: str) -> None:
        self.tile = f"tilewright-matmul-tile-{token}"
        self.sum = f"tilewright-matmul-sum-{token}"
        self.merge = f"tilewright-matmul-merge-{token}"


def _requested(
    a: Any, b: Any, dtype: DTypeLike | None, precision: str | None, split_k: int | None, memory: int | str | None
) -> _Request:
    left, right = checked_array(a, "a"), checked_array(b, "b")
    product_shape(left.shape, right.shape)
    read, result = product_types(left.dtype, right.dtype, None if dtype is None else asked_type(dtype))
    check_precision(checked_precision(precision), read)
    for name, array in (("a", left), ("b", right)):
        check_cast(name, array.dtype, numpy_dtype(read), "same_kind")
    summed = sum_type(result)
    grid = Grid(*(tuple(tuple(map(int, each)) for each in array.chunks) for array in (left, right)))
    limit = None if memory is None else _bytes(memory)
    sources = source_of(left, "a", limit is not None), source_of(right, "b", limit is not None)
    sizes = Sizes(
        left.dtype.itemsize, right.dtype.itemsize, *(element_type(each).itemsize for each in (summed, result))
    )
    parts = _count("split_k", split_k, _usual_split(grid))
    schedule = scheduled(grid, sizes, (sources[0].makes, sources[1].makes), parts, limit)
    return _Request(left, right, Arithmetic(summed, result, precision), schedule, sources)


def _tasks(request: _Request, names: _Names) -> dict[Any, Any]:
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


def _add_part(graph: dict[Any, Any], request: _Request, tile: Tile, part: int, keys: tuple[str, Any]) -> None:
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
    key: Any, request: _Request, tile: Tile, run: tuple[int, int, int], before: TaskRef | None, last: bool
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
        numbers = [own.index(block.place) for own, block in zip(places, blocks, strict=True)]
        factors.append(Factors(numbers[0], blocks[0].part, numbers[1], blocks[1].part))
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


def _usual_split(grid: Grid) -> int:
    """Parts of k for which all threads of the client's workers have tasks; 1 without a client."""
    tiles = max(1, sum(1 for _ in grid.tiles()))
    return max(1, sum(_threads_of_workers()) // tiles)


def _threads_of_workers() -> list[int]:
    """The threads of each worker of the current client; empty if there is none, or it answers only in coroutines."""
    if "distributed" not in sys.modules:
        return []
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:
        return []
    return [] if client.asynchronous else list(client.nthreads().values())


def _count(name: str, value: Any, usual: int) -> int:
    """A number of parts, workers or threads. InvalidInput unless it is a whole number from 1 on."""
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InvalidInput(f"{name}={value!r}: pass a whole number from 1 on")
    return int(value)


def _bytes(memory: Any) -> int:
    """`memory` in bytes. InvalidInput if it is no amount."""
    try:
        found = parse_bytes(memory)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidInput(f'memory={memory!r} is no amount of bytes: write 2000000000 or "2GB"') from error
    if found < 1:
        raise InvalidInput(f"memory={memory!r}: a task holds at least a byte")
    return int(found)
