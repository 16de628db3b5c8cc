"""The vectors of an epilogue, bias and scales: their shapes and what these mean."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.types import FLOAT8, FROM_ML_DTYPES
from ..errors import InvalidInput
from .memory.choice import Memory
from .rules import scalar
from .shapes import ProductShape, Shape, product_shape


def given_vectors(
    memory: Memory, bias: ArrayLike | None, scale_a: ArrayLike | None, scale_b: ArrayLike | None
) -> dict[str, Any]:
    """The given vectors by the names of kernel arguments. If only one side is scaled, the other scale is 1."""
    given = {} if bias is None else {"bias": bias}
    if scale_a is not None or scale_b is not None:
        given |= {"scale_a": _as_array("scale_a", scale_a), "scale_b": _as_array("scale_b", scale_b)}
    return {name: memory.as_array(value, name) for name, value in given.items()}


def is_number(value: Any) -> bool:
    """Whether a scale is a number of Python's, NumPy's or ml_dtypes'."""
    return isinstance(value, (int, float, complex, np.generic))


def _as_array(name: str, scale: Any) -> Any:
    """A scale as an array: 1 if there is none. InvalidInput for a number that float32 cannot hold."""
    if scale is None:
        return np.ones(1, np.float32)
    if not is_number(scale):
        return scale
    if isinstance(scale, bool | np.bool_ | complex | np.complexfloating):
        raise InvalidInput(f"{name}={scale!r} is a {type(scale).__name__}; pass a real number")
    return np.full(1, scalar(name, scale, "float32"), np.float32)


def bias_side(vectors: Mapping[str, Any], sizes: ProductShape) -> str:
    """ "row" for one element per column of C, "column" for one per row, "" for no bias."""
    if "bias" not in vectors:
        return ""
    shape = vectors["bias"].shape
    if shape == (sizes.n,):
        return "row"
    if shape == (sizes.m, 1):
        return "column"
    raise InvalidInput(f"bias has the shape {shape}; ({sizes.n},) adds to every row, ({sizes.m}, 1) to every column")


def scale_kinds(vectors: Mapping[str, Any], a: Any, b: Any) -> tuple[str, str]:
    """For rows of `a` and columns of `b`: "each" has its own scale, all share "one", or "" for no scales."""
    if "scale_a" not in vectors:
        return "", ""
    for name, operand in (("a", a), ("b", b)):
        if operand.dtype.name not in FLOAT8:
            raise InvalidInput(f"scale_a and scale_b are for {' and '.join(FLOAT8)}; {name} is {operand.dtype}")
    sizes = product_shape(a.shape, b.shape)
    rows, columns = f"({sizes.m},) each of its {sizes.m} rows", f"({sizes.n},) each of its {sizes.n} columns"
    return (
        _kind("scale_a", vectors["scale_a"], (sizes.m,), f"() scales all of a, {rows}"),
        _kind("scale_b", vectors["scale_b"], (sizes.n,), f"() scales all of b, {columns}"),
    )


def _kind(name: str, scale: Any, each: Shape, allowed: str) -> str:
    if scale.dtype.kind not in "iuf" and scale.dtype.name not in FROM_ML_DTYPES:
        raise InvalidInput(f"{name} is {scale.dtype}; pass real numbers")
    if scale.shape in ((), (1,)):
        return "one"
    if scale.shape == each:
        return "each"
    raise InvalidInput(f"{name} has the shape {scale.shape}; {allowed}")
