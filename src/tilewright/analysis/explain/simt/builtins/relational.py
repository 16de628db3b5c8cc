"""Relational builtins: 6.12.6. They give 1 for scalars and -1 in each element of a vector."""

from collections.abc import Callable, Sequence

import numpy as np

from ...clc.tree import Call
from ...clc.types import INT, Scalar, Vector, element_of, signed_integer, width_of
from ..compiled_code import Code, Value
from ..context import Context
from ..convert import change
from .common import Builtin, apply, arguments, broadcast, full
from .signatures import FLOATS, INTEGERS, NUMBERS, SIGNED, chosen, meeting


def _truth_type(kind: Scalar | Vector) -> Scalar | Vector:
    return Vector(signed_integer(kind.element.size), kind.width) if isinstance(kind, Vector) else INT


def _test(function: Callable[..., Value], count: int) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, count)
        kind = meeting(codes, call, FLOATS)
        result = _truth_type(kind)
        element = element_of(result)
        assert element is not None
        sign = -1 if isinstance(kind, Vector) else 1

        def run(*values: Value) -> Value:
            return (function(*values).astype(element.dtype) * element.dtype.type(sign)).astype(element.dtype)

        return apply(result, run, broadcast(codes, kind))

    return build


def _is_normal(x: Value) -> Value:
    return np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny)


def _sign_bit(x: Value) -> Value:
    return x < 0


def _reduce(every: bool) -> Builtin:
    """any() and all() look at the sign bits."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, 1)
        kind = meeting(codes, call, SIGNED)

        def run(x: Value) -> Value:
            bits = _sign_bit(x)
            if not isinstance(kind, Vector):
                return bits.astype(np.int32)
            row = (bits.all(axis=0) if every else bits.any(axis=0)).astype(np.int32)
            return row if row.size > 1 else row[0]

        return apply(INT, run, broadcast(codes, kind))

    return build


_SELECTED = [
    (kind, kind, condition) for kind in NUMBERS for condition in INTEGERS if condition.size == kind.size
]  # the types of select's parameters


def _select(context: Context, call: Call) -> Code:
    """select(a, b, c): b where c holds (scalars) or has its sign bit set (vectors)."""
    first, second, condition = codes = arguments(context, call, 3)
    if all(isinstance(code.type, Scalar) for code in codes):
        kinds = chosen(codes, call, _SELECTED)
        return _selected(kinds[0], [change(code, kind) for code, kind in zip(codes, kinds, strict=True)])
    kind = meeting([first, second], call, NUMBERS) if isinstance(condition.type, Vector) else None
    fits = isinstance(kind, Vector) and (kind.element, kind.element, element_of(condition.type)) in _SELECTED
    if kind is None or not fits or width_of(kind) != width_of(condition.type):
        raise call.position.error(
            f"select of {first.type} and {second.type} does not take a condition of type {condition.type}"
        )
    return _selected(kind, [*broadcast([first, second], kind), condition])


def _selected(kind: Scalar | Vector, codes: Sequence[Code]) -> Code:
    vector, element = isinstance(kind, Vector), element_of(codes[2].type)
    assert element is not None
    high = element.dtype.type(1) << element.dtype.type(8 * element.size - 1) if not element.is_signed else None

    def run(a: Value, b: Value, c: Value) -> Value:
        where = c != 0 if not vector else c < 0 if high is None else (c & high) != 0
        picked: Value = np.where(where, b, a)
        return full(picked[()], kind)

    return apply(kind, run, codes)


def _bitselect(context: Context, call: Call) -> Code:
    """Bits of b where c has a 1, of a where it has a 0."""
    codes = arguments(context, call, 3)
    kind = meeting(codes, call, NUMBERS)
    element = element_of(kind)
    assert element is not None
    unsigned = f"u{element.size}"

    def run(*values: Value) -> Value:
        a, b, c = (np.ascontiguousarray(value).view(unsigned) for value in np.broadcast_arrays(*values))
        mixed: Value = np.ascontiguousarray((a & ~c) | (b & c)).view(element.dtype)
        return mixed.reshape(np.broadcast_shapes(*(np.shape(value) for value in values)))[()]

    return apply(kind, run, broadcast(codes, kind))


RELATIONAL: dict[str, Builtin] = {
    "isequal": _test(np.equal, 2),
    "isnotequal": _test(np.not_equal, 2),
    "isgreater": _test(np.greater, 2),
    "isgreaterequal": _test(np.greater_equal, 2),
    "isless": _test(np.less, 2),
    "islessequal": _test(np.less_equal, 2),
    "islessgreater": _test(lambda a, b: (a < b) | (a > b), 2),
    "isfinite": _test(np.isfinite, 1),
    "isinf": _test(np.isinf, 1),
    "isnan": _test(np.isnan, 1),
    "isnormal": _test(_is_normal, 1),
    "isordered": _test(lambda a, b: ~(np.isnan(a) | np.isnan(b)), 2),
    "isunordered": _test(lambda a, b: np.isnan(a) | np.isnan(b), 2),
    "signbit": _test(np.signbit, 1),
    "any": _reduce(every=False),
    "all": _reduce(every=True),
    "select": _select,
    "bitselect": _bitselect,
}
