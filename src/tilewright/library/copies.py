"""`copy`, `transpose` and `matrix_transpose`: elements of any type moved into a dense array, or into `out`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput, UnsupportedType
from .copy_calls import MOST_LAUNCHES, STANDS_FOR, in_place_transpose, strided_copy
from .engine import Call, call_for
from .memory import Memory, memory_for
from .rules import check_out, single_out, target_of
from .shapes import View, distinct, product_launches


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
    memory = memory_for((a, out), device, queue, wait_for)
    taken = memory.as_array(a)
    return _copied(memory, taken, tuple(reversed(range(taken.ndim))), out)


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
    memory = memory_for((a, out), device, queue, wait_for)
    taken = memory.as_array(a)
    if taken.ndim < 2:
        raise InvalidInput(f"matrix_transpose needs at least two dimensions, got the shape {taken.shape}")
    return _copied(memory, taken, (*range(taken.ndim - 2), taken.ndim - 1, taken.ndim - 2), out)


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
    memory = memory_for((a, out), device, queue, wait_for)
    taken = memory.as_array(a)
    return _copied(memory, taken, tuple(range(taken.ndim)), out)


def _copied(memory: Memory, a: Any, order: tuple[int, ...], out: Any) -> Any:
    shape = tuple(a.shape[side] for side in order)
    _check_elements(a.dtype)
    given = None if out is None else check_out(memory, out, shape, a.dtype, "no")  # of the very type of what is moved
    taken = memory.as_operand(a, a.dtype)
    if given is not None and _transposes_in_place(memory, taken, order, given):
        swap = call_for(
            memory.device, ("swap", memory.key, memory.signature(taken)), lambda: _prepare_in_place(memory, taken)
        )
        # Where `out` is another array over the same elements, in a buffer of another beginning perhaps, it gets the event, too.
        memory.run(swap, {"matrix": taken} if taken is given else {"matrix": taken, "out": given}, "matrix", True)
        return out
    target = target_of(memory, given, shape, a.dtype, (a,))
    key = ("move", memory.key, order, memory.signature(taken), memory.signature(target.array))
    call = call_for(memory.device, key, lambda: _prepare(memory, taken, order, target.array))
    memory.run(call, {"input": taken, "output": target.array}, "output", False)
    if target.copied_to is not None:
        memory.assign(target.copied_to, target.array)
    return target.array if out is None else out


def _check_elements(dtype: np.dtype) -> None:
    """UnsupportedType for elements that are more than their bytes, or of a size that no kernel moves."""
    if dtype.hasobject:
        raise UnsupportedType(
            f"elements of {dtype} point to Python's objects, which kernels cannot count: use NumPy's copy"
        )
    if dtype.itemsize not in STANDS_FOR:
        raise UnsupportedType(f"elements of {dtype.itemsize} bytes ({dtype}); moved are those of 1, 2, 4, 8 and 16")


def _transposes_in_place(memory: Memory, a: Any, order: tuple[int, ...], out: Any) -> bool:
    """Whether `out` is the stack of squares itself, as kernels can write it, and few launches turn it."""
    shape = tuple(a.shape[side] for side in order)
    if not _swaps_last_two(order, shape) or not memory.same_elements(a, out) or not memory.writable_by_kernels(out):
        return False
    view = memory.view(a)
    return distinct(view) and product_launches((view,)) <= MOST_LAUNCHES


def _swaps_last_two(order: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a move swaps the last two dimensions, of equal length, and no others."""
    sides = len(order)
    return sides >= 2 and shape[-1] == shape[-2] and order == (*range(sides - 2), sides - 1, sides - 2)


def _prepare_in_place(memory: Memory, a: Any) -> Call:
    view = memory.view(a)
    return in_place_transpose(memory.device, view, STANDS_FOR[a.dtype.itemsize])


def _prepare(memory: Memory, a: Any, order: tuple[int, ...], target: Any) -> Call:
    whole = memory.view(a)
    shape, strides = (tuple(sides[side] for side in order) for sides in (whole.shape, whole.strides))
    source = View(shape, strides, whole.offset)
    return strided_copy(memory.device, source, memory.view(target), STANDS_FOR[a.dtype.itemsize])
