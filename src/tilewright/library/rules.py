"""The rules of every call, checked before anything is enqueued: casts, `out`, and numbers.

Aliasing: `out` may share memory with any operand. If it does, the call writes to a temporary array, then copies that.
Alignment: kernels get only arrays whose elements are aligned to their size. Others are copied, in and out.
Writability: a read-only `out` is refused.
Casts: every conversion obeys NumPy's rule `casting`: of operands, `out`, `c` and the vectors of an epilogue.
"""

from functools import lru_cache
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from ..core.types import element_type
from ..errors import InvalidInput, quoted

Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
CASTINGS = get_args(Casting)
KINDS = "buifc"  # bools, unsigned and signed integers, floats, complex numbers


class Memory(Protocol):
    """What the rules need of a call's memory."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Any: ...

    def as_out(self, out: Any) -> Any: ...

    def writable_by_kernels(self, array: Any) -> bool: ...

    def overlap(self, one: Any, other: Any) -> bool: ...


def check_casting(casting: str) -> None:
    """InvalidInput for what is no rule of NumPy's."""
    if not isinstance(casting, str) or casting not in CASTINGS:
        raise InvalidInput(f"casting={quoted(casting)}: write one of {', '.join(CASTINGS)}")


@lru_cache(maxsize=1024)
def castable(source: np.dtype, target: np.dtype, casting: Casting) -> bool:
    """NumPy's `can_cast`, with the types of ml_dtypes as the floats and integers that they are.

    Some of NumPy's answers about these are wrong: complex64 to bfloat16 as "same_kind" loses the imaginary part, float32 to
    int4 the fraction, int8 to float8_e4m3fn as "safe" loses digits.
    """
    if casting == "unsafe" or source == target:
        return True
    if not _of_ml_dtypes(source) and not _of_ml_dtypes(target):
        return bool(np.can_cast(source, target, casting))
    if casting in ("no", "equiv"):
        return False
    if casting == "safe":
        return not _of_ml_dtypes(target) and bool(np.can_cast(source, target, "safe"))
    return 0 <= _rank(source) <= _rank(target)


def _of_ml_dtypes(dtype: np.dtype) -> bool:
    return dtype.type.__module__ == "ml_dtypes"


def _rank(dtype: np.dtype) -> int:
    """The place of the type's kind among those that "same_kind" converts to the next ones; -1 for what is no number."""
    if not _of_ml_dtypes(dtype):
        return KINDS.find(dtype.kind)
    return KINDS.find(dtype.name[0] if dtype.name.startswith(("uint", "int")) else "f")


def check_cast(what: str, source: np.dtype, target: np.dtype, casting: Casting) -> None:
    """InvalidInput if the rule forbids the conversion of `what`: no digits are lost silently."""
    if source != target and not castable(source, target, casting):
        raise InvalidInput(
            f"{what} is {source}, which casting={casting!r} does not convert to {target}; convert it yourself, or "
            f"pass another dtype"
        )


def single_out(out: Any) -> Any:
    """`out`, or the single element of a tuple, as in NumPy."""
    if not isinstance(out, tuple):
        return out
    if len(out) != 1:
        raise InvalidInput(f"out is a tuple of {len(out)} arrays; pass one")
    return out[0]


class Target(NamedTuple):
    """The array that kernels write to, and the caller's `out` if the result must be copied there afterwards."""

    array: Any
    copied_to: Any = None
    given: bool = False  # whether `array` is the caller's


def check_out(memory: Memory, out: Any, shape: tuple[int, ...], dtype: np.dtype, casting: Casting) -> Any:
    """`out` as a writable array. InvalidInput if it does not fit the result or is read-only."""
    array = _shaped_out(memory, out, shape)
    if array.dtype != dtype and not castable(dtype, array.dtype, casting):
        raise InvalidInput(f"out is {array.dtype}, to which casting={casting!r} does not convert the result's {dtype}")
    return array


def check_out_of_copy(memory: Memory, out: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """`out` as a writable array for a copy, which converts nothing. InvalidInput if it does not fit or is read-only."""
    array = _shaped_out(memory, out, shape)
    if array.dtype != dtype:
        raise InvalidInput(f"out is {array.dtype}, and a is {dtype}; copies convert nothing: pass an out of {dtype}")
    return array


def _shaped_out(memory: Memory, out: Any, shape: tuple[int, ...]) -> Any:
    array = memory.as_out(out)
    if array.shape != shape:
        raise InvalidInput(f"out has the shape {array.shape}; the result has {shape}")
    return array


def target_of(memory: Memory, out: Any, shape: tuple[int, ...], dtype: np.dtype, read: tuple[Any, ...]) -> Target:
    """Where to write a result: `out`, if kernels can write to it and it shares no memory with the arrays `read`."""
    if out is None:
        return Target(memory.empty(shape, dtype))
    if out.dtype == dtype and memory.writable_by_kernels(out) and not any(memory.overlap(each, out) for each in read):
        return Target(out, given=True)
    return Target(memory.empty(shape, dtype), out)


@lru_cache(maxsize=1024, typed=True)
def _scalar(name: str, value: complex, dtype: str) -> complex:
    """The number as kernels of that type take it. InvalidInput if the type cannot hold it."""
    if element_type(dtype).kind == "complex":
        return _within(name, complex(value), dtype)
    if isinstance(value, complex):
        raise InvalidInput(f"{name}={value} is complex, and the result is {dtype}")
    if not element_type(dtype).exact:
        return _within(name, value, dtype)
    if value != value or value in (float("inf"), -float("inf")) or value != int(value):
        raise InvalidInput(f"{name}={value} is not an integer, and the result is {dtype}")
    least, most = element_type(dtype).limits
    if not least <= value <= most:
        raise InvalidInput(f"{name}={_shortened(value)} does not fit {dtype}")
    return int(value)


def _shortened(value: object) -> str:
    """The number, shortened to fit a sentence."""
    try:
        digits = str(value)
    except ValueError:  # of an integer with more than 4,300 digits
        return quoted(value)
    return digits if len(digits) < 40 else f"{digits[:8]}... (of {len(digits)} digits)"


def _within(name: str, value: complex, dtype: str) -> complex:
    """The number as a float or complex. InvalidInput if the accumulator of the type cannot hold it."""
    try:
        number = complex(value) if isinstance(value, complex) else float(value)
    except OverflowError as error:
        raise InvalidInput(f"{name}={_shortened(value)} does not fit {dtype}") from error
    summed = element_type(dtype).accumulator
    if element_type(dtype).component_bytes == 4:
        largest = float(np.finfo(np.float32).max)
        for part in (number.real, number.imag):
            if largest < abs(part) < float("inf"):
                raise InvalidInput(
                    f"{name}={number} exceeds the range of {summed}, in which {dtype} products are summed"
                )
    return number


def scalar(name: str, value: Any, dtype: str) -> complex:
    """`alpha` or `beta` as kernels of that type take it. InvalidInput if it is not a number, or the type cannot hold it."""
    kind = type(value)
    if kind is float or kind is int:
        return value if value == 1 or value == 0 else _scalar(name, value, dtype)  # every type holds 0 and 1
    if isinstance(value, (np.generic, np.ndarray)):
        if value.ndim:
            raise InvalidInput(f"{name} has the shape {value.shape}; pass one number")
        value = value.item()
        if isinstance(value, np.inexact):  # a long double: Python has no such type
            value = complex(value) if isinstance(value, np.complexfloating) else float(value)
    if not isinstance(value, (int, float, complex)):
        raise InvalidInput(f"{name}={quoted(value)} is a {type(value).__name__}; pass one number")
    return _scalar(name, value, dtype)
