"""NumPy's own product in the place of launches: which calls may be, and what they do."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ..core.plan import Plan, Rejection
from ..core.types import element_type, numpy_dtype
from ..dispatch.numpys_own import BLAS_TYPES, Asked
from .shapes import ProductShape, View
from .views import host_view, whole_elements

COPIES_GAPS = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 3)  # `matmul` packs what a BLAS cannot read
HostCall = Callable[[Mapping[str, np.ndarray]], None]
DOT, MATMUL = "numpy.dot", "numpy.matmul"
Way = Callable[..., np.ndarray]  # a function of two operands, and of `out`, such as `numpy.matmul`


def asked_of(views: tuple[View, View, View], sizes: ProductShape, types: tuple[str, str], ours: int) -> Asked:
    """What the product of these stacks asks of NumPy. `ours` is the number of products for kernels."""
    a, b = views[:2]
    gaps = not COPIES_GAPS and not (_readable(a) and _readable(b))
    pieces = not (_whole(a) and _whole(b))
    return Asked(prod(sizes.batch), sizes.m, sizes.n, sizes.k, *types, ours, gaps, (_across(a), _across(b)), pieces)


def _readable(view: View) -> bool:
    """Whether a BLAS reads the matrices where they lie: along rows or along columns, without overlap."""
    (rows, columns), (down, along) = view.shape[-2:], view.strides[-2:]
    return 1 in (rows, columns) or (along == 1 and down >= columns) or (down == 1 and along >= rows)


def _whole(view: View) -> bool:
    """Whether each matrix lies in one piece, along its rows or along its columns."""
    (rows, columns), (down, along) = view.shape[-2:], view.strides[-2:]
    by_rows = (columns == 1 or along == 1) and (rows == 1 or down == columns)
    by_columns = (rows == 1 or down == 1) and (columns == 1 or along == rows)
    return by_rows or by_columns


def _across(view: View) -> bool:
    """Whether the matrices lie transposed: along their columns, not along their rows."""
    down, along = view.strides[-2:]
    return abs(down) < abs(along)


def fits(epilogue: Any, conjugate: tuple[bool, bool], sizes: ProductShape, result: np.ndarray) -> bool:
    """Whether NumPy can do all that is asked, with the same result but for rounding.

    Activations differ in NaNs and rounding, and with alpha = 0 no operand is read. NumPy 2.3.0 is wrong for results that lie
    by columns. A bias of rows or columns that the result has lost is left to kernels.
    """
    if epilogue.activation or epilogue.precision or epilogue.scale_a or epilogue.alpha == 0:
        return False
    if not result.flags.c_contiguous or (any(conjugate) and result.dtype.kind == "c"):
        return False
    if epilogue.bias and result.ndim < len(sizes.batch) + 2:
        return False
    scaled = epilogue.alpha != 1 or epilogue.beta != 0 or bool(epilogue.bias)
    return not scaled or result.dtype.name in BLAS_TYPES


def keeps_symmetry(views: tuple[View, ...], k: int, types: tuple[str, str]) -> bool:
    """Whether NumPy's product of a matrix and its own transpose equals its transpose to the last bit.

    NumPy gives it to BLAS's syrk if that reads the matrix where it lies. From copies, which it makes for gaps and conversions,
    gemm sums an element and its mirror image in two ways; so does a loop over complex numbers that fuses multiply-adds.
    """
    if types[1] not in BLAS_TYPES:
        return True
    by_syrk = types[0] == types[1] and all(_readable(view) for view in views[:2])
    return by_syrk and (k > 1 or element_type(types[1]).parts == 1)


def mirrors_itself(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether `keeps_symmetry` holds for arrays of these layouts and types if B is A transposed in memory."""
    if a.ndim < 2 or a.shape[-2:] != b.shape[:-3:-1] or a.strides[-2:] != b.strides[:-3:-1]:
        return True
    if a.dtype != b.dtype or a.shape[-2] < 2 or a.dtype.newbyteorder("=").name not in BLAS_TYPES:
        return True
    if not a.dtype.isnative or not whole_elements(a):
        return False
    kind = a.dtype.name
    return keeps_symmetry((host_view(a)[0], host_view(b)[0]), a.shape[-1], (kind, kind))


def plan_of(kernels: Plan, reason: str, asked: Asked) -> Plan:
    """The plan to call NumPy, with the launches that are not taken."""
    why = f"NumPy's own product is faster here: {reason}; device= asks for kernels"
    lost = tuple(Rejection(step.kernel.name, str(step.config), why) for step in kernels.steps)
    return replace(kernels, steps=(), host_call=DOT if asked.by_dot else MATMUL, rejected=lost)


def numpys_way(asked: Asked, kind: np.dtype) -> Way:
    """The function of NumPy for what is `asked`. It converts its operands to the type `kind`."""
    if not asked.by_dot:
        return partial(np.matmul, dtype=kind, casting="unsafe")
    m, n, k = asked.m, asked.n, asked.k

    def dot(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        left, right = (each.reshape(shape).astype(kind, copy=False) for each, shape in ((a, (m, k)), (b, (k, n))))
        return np.dot(left, right, None if out is None else out.reshape(m, n))

    return dot


def host_call(epilogue: Any, asked: Asked) -> HostCall:
    """What computes the result C of A and B in place: alpha A B + beta C + bias.

    A and B may have any types that the rules convert to the product's: NumPy converts them then, as for its own callers.
    """
    multiply = numpys_way(asked, numpy_dtype(asked.result))
    alpha, beta, bias = epilogue.alpha, epilogue.beta, epilogue.bias

    def plain(arrays: Mapping[str, np.ndarray]) -> None:
        multiply(arrays["A"], arrays["B"], arrays["C"])

    def scaled(arrays: Mapping[str, np.ndarray]) -> None:
        result = arrays["C"]
        if beta == 0:
            plain(arrays)
            if alpha != 1:
                np.multiply(result, alpha, result)
        else:
            product = multiply(arrays["A"], arrays["B"]).reshape(result.shape)
            if beta != 1:
                np.multiply(result, beta, result)
            np.add(result, product if alpha == 1 else product * alpha, result)
        if bias:
            vector = arrays["bias"]
            np.add(result, vector.reshape(-1, 1) if bias == "column" else vector, result)

    return plain if alpha == 1 and beta == 0 and not bias else scaled
