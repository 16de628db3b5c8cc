"""`matmul` of blocks on a grid of ranks: SUMMA. Blocks of the result stay, panels of both operands pass by.

For each panel of k, the ranks that have its columns of `a` send them along their rows of the grid, those that have its rows of
`b` along their columns. While a panel is multiplied the next one is on its way, so that two are in flight.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI
from numpy.typing import DTypeLike

from ..core.pieces import Piece, pieces
from ..core.precision import REPRODUCIBLE, check_precision
from ..core.types import numpy_dtype
from ..errors import InvalidInput, TilewrightError, UnsupportedType, quoted
from ..library.products import gemm
from ..library.requests import precision_for
from ..library.result_types import asked_type, product_types, sum_type
from ..library.rules import check_cast
from ..library.views import as_host_array
from ..runtime.device import preset_device
from ..runtime.opencl.dealt import dealt_device
from .blocks import Grid, best_grid, checked_grid, lengths, whole_number

MESSAGE_BYTES = 2**30  # of a panel: MPI before version 4 counts up to 2^31


def matmul(
    a: Any,
    b: Any,
    *,
    grid: Grid | None = None,
    comm: Any = None,
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    panel: int = 1024,
) -> np.ndarray:
    """Multiply matrices whose blocks lie on the ranks of `comm`. Each rank gets its block of the result.

    Shapes: `a` and `b` are this rank's blocks, 2-D NumPy arrays. Blocks in a row of the grid have equally many rows, those in
    a column equally many columns. The blocks of `a` together have as many columns as those of `b` have rows; where along k
    they are cut may differ. `block` cuts a matrix so.

    Devices: the ranks of a host get different devices of the default one's kind, or those that TILEWRIGHT_DEVICE names.

    Arguments:
        grid: rows and columns of ranks, which are numbered row by row. The default is the one that `best_grid` gives for
            equally many rows and columns.
        comm: the communicator, of mpi4py. The default is MPI.COMM_WORLD.
        dtype, precision: as in `tilewright.matmul`. Sums of 16-bit floats are float32 until they are complete. "reproducible"
            sums all of k in one chain: a rank then holds all rows of `a` and columns of `b` that its block of the result needs.
        panel: the most columns of `a` and rows of `b` that are sent at once. A rank holds two such panels of both.

    Raises, on all ranks alike:
        InvalidInput: blocks or types do not fit each other, or the grid does not fit the ranks.
        UnsupportedType: no kernel multiplies the type.
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    if not isinstance(comm, MPI.Comm):
        raise InvalidInput(f"comm={quoted(comm)}: pass a communicator of mpi4py, or None for all ranks")
    grid = best_grid(comm.size, 1, 1) if grid is None else checked_grid(grid)
    panel = whole_number("panel", panel)
    left, right = _arrays(comm, a, b)
    depth = _checked_depth(comm, grid, left, right)
    read, result = product_types(left.dtype, right.dtype, None if dtype is None else asked_type(dtype))
    mode = precision_for(read, precision)
    check_precision(mode, read)
    for name, array in (("a", left), ("b", right)):
        check_cast(name, array.dtype, numpy_dtype(read), "same_kind")
    panels = list(_panels(depth, panel, left, right, comm))
    device = _device(comm)
    summed = numpy_dtype(sum_type(result))
    total = np.zeros((left.shape[0], right.shape[1]), summed)
    row, column = divmod(comm.rank, grid[1])
    along_row, along_column = comm.Split(row, column), comm.Split(column, row)
    try:
        parts = _received(panels, left, right, along_row, along_column)
        # One chain over all of k: sums of parts of it would round differently.
        if mode == REPRODUCIBLE and len(panels) > 1:
            parts = _joined(parts, panels, left, right)
        _add_products(parts, total, precision, device)
    finally:
        along_row.Free()
        along_column.Free()
    return total.astype(numpy_dtype(result), copy=False)


def _add_products(
    parts: Iterator[tuple[np.ndarray, np.ndarray]], total: np.ndarray, precision: str | None, device: str | None
) -> None:
    """Multiply what comes, and add it up in `total`, which holds zeros."""
    for number, (first, other) in enumerate(parts):
        if total.size:
            gemm(
                first, other, total if number else None, beta=1 if number else 0, out=total, dtype=total.dtype,
                precision=precision, device=device,
            )  # fmt: skip


class _Panel(NamedTuple):
    """A panel of both operands, on its way."""

    parts: tuple[np.ndarray, np.ndarray]
    requests: tuple[Any, Any]

    @staticmethod
    def sent(piece: Piece, a: np.ndarray, b: np.ndarray, along_row: Any, along_column: Any) -> "_Panel":
        """Send the panel to the ranks beside this one, or receive it."""
        own = along_row.rank == piece.a, along_column.rank == piece.b
        first = np.ascontiguousarray(a[:, piece.in_a]) if own[0] else np.empty((a.shape[0], piece.length), a.dtype)
        other = np.ascontiguousarray(b[piece.in_b]) if own[1] else np.empty((piece.length, b.shape[1]), b.dtype)
        requests = along_row.Ibcast(_message(first), piece.a), along_column.Ibcast(_message(other), piece.b)
        return _Panel((first, other), requests)

    def wait(self) -> None:
        MPI.Request.Waitall(list(self.requests))


def _received(
    panels: list[Piece], a: np.ndarray, b: np.ndarray, along_row: Any, along_column: Any
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The panels of both operands in turn. While one is used the next one is on its way."""
    coming = None
    for piece in (*panels, None):
        following = None if piece is None else _Panel.sent(piece, a, b, along_row, along_column)
        if coming is not None:
            coming.wait()
            yield coming.parts
        coming = following


def _joined(
    parts: Iterator[tuple[np.ndarray, np.ndarray]], panels: list[Piece], a: np.ndarray, b: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All panels as one."""
    k = sum(piece.length for piece in panels)
    first, other = np.empty((a.shape[0], k), a.dtype), np.empty((k, b.shape[1]), b.dtype)
    begin = 0
    for piece, (left, right) in zip(panels, parts, strict=True):
        place = slice(begin, begin + piece.length)
        first[:, place], other[place] = left, right
        begin += piece.length
    yield first, other


def _message(array: np.ndarray) -> Any:
    """An array as bytes: MPI does not know bfloat16."""
    return [array.reshape(-1).view(np.uint8), MPI.BYTE]


def _panels(depth: tuple[Piece, ...], panel: int, a: np.ndarray, b: np.ndarray, comm: Any) -> Iterator[Piece]:
    """The pieces of k, none longer than `panel`, or than a message of any rank may be."""
    line = max(a.shape[0] * a.itemsize, b.shape[1] * b.itemsize, 1)
    most = max(1, min(panel, MESSAGE_BYTES // comm.allreduce(line, MPI.MAX)))
    for piece in depth:
        for begin in range(0, piece.length, most):
            length = min(most, piece.length - begin)
            in_a, in_b = (slice(each.start + begin, each.start + begin + length) for each in (piece.in_a, piece.in_b))
            yield Piece(length, piece.a, in_a, piece.b, in_b)


def _arrays(comm: Any, a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """The blocks as NumPy arrays. The error of any rank is raised on all of them, since the others would wait for it."""
    found, error = [], None
    try:
        found = [as_host_array(each, name) for name, each in (("a", a), ("b", b))]
    except TilewrightError as own:
        error = own
    for rank, told in enumerate(comm.allgather(error and (type(error).__name__ == "InvalidInput", str(error)))):
        if told is not None:
            kind = InvalidInput if told[0] else UnsupportedType
            raise kind(f"on rank {rank}: {told[1]}") from error
    left, right = (each.astype(each.dtype.newbyteorder("="), copy=False) for each in found)
    return left, right


def _checked_depth(comm: Any, grid: Grid, a: np.ndarray, b: np.ndarray) -> tuple[Piece, ...]:
    """The pieces of k, cut where a block of either ends. InvalidInput on all ranks if any block does not fit."""
    if grid[0] * grid[1] != comm.size:
        raise InvalidInput(f"grid={grid} does not fit {comm.size} ranks: rows times columns must be that number")
    known = comm.allgather((a.shape, a.dtype.name, b.shape, b.dtype.name))
    for rank, (of_a, type_a, of_b, type_b) in enumerate(known):
        if len(of_a) != 2 or len(of_b) != 2:
            raise InvalidInput(f"the blocks on rank {rank} have the shapes {of_a} and {of_b}; blocks are matrices")
        if (type_a, type_b) != (known[0][1], known[0][3]):
            raise InvalidInput(
                f"the blocks on rank {rank} are {type_a} and {type_b}, those on rank 0 {known[0][1]} and {known[0][3]}"
            )
    _, widths = lengths([each[0] for each in known], grid, "a")
    heights, _ = lengths([each[2] for each in known], grid, "b")
    if sum(widths) != sum(heights):
        raise InvalidInput(f"the blocks do not fit: the k of a is {sum(widths)}, the k of b is {sum(heights)}")
    return pieces(widths, heights)


def _device(comm: Any) -> str | None:
    """This rank's device, as `device=` takes it."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)  # by all ranks, also where the environment names a device for some
    place = host.rank
    host.Free()
    return dealt_device(place) if preset_device() is None else None
