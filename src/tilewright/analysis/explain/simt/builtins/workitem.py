"""Work-item functions, barriers, fences, prefetch, printf: 6.12.1, 6.12.8, 6.12.13."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...clc.tree import Call
from ...clc.types import INT, SIZE_T, UINT, VOID
from ..compiled_code import Code, Frame, Run, Value
from ..context import Context
from ..machine import GLOBAL_FENCE
from ..masks import Mask
from .common import Builtin, arguments, uniform_integer

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


def _by_dimension(values: Callable[[Context], list[Any]], outside: Any) -> Builtin:
    """A function of a dimension; `outside` is its value for a dimension that the NDRange does not have."""

    def build(context: Context, call: Call) -> Code:
        (code,) = arguments(context, call, 1)
        if code.constant is None:
            return _of_any_dimension(code.run, context, values, outside)
        dimension = int(code.constant)
        if not 0 <= dimension < 3:
            return Code(SIZE_T, lambda frame, mask: outside)
        return Code(SIZE_T, lambda frame, mask: values(context)[dimension])

    return build


def _of_any_dimension(run: Run, context: Context, values: Callable[[Context], list[Any]], outside: Any) -> Code:
    def chosen(frame: Frame, mask: Mask) -> Value:
        dimension, known = run(frame, mask), values(context)
        if np.ndim(dimension) == 0:
            return known[int(dimension)] if 0 <= dimension < 3 else outside
        return np.select([dimension == each for each in range(3)], known, outside)

    return Code(SIZE_T, chosen)


def _sizes(values: Callable[[Context], Any]) -> Callable[[Context], list[Any]]:
    return lambda context: [np.uint64(each) for each in values(context)]


def _groups(context: Context) -> list[Any]:
    machine = context.machine
    return [-(-size // own) for size, own in zip(machine.global_size, machine.local_size, strict=True)]


def _work_dim(context: Context, call: Call) -> Code:
    arguments(context, call, 0)
    value = np.uint32(context.machine.work_dim)
    return Code(UINT, lambda frame, mask: value, False, value)


def _from_zero(context: Context) -> list[Any]:
    """Global ids without the NDRange's offset."""
    machine = context.machine
    return [own - np.uint64(offset) for own, offset in zip(machine.global_id, machine.offset, strict=True)]


def _linear(ids: Callable[[Context], list[Any]], sizes: Callable[[Context], Any]) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        arguments(context, call, 0)

        def run(frame: Frame, mask: Mask) -> Value:
            own, (x, y, _) = ids(context), sizes(context)
            return (own[2] * y + own[1]) * x + own[0]

        return Code(SIZE_T, run)

    return build


def _barrier(context: Context, call: Call) -> Code:
    codes = arguments(context, call, 1, 2)
    fence, machine, position = codes[0].run, context.machine, call.position

    def run(frame: Frame, mask: Mask) -> Value:
        flags = uniform_integer(fence(frame, mask), mask, position, "the fence of this barrier")
        machine.barrier(mask, flags, position)

    return Code(VOID, run)


def _fence(context: Context, call: Call) -> Code:
    """Orders what one work-item does; seen by others only with a counter (ordering.py)."""
    codes = arguments(context, call, 1)
    flags, machine, position = codes[0].run, context.machine, call.position

    def run(frame: Frame, mask: Mask) -> Value:
        if uniform_integer(flags(frame, mask), mask, position, "the kind of this fence") & GLOBAL_FENCE:
            machine.ordering.fence(mask)

    return Code(VOID, run)


def _evaluated(context: Context, call: Call) -> Code:
    """Only the arguments are evaluated: for fences of reads, prefetches and output."""
    runs = [context.value(each).run for each in call.arguments]
    zero = np.int32(0)

    def run(frame: Frame, mask: Mask) -> Value:
        for each in runs:
            each(frame, mask)
        return zero

    return Code(INT, run)


def _first_argument(context: Context, call: Call) -> Code:
    return context.value(call.arguments[0])


WORK_ITEM: dict[str, Builtin] = {
    "get_work_dim": _work_dim,
    "get_global_size": _by_dimension(_sizes(lambda context: context.machine.global_size), _ONE),
    "get_local_size": _by_dimension(lambda context: context.machine.own_size, _ONE),
    "get_enqueued_local_size": _by_dimension(_sizes(lambda context: context.machine.local_size), _ONE),
    "get_num_groups": _by_dimension(_sizes(_groups), _ONE),
    "get_global_offset": _by_dimension(_sizes(lambda context: context.machine.offset), _ZERO),
    "get_global_id": _by_dimension(lambda context: context.machine.global_id, _ZERO),
    "get_local_id": _by_dimension(lambda context: context.machine.local_id, _ZERO),
    "get_group_id": _by_dimension(lambda context: context.machine.group_id, _ZERO),
    "get_global_linear_id": _linear(_from_zero, _sizes(lambda context: context.machine.global_size)),
    "get_local_linear_id": _linear(lambda context: context.machine.local_id, lambda context: context.machine.own_size),
    "barrier": _barrier,
    "work_group_barrier": _barrier,
    "mem_fence": _fence,
    "read_mem_fence": _evaluated,
    "write_mem_fence": _fence,
    "prefetch": _evaluated,
    "printf": _evaluated,
    "__builtin_prefetch": _evaluated,
    "__builtin_assume": _evaluated,
    "__builtin_unreachable": _evaluated,
    "__builtin_expect": _first_argument,
}
