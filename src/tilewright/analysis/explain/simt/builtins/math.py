"""Floating-point builtins: 6.12.2, 6.12.4 and 6.12.5 of the OpenCL C specification.

Functions that OpenCL does not round exactly are computed in double precision and rounded to the type.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...clc.tree import Call
from ...clc.types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    UINT,
    ULONG,
    USHORT,
    Pointer,
    Scalar,
    Vector,
    element_of,
    vector_of,
    width_of,
)
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change, elementwise
from ..fused import fused_multiply_add
from ..masks import Mask
from .common import Builtin, apply, arguments, broadcast, full, second_result
from .signatures import FLOATS, chosen, meeting

PI = np.float64(math.pi)


def _each(function: Callable[[float], float]) -> Callable[[Value], Value]:
    """A function of the standard library for every element."""

    def guarded(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return np.vectorize(guarded, otypes=[np.float64])


def _round_half_away(x: Value) -> Value:
    whole = np.trunc(x)
    return whole + np.copysign(np.where(np.abs(x - whole) >= 0.5, x.dtype.type(1), x.dtype.type(0)), x)


def _remainder(x: Value, y: Value) -> Value:
    def one(a: float, b: float) -> float:
        try:
            return math.remainder(a, b)
        except ValueError:
            return math.nan

    return np.vectorize(one, otypes=[np.float64])(x, y)


EXACT_1: dict[str, Callable[[Value], Value]] = {
    "ceil": np.ceil,
    "fabs": np.abs,
    "floor": np.floor,
    "rint": np.rint,
    "round": _round_half_away,
    "sqrt": np.sqrt,
    "trunc": np.trunc,
}
DOUBLE_1: dict[str, Callable[[Value], Value]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "acospi": lambda x: np.arccos(x) / PI,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "asinpi": lambda x: np.arcsin(x) / PI,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "atanpi": lambda x: np.arctan(x) / PI,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "cospi": lambda x: np.cos(PI * np.fmod(x, 2.0)),
    "degrees": lambda x: x * (180.0 / PI),
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "expm1": np.expm1,
    "lgamma": _each(math.lgamma),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "logb": lambda x: np.where(x == 0, -np.inf, np.where(np.isinf(x), np.inf, np.frexp(x)[1] - 1.0)),
    "radians": lambda x: x * (PI / 180.0),
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sinpi": lambda x: np.sin(PI * np.fmod(x, 2.0)),
    "tan": np.tan,
    "tanh": np.tanh,
    "tanpi": lambda x: np.tan(PI * np.fmod(x, 1.0)),
    "tgamma": _each(math.gamma),
}
EXACT_2: dict[str, Callable[[Value, Value], Value]] = {
    "copysign": np.copysign,
    "fdim": lambda x, y: np.where(np.isnan(x) | np.isnan(y), x + y, np.where(x > y, x - y, x.dtype.type(0))),
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": np.fmod,
    "maxmag": lambda x, y: np.where(np.abs(x) > np.abs(y), x, np.where(np.abs(y) > np.abs(x), y, np.fmax(x, y))),
    "minmag": lambda x, y: np.where(np.abs(x) < np.abs(y), x, np.where(np.abs(y) < np.abs(x), y, np.fmin(x, y))),
    "nextafter": np.nextafter,
    "step": lambda edge, x: np.where(x < edge, x.dtype.type(0), x.dtype.type(1)),
}
DOUBLE_2: dict[str, Callable[[Value, Value], Value]] = {
    "atan2": np.arctan2,
    "atan2pi": lambda y, x: np.arctan2(y, x) / PI,
    "hypot": np.hypot,
    "pow": np.power,
    "powr": np.power,
    "remainder": _remainder,
}


def _smoothstep(low: Value, high: Value, x: Value) -> Value:
    one = x.dtype.type(1)
    t = np.clip((x - low) / (high - low), x.dtype.type(0), one)
    return t * t * (x.dtype.type(3) - x.dtype.type(2) * t)


EXACT_3: dict[str, Callable[[Value, Value, Value], Value]] = {
    "fma": fused_multiply_add,
    "mad": lambda a, b, c: a * b + c,
    "mix": lambda x, y, a: x + (y - x) * a,
    "smoothstep": _smoothstep,
}


def _in_double(function: Callable[..., Value]) -> Callable[..., Value]:
    def run(*values: Value) -> Value:
        dtype = np.result_type(*values)
        return np.asarray(function(*[np.asarray(each).astype(np.float64) for each in values])).astype(dtype)[()]

    return run


def _floating(function: Callable[..., Value], count: int, elements: Sequence[Scalar] = FLOATS) -> Builtin:
    """A function whose arguments and result are of one floating-point type."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, count)
        kind = meeting(codes, call, elements)
        used = fused_multiply_add if call.name == "mad" and context.contract else function

        def run(*values: Value) -> Value:
            return full(used(*values), kind)

        return apply(kind, run, broadcast(codes, kind))

    return build


def _with_integer(function: Callable[[Value, Value], Value]) -> Builtin:
    """f(x, n) with an integer n, as in ldexp."""

    def build(context: Context, call: Call) -> Code:
        first, second = arguments(context, call, 2)
        kind = meeting([first], call, FLOATS) if isinstance(first.type, Vector) else _of_scalars(first, second, call)
        codes = [*broadcast([first], kind), elementwise(second, INT)]
        return apply(kind, lambda x, n: full(function(x, n), kind), codes)

    return build


def _of_scalars(first: Code, second: Code, call: Call) -> Scalar:
    return chosen([first, second], call, [(element, INT) for element in FLOATS])[0]


def _power(x: Value, n: Value) -> Value:
    return np.power(np.asarray(x).astype(np.float64), n).astype(x.dtype)


def _root(x: Value, n: Value) -> Value:
    wide = np.asarray(x).astype(np.float64)
    odd = (n & 1) == 1
    size = np.power(np.abs(wide), 1.0 / n)
    return np.where(wide < 0, np.where(odd, -size, np.nan), size).astype(x.dtype)


def _ilogb(context: Context, call: Call) -> Code:
    codes = arguments(context, call, 1)
    kind = meeting(codes, call, FLOATS)

    def run(x: Value) -> Value:
        exponent = (np.frexp(x)[1] - 1).astype(np.int32)
        exponent = np.where((x == 0) | np.isnan(x), np.int32(-(2**31)), exponent)
        return np.where(np.isinf(x), np.int32(2**31 - 1), exponent).astype(np.int32)[()]

    return apply(vector_of(INT, width_of(kind)), run, codes)


_OF_BITS = {USHORT: HALF, UINT: FLOAT, ULONG: DOUBLE}


def _nan(context: Context, call: Call) -> Code:
    codes = arguments(context, call, 1)
    kind = meeting(codes, call, tuple(_OF_BITS))
    element = element_of(kind)
    assert element is not None
    size = _OF_BITS[element]
    quiet = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8000000000000}[size.size]

    def run(code: Value) -> Value:
        bits = np.ascontiguousarray(code) | element.dtype.type(quiet)
        return bits.view(size.dtype).reshape(np.shape(code))[()]

    return apply(vector_of(size, width_of(kind)), run, broadcast(codes, kind))


def _constant(value: float, kind: Scalar) -> Builtin:
    number = kind.dtype.type(value)

    def build(context: Context, call: Call) -> Code:
        arguments(context, call, 0)
        return Code(kind, lambda frame, mask: number, False, number)

    return build


def _sign(context: Context, call: Call) -> Code:
    codes = arguments(context, call, 1)
    kind = meeting(codes, call, FLOATS)
    return apply(kind, lambda x: np.where(np.isnan(x), x.dtype.type(0), np.where(x == 0, x, np.sign(x))), codes)


def _stored_types(target: Code) -> Sequence[Scalar]:
    """The types that a function of a scalar may have, by the pointer to its second result."""
    stored = element_of(target.type.target) if isinstance(target.type, Pointer) else None
    return [each for each in FLOATS if each == stored] or FLOATS


def _two_results(split: Callable[[Value], tuple[Value, Value]], integer: bool = False) -> Builtin:
    """A function that returns one result and stores another through a pointer."""

    def build(context: Context, call: Call) -> Code:
        value, target = arguments(context, call, 2)
        scalar = isinstance(value.type, Scalar) and not integer
        kind = meeting([value], call, _stored_types(target) if scalar else FLOATS)
        access = second_result(context, call, target, vector_of(INT, width_of(kind)) if integer else kind)
        source, where = change(value, kind).run, target.run

        def run(frame: Frame, mask: Mask) -> Value:
            result, other = split(source(frame, mask))
            context.machine.memory.store(where(frame, mask), access, other, mask)
            return result

        return Code(kind, run)

    return build


def _fract(x: Value) -> tuple[Value, Value]:
    whole = np.floor(x)
    below_one = np.nextafter(x.dtype.type(1), x.dtype.type(0))
    return np.where(np.isinf(x), np.copysign(x.dtype.type(0), x), np.fmin(x - whole, below_one)), whole


def _sincos(x: Value) -> tuple[Value, Value]:
    wide = np.asarray(x).astype(np.float64)
    return np.sin(wide).astype(x.dtype), np.cos(wide).astype(x.dtype)


def _frexp(x: Value) -> tuple[Value, Value]:
    fraction, exponent = np.frexp(x)
    return fraction, exponent.astype(np.int32)


def _modf(x: Value) -> tuple[Value, Value]:
    fraction, whole = np.modf(x)
    return fraction, whole


def _table() -> dict[str, Builtin]:
    table: dict[str, Builtin] = {}
    for count, exact in ((1, EXACT_1), (2, EXACT_2), (3, EXACT_3)):
        functions: dict[str, Any] = exact
        table.update({name: _floating(function, count) for name, function in functions.items()})
    for count, inexact in ((1, DOUBLE_1), (2, DOUBLE_2)):
        doubles: dict[str, Any] = inexact
        table.update({name: _floating(_in_double(function), count) for name, function in doubles.items()})
    table.update(_of_float_alone())
    table.update({"ldexp": _with_integer(np.ldexp), "pown": _with_integer(_power), "rootn": _with_integer(_root)})
    table.update({"fract": _two_results(_fract), "sincos": _two_results(_sincos), "modf": _two_results(_modf)})
    table.update({"frexp": _two_results(_frexp, integer=True), "ilogb": _ilogb, "nan": _nan, "sign": _sign})
    table["__builtin_inff"], table["__builtin_inf"] = _constant(math.inf, FLOAT), _constant(math.inf, DOUBLE)
    for name, count, function in (("fma", 3, fused_multiply_add), ("sqrt", 1, np.sqrt), ("fabs", 1, np.abs)):
        table[f"__builtin_{name}f"] = _floating(function, count, (FLOAT,))
        table[f"__builtin_{name}"] = _floating(function, count, (DOUBLE,))
    return table


def _of_float_alone() -> dict[str, Builtin]:
    """The native_ and half_ functions."""
    names = ("cos", "exp", "exp2", "exp10", "log", "log2", "log10", "rsqrt", "sin", "tan")
    functions = {name: (_in_double(DOUBLE_1[name]), 1) for name in names}
    functions |= {"powr": (_in_double(np.power), 2), "sqrt": (np.sqrt, 1), "divide": (np.divide, 2)}
    functions["recip"] = (lambda x: x.dtype.type(1) / x, 1)
    return {
        f"{prefix}_{name}": _floating(function, count, (FLOAT,))
        for prefix in ("native", "half")
        for name, (function, count) in functions.items()
    }


MATH = _table()
