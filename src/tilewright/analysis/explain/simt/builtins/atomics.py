"""Atomic functions: 6.12.11. Work-items of one instruction take turns in the order of their ids."""

from collections.abc import Callable

import numpy as np

from ...clc.tree import Call
from ...clc.types import Scalar
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change
from ..masks import Mask
from ..segments import Access
from .common import Builtin, arguments, pointer_argument

Update = Callable[[Value, list[Value]], Value]
UPDATES: dict[str, tuple[int, Update]] = {
    "add": (1, lambda old, given: old + given[0]),
    "sub": (1, lambda old, given: old - given[0]),
    "inc": (0, lambda old, given: old + old.dtype.type(1)),
    "dec": (0, lambda old, given: old - old.dtype.type(1)),
    "xchg": (1, lambda old, given: given[0]),
    "cmpxchg": (2, lambda old, given: np.where(old == given[0], given[1], old)),
    "min": (1, lambda old, given: np.fmin(old, given[0])),
    "max": (1, lambda old, given: np.fmax(old, given[0])),
    "and": (1, lambda old, given: old & given[0]),
    "or": (1, lambda old, given: old | given[0]),
    "xor": (1, lambda old, given: old ^ given[0]),
}


def find_atomic(name: str) -> Builtin | None:
    """atomic_add, atom_cmpxchg and so on."""
    for prefix in ("atomic_", "atom_"):
        if name.startswith(prefix) and name.removeprefix(prefix) in UPDATES:
            count, update = UPDATES[name.removeprefix(prefix)]
            return _atomic(count, update)
    return None


def _atomic(count: int, update: Update) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, 1 + count)
        target = pointer_argument(codes[0], call).target
        if (
            not isinstance(target, Scalar)
            or (target.is_float and "xchg" not in call.name)
            or target.size < 4
            or target.is_atomic
        ):
            raise call.position.error(f"{call.name} does not take {codes[0].type}")
        if pointer_argument(codes[0], call).constant:
            raise call.position.error(f"{call.name} cannot write through a pointer to const")
        machine = context.machine
        machine.ordering.active = machine.ordering.older = True
        site = machine.memory.site(call.position, "atomic", target.size, target.size)
        access = Access(target.dtype, 1, target.size, site)
        where, operands = codes[0].run, [change(code, target).run for code in codes[1:]]

        def run(frame: Frame, mask: Mask) -> Value:
            lanes = (machine.lanes,)
            address = np.broadcast_to(where(frame, mask), lanes)
            given = [np.broadcast_to(operand(frame, mask), lanes) for operand in operands]
            return machine.memory.atomic(
                address, access, mask, lambda old, chosen: update(old, [each[chosen] for each in given])
            )

        return Code(target, run)

    return build
