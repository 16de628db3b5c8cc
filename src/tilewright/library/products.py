"""`matmul` and `gemm`: what is asked becomes types, views and problems; the engine does the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..backend.vpdpbusd import equipped
from ..choice import plan_product
from ..dtypes import FLOAT8, numpy_dtype
from ..errors import InvalidInput, UnknownName
from ..problem import PRECISIONS as SPECIAL_PRECISIONS
from ..problem import StridedGemm
from .engine import Call, call_for
from .operands import native_dtype
from .places import Place, place_for
from .shapes import Batch, ProductShape, View, as_matrices, batches, folded, product_shape
from .vectors import bias_side, scale_kinds, taken

Transposition = Literal["N", "T", "C"]
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu")
PRECISIONS = ("ieee", *SPECIAL_PRECISIONS)
# Types whose products are stored wider without converting the operands first.
STORED_WIDER = {
    "float16": ("float32",), "bfloat16": ("float32",), "int8": ("int32",),
    "float8_e4m3fn": ("float32", "float16", "bfloat16"), "float8_e5m2": ("float32", "float16", "bfloat16"),
}  # fmt: skip
# What a product is stored in unless a type is asked for, where the operands' own would lose most of it.
BY_DEFAULT = {"int8": "int32", "float8_e4m3fn": "float32", "float8_e5m2": "float32"}
NONE: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Epilogue:
    """What becomes of A B before it is stored, activation(alpha S + beta C + bias), and how it is multiplied.

    S is A B, or rows and columns of it scaled: `scale_a` and `scale_b` are "each", "one" or "".
    """

    alpha: complex = 1.0
    beta: complex = 0.0
    bias: str = ""  # "row": one element per column of C; "column": one per row; "": none
    activation: str = ""
    precision: str = ""
    scale_a: str = ""
    scale_b: str = ""


def matmul(
    a: ArrayLike,
    b: ArrayLike,
    out: Any = None,
    *,
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: str | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """The matrix product of two arrays, by NumPy's rules for `matmul`.

    `a` (..., m, k) and `b` (..., k, n) are NumPy arrays, PyOpenCL arrays, or anything that NumPy takes; leading
    dimensions broadcast, a 1-D operand is a row or a column that the result loses again. Any strides will do. The
    result (..., m, n) comes back as what went in: a NumPy array, complete; or a PyOpenCL array, without waiting, its
    event among `result.events`.

    `out` takes the result; it may overlap an operand. `dtype` is the type to compute in and to return. Without it,
    operands of different types are promoted as NumPy does; int8 gives int32, which is exact (NumPy's int8 wraps), and
    8-bit floats give float32. All short floats are summed in float32. `precision` None or "ieee" is the type's own
    arithmetic; nothing less is ever used unasked. For float32, "tf32" lets tensor cores read 11 bits of each factor,
    and "fp32_split" lets them take three products of halves, as accurate as float32's own; for 8-bit floats "fp8"
    lets tensor cores sum with 13 bits within 128 steps of k. A device without them computes as "ieee" does.
    `device` is an index, "cpu", "gpu" or part of a name, for NumPy operands; `queue` and `wait_for` are PyOpenCL's, for
    device operands.

    Raises InvalidInput (a ValueError) for shapes that do not fit, Unsupported for types that no kernel or device has,
    OutOfDeviceMemory where operands do not fit the device.

    >>> import numpy as np, tilewright
    >>> tilewright.matmul(np.eye(2, dtype=np.float32), np.array([[1, 2], [3, 4]], np.float32)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    place = place_for((a, b, out), device, queue, wait_for)
    return _multiply(place, place.take(a), place.take(b), out, dtype, Epilogue(precision=_checked(precision)))


def gemm(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    alpha: complex = 1,
    beta: complex = 0,
    trans_a: Transposition = "N",
    trans_b: Transposition = "N",
    bias: ArrayLike | None = None,
    activation: str | None = None,
    scale_a: ArrayLike | None = None,
    scale_b: ArrayLike | None = None,
    out: Any = None,
    dtype: DTypeLike | None = None,
    precision: str | None = None,
    device: str | None = None,
    queue: Any = None,
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """activation(alpha op(a) op(b) + beta c + bias): BLAS's gemm with an epilogue.

    `trans_a` and `trans_b` are "N", "T" or "C" (conjugated and transposed). `c` is read only if beta is not 0, so that
    a NaN in it does not leak then; `a` and `b` are read only if alpha is not 0. `c` stays as it is unless it is `out`
    too. `bias` has n elements, one per column, or the shape (m, 1), one per row. `activation` is "relu", "gelu" (by
    erf), "gelu_tanh" or "silu", for real results. Everything else is as in `matmul`.

    8-bit floats may be scaled: `scale_a` is a number or has m elements, one for each row of op(a), `scale_b` a number or
    n elements, one for each column of op(b), the same for all matrices of a stack. The product is multiplied by them in
    float32, before alpha.

    >>> import numpy as np, tilewright
    >>> a = np.array([[1.0, -2.0]], np.float32)
    >>> tilewright.gemm(a, a, trans_b="T", alpha=2, activation="relu").tolist()
    [[10.0]]
    """
    if beta != 0 and c is None:
        raise InvalidInput(f"beta={beta} asks for a c, and there is none")
    if activation is not None and activation not in ACTIVATIONS:
        raise UnknownName("activation", activation, ACTIVATIONS)
    place = place_for((a, b, c, bias, scale_a, scale_b, out), device, queue, wait_for)
    left = _transposed(place.take(a), "trans_a", trans_a)
    right = _transposed(place.take(b), "trans_b", trans_b)
    conjugate = (trans_a == "C", trans_b == "C")
    added = place.take(c) if beta != 0 else None
    vectors = taken(place, bias, scale_a, scale_b)
    side = bias_side(vectors, product_shape(left.shape, right.shape))
    epilogue = Epilogue(alpha, beta, side, activation or "", _checked(precision), *scale_kinds(vectors, left, right))
    return _multiply(place, left, right, out, dtype, epilogue, added, vectors, conjugate)


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


@lru_cache(maxsize=256)
def product_types(a: np.dtype, b: np.dtype, dtype: np.dtype | None) -> tuple[str, str]:
    """The type that the operands are read in, and that of the result."""
    asked = None if dtype is None else native_dtype(dtype)
    if a != b and {a.name, b.name} == set(FLOAT8):  # halves hold both kinds exactly
        return "float16", asked or "float32"
    if a == b:
        own = native_dtype(a)
        if asked is None:
            return own, BY_DEFAULT.get(own, own)
        if asked == own or asked in STORED_WIDER.get(own, ()):
            return own, asked
    target = asked or native_dtype(np.result_type(a, b))
    return target, target


def _multiply(
    place: Place, a: Any, b: Any, out: Any, dtype: DTypeLike | None, epilogue: Epilogue, c: Any = None,
    vectors: Mapping[str, Any] = NONE, conjugate: tuple[bool, bool] = (False, False),
) -> Any:  # fmt: skip
    read, written = product_types(a.dtype, b.dtype, None if dtype is None else np.dtype(dtype))
    a, b = place.cast(a, numpy_dtype(read)), place.cast(b, numpy_dtype(read))
    kind = numpy_dtype(written)
    sizes = product_shape(a.shape, b.shape)
    target = _target(place, sizes.result, kind, out, (a, b, *vectors.values()))
    if c is not None:
        if c.shape != sizes.result:
            raise InvalidInput(f"c has the shape {c.shape}, the product {sizes.result}")
        if c is not target:
            place.assign(target, c)
    arrays = {"A": a, "B": b, "C": target}
    for name, vector in vectors.items():
        arrays[name] = place.vector(place.cast(vector, kind if name == "bias" else np.dtype(np.float32)))
    key = (place.key, read, written, epilogue, conjugate, *(place.signature(array) for array in arrays.values()))
    call = call_for(key, lambda: _prepare(place, (a, b, target), sizes, (read, written), epilogue, conjugate))
    place.run(call, arrays, "C", epilogue.beta != 0)
    if out is not None and out is not target:
        place.assign(out, target)
        return out
    return place.result(target)


def _target(place: Place, shape: tuple[int, ...], dtype: np.dtype, out: Any, operands: Sequence[Any]) -> Any:
    """Where the kernel writes: `out` itself if it can, otherwise an array to be copied there afterwards."""
    if out is None:
        return place.empty(shape, dtype)
    if out.shape != shape:
        raise InvalidInput(f"out has the shape {out.shape}, the result {shape}")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise InvalidInput(f"out is {out.dtype}, to which the result's {dtype} cannot be cast by the rule 'same_kind'")
    direct = out.dtype == dtype and place.signature(place.take(out)) == place.signature(out)
    if direct and not any(each is not None and place.overlap(each, out) for each in operands):
        return out
    return place.empty(shape, dtype)


def _prepare(
    place: Place,
    arrays: tuple[Any, Any, Any],
    sizes: ProductShape,
    types: tuple[str, str],
    epilogue: Epilogue,
    conjugate: tuple[bool, bool],
) -> Call:
    a, b, result = (place.view(array) for array in arrays)
    if len(a.shape) == 1:
        result = _with_side(result, len(sizes.batch))
    if len(b.shape) == 1:
        result = _with_side(result, len(result.shape))
    views = (
        as_matrices(a).broadcast((*sizes.batch, sizes.m, sizes.k)),
        as_matrices(b, column=True).broadcast((*sizes.batch, sizes.k, sizes.n)),
        result,
    )
    if sizes.m == 0 or sizes.n == 0:
        return Call((), place.device)
    problems = (_problem(each, sizes, types, epilogue, conjugate) for each in batches(views))
    info = equipped(place.device.info, types[0])
    return Call([plan_product(problem, info) for problem in problems], place.device)


def _with_side(view: View, place: int) -> View:
    """The view with a dimension of 1 at `place`: the one that a 1-D operand took away."""
    shape, strides = list(view.shape), list(view.strides)
    shape.insert(place, 1)
    strides.insert(place, 0)
    return View(tuple(shape), tuple(strides), view.offset)


def _problem(
    batch: Batch, sizes: ProductShape, types: tuple[str, str], epilogue: Epilogue, conjugate: tuple[bool, bool]
) -> StridedGemm:
    """One launch's problem."""
    m = sizes.m
    if epilogue.bias != "column" and epilogue.scale_a != "each":
        batch, m = folded(batch, m)
    a, b, c = batch.layouts
    k = sizes.k if epilogue.alpha != 0 else 0  # as in BLAS: A and B are not read then, so that no NaN of theirs leaks
    return StridedGemm(
        m, sizes.n, k, types[0], alpha=epilogue.alpha, beta=epilogue.beta, out_dtype=types[1], batch=batch.count,
        views=(a, b, c), bias=epilogue.bias, activation=epilogue.activation,
        conjugate_a=conjugate[0], conjugate_b=conjugate[1], precision=epilogue.precision,
        scale_a=epilogue.scale_a, scale_b=epilogue.scale_b,
    )  # fmt: skip
