"""The arguments of `matmul`, `gemm` and `prepare`, checked, as a Product."""

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..core.precision import PRECISIONS as SPECIAL_PRECISIONS
from ..core.precision import REPRODUCIBLE
from ..core.types import element_type
from ..errors import InvalidInput, UnknownName, quoted
from .epilogue_vectors import bias_side, given_vectors, scale_kinds
from .memory.choice import Memory
from .multiply import PLAIN, Product, epilogue_of
from .result_types import asked_type, product_types
from .rules import Casting, check_casting, scalar
from .shapes import product_shape
from .symmetric import swapped

Transposition: TypeAlias = Literal["N", "T", "C"]
Number: TypeAlias = complex | np.number | np.ndarray  # an array without dimensions
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu")
PRECISIONS = ("ieee", *SPECIAL_PRECISIONS)
GIVEN = ("A", "B", "c", "bias", "scale_a", "scale_b")  # the arrays of a gemm, by the names of kernel arguments


class Options(NamedTuple):
    """What `gemm` is asked for, besides arrays."""

    alpha: Any
    beta: Any
    trans_a: str
    trans_b: str
    activation: str | None
    casting: Casting
    dtype: Any
    precision: str | None


def matmul_product(memory: Memory, a: Any, b: Any, options: Options) -> Product:
    """The product of two arrays, by options of `plain_options`, whose casting rule the caller has checked."""
    left, right = memory.as_array(a, "a"), memory.as_array(b, "b")
    types = product_types(left.dtype, right.dtype, None if options.dtype is None else asked_type(options.dtype))
    name = options.precision
    epilogue = PLAIN if name is None else epilogue_of(precision=precision_for(types[0], name))
    return Product(left, right, types, options.casting, epilogue)


def gemm_product(memory: Memory, arrays: tuple[Any, ...], options: Options) -> Product:
    """The product of the arrays `GIVEN`, of which all but the first two may be None."""
    a, b, c, bias, scale_a, scale_b = arrays
    alpha, beta, trans_a, trans_b, activation, casting, dtype, precision = options
    check_casting(casting)
    check_activation_name(activation)
    left = _transposed(memory.as_array(a, "a"), "trans_a", trans_a)
    right = _transposed(memory.as_array(b, "b"), "trans_b", trans_b)
    types = product_types(left.dtype, right.dtype, None if dtype is None else asked_type(dtype))
    factor, carried = scalar("alpha", alpha, types[1]), scalar("beta", beta, types[1])
    if carried != 0 and c is None:
        raise InvalidInput(f"beta={beta} needs c, which is None: pass c, or beta=0")
    vectors = given_vectors(memory, bias, scale_a, scale_b)
    side = bias_side(vectors, product_shape(left.shape, right.shape)) if vectors else ""
    scales = scale_kinds(vectors, left, right) if vectors else ("", "")
    epilogue = epilogue_of(factor, carried, side, activation or "", precision_for(types[0], precision), *scales)
    added = None if carried == 0 else memory.as_array(c, "c")
    conjugate, transposed = (trans_a == "C", trans_b == "C"), (trans_a != "N", trans_b != "N")
    return Product(left, right, types, casting, epilogue, added, vectors, conjugate, transposed)


def reads_c(beta: Any) -> bool:
    """Whether a product with this beta reads `c`. It does for what is no number, and is refused later."""
    number = isinstance(beta, int | float | complex | np.generic) or (isinstance(beta, np.ndarray) and not beta.ndim)
    return not number or bool(beta != 0)


def check_activation_name(activation: str | None) -> None:
    """UnknownName for what is no activation; None is none."""
    if activation is not None and not (isinstance(activation, str) and activation in ACTIVATIONS):
        raise UnknownName("activation", activation, ACTIVATIONS)


def checked_precision(precision: str | None) -> str:
    """The name of a precision mode; "" for the type's own arithmetic."""
    if precision is not None and not (isinstance(precision, str) and precision in PRECISIONS):
        raise UnknownName("precision", precision, PRECISIONS)
    return "" if precision in (None, "ieee") else str(precision)


def precision_for(dtype: str, precision: str | None) -> str:
    """The mode in which operands of a type are multiplied. Integers are reproducible as they are: their sums are exact."""
    name = checked_precision(precision)
    return "" if name == REPRODUCIBLE and element_type(dtype).exact else name


def _transposed(array: Any, name: str, how: str) -> Any:
    """The array, or a view of it with its last two dimensions swapped."""
    if not isinstance(how, str) or how not in ("N", "T", "C"):
        raise InvalidInput(f'{name}={quoted(how)}: write "N", "T" or "C"')
    if how == "N":
        return array
    if array.ndim < 2:
        raise InvalidInput(f"{name}={how!r} needs a matrix, got the shape {array.shape}")
    return swapped(array)
