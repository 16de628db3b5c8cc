"""Dot products of four 8-bit integers, and functions on bit fields.

cl_khr_integer_dot_product (OpenCL C 3.0 with __opencl_c_integer_dot_product_input_4x8bit), cl_arm_integer_dot_product,
cl_khr_extended_bit_ops.
"""

import re
from typing import Any

import numpy as np

from ...clc.tree import Call
from ...clc.types import (
    CHAR,
    INT,
    UCHAR,
    UINT,
    UNSIGNED_OF,
    Scalar,
    Type,
    Vector,
    element_of,
    signed_integer,
    vector_of,
    width_of,
)
from ..compiled_code import Code, Value
from ..context import Context
from ..convert import change, elementwise
from .common import Builtin, apply, arguments, broadcast, full
from .geometric import GEOMETRIC
from .signatures import INTEGERS, meeting

_PACKED = re.compile(r"dot(_acc_sat)?_4x8packed_([us])([us])_(int|uint)$")
_BYTES = {"u": UCHAR, "s": CHAR}


def find_dot_product(name: str) -> Builtin | None:
    """dot_4x8packed_ss_int, dot_acc_sat_4x8packed_us_int and so on."""
    match = _PACKED.match(name)
    if match is None or (match[4] == "uint") != (match[2] + match[3] == "uu"):
        return None
    return _packed(_BYTES[match[2]], _BYTES[match[3]], UINT if match[4] == "uint" else INT, bool(match[1]))


def _bytes(value: Value, kind: Scalar) -> Any:
    """(4, lanes): the bytes of 32-bit words, the lowest first."""
    words = np.atleast_1d(np.asarray(value)).astype(np.uint32)
    return np.stack([(words >> np.uint32(8 * at)).astype(np.uint8).view(kind.dtype) for at in range(4)])


def _summed(first: Any, second: Any, added: Any, result: Scalar, saturates: bool) -> Value:
    """The exact sum of products and `added`, wrapped or saturated."""
    total = (first.astype(np.int64) * second.astype(np.int64)).sum(axis=0) + np.asarray(added).astype(np.int64)
    limits = np.iinfo(result.dtype)
    total = np.clip(total, limits.min, limits.max) if saturates else total
    return total.astype(result.dtype)


def _packed(first: Scalar, second: Scalar, result: Scalar, accumulates: bool) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, 3 if accumulates else 2)
        kinds = (UINT, UINT, result)
        codes = [change(code, kind) for code, kind in zip(codes, kinds, strict=False)]

        def run(a: Value, b: Value, *added: Value) -> Value:
            return _summed(_bytes(a, first), _bytes(b, second), added[0] if added else 0, result, accumulates)

        return apply(result, run, codes)

    return build


def _byte_vector(kind: Type) -> bool:
    return isinstance(kind, Vector) and kind.width == 4 and kind.element in (CHAR, UCHAR)


def _vectors(context: Context, call: Call, accumulates: bool, saturates: bool) -> Code:
    """Of char4 or uchar4; the sum is unsigned if both are."""
    codes = arguments(context, call, 3 if accumulates else 2)
    if not all(_byte_vector(code.type) for code in codes[:2]):
        raise call.position.error(f"{call.name} does not take {' and '.join(str(code.type) for code in codes[:2])}")
    unsigned = all(element_of(code.type) == UCHAR for code in codes[:2])
    result = UINT if unsigned else INT
    if accumulates:
        codes[2] = change(codes[2], result)

    def run(a: Value, b: Value, *added: Value) -> Value:
        return _summed(a, b, added[0] if added else 0, result, saturates)

    return apply(result, run, codes)


def _dot(context: Context, call: Call) -> Code:
    """Of floats (6.15.5), or of bytes."""
    if len(call.arguments) == 2 and _byte_vector(context.value(call.arguments[0]).type):
        return _vectors(context, call, accumulates=False, saturates=False)
    return GEOMETRIC["dot"](context, call)


def _reversed(context: Context, call: Call) -> Code:
    """bit_reverse."""
    (code,) = arguments(context, call, 1)
    kind = meeting([code], call, INTEGERS)
    element = element_of(kind)
    assert element is not None

    def run(x: Value) -> Value:
        left, out = np.asarray(x).astype(f"u{element.size}"), np.zeros(np.shape(x), f"u{element.size}")
        one = left.dtype.type(1)
        for _ in range(8 * element.size):
            out, left = (out << one) | (left & one), left >> one
        return out.astype(element.dtype)[()]

    return apply(kind, run, [change(code, kind)])


def _field(signed: bool | None) -> Builtin:
    """bitfield_extract_signed and _unsigned(base, offset, count); bitfield_insert(base, insert, offset, count) with None."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, 4 if signed is None else 3)
        values, numbers = codes[: 2 if signed is None else 1], codes[-2:]
        kind = meeting(values, call, INTEGERS)
        element = element_of(kind)
        assert element is not None
        result = element
        if signed is not None:
            result = signed_integer(element.size) if signed else UNSIGNED_OF.get(element, element)
        bits, wide = 8 * element.size, np.dtype(f"u{element.size}")

        def run(*given: Value) -> Value:
            *own, offset, count = (np.asarray(each) for each in given)
            base, start, length = own[0].astype(wide), offset.astype(wide), count.astype(wide)
            one = wide.type(1)
            whole = np.where(length >= bits, ~wide.type(0), (one << length % wide.type(bits)) - one)
            if signed is None:
                inserted = (own[1].astype(wide) & whole) << start
                return full(((base & ~(whole << start)) | inserted).astype(element.dtype)[()], kind)
            picked = (base >> start) & whole
            if signed:
                top = (picked >> np.maximum(length, one) - one) & one
                picked = np.where((top != 0) & (length > 0), picked | ~whole, picked)
            return full(picked.astype(result.dtype)[()], kind)

        number = [elementwise(each, UINT) for each in numbers]
        return apply(vector_of(result, width_of(kind)), run, [*broadcast(values, kind), *number])

    return build


DOT_PRODUCTS: dict[str, Builtin] = {
    "dot": _dot,
    "dot_acc_sat": lambda context, call: _vectors(context, call, True, True),
    "arm_dot": lambda context, call: _vectors(context, call, False, False),
    "arm_dot_acc": lambda context, call: _vectors(context, call, True, False),
    "arm_dot_acc_sat": lambda context, call: _vectors(context, call, True, True),
    "bit_reverse": _reversed,
    "bitfield_insert": _field(None),
    "bitfield_extract_signed": _field(True),
    "bitfield_extract_unsigned": _field(False),
}
