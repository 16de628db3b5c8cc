"""The types that a product is computed and returned in: NumPy's promotion, and wider results of narrow types."""

from functools import lru_cache
from typing import Any

import numpy as np

from ..core.types import FLOAT8, FROM_ML_DTYPES, element_type, numpy_dtype
from ..errors import InvalidInput, UnsupportedType, quoted
from .views import native_dtype

_NO_NUMBERS = "OSUTMm"  # kinds of NumPy types: objects, text, dates and times


def asked_type(dtype: Any) -> np.dtype:
    """The caller's `dtype`: anything that NumPy or ml_dtypes understands, but for foreign byte orders. InvalidInput otherwise."""
    if isinstance(dtype, str) and dtype in FROM_ML_DTYPES:
        return numpy_dtype(dtype)
    try:
        found: np.dtype = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"dtype={quoted(dtype)} is not a type: {error}") from error
    if not found.isnative:  # NumPy refuses it, too
        native = found.newbyteorder("=")
        raise InvalidInput(
            f"dtype={quoted(dtype)} has a foreign byte order, and products are computed in this machine's: pass {native}, "
            f"and an out of {found} if the result should have it"
        )
    return found


@lru_cache(maxsize=256)
def product_types(a: np.dtype, b: np.dtype, dtype: np.dtype | None) -> tuple[str, str]:
    """The type that operands are read in, and the result's. UnsupportedType if kernels have none for these operands."""
    try:
        return _types(a, b, None if dtype is None else native_dtype(dtype))
    except UnsupportedType:
        for name, each in (("a", a), ("b", b)):
            check_numbers(name, each)
        raise


def check_numbers(name: str, dtype: np.dtype) -> None:
    """UnsupportedType for elements that are no numbers: NumPy would try to read some of them as numbers, one by one."""
    if dtype.kind in _NO_NUMBERS or dtype.type is np.void:  # bfloat16 has the kind of void, too
        raise UnsupportedType(f"{name} has elements of {dtype}, which are no numbers: convert it")


def _types(a: np.dtype, b: np.dtype, asked: str | None) -> tuple[str, str]:
    names = {a.name, b.name}
    if names == set(FLOAT8) and asked in (None, "float32", "float16"):  # fp16 holds both types exactly
        return "float16", _result("float16", asked or "float32")
    if names == set(FLOAT8) and asked is not None:
        return asked, _result(asked, asked)
    if len(names) == 1:
        own = native_dtype(a)
        if asked in (None, own, *element_type(own).results):
            return own, _result(own, asked)
    promoted = asked or _promoted(a, b)
    return promoted, _result(promoted, asked)


def _promoted(a: np.dtype, b: np.dtype) -> str:
    """NumPy's common type. An 8-bit float is refused as the common type: it cannot hold most integers."""
    try:
        common = np.result_type(a, b)
    except TypeError as error:
        raise UnsupportedType(f"{a} and {b} have no common type: convert one of them") from error
    if common.name in FLOAT8:
        raise UnsupportedType(
            f"{a} and {b} promote to {common}, which does not hold all values of both; convert them to one type"
        )
    return native_dtype(common)


def _result(read: str, asked: str | None) -> str:
    """The result's type for operands read as `read`. UnsupportedType if no kernel stores it."""
    allowed = element_type(read).results
    if asked is None:
        return allowed[0]
    if asked in allowed:
        return asked
    raise UnsupportedType(f"products of {read} are stored as {', '.join(allowed)}, not as {asked}: convert the result")


def check_activation(activation: str, result: str) -> None:
    """UnsupportedType if the result is not a real float: activations are functions of those."""
    if element_type(result).kind != "float":
        raise UnsupportedType(f"the activation {activation!r} is for real floats; the result is {result}")


def sum_type(result: str) -> str:
    """The type of a sum of products that is grown step by step, and rounded to the result's type once, at the end."""
    kind = element_type(result)
    return kind.accumulator if kind.kind == "float" else result
