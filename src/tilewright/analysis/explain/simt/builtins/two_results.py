"""remquo and lgamma_r, which store a second result through a pointer: 6.12.2."""

import math
from typing import Any

import numpy as np

from ...clc.tree import Call
from ...clc.types import INT, vector_of, width_of
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change
from ..masks import Mask
from .common import Builtin, arguments, second_result
from .signatures import FLOATS, meeting


def _quotient(x: float, y: float) -> tuple[float, int]:
    """The remainder with a quotient rounded to even; the low seven bits of the quotient with its sign."""
    if not (math.isfinite(x) and not math.isnan(y)) or y == 0:
        return math.nan, 0
    if math.isinf(y):
        return x, 0
    rest = math.remainder(x, y)
    quotient = round((x - rest) / y) if abs(x / y) < 2.0**52 else int((x - rest) / y)
    return rest, (abs(quotient) & 0x7F) * (-1 if quotient < 0 else 1)


def _log_gamma(x: float) -> tuple[float, int]:
    """The logarithm of |gamma(x)| and the sign of gamma(x)."""
    if x <= 0 and x == math.floor(x):
        return math.inf, 1
    sign = -1 if x < 0 and math.floor(x) % 2 else 1
    return (math.lgamma(x), sign) if math.isfinite(x) else (abs(x), 1)


def _with_integer(function: Any, count: int) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        *codes, target = arguments(context, call, count + 1)
        kind = meeting(codes, call, FLOATS)
        access = second_result(context, call, target, vector_of(INT, width_of(kind)))
        sources, where = [change(code, kind).run for code in codes], target.run
        both = np.vectorize(function, otypes=[np.float64, np.int64])

        def run(frame: Frame, mask: Mask) -> Value:
            values = [np.asarray(source(frame, mask)) for source in sources]
            result, other = both(*(each.astype(np.float64) for each in values))
            context.machine.memory.store(where(frame, mask), access, np.asarray(other).astype(np.int32)[()], mask)
            return np.asarray(result).astype(values[0].dtype)[()]

        return Code(kind, run)

    return build


TWO_RESULTS: dict[str, Builtin] = {"remquo": _with_integer(_quotient, 2), "lgamma_r": _with_integer(_log_gamma, 1)}
