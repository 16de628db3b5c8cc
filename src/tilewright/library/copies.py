"""`copy`, `transpose` and `matrix_transpose` of arrays of any element type."""

from __future__ import annotations  # so that a tooltip says ArrayLike, not the twenty types that it stands for

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput
from .copy_calls import MOST_LAUNCHES, STANDS_FOR, check_elements, in_place_transpose, strided_copy
from .engine import Call, call_for
from .lookup import Slot, run_ready
from .memory.choice import Memory, memory_for
from .memory.ready import REFUSED, Recipe
from .rules import check_out_of_copy, single_out, target_of
from .shapes import View, distinct, product_launches
from .streamed.limits import Bytes, Limits, Where, bytes_of, limits_of, refuse_with_limits, too_large

if TYPE_CHECKING:
    from pyopencl.array import Array as DeviceArray


@overload
def transpose(
    a: DeviceArray,
    out: DeviceArray | tuple[DeviceArray] | None = None,
    *,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> DeviceArray: ...


@overload
def transpose(
    a: ArrayLike,
    out: np.ndarray | tuple[np.ndarray] | None = None,
    *,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> np.ndarray: ...


def transpose(
    a: ArrayLike | DeviceArray,
    out: Any = None,
    *,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> Any:
    """Reverse the dimensions of an array, as NumPy's `a.T.copy()`.

    Shapes: an `a` of the shape (n0, n1, ..., nk) gives (nk, ..., n1, n0), dense and in C order.

    Arrays: `a` is a NumPy array, a PyOpenCL array, a CUDA array (of PyTorch, CuPy, JAX, Numba) or anything that NumPy
    converts, of any strides. Elements have 1, 2, 4, 8 or 16 bytes; they are copied as bytes. A NumPy array gives a complete
    NumPy array. A PyOpenCL array gives a PyOpenCL array at once, and its event is in `result.events`. A CUDA array gives one
    of its own kind at once, in its current stream.

    Arguments:
        out: the array for the result, or a tuple of one. It has the reversed shape, the dtype of `a` and any strides. It may
            overlap `a`. If it is `a` itself, and that is square, it is transposed in place, without a second matrix.
        device: where a NumPy array is transposed: an index, "cpu", "gpu" or part of a name; a list of them or "all".
        queue: the pyopencl.CommandQueue to use. It must run commands in order. The default is the array's own.
        wait_for: a list of pyopencl.Event that must complete first.
        max_device_bytes, max_host_bytes, progress: those of `matmul`, for matrices.

    Raises:
        InvalidInput: `out` does not fit or is read-only.
        UnsupportedType: elements have another size, or point to Python objects (object, StringDType).
        Unsupported: the queue may run commands out of order, or a device array is not aligned to its elements.
        OutOfDeviceMemory: the arrays do not fit the device.

    >>> import numpy as np, tilewright
    >>> tilewright.transpose(np.array([[1, 2, 3], [4, 5, 6]])).tolist()
    [[1, 4], [2, 5], [3, 6]]
    """
    limits = limits_of(device, max_device_bytes, max_host_bytes, progress)
    return _called("transpose", a, single_out(out), device, queue, wait_for, limits)


@overload
def matrix_transpose(
    a: DeviceArray,
    out: DeviceArray | tuple[DeviceArray] | None = None,
    *,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> DeviceArray: ...


@overload
def matrix_transpose(
    a: ArrayLike,
    out: np.ndarray | tuple[np.ndarray] | None = None,
    *,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> np.ndarray: ...


def matrix_transpose(
    a: ArrayLike | DeviceArray,
    out: Any = None,
    *,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> Any:
    """Swap the last two dimensions: (..., rows, columns) gives (..., columns, rows).

    Arguments and errors are those of `transpose`. In addition, InvalidInput is raised for an `a` with fewer than two dimensions.

    >>> import numpy as np, tilewright
    >>> tilewright.matrix_transpose(np.zeros((4, 2, 3))).shape
    (4, 3, 2)
    """
    limits = limits_of(device, max_device_bytes, max_host_bytes, progress)
    return _called("matrix_transpose", a, single_out(out), device, queue, wait_for, limits)


@overload
def copy(
    a: DeviceArray,
    out: DeviceArray | tuple[DeviceArray] | None = None,
    *,
    device: str | int | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> DeviceArray: ...


@overload
def copy(
    a: ArrayLike,
    out: np.ndarray | tuple[np.ndarray] | None = None,
    *,
    device: str | int | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> np.ndarray: ...


def copy(
    a: ArrayLike | DeviceArray,
    out: Any = None,
    *,
    device: str | int | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Copy an array into a dense array in C order, or into `out`. The shape and dtype stay the same.

    Arguments and errors are those of `transpose`, but one device copies, and in one piece. Its speed is the upper bound for a
    transpose.

    >>> import numpy as np, tilewright
    >>> tilewright.copy(np.arange(6).reshape(2, 3)[:, ::-1]).tolist()
    [[2, 1, 0], [5, 4, 3]]
    """
    return _called("copy", a, single_out(out), device, queue, wait_for)


def _called(name: str, a: Any, out: Any, device: Any, queue: Any, wait_for: Any, limits: Limits | None = None) -> Any:
    """A call of that name: in tiles, by a ready call, or in the general way."""
    if limits is not None and limits.given:
        refuse_with_limits(queue=queue, wait_for=wait_for)
        return _in_tiles(a, out, name, limits)
    slot = None
    if wait_for is None:
        result, _, slot = run_ready((a,), out, ("input",), name, device, queue)
        if result is not REFUSED:
            return result
    memory = memory_for((a, out), device, queue, wait_for)
    if limits is not None and queue is None and _wants_tiles(memory, name, a, out):
        return _in_tiles(a, out, name, limits)
    taken = memory.as_array(a, "a")
    return _copied(memory, taken, _order(name, taken), out, slot)


def _wants_tiles(memory: Memory, name: str, a: Any, out: Any) -> bool:
    """Whether tiles are taken without a limit: a NumPy array and its transpose do not fit the device, and tiles can."""
    if a is out or not too_large(memory, bytes_of((a, a))):
        return False
    return bool(a.ndim == 2 or (a.ndim > 2 and name == "matrix_transpose"))


def _in_tiles(a: Any, out: Any, name: str, limits: Limits) -> Any:
    """The transpose tile by tile. What that needs is imported by the first such call."""
    from .streamed.calls import transpose_in_tiles

    return transpose_in_tiles(a, out, name, limits)


def _order(name: str, a: Any) -> tuple[int, ...]:
    """The dimensions of the array that become those of the result."""
    if name == "matrix_transpose":
        if a.ndim < 2:
            raise InvalidInput(f"matrix_transpose needs at least two dimensions, got the shape {a.shape}")
        return (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)
    return tuple(range(a.ndim)) if name == "copy" else tuple(reversed(range(a.ndim)))


def _copied(memory: Memory, a: Any, order: tuple[int, ...], out: Any, slot: Slot | None) -> Any:
    shape = tuple(a.shape[side] for side in order)
    check_elements(a.dtype)
    given = None if out is None else check_out_of_copy(memory, out, shape, a.dtype)
    taken = memory.as_operand(a, a.dtype)
    if given is not None and _transposes_in_place(memory, taken, order, given):
        own = ("in place", memory.key, memory.signature(taken))
        call = call_for(memory.device, own, lambda: _prepare_in_place(memory, taken))
        # `out` may be another array object over the same elements: it needs the event, too.
        memory.run(call, {"matrix": taken} if taken is given else {"matrix": taken, "out": given}, "matrix", True)
        return out
    target = target_of(memory, given, shape, a.dtype, (a,))
    key = ("copy", memory.key, order, memory.signature(taken), memory.signature(target.array))
    call = call_for(memory.device, key, lambda: _prepare(memory, taken, order, target.array))
    memory.run(call, {"input": taken, "output": target.array}, "output", False)
    if target.copied_to is not None:
        memory.assign(target.copied_to, target.array)
    elif slot is not None and taken is a and _may_be_ready(a):
        slot.keep(memory.ready(Recipe(call, ((0, "input"),), "output", target.array, slot.given)))
    return memory.result(target.array) if out is None else out


def _may_be_ready(a: Any) -> bool:
    """Not without dimensions, where a ready call gives a number, as products do; nor a structure: NumPy takes one of records
    for equal to one that is none, so that they would share a ready call, and the type of its results."""
    return bool(a.ndim) and a.dtype.names is None


def _transposes_in_place(memory: Memory, a: Any, order: tuple[int, ...], out: Any) -> bool:
    """Whether `out` is `a`, a stack of squares that kernels can write to, and few launches transpose it."""
    shape = tuple(a.shape[side] for side in order)
    if not _swaps_last_two(order, shape) or not memory.same_elements(a, out) or not memory.writable_by_kernels(out):
        return False
    view = memory.view(a)
    return distinct(view) and product_launches((view,)) <= MOST_LAUNCHES


def _swaps_last_two(order: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an order swaps the last two dimensions, of equal length, and no others."""
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
