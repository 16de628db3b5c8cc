"""`copy`, `transpose` and `matrix_transpose`: elements of any type moved into a dense array, or into `out`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput, UnsupportedType
from .engine import Call, call_for
from .places import Place, place_for
from .rules import check_out, single_out, target_of
from .shapes import View, distinct, product_launches
from .strided import MOST_LAUNCHES, STANDS_FOR, in_place_transpose, strided_move


def transpose(
    a: ArrayLike,
    out: Any = None,
    *,
    device: str | int | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """The elements of `a` with its dimensions reversed, in a dense array: NumPy's `a.T.copy()`.

    `a` is a NumPy array, a PyOpenCL array or anything that NumPy takes, of any strides and of elements of 1, 2, 4, 8 or
    16 bytes. The result has what went in for its kind: a NumPy array, complete, or a PyOpenCL array, without waiting.
    `out` takes the result instead; it has the reversed shape and the same type, any strides, and may overlap `a`. If it
    is `a` itself, a square matrix, that is turned in place, without a second matrix.
    Raises InvalidInput for an `out` that does not fit or is read-only, UnsupportedType for elements of another size and for
    those that point to Python's objects (object, StringDType).

    >>> import numpy as np, tilewright
    >>> tilewright.transpose(np.array([[1, 2, 3], [4, 5, 6]])).tolist()
    [[1, 4], [2, 5], [3, 6]]
    """
    out = single_out(out)
    place = place_for((a, out), device, queue, wait_for)
    taken = place.see(a)
    return _moved(place, taken, tuple(reversed(range(taken.ndim))), out)


def matrix_transpose(
    a: ArrayLike,
    out: Any = None,
    *,
    device: str | int | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """As `transpose`, but of every matrix in a stack: only the last two dimensions are swapped."""
    out = single_out(out)
    place = place_for((a, out), device, queue, wait_for)
    taken = place.see(a)
    if taken.ndim < 2:
        raise InvalidInput(f"matrix_transpose needs at least two dimensions, got the shape {taken.shape}")
    return _moved(place, taken, (*range(taken.ndim - 2), taken.ndim - 1, taken.ndim - 2), out)


def copy(
    a: ArrayLike,
    out: Any = None,
    *,
    device: str | int | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """As `transpose`, but with the dimensions as they are: the yardstick for it."""
    out = single_out(out)
    place = place_for((a, out), device, queue, wait_for)
    taken = place.see(a)
    return _moved(place, taken, tuple(range(taken.ndim)), out)


def _moved(place: Place, a: Any, order: tuple[int, ...], out: Any) -> Any:
    shape = tuple(a.shape[side] for side in order)
    _check_elements(a.dtype)
    given = None if out is None else check_out(place, out, shape, a.dtype, "no")  # of the very type of what is moved
    taken = place.take(a, a.dtype)
    if given is not None and _turns_in_place(place, taken, order, given):
        swap = call_for(place.device, ("swap", place.key, place.signature(taken)), lambda: _prepare_swap(place, taken))
        # Where `out` is another array over the same elements, in a buffer of another beginning perhaps, it gets the event, too.
        place.run(swap, {"matrix": taken} if taken is given else {"matrix": taken, "out": given}, "matrix", True)
        return out
    target = target_of(place, given, shape, a.dtype, (a,))
    key = ("move", place.key, order, place.signature(taken), place.signature(target.array))
    call = call_for(place.device, key, lambda: _prepare(place, taken, order, target.array))
    place.run(call, {"input": taken, "output": target.array}, "output", False)
    if target.copied_to is not None:
        place.assign(target.copied_to, target.array)
    return target.array if out is None else out


def _check_elements(dtype: np.dtype) -> None:
    """UnsupportedType for elements that are more than their bytes, or of a size that no kernel moves."""
    if dtype.hasobject:
        raise UnsupportedType(
            f"elements of {dtype} point to Python's objects, which kernels cannot count: use NumPy's copy"
        )
    if dtype.itemsize not in STANDS_FOR:
        raise UnsupportedType(f"elements of {dtype.itemsize} bytes ({dtype}); moved are those of 1, 2, 4, 8 and 16")


def _turns_in_place(place: Place, a: Any, order: tuple[int, ...], out: Any) -> bool:
    """Whether `out` is the stack of squares itself, as kernels can write it, and few launches turn it."""
    shape = tuple(a.shape[side] for side in order)
    if not _turns_squares(order, shape) or not place.same(a, out) or not place.fit(out):
        return False
    view = place.view(a)
    return distinct(view) and product_launches((view,)) <= MOST_LAUNCHES


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
