"""`matmul` of Dask arrays: arguments checked, and the graph of its tasks. `plan` is the same without the graph."""

import sys
from typing import Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph
from dask.tokenize import tokenize
from dask.utils import parse_bytes
from numpy.typing import DTypeLike

from ..core.precision import REPRODUCIBLE, check_precision
from ..core.types import element_type, numpy_dtype
from ..errors import InvalidInput, quoted
from ..library.requests import precision_for
from ..library.result_types import asked_type, product_types, sum_type
from ..library.rules import check_cast
from ..library.shapes import product_shape
from .arithmetic import Arithmetic
from .chunks import source_of
from .graph import Names, Request, product_tasks
from .operands import checked_array
from .schedule import Grid, ProductPlan, Sizes, scheduled, summary


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
    of its environment variable TILEWRIGHT_DEVICE. The same chunks and the same `split_k` give the same bits on any number of
    workers of one kind.

    Arguments:
        dtype: the type to compute and return.
        precision: as in `tilewright.matmul`. "reproducible" sums all of k in one chain: chunks are joined along k first, and a
            task holds them whole.
        split_k: parts of k that are summed on their own, and then together. The default is 1, and more if the result has
            fewer tiles than the workers of the current `distributed.Client` have threads.
        memory: the most bytes that a task may hold, such as "2GB". Tasks then make the chunks of the operands
            themselves, one at a time and again for each tile, as from files. Without it, each chunk is made once, and Dask
            keeps it until its last use. `plan` tells what a product will hold.

    Raises:
        InvalidInput: shapes do not fit, chunks have unknown sizes, the product does not fit `memory`, or chunks that `memory`
            needs apart are made by the same tasks.
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
    names = Names(tokenize(request.a.name, request.b.name, request.schedule, request.arithmetic))
    graph = product_tasks(request, names)
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


def _requested(
    a: Any, b: Any, dtype: DTypeLike | None, precision: str | None, split_k: int | None, memory: int | str | None
) -> Request:
    left, right = checked_array(a, "a"), checked_array(b, "b")
    product_shape(left.shape, right.shape)
    read, result = product_types(left.dtype, right.dtype, None if dtype is None else asked_type(dtype))
    mode = precision_for(read, precision)
    check_precision(mode, read)
    for name, array in (("a", left), ("b", right)):
        check_cast(name, array.dtype, numpy_dtype(read), "same_kind")
    summed = sum_type(result)
    if mode == REPRODUCIBLE:  # one chain over all of k: sums of parts of it would round differently
        left, right = (_with_whole_k(array, axis) for array, axis in ((left, -1), (right, -min(right.ndim, 2))))
    grid = Grid(*(tuple(tuple(map(int, each)) for each in array.chunks) for array in (left, right)))
    limit = None if memory is None else checked_bytes(memory)
    sources = source_of(left, "a", limit is not None), source_of(right, "b", limit is not None)
    sizes = Sizes(
        left.dtype.itemsize, right.dtype.itemsize, *(element_type(each).itemsize for each in (summed, result))
    )
    parts = _count("split_k", split_k, _usual_split(grid))
    schedule = scheduled(grid, sizes, (sources[0].makes, sources[1].makes), parts, limit)
    return Request(left, right, Arithmetic(summed, result, precision), schedule, sources)


def _with_whole_k(array: da.Array, axis: int) -> da.Array:
    """The array with its dimension k in one chunk. Rechunking by tasks of their own lets `memory=` make chunks one by one."""
    return array.rechunk({axis % array.ndim: -1}, method="tasks") if len(array.chunks[axis]) > 1 else array


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
        raise InvalidInput(f"{name}={quoted(value)}: pass a whole number from 1 on")
    return int(value)


def checked_bytes(memory: Any) -> int:
    """`memory` in bytes. InvalidInput if it is no amount."""
    try:
        found = parse_bytes(memory)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise InvalidInput(f'memory={quoted(memory)} is no amount of bytes: write 2000000000 or "2GB"') from error
    if found < 1:
        raise InvalidInput(f"memory={memory!r}: a task holds at least a byte")
    return int(found)
