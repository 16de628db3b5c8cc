"""Element types by the names that cases use, and the values that arrays of them get."""

from functools import cache

import numpy as np

from tilewright.core.types import ELEMENT_TYPES, FROM_ML_DTYPES, numpy_dtype

from .memory import INTEGERS, NANS

MULTIPLIED = tuple(ELEMENT_TYPES)
SWAPPED = (">f4", ">f8", ">i4", ">c8", ">c16", ">f2", ">i8", ">u2")  # of other byte order
NOT_MULTIPLIED = ("M8[s]", "V4", "i4,f4", "S4", "longdouble", "clongdouble")
MOVED = (
    *MULTIPLIED, "M8[s]", "m8[ns]", "V1", "V2", "V4", "V8", "V16", "i4,f4", "S4", "U1", "U4", "longdouble", ">f4", ">f8", ">i2",
    ">c16", ">M8[us]",
)  # fmt: skip
NOT_MOVED = ("V3", "S5", "V12", "U5", "i4,f8", "V32", "clongdouble")  # elements of other sizes
VALUES = ("ordinary", "integers", "special", "subnormal", "huge", "zeros")
FLOATS = tuple(name for name in MULTIPLIED if not ELEMENT_TYPES[name].exact)
FEW_ELEMENTS = 8  # half of the elements of an operand that has no more are special


@cache
def dtype_of(name: str) -> np.dtype:
    """The dtype that a case names."""
    return numpy_dtype(name) if name in FROM_ML_DTYPES else np.dtype(name)


def plain_name(dtype: np.dtype) -> str:
    """The name of a type whatever its bytes' order, as the library's tables have it."""
    return str(dtype.newbyteorder("=").name)


def is_object_like(dtype: np.dtype) -> bool:
    """Whether elements point to memory elsewhere."""
    return dtype.hasobject or dtype.kind == "T"


def poison_of(dtype: np.dtype) -> int:
    floats = dtype.kind in "fc" or plain_name(dtype) in FROM_ML_DTYPES
    return NANS if floats else INTEGERS


def multiplied(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, values: str) -> np.ndarray:
    """Factors and addends of a product, native, as `values` names them."""
    native = dtype.newbyteorder("=")
    if native.kind in "iu":
        limits = np.iinfo(native)
        low, high = (limits.min, limits.max) if values != "integers" else (max(limits.min, -3), 3)
        if values == "zeros":
            return np.zeros(shape, native)
        return generator.integers(low, high, shape, dtype=native, endpoint=True)
    if native.kind == "b":
        sparse = generator.random(shape) ** 2 * max((1, *shape[-2:])) < 1  # of dense ones almost all products are true
        return {"zeros": np.zeros(shape, bool), "integers": moved(generator, shape, native)}.get(values, sparse)
    if native.kind not in "fc" and plain_name(dtype) not in FROM_ML_DTYPES:
        return moved(generator, shape, native)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if native.kind == "c":
            parts = [_reals(generator, shape, np.dtype(f"f{native.itemsize // 2}"), values) for _ in range(2)]
            pair = np.empty(shape, native)
            pair.real, pair.imag = parts
            return pair
        return _reals(generator, shape, native, values)


def _reals(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, values: str) -> np.ndarray:
    wide = np.longdouble if dtype == np.longdouble else np.float64
    numbers: np.ndarray = (generator.random(shape) - 0.5).astype(wide)
    most, least = _range(dtype)
    if values == "integers":
        numbers = generator.integers(-3, 3, shape, endpoint=True).astype(wide)
    elif values == "zeros":
        numbers = np.where(generator.random(shape) < 0.5, -0.0, 0.0)
    elif values == "subnormal":
        numbers = numbers * np.where(generator.random(shape) < 0.5, 64 * least, 1)
    elif values == "huge":
        numbers = numbers * np.where(generator.random(shape) < 0.3, 2 * most, most**0.5)
    elif values == "special":
        odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])[generator.integers(0, 5, shape)]
        share = 0.05 if numbers.size > FEW_ELEMENTS else 0.5  # a BLAS may treat a single zero as a scale
        numbers = np.where(generator.random(shape) < share, odd, numbers)
    return np.asarray(numbers).astype(dtype)


@cache
def _range(dtype: np.dtype) -> tuple[float, float]:
    """The largest number and the smallest above 0."""
    if plain_name(dtype) in FROM_ML_DTYPES:
        import ml_dtypes

        facts = ml_dtypes.finfo(dtype)
        return float(facts.max), float(facts.smallest_subnormal)
    info = np.finfo(dtype)
    return min(float(info.max), 1.7e308), float(info.smallest_subnormal)


def moved(generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Elements that are only moved: any bytes, except for types to which not all bytes have a meaning."""
    if dtype.names and is_object_like(dtype):
        return np.zeros(shape, dtype)
    if is_object_like(dtype):
        pieces = [f"an element of some {number} letters and more" for number in range(int(np.prod(shape)))]
        return np.array(pieces, dtype).reshape(shape)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "U":
        return np.array(generator.integers(65, 90, shape), np.uint32).astype("U1").astype(dtype)
    if dtype.char in "gG":
        return np.asarray(generator.random(shape)).astype(dtype)
    raw = generator.integers(0, 256, int(np.prod(shape)) * dtype.itemsize, np.uint8)
    return raw.view(dtype).reshape(shape)
