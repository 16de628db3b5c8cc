"""Integer and common builtins, and those that take integers and floats alike: 6.12.3 and 6.12.4."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...clc.tree import Call
from ...clc.types import INT, NAMED, UINT, UNSIGNED_OF, Scalar, element_of, vector_of, width_of
from ..compiled_code import Code, Value
from ..context import Context
from ..convert import change
from .common import Builtin, apply, arguments, broadcast, full
from .signatures import INTEGERS, NUMBERS, chosen, meeting


def _same(function: Callable[..., Value], count: int, elements: Sequence[Scalar] = INTEGERS) -> Builtin:
    """A function whose arguments and result are of one type; scalars widen to the vectors beside them."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, count)
        kind = meeting(codes, call, elements)
        return apply(kind, lambda *values: full(function(*values), kind), broadcast(codes, kind))

    return build


def _unsigned_result(function: Callable[..., Value], count: int) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, count)
        kind = meeting(codes, call, INTEGERS)
        element = element_of(kind)
        assert element is not None
        unsigned = UNSIGNED_OF.get(element, element)

        def run(*values: Value) -> Value:
            return function(*values).astype(unsigned.dtype)

        return apply(vector_of(unsigned, width_of(kind)), run, broadcast(codes, kind))

    return build


def _minimum(a: Value, b: Value) -> Value:
    """For floats the specification leaves NaN open; the CPU drivers give the other operand, as fmin does."""
    return np.fmin(a, b)


def _maximum(a: Value, b: Value) -> Value:
    return np.fmax(a, b)


def _clamp(x: Value, low: Value, high: Value) -> Value:
    return _minimum(_maximum(x, low), high)


def _abs_diff(a: Value, b: Value) -> Value:
    unsigned = f"u{a.dtype.itemsize}"
    big: Value = np.where(a > b, a, b)
    small: Value = np.where(a > b, b, a)
    return big.astype(unsigned) - small.astype(unsigned)


def _bits(value: Value) -> int:
    return 8 * int(value.dtype.itemsize)


def _leading_zeros(x: Value) -> Value:
    unsigned: Value = np.asarray(x).astype(f"u{x.dtype.itemsize}")
    count = np.zeros(unsigned.shape, np.int64)
    left = unsigned.copy()
    for _ in range(_bits(x)):
        count += left != 0
        left = left >> left.dtype.type(1)
    zeros: Value = _bits(x) - count
    return zeros.astype(x.dtype)[()]


def _trailing_zeros(x: Value) -> Value:
    lowest = x & -x
    position: Value = _bits(x) - 1 - _leading_zeros(lowest)
    return np.where(x == 0, x.dtype.type(_bits(x)), position.astype(x.dtype))


def _popcount(x: Value) -> Value:
    return np.bitwise_count(np.asarray(x).astype(f"u{x.dtype.itemsize}")).astype(x.dtype)


def _rotate(x: Value, count: Value) -> Value:
    bits = _bits(x)
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    value = np.asarray(x).astype(unsigned)
    left = np.asarray(count).astype(unsigned) % unsigned.type(bits)
    right = (unsigned.type(bits) - left) % unsigned.type(bits)
    return ((value << left) | (value >> right)).astype(x.dtype)[()]


def _exact(function: Callable[..., Any], doubled: bool = False) -> Callable[..., Value]:
    """With Python's integers where 64 bits may not be enough; the function also gets the type's limits. `doubled` says
    that it needs more than twice the bits of its operands."""

    def run(*values: Value) -> Value:
        dtype = values[0].dtype
        limits = np.iinfo(dtype)
        if dtype.itemsize < (4 if doubled else 8):
            wide = [np.asarray(each).astype(np.int64) for each in values]
            return np.asarray(function(*wide, limits=limits)).astype(dtype)[()]
        objects = [np.asarray(each).astype(object) for each in values]
        return np.asarray(function(*objects, limits=limits)).astype(dtype)[()]

    return run


def _saturate(value: Any, limits: Any) -> Any:
    """`value`, of any size, within the limits. One number for all lanes may be a Python integer beyond 64 bits."""
    exact = np.asarray(value, dtype=object)
    return np.where(exact < int(limits.min), int(limits.min), np.where(exact > int(limits.max), int(limits.max), exact))


def _high(a: Any, b: Any, limits: Any) -> Any:
    return (a * b) >> limits.bits


_HALVES = [(high, UNSIGNED_OF.get(high, high)) for high in INTEGERS if high.size < 8]


def _upsample(context: Context, call: Call) -> Code:
    high, low = arguments(context, call, 2)
    if isinstance(high.type, Scalar) and isinstance(low.type, Scalar):
        parts = chosen([high, low], call, _HALVES)
        high, low = change(high, parts[0]), change(low, parts[1])
    element, other = element_of(high.type), element_of(low.type)
    if element is None or other is None or (element, other) not in _HALVES or width_of(high.type) != width_of(low.type):
        raise call.position.error(f"upsample does not combine {high.type} and {low.type}")
    named = {1: "short", 2: "int", 4: "long"}[element.size]
    target = NAMED[named if element.is_signed else "u" + named]
    assert isinstance(target, Scalar)
    bits = target.dtype.type(8 * element.size)

    def run(a: Value, b: Value) -> Value:
        return (a.astype(target.dtype) << bits) | b.astype(target.dtype)

    return apply(vector_of(target, width_of(high.type)), run, [high, low])


def _wrap(value: Any, limits: Any) -> Any:
    span = 1 << limits.bits
    low = int(limits.min)
    return (value - low) % span + low


INTEGER: dict[str, Builtin] = {
    "abs": _unsigned_result(np.abs, 1),
    "abs_diff": _unsigned_result(_abs_diff, 2),
    "add_sat": _same(_exact(lambda a, b, limits: _saturate(a + b, limits)), 2),
    "sub_sat": _same(_exact(lambda a, b, limits: _saturate(a - b, limits)), 2),
    "hadd": _same(_exact(lambda a, b, limits: (a + b) >> 1), 2),
    "rhadd": _same(_exact(lambda a, b, limits: (a + b + 1) >> 1), 2),
    "mul_hi": _same(_exact(_high), 2),
    "mad_hi": _same(_exact(lambda a, b, c, limits: _wrap(_high(a, b, limits) + c, limits)), 3),
    "mad_sat": _same(_exact(lambda a, b, c, limits: _saturate(a * b + c, limits), doubled=True), 3),
    "clz": _same(_leading_zeros, 1),
    "ctz": _same(_trailing_zeros, 1),
    "popcount": _same(_popcount, 1),
    "rotate": _same(_rotate, 2),
    "mul24": _same(np.multiply, 2, (INT, UINT)),
    "mad24": _same(lambda a, b, c: a * b + c, 3, (INT, UINT)),
    "min": _same(_minimum, 2, NUMBERS),
    "max": _same(_maximum, 2, NUMBERS),
    "clamp": _same(_clamp, 3, NUMBERS),
    "upsample": _upsample,
}
