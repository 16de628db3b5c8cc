"""Geometric builtins on vectors of at most four elements: 6.12.5."""

from collections.abc import Callable

import numpy as np

from ...clc.tree import Call
from ...clc.types import Vector, element_of, width_of
from ..compiled_code import Code, Value
from ..context import Context
from ..convert import change
from .common import Builtin, apply, arguments
from .signatures import FLOATS, meeting


def _dot(a: Value, b: Value) -> Value:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total if total.size > 1 else total[0]


def _geometric(function: Callable[..., Value], count: int, vector_result: bool = False) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, count)
        kind = meeting(codes, call, FLOATS)
        element = element_of(kind)
        assert element is not None
        if width_of(kind) > 4:
            raise call.position.error(f"{call.name} takes float vectors of at most four elements, not {kind}")

        def run(*values: Value) -> Value:
            wide = [value if isinstance(kind, Vector) else np.asarray(value).reshape(1, -1) for value in values]
            result = function(*wide)
            return result if vector_result and isinstance(kind, Vector) else _flat(result)

        return apply(kind if vector_result else element, run, [change(code, kind) for code in codes])

    return build


def _flat(value: Value) -> Value:
    value = np.asarray(value).reshape(-1)
    return value if value.size > 1 else value[0]


def _length(a: Value) -> Value:
    return np.sqrt((a.astype(np.float64) ** 2).sum(axis=0)).astype(a.dtype)


def _normalize(a: Value) -> Value:
    size = np.sqrt((a.astype(np.float64) ** 2).sum(axis=0))
    return np.where(size == 0, a, a / np.where(size == 0, 1.0, size)).astype(a.dtype)


def _cross(a: Value, b: Value) -> Value:
    out = np.zeros(np.broadcast_shapes(a.shape, b.shape), a.dtype)
    for index in range(3):
        j, k = (index + 1) % 3, (index + 2) % 3
        out[index] = a[j] * b[k] - a[k] * b[j]
    return out


def _table() -> dict[str, Builtin]:
    table = {"dot": _geometric(_dot, 2), "cross": _geometric(_cross, 2, True)}
    for prefix in ("", "fast_"):
        table[f"{prefix}length"] = _geometric(_length, 1)
        table[f"{prefix}distance"] = _geometric(lambda a, b: _length(a - b), 2)
        table[f"{prefix}normalize"] = _geometric(_normalize, 1, True)
    return table


GEOMETRIC = _table()
