"""`copy`, `transpose` and `matrix_transpose`: elements of any type moved into a dense array, or into `out`."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..errors import InvalidInput, Unsupported
from .engine import Call, call_for
from .places import Place, place_for
from .shapes import View, distinct
from .strided import STANDS_FOR, in_place_transpose, strided_move


def transpose(
    a: ArrayLike,
    out: Any = None,
    *,
    device: str | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """The elements of `a` with its dimensions reversed, in a dense array: NumPy's `a.T.copy()`.

    `a` is a NumPy array, a PyOpenCL array or anything that NumPy takes, of any strides and of elements of 1, 2, 4, 8 or
    16 bytes. The result has what went in for its kind: a NumPy array, complete, or a PyOpenCL array, without waiting.
    `out` takes the result instead; it has the reversed shape and the same type, any strides, and may overlap `a`. If it
    is `a` itself, a square matrix, that is turned in place, without a second matrix.
    Raises InvalidInput for an `out` that does not fit, Unsupported for elements of another size.

    >>> import numpy as np, tilewright
    >>> tilewright.transpose(np.array([[1, 2, 3], [4, 5, 6]])).tolist()
    [[1, 4], [2, 5], [3, 6]]
    """
    place = place_for((a, out), device, queue, wait_for)
    taken = place.take(a)
    return _moved(place, taken, tuple(reversed(range(taken.ndim))), out)


def matrix_transpose(
    a: ArrayLike,
    out: Any = None,
    *,
    device: str | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """As `transpose`, but of every matrix in a stack: only the last two dimensions are swapped."""
    place = place_for((a, out), device, queue, wait_for)
    taken = place.take(a)
    if taken.ndim < 2:
        raise InvalidInput(f"matrix_transpose needs at least two dimensions, got the shape {taken.shape}")
    return _moved(place, taken, (*range(taken.ndim - 2), taken.ndim - 1, taken.ndim - 2), out)


def copy(
    a: ArrayLike,
    out: Any = None,
    *,
    device: str | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """As `transpose`, but with the dimensions as they are: the yardstick for it."""
    place = place_for((a, out), device, queue, wait_for)
    taken = place.take(a)
    return _moved(place, taken, tuple(range(taken.ndim)), out)


def _moved(place: Place, a: Any, order: tuple[int, ...], out: Any) -> Any:
    if a.dtype.itemsize not in STANDS_FOR:
        raise Unsupported(f"elements of {a.dtype.itemsize} bytes ({a.dtype}); moved are those of 1, 2, 4, 8 and 16")
    shape = tuple(a.shape[side] for side in order)
    if out is not None and (out.shape != shape or out.dtype != a.dtype):
        raise InvalidInput(f"out is {out.shape} {out.dtype}; the result is {shape} {a.dtype}")
    if out is not None and _turns_squares(order, shape) and place.same(a, out) and distinct(place.view(a)):
        swap = call_for(("swap", place.key, place.signature(a)), lambda: _prepare_swap(place, a))
        place.run(swap, {"matrix": a}, "matrix", True)
        return out
    direct = out is not None and place.signature(place.take(out)) == place.signature(out) and not place.overlap(a, out)
    target = out if direct else place.empty(shape, a.dtype)
    key = ("move", place.key, order, place.signature(a), place.signature(target))
    call = call_for(key, lambda: _prepare(place, a, order, target))
    place.run(call, {"input": a, "output": target}, "output", False)
    if out is not None and not direct:
        place.assign(out, target)
        return out
    return target if out is None else out


def _turns_squares(order: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a move swaps the last two dimensions, of equal length, and no others."""
    sides = len(order)
    return sides >= 2 and shape[-1] == shape[-2] and order == (*range(sides - 2), sides - 1, sides - 2)


def _prepare_swap(place: Place, a: Any) -> Call:
    view = place.view(a)
    return in_place_transpose(place.device, view, STANDS_FOR[a.dtype.itemsize])


def _prepare(place: Place, a: Any, order: tuple[int, ...], target: Any) -> Call:
    whole = place.view(a)
    shape, strides = (tuple(sides[side] for side in order) for sides in (whole.shape, whole.strides))
    source = View(shape, strides, whole.offset)
    return strided_move(place.device, source, place.view(target), STANDS_FOR[a.dtype.itemsize])
