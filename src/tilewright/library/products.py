"""`matmul` and `gemm`: what is asked, checked and put into NumPy's and BLAS's terms; `multiply` does the rest."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..core.precision import PRECISIONS as SPECIAL_PRECISIONS
from ..errors import InvalidInput, UnknownName
from .axes import matrices_at, matrices_last, matrix_axes
from .epilogue_vectors import bias_side, given_vectors, scale_kinds
from .memory import memory_for
from .multiply import PLAIN, Product, epilogue_of, multiply
from .result_types import asked_type, product_types
from .rules import Casting, check_casting, scalar, single_out
from .shapes import product_shape

Transposition = Literal["N", "T", "C"]
Number = complex | np.number | np.ndarray  # an array without dimensions
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu")
PRECISIONS = ("ieee", *SPECIAL_PRECISIONS)


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    out: Any = None,
    *,
    axes: Sequence[Any] | None = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: str | int | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """The matrix product of two arrays, by NumPy's rules for `matmul`.

    `a` (..., m, k) and `b` (..., k, n) are NumPy arrays, PyOpenCL arrays, or anything that NumPy takes; leading
    dimensions broadcast, a 1-D operand is a row or a column that the result loses again. Any strides will do. The
    result (..., m, n) comes back as what went in: a NumPy array, complete; or a PyOpenCL array, without waiting, its
    event among `result.events`.

    `out`, an array or a tuple of one, takes the result; it must be writable and may overlap an operand. `axes` names the
    dimensions of a, b and the result that hold the matrices, [(-2, -1), (-2, -1), (-2, -1)] if it is not given. `dtype` is
    the type to compute in and to return; `casting` is NumPy's rule for what may be converted to it. Without it, operands
    of different types are promoted as NumPy does; int8 gives int32, which is exact (NumPy's int8 wraps), and
    8-bit floats give float32. All short floats are summed in float32. `precision` None or "ieee" is the type's own
    arithmetic; nothing less is ever used unasked. For float32, "tf32" lets tensor cores read 11 bits of each factor,
    and "fp32_split" lets them take three products of halves, as accurate as float32's own; for 8-bit floats "fp8"
    lets tensor cores sum with 13 bits within 128 steps of k. A device without them computes as "ieee" does.
    `device` is an index, "cpu", "gpu" or part of a name, for NumPy operands; `queue` and `wait_for` are PyOpenCL's, for
    device operands.

    Raises InvalidInput (a ValueError and a TypeError) for shapes that do not fit, casts that are not allowed and an `out` that
    is read-only; UnsupportedType for types that no kernel has, Unsupported for queues that are not in order;
    OutOfDeviceMemory where operands do not fit the device. Nothing is written then.

    >>> import numpy as np, tilewright
    >>> tilewright.matmul(np.eye(2, dtype=np.float32), np.array([[1, 2], [3, 4]], np.float32)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    out = single_out(out)
    memory = memory_for((a, b, out), device, queue, wait_for)
    left, right = memory.as_array(a), memory.as_array(b)
    if casting != "same_kind":
        check_casting(casting)
    types = product_types(left.dtype, right.dtype, None if dtype is None else asked_type(dtype))
    epilogue = PLAIN if precision is None else epilogue_of(precision=_checked(precision))
    product = Product(left, right, types, casting, epilogue)
    if axes is None:
        return multiply(memory, product, out)
    core = matrix_axes(axes, left.ndim, right.ndim)
    product = product._replace(a=matrices_last(left, core[0]), b=matrices_last(right, core[1]))
    if out is None:
        result = multiply(memory, product, None)
        return matrices_at(result, core[2]) if core[2] else result
    seen = memory.as_out(out)
    if seen.ndim <= max(core[2], default=-1):
        raise InvalidInput(f"out has the shape {seen.shape}; its matrices are asked for in dimensions {core[2]}")
    multiply(memory, product, matrices_last(seen, core[2]))
    return out


def gemm(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    alpha: Number = 1,
    beta: Number = 0,
    trans_a: Transposition = "N",
    trans_b: Transposition = "N",
    bias: ArrayLike | None = None,
    activation: str | None = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    out: Any = None,
    casting: Casting = "same_kind",
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: str | int | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """activation(alpha op(a) op(b) + beta c + bias): BLAS's gemm with an epilogue.

    `trans_a` and `trans_b` are "N", "T" or "C" (conjugated and transposed). `c` is read only if beta is not 0, so that
    a NaN in it does not leak then; `a` and `b` are read only if alpha is not 0. `c` stays as it is unless it is `out`
    too. `bias` has n elements, one per column, or the shape (m, 1), one per row. `activation` is "relu", "gelu" (by
    erf), "gelu_tanh" or "silu", for real floats. `alpha` and `beta` are numbers that the result's type can hold: whole ones
    for int32, real ones for real results. `c` may be `out`, or overlap it. Everything else is as in `matmul`.

    8-bit floats may be scaled: `scale_a` is a number or has m elements, one for each row of op(a), `scale_b` a number or
    n elements, one for each column of op(b), the same for all matrices of a stack. The product is multiplied by them in
    float32, before alpha.

    >>> import numpy as np, tilewright
    >>> a = np.array([[1.0, -2.0]], np.float32)
    >>> tilewright.gemm(a, a, trans_b="T", alpha=2, activation="relu").tolist()
    [[10.0]]
    """
    if casting != "same_kind":
        check_casting(casting)
    if activation is not None and activation not in ACTIVATIONS:
        raise UnknownName("activation", activation, ACTIVATIONS)
    out = single_out(out)
    memory = memory_for((a, b, c, bias, scale_a, scale_b, out), device, queue, wait_for)
    left = _transposed(memory.as_array(a), "trans_a", trans_a)
    right = _transposed(memory.as_array(b), "trans_b", trans_b)
    types = product_types(left.dtype, right.dtype, None if dtype is None else asked_type(dtype))
    factor, carried = scalar("alpha", alpha, types[1]), scalar("beta", beta, types[1])
    if carried != 0 and c is None:
        raise InvalidInput(f"beta={beta} asks for a c, and there is none")
    vectors = given_vectors(memory, bias, scale_a, scale_b)
    side = bias_side(vectors, product_shape(left.shape, right.shape)) if vectors else ""
    scales = scale_kinds(vectors, left, right) if vectors else ("", "")
    epilogue = epilogue_of(factor, carried, side, activation or "", _checked(precision), *scales)
    added = None if carried == 0 else memory.as_array(c)
    product = Product(left, right, types, casting, epilogue, added, vectors, (trans_a == "C", trans_b == "C"))
    return multiply(memory, product, out)


def _checked(precision: str | None) -> str:
    """The precision as problems name it: "" for the type's own."""
    if precision is not None and precision not in PRECISIONS:
        raise UnknownName("precision", precision, PRECISIONS)
    return "" if precision in (None, "ieee") else str(precision)


def _transposed(array: Any, name: str, how: str) -> Any:
    """The array with its last two dimensions swapped, a view, if `how` asks for it."""
    if how not in ("N", "T", "C"):
        raise InvalidInput(f'{name}={how!r}: one of "N", "T" and "C"')
    if how == "N":
        return array
    if array.ndim < 2:
        raise InvalidInput(f"{name}={how!r} needs a matrix, got the shape {array.shape}")
    return array.transpose((*range(array.ndim - 2), array.ndim - 1, array.ndim - 2))
