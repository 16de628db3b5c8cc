"""`matmul` and `gemm`: check the arguments, then call `multiply`."""

from __future__ import annotations  # so that a tooltip says ArrayLike, not the twenty types that it stands for

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .lookup import keep_plain, run_ready
from .memory.choice import MEMORIES, memory_for
from .memory.host import HostReady
from .memory.opencl_ready import OpenCLReady
from .memory.ready import REFUSED
from .multiply import multiply, multiply_along
from .numpy_first import keep_numpys, numpys_first
from .requests import GIVEN, Number, Options, Transposition, gemm_product, matmul_product
from .rules import Casting, check_casting, single_out
from .streamed.limits import (
    NO_LIMITS,
    NOTHING_ADDED,
    Bytes,
    Limits,
    Where,
    bytes_of,
    has_long_copies,
    limits_of,
    plain_options,
    refuse_with_limits,
    result_elements,
    too_large,
)

if TYPE_CHECKING:
    from pyopencl.array import Array as DeviceArray


@overload
def matmul(
    a: DeviceArray,
    b: ArrayLike | DeviceArray,
    out: DeviceArray | tuple[DeviceArray] | None = None,
    *,
    axes: Sequence[Any] | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> DeviceArray: ...


@overload
def matmul(  # type: ignore[overload-cannot-match]  # where PyOpenCL's types are not read
    a: ArrayLike | DeviceArray,
    b: DeviceArray,
    out: DeviceArray | tuple[DeviceArray] | None = None,
    *,
    axes: Sequence[Any] | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> DeviceArray: ...


@overload
def matmul(
    a: ArrayLike,
    b: ArrayLike,
    out: np.ndarray | tuple[np.ndarray] | None = None,
    *,
    axes: Sequence[Any] | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> np.ndarray: ...


@numpys_first
def matmul(
    a: ArrayLike | DeviceArray,
    b: ArrayLike | DeviceArray,
    out: Any = None,
    *,
    axes: Sequence[Any] | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> Any:
    """Multiply matrices by the rules of `numpy.matmul`.

    Shapes: `a` is (..., m, k), `b` is (..., k, n), and the result is (..., m, n). Leading dimensions broadcast. A 1-D `a`
    is a row, a 1-D `b` is a column, and the result loses that dimension.

    Arrays: operands are NumPy arrays, PyOpenCL arrays, CUDA arrays (of PyTorch, CuPy, JAX, Numba), or anything that NumPy
    converts, of any strides. CUDA arrays give an array of the first one's kind at once, in its current stream. NumPy operands
    give a complete NumPy array. If an operand is a PyOpenCL array, the call returns a PyOpenCL array at once; its last
    event is in `result.events`, and its memory comes from the allocator of the first operand that has one.

    Arguments:
        out: the array for the result, or a tuple of one. It must be writable. It may overlap an operand.
        axes: the dimensions of a, b and the result that hold the matrices; the default is [(-2, -1), (-2, -1), (-2, -1)].
        casting: NumPy's rule for conversions of operands, `out` and `dtype`.
        dtype: the type to compute in and to return. The default is NumPy's promotion of both types, with two
            exceptions: int8 gives int32, which is exact, and 8-bit floats give float32. Other integers are exact modulo the
            width of their type, as NumPy's are: uint8 modulo 256. A wider dtype keeps more: int32 or int64 for any shorter
            integers. bool gives bool, by logical or-and; dtype="int32" counts. uint64 with a signed type is float64.
        precision: None or "ieee" for the type's own arithmetic; fp16 and bfloat16 are summed in float32. Other modes are
            used only if they are asked for, and only on devices with tensor cores. For float32, "tf32" keeps 11 bits of
            each factor, and "fp32_split" adds three fp16 products and is as accurate as "ieee". For 8-bit floats, "fp8"
            sums 13 bits within each 128 steps of k. "reproducible", for real floats of 16 bits and more, gives an element the
            same bits in any product that has its row and its column, on any device; integers have them anyway.
        device: where NumPy operands are multiplied: an index, "cpu", "gpu" or part of a name; a list of them, or "all", for
            several devices.
        queue: the pyopencl.CommandQueue to use. It must run commands in order. The default is the array's own. With CUDA
            arrays, a stream.
        wait_for: a list of pyopencl.Event that must complete first.
        max_device_bytes, max_host_bytes: the most memory of each device, and of the host, that the call takes for itself:
            "8GB" or a number of bytes. The product is then computed in tiles, also of `numpy.memmap`s larger than memory.
            Large NumPy matrices are multiplied in tiles on a GPU without a limit, too: copies run beside the product.
        progress: show the tiles that are done, and the time left.

    Raises:
        InvalidInput: shapes, `axes` or `out` do not fit, or `casting` forbids a conversion. It is a ValueError and a TypeError.
        UnsupportedType: no kernel multiplies the type. It is a TypeError.
        Unsupported: the queue may run commands out of order, or a device array is not aligned to its elements.
        OutOfDeviceMemory: the operands do not fit the device.
        StorageFailed: a file of a memmap was cut short, or the disk of `out` is full.
        Nothing is written to `out` before an InvalidInput, UnsupportedType or Unsupported.

    >>> import numpy as np, tilewright
    >>> tilewright.matmul(np.eye(2, dtype=np.float32), np.array([[1, 2], [3, 4]], np.float32)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    # The ways to a product, the quickest first, after NumPy's own function (numpy_first.py). All but the last are written out
    # here: another function would take 0.1 us. NumPy's own and the first are known from an earlier call that came to the third.

    # 1. A launch on device arrays and their own queue. Each test before this one is a hundredth of such a call's Python.
    asked = ("matmul", casting, dtype, precision)
    calls = MEMORIES.get(type(a))
    if (
        calls is not None
        and calls.has_plain
        and axes is device is queue is wait_for is max_device_bytes is max_host_bytes is None
        and progress is False
        and (result := calls.run_plain(a, b, out, asked)) is not REFUSED
    ):
        return result

    # 2. Tiles, if they are asked for.
    out = single_out(out)
    limits = NO_LIMITS
    if device is not None or max_device_bytes is not None or max_host_bytes is not None or progress is not False:
        limits = limits_of(device, max_device_bytes, max_host_bytes, progress)
    if limits is not NO_LIMITS and limits.given:
        refuse_with_limits(axes=axes, queue=queue, wait_for=wait_for)
        return _in_tiles((a, b, *NOTHING_ADDED), out, plain_options(casting, dtype, precision), limits)

    # 3. A ready call of equal arguments.
    slot = None
    if axes is None and wait_for is None:
        result, ready, slot = run_ready((a, b), out, ("A", "B"), asked, device, queue)
        if result is not REFUSED:
            if type(ready) is HostReady and casting == "same_kind" and dtype is precision is device is queue is None:
                keep_numpys(ready, a, b, out)
            elif type(ready) is OpenCLReady and queue is None:
                keep_plain(ready, a, b, out, asked)
            return result

    # 4. The general way: everything is checked, planned and prepared.
    memory = memory_for((a, b, out), device, queue, wait_for)
    options = plain_options(casting, dtype, precision)
    check_casting(casting)
    if axes is None and queue is None and _wants_tiles(memory, (a, b, *NOTHING_ADDED), out, options):
        return _in_tiles((a, b, *NOTHING_ADDED), out, options, limits)
    product = matmul_product(memory, a, b, options)
    return multiply(memory, product, out, slot) if axes is None else multiply_along(axes, memory, product, out)


@overload
def gemm(
    a: DeviceArray,
    b: ArrayLike | DeviceArray,
    c: ArrayLike | DeviceArray | None = None,
    *,
    alpha: Number = 1,
    beta: Number = 0,
    trans_a: Transposition = "N",
    trans_b: Transposition = "N",
    bias: ArrayLike | DeviceArray | None = None,
    activation: str | None = None,
    scale_a: ArrayLike | DeviceArray | None = None,
    scale_b: ArrayLike | DeviceArray | None = None,
    out: DeviceArray | tuple[DeviceArray] | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> DeviceArray: ...


@overload
def gemm(  # type: ignore[overload-cannot-match]  # where PyOpenCL's types are not read
    a: ArrayLike | DeviceArray,
    b: DeviceArray,
    c: ArrayLike | DeviceArray | None = None,
    *,
    alpha: Number = 1,
    beta: Number = 0,
    trans_a: Transposition = "N",
    trans_b: Transposition = "N",
    bias: ArrayLike | DeviceArray | None = None,
    activation: str | None = None,
    scale_a: ArrayLike | DeviceArray | None = None,
    scale_b: ArrayLike | DeviceArray | None = None,
    out: DeviceArray | tuple[DeviceArray] | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> DeviceArray: ...


@overload
def gemm(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    alpha: Number = 1,
    beta: Number = 0,
    trans_a: Transposition = "N",
    trans_b: Transposition = "N",
    bias: ArrayLike | DeviceArray | None = None,
    activation: str | None = None,
    scale_a: ArrayLike | DeviceArray | None = None,
    scale_b: ArrayLike | DeviceArray | None = None,
    out: np.ndarray | tuple[np.ndarray] | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> np.ndarray: ...


def gemm(
    a: ArrayLike | DeviceArray,
    b: ArrayLike | DeviceArray,
    c: ArrayLike | DeviceArray | None = None,
    *,
    alpha: Number = 1,
    beta: Number = 0,
    trans_a: Transposition = "N",
    trans_b: Transposition = "N",
    bias: ArrayLike | DeviceArray | None = None,
    activation: str | None = None,
    scale_a: ArrayLike | DeviceArray | None = None,
    scale_b: ArrayLike | DeviceArray | None = None,
    out: Any = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: Where = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    progress: bool = False,
) -> Any:
    """BLAS's gemm with an epilogue: activation(alpha op(a) op(b) + beta c + bias).

    Arguments that are not listed here are those of `matmul`, and so are the arrays, types and errors.

    Arguments:
        c: an array of the result's shape. It is read only if beta is not 0, so its NaNs do not leak then. It is unchanged
            unless it overlaps `out`.
        alpha, beta: numbers that the result's type can hold: integers for integers (from 0 on for unsigned ones), 0 or 1 for
            bool, real numbers for real types. If alpha is 0, `a` and `b` are not read.
        trans_a, trans_b: "N" (as it is), "T" (transposed) or "C" (conjugated and transposed).
        bias: n elements, one for each column; or the shape (m, 1), one for each row.
        activation: "relu", "gelu" (by erf), "gelu_tanh" or "silu". The result must be a real float.
        scale_a: for 8-bit floats, a number, or m elements, one for each row of op(a).
        scale_b: for 8-bit floats, a number, or n elements, one for each column of op(b). The product is multiplied by both
            scales in float32, before alpha. All matrices of a stack have the same scales.

    Raises, in addition to the errors of `matmul`:
        InvalidInput: `c`, `bias` or a scale has another shape, or alpha or beta does not fit the result's type.
        UnknownName: no activation or precision has that name.
        UnsupportedType: an activation is asked for, and the result is not a real float.

    >>> import numpy as np, tilewright
    >>> a = np.array([[1.0, -2.0]], np.float32)
    >>> tilewright.gemm(a, a, trans_b="T", alpha=2, activation="relu").tolist()
    [[10.0]]
    """
    out = single_out(out)
    arrays = (a, b, c, bias, scale_a, scale_b)
    options = Options(alpha, beta, trans_a, trans_b, activation, casting, dtype, precision)
    limits = NO_LIMITS
    if device is not None or max_device_bytes is not None or max_host_bytes is not None or progress is not False:
        limits = limits_of(device, max_device_bytes, max_host_bytes, progress)
    if limits is not NO_LIMITS and limits.given:
        refuse_with_limits(queue=queue, wait_for=wait_for)
        return _in_tiles(arrays, out, options, limits)
    slot = None
    if wait_for is None:
        # 2 and 2+0j are equal, but not the same number to a kernel; an `out` that is `c` already holds it.
        asked = (options, type(alpha), type(beta), c is not None and c is out)
        result, _, slot = run_ready(arrays, out, GIVEN, asked, device, queue)
        if result is not REFUSED:
            return result
    memory = memory_for((*arrays, out), device, queue, wait_for)
    product = gemm_product(memory, arrays, options)  # which checks the options
    if queue is None and _wants_tiles(memory, arrays, out, options):
        return _in_tiles(arrays, out, options, limits)
    return multiply(memory, product, out, slot)


def _wants_tiles(memory: Any, arrays: tuple[Any, ...], out: Any, options: Options) -> bool:
    """Whether tiles are taken without a limit: NumPy arrays do not fit the device, or the product ends sooner."""
    a, b, c = arrays[:3]
    nbytes = bytes_of((a, b, c), result_elements(a, b, options.trans_a, options.trans_b))
    if too_large(memory, nbytes):
        return True
    if not has_long_copies(memory, nbytes):
        return False
    from .streamed.overlap import ends_sooner_in_tiles

    return ends_sooner_in_tiles(memory.device, arrays, out, options)


def _in_tiles(arrays: tuple[Any, ...], out: Any, options: Options, limits: Limits) -> Any:
    """The product tile by tile. What that needs is imported by the first such call."""
    from .streamed.calls import product_in_tiles

    return product_in_tiles(arrays, out, options, limits)
