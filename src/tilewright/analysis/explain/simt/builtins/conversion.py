"""convert_T, with saturation and rounding modes, and as_T: 6.2.3 and 6.2.4."""

import re
from collections.abc import Callable

import numpy as np

from ...clc.tree import Call, TypeArgument
from ...clc.types import NAMED, Scalar, Type, Vector, element_of, width_of
from ..compiled_code import Code, Value
from ..context import Context
from ..convert import change, elementwise
from ..undefined import checked_change
from .common import Builtin, apply, arguments

_CONVERT = re.compile(r"convert_([a-z]+?)(2|3|4|8|16)?(_sat)?(_rte|_rtz|_rtp|_rtn)?$")
_ROUND: dict[str, Callable[[Value], Value]] = {
    "_rte": np.rint,
    "_rtz": np.trunc,
    "_rtp": np.ceil,
    "_rtn": np.floor,
    "": np.trunc,
}


def find_conversion(name: str) -> Builtin | None:
    """The builtin behind a name that starts with convert_ or as_."""
    if name.startswith("as_") and name[3:] in NAMED:
        return _reinterpretation(NAMED[name[3:]])
    match = _CONVERT.match(name)
    if match is None or match[1] + (match[2] or "") not in NAMED:
        return None
    return _conversion(NAMED[match[1] + (match[2] or "")], bool(match[3]), match[4] or "")


def _conversion(target: Type, saturate: bool, mode: str) -> Builtin:
    element = element_of(target)

    def build(context: Context, call: Call) -> Code:
        (code,) = arguments(context, call, 1)
        source = element_of(code.type)
        if source is None or element is None or width_of(code.type) != width_of(target):
            raise call.position.error(f"{call.name} does not take {code.type}")
        code = change(code, code.type)
        if saturate and not element.is_float:
            return apply(target, _saturating(source, element, mode), [code])
        if source.is_float and not element.is_float and mode not in ("", "_rtz"):
            rounding = _ROUND[mode]
            code = apply(code.type, rounding, [code])
        elif element.is_float and mode not in ("", "_rte"):
            return apply(target, directed(element, mode), [code])
        return checked_change(code, lambda each: elementwise(each, element), call.position, context.machine)

    return build


def _saturating(source: Scalar, target: Scalar, mode: str) -> Callable[[Value], Value]:
    limits = np.iinfo(target.dtype)
    low, high = int(limits.min), int(limits.max)

    def from_float(value: Value) -> Value:
        rounded = _ROUND[mode](np.asarray(value).astype(np.float64))
        inside = np.where((rounded >= low) & (rounded < float(high)), rounded, 0.0).astype(target.dtype)
        result = np.where(rounded >= float(high), target.dtype.type(high), inside)
        return np.where(rounded < low, target.dtype.type(low), result)[()]

    def from_integer(value: Value) -> Value:
        result = np.where(value > high, target.dtype.type(high), np.asarray(value).astype(target.dtype))
        return np.where(value < low, target.dtype.type(low), result)[()]

    return from_float if source.is_float else from_integer


def directed(target: Scalar, mode: str) -> Callable[[Value], Value]:
    """To a float, rounded in one direction: the nearest one, moved by one step where it lies on the wrong side."""

    def run(value: Value) -> Value:
        nearest = np.asarray(value).astype(target.dtype)
        exact, found = np.asarray(value).astype(np.longdouble), nearest.astype(np.longdouble)
        up, down = target.dtype.type(np.inf), target.dtype.type(-np.inf)
        too_high, too_low = found > exact, found < exact
        if mode == "_rtz":
            too_high, too_low = too_high & (exact > 0), too_low & (exact < 0)
        lower = np.where(too_high & (mode != "_rtp"), np.nextafter(nearest, down), nearest)
        return np.where(too_low & (mode != "_rtn"), np.nextafter(nearest, up), lower)[()]

    return run


def _reinterpretation(target: Type) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        (code,) = arguments(context, call, 1)
        return reinterpret(change(code, code.type), target, call)

    return build


def reinterpret(code: Code, target: Type, call: Call) -> Code:
    """The same bits as another type of the same size."""
    source = code.type
    element, other = element_of(source), element_of(target)
    if element is None or other is None or source.size != target.size:
        raise call.position.error(f"{call.name} cannot see {source} ({source.size} bytes) as {target.size} bytes")
    if isinstance(source, Scalar) and isinstance(target, Scalar):
        return apply(target, lambda value: value.view(other.dtype), [code])

    def run(value: Value) -> Value:
        rows = np.asarray(value)
        rows = rows.reshape(width_of(source), -1)
        if width_of(source) == 3:
            rows = np.concatenate([rows, np.zeros_like(rows[:1])])
        bits = np.ascontiguousarray(rows.T).view(other.dtype).T[: width_of(target)]
        if isinstance(target, Vector):
            return np.ascontiguousarray(bits)
        return np.ascontiguousarray(bits[0]) if bits.shape[1] > 1 else bits[0, 0]

    return apply(target, run, [code])


def convert_vector(context: Context, call: Call) -> Code:
    """__builtin_convertvector(x, T)."""
    if len(call.arguments) != 2 or not isinstance(call.arguments[1], TypeArgument):
        raise call.position.error(f"{call.name} takes a value and a type")
    code, target = context.value(call.arguments[0]), call.arguments[1].type
    if call.name == "__builtin_astype":
        return reinterpret(change(code, code.type), target, call)
    element = element_of(target)
    if element is None or width_of(target) != width_of(code.type):
        raise call.position.error(f"{code.type} cannot be converted to {target}")
    return checked_change(code, lambda each: elementwise(each, element), call.position, context.machine)
