"""Atomic functions of OpenCL C 2.0 and 3.0: 6.15.12 of the specification; cl_ext_float_atomics.

Without `_explicit` the order is memory_order_seq_cst, and the scope is the device. Floats are added in the order of the
work-items' ids; devices take their own.
"""

import re
from dataclasses import replace
from typing import Any

import numpy as np

from ...clc.atomic_types import DEVICE, SEQUENTIAL
from ...clc.tree import Call
from ...clc.types import INT, VOID, Pointer, Scalar
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change
from ..machine import fenced_spaces
from ..masks import Mask
from ..places import memory_access
from ..segments import Access
from ..synchronisation import Order
from .atomics import UPDATES, Update
from .common import Builtin, arguments, constant_argument, pointer_argument, uniform_integer

_NAME = re.compile(
    r"atomic_(init|store|load|exchange|compare_exchange_strong|compare_exchange_weak|flag_test_and_set|flag_clear"
    r"|fetch_(?:add|sub|or|xor|and|min|max))(_explicit)?$"
)
_FLOATS = ("init", "store", "load", "exchange", "fetch_add", "fetch_sub", "fetch_min", "fetch_max")
_OPERANDS = {"init": 1, "store": 1, "load": 0, "exchange": 1, "flag_test_and_set": 0, "flag_clear": 0}


def find_c11_atomic(name: str) -> Builtin | None:
    """atomic_fetch_add, atomic_load_explicit and so on."""
    match = _NAME.match(name)
    if match is None or (match[1] == "init" and match[2]):
        return None
    if match[1].startswith("compare"):
        return _compare_exchange(bool(match[2]))
    return _initialise if match[1] == "init" else _atomic(match[1], bool(match[2]))


def _object(code: Code, call: Call, what: str) -> Scalar:
    """The type of an atomic object."""
    pointer = pointer_argument(code, call)
    target = pointer.target
    if not isinstance(target, Scalar) or not target.is_atomic:
        raise call.position.error(
            f"{call.name} takes a pointer to an atomic type, not {code.type}: cast it to such a pointer"
        )
    if target.is_float and what not in _FLOATS:
        raise call.position.error(f"{call.name} takes integers, not {target}")
    if pointer.constant and what != "load":
        raise call.position.error(f"{call.name} cannot write through a pointer to const")
    return target


def _order(codes: list[Code], call: Call, what: str) -> Order:
    """The order and scope among the arguments; those of functions without `_explicit`."""
    given = [constant_argument(code, call) for code in codes]
    order, scope = given[0] if given else SEQUENTIAL, given[-1] if len(given) > 1 else DEVICE
    return Order(order, scope, stores=what in ("store", "flag_clear"), loads=what == "load")


def _update(what: str) -> Update:
    if what == "load":
        return lambda old, given: old
    if what in ("store", "exchange"):
        return lambda old, given: given[0]
    if what.startswith("flag"):
        value = int(what == "flag_test_and_set")
        return lambda old, given: np.full_like(old, value)
    return UPDATES[what.removeprefix("fetch_")][1]


def _site(context: Context, call: Call, target: Scalar, order: Order) -> Access:
    operation = "load" if order.loads else "store" if order.stores else "atomic"
    site = context.machine.memory.site(call.position, operation, target.size, target.size)
    return Access(target.dtype, 1, target.size, site)


def _atomic(what: str, explicit: bool) -> Builtin:
    operands = _OPERANDS.get(what, 1)

    def build(context: Context, call: Call) -> Code:
        counts = (2 + operands, 3 + operands) if explicit else (1 + operands,)
        codes = arguments(context, call, *counts)
        target, order = _object(codes[0], call, what), _order(codes[1 + operands :], call, what)
        machine, where = context.machine, codes[0].run
        given_runs = [change(code, target).run for code in codes[1 : 1 + operands]]
        machine.ordering.active = machine.ordering.synchronisation.active = True
        update, access = _update(what), _site(context, call, target, order)

        def run(frame: Frame, mask: Mask) -> Value:
            address = np.broadcast_to(where(frame, mask), (machine.lanes,))
            given = [np.broadcast_to(each(frame, mask), (machine.lanes,)) for each in given_runs]
            old = machine.memory.atomic(
                address, access, mask, lambda old, chosen: update(old, [each[chosen] for each in given]), order
            )
            return old != 0 if what == "flag_test_and_set" else old

        if what == "flag_test_and_set":
            return Code(INT, run, boolean=True)
        return Code(VOID if order.stores else target, run)

    return build


def _initialise(context: Context, call: Call) -> Code:
    """atomic_init: a plain store, which nobody may meet."""
    place, value = arguments(context, call, 2)
    target = _object(place, call, "init")
    access = memory_access(context.machine, target, call.position, "store")
    where, source, memory = place.run, change(value, target).run, context.machine.memory

    def run(frame: Frame, mask: Mask) -> Value:
        memory.store(where(frame, mask), access, source(frame, mask), mask)

    return Code(VOID, run)


def _compare_exchange(explicit: bool) -> Builtin:
    """(object, &expected, desired): where they differ, the object's value goes to `expected`."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, *((5, 6) if explicit else (3,)))
        target = _object(codes[0], call, "compare_exchange")
        held = pointer_argument(codes[1], call)
        if held.target != target:
            raise call.position.error(
                f"{call.name} takes a pointer to {target} for what it expects, not {codes[1].type}"
            )
        orders = [codes[3], *codes[5:]] if explicit else []
        failure = constant_argument(codes[4], call) if explicit else SEQUENTIAL
        order, machine = replace(_order(orders, call, "compare_exchange"), failure=failure), context.machine
        machine.ordering.active = machine.ordering.synchronisation.active = True
        access, (load, store) = _site(context, call, target, order), _accesses(context, call, held)
        runs = codes[0].run, codes[1].run, change(codes[2], target).run

        def run(frame: Frame, mask: Mask) -> Value:
            where, expected_at, wanted = (np.broadcast_to(each(frame, mask), (machine.lanes,)) for each in runs)
            expected = np.broadcast_to(machine.memory.load(expected_at, load, mask), (machine.lanes,))

            def update(old: Any, chosen: Any) -> Any:
                return np.where(old == expected[chosen], wanted[chosen], old)

            old = machine.memory.atomic(where, access, mask, update, order, expected)
            machine.memory.store(expected_at, store, old, Mask(mask.lanes & (old != expected)))
            return old == expected

        return Code(INT, run, boolean=True)

    return build


def _accesses(context: Context, call: Call, held: Pointer) -> tuple[Access, Access]:
    return (
        memory_access(context.machine, held.target, call.position, "load"),
        memory_access(context.machine, held.target, call.position, "store"),
    )


def _fence(context: Context, call: Call) -> Code:
    """atomic_work_item_fence(flags, order, scope)."""
    codes = arguments(context, call, 3)
    machine, flags = context.machine, codes[0].run
    order = _order(codes[1:], call, "fence")
    machine.ordering.active = machine.ordering.synchronisation.active = True

    def run(frame: Frame, mask: Mask) -> Value:
        bits = uniform_integer(flags(frame, mask), mask, call.position, "the kind of this fence")
        machine.ordering.explicit_fence(mask, order, fenced_spaces(bits))

    return Code(VOID, run)


def _variable_init(context: Context, call: Call) -> Code:
    (code,) = arguments(context, call, 1)
    return code


C11_ATOMICS: dict[str, Builtin] = {"atomic_work_item_fence": _fence, "ATOMIC_VAR_INIT": _variable_init}
