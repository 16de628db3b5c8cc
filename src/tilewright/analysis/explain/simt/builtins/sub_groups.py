"""Sub-groups: who is where, barriers, shuffles, rotations, elections.

OpenCL C 3.0, 6.15.1 and 6.15.19; cl_khr_subgroup_shuffle, _shuffle_relative, _rotate, _ballot; cl_intel_subgroups.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...clc.tree import Call
from ...clc.types import INT, UINT, VOID, Scalar, element_of
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change
from ..machine import Machine
from ..masks import Mask
from ..teams import Teams
from .collectives import clusters, fetch, sub_groups
from .common import Builtin, arguments, uniform_integer

Where = Callable[[Teams, Any, Any], Any]  # (teams, place of each lane, argument) -> the place it reads


def _constant_in_group(values: Callable[[Machine], Any]) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        arguments(context, call, 0)
        value = np.asarray(values(context.machine)).astype(np.uint32)[()]
        return Code(UINT, lambda frame, mask: value)

    return build


def _sizes(machine: Machine) -> Any:
    teams = machine.sub_groups
    sizes = teams.sizes[teams.team]
    return sizes[0] if (sizes == sizes[0]).all() else sizes


def _barrier(context: Context, call: Call) -> Code:
    codes = arguments(context, call, 1, 2)
    fence, machine, position = codes[0].run, context.machine, call.position

    def run(frame: Frame, mask: Mask) -> Value:
        flags = uniform_integer(fence(frame, mask), mask, position, "the fence of this barrier")
        machine.sub_group_barrier(mask, flags, position)

    return Code(VOID, run)


def _shuffle(where: Where) -> Builtin:
    """value of the member at a place that depends on the reader's own place and an argument."""

    def build(context: Context, call: Call) -> Code:
        code, given = arguments(context, call, 2)
        teams = context.machine.sub_groups
        return _exchange(context, call, code, given, teams, where)

    return build


def _exchange(context: Context, call: Call, code: Code, given: Code, teams: Teams, where: Where) -> Code:
    if element_of(code.type) is None or element_of(given.type) is None:
        raise call.position.error(f"{call.name} does not take {code.type} and {given.type}")
    machine, position = context.machine, call.position
    source, amount = code.run, change(given, INT).run

    def run(frame: Frame, mask: Mask) -> Value:
        value, asked = source(frame, mask), np.asarray(amount(frame, mask)).astype(np.int64)
        return fetch(machine, teams, value, where(teams, teams.place, asked), mask, position, call.name)

    return Code(code.type, run)


def _rotate(context: Context, call: Call) -> Code:
    """sub_group_rotate(value, delta) and sub_group_clustered_rotate(value, delta, size)."""
    clustered = "clustered" in call.name
    codes = arguments(context, call, 3 if clustered else 2)
    machine = context.machine
    teams = clusters(machine, codes[2], call) if clustered else machine.sub_groups

    def where(teams: Teams, place: Any, delta: Any) -> Any:
        return (place + delta) % teams.sizes[teams.team]

    return _exchange(context, call, codes[0], codes[1], teams, where)


def _two_sources(up: bool) -> Builtin:
    """intel_sub_group_shuffle_down(current, next, delta) and _up(previous, current, delta): a window over two rows of values."""

    def build(context: Context, call: Call) -> Code:
        first, second, given = arguments(context, call, 3)
        machine, position = context.machine, call.position
        teams, kind = machine.sub_groups, first.type
        if element_of(kind) is None or second.type != kind:
            second = change(second, kind)
        sources, amount = (first.run, second.run), change(given, INT).run

        def run(frame: Frame, mask: Mask) -> Value:
            values = [source(frame, mask) for source in sources]
            delta = np.asarray(amount(frame, mask)).astype(np.int64)
            size = machine.sub_group
            place = size + teams.place - delta if up else teams.place + delta
            from_first = np.broadcast_to(place < size, (machine.lanes,))
            inside = np.where(from_first, place, place - size)
            picked = [fetch(machine, teams, value, inside, mask, position, call.name) for value in values]
            chosen: Value = np.where(from_first, picked[0], picked[1])
            return chosen

        return Code(kind, run)

    return build


def _first_active(teams: Teams, mask: Mask) -> Any:
    """The place of each team's first active member; 0 where there is none."""
    return teams.lanes(teams.active(mask).argmax(axis=1)[:, None])


def _broadcast_first(context: Context, call: Call) -> Code:
    (code,) = arguments(context, call, 1)
    machine, position, source = context.machine, call.position, code.run
    teams = machine.sub_groups

    def run(frame: Frame, mask: Mask) -> Value:
        return fetch(machine, teams, source(frame, mask), _first_active(teams, mask), mask, position, call.name)

    return Code(code.type, run)


def _elect(context: Context, call: Call) -> Code:
    arguments(context, call, 0)
    teams = context.machine.sub_groups
    return Code(INT, lambda frame, mask: (teams.place == _first_active(teams, mask)).astype(np.int32))


def _all_equal(context: Context, call: Call) -> Code:
    (code,) = arguments(context, call, 1)
    if not isinstance(code.type, Scalar):
        raise call.position.error(f"{call.name} takes one number, not {code.type}")
    teams, source = context.machine.sub_groups, change(code, code.type).run

    def run(frame: Frame, mask: Mask) -> Value:
        rows, active = teams.rows(source(frame, mask)), teams.active(mask)
        first = np.take_along_axis(rows, active.argmax(axis=1)[:, None], axis=1)
        return teams.lanes(((rows == first) | ~active).all(axis=1, keepdims=True).astype(np.int32))

    return Code(INT, run)


def _xor(teams: Teams, place: Any, given: Any) -> Any:
    return place ^ given


SUB_GROUPS: dict[str, Builtin] = {
    "get_sub_group_size": _constant_in_group(_sizes),
    "get_max_sub_group_size": _constant_in_group(lambda machine: machine.sub_group),
    "get_num_sub_groups": _constant_in_group(lambda machine: -(-machine.items // machine.sub_group)),
    "get_enqueued_num_sub_groups": _constant_in_group(lambda machine: -(-machine.items // machine.sub_group)),
    "get_sub_group_id": _constant_in_group(lambda machine: sub_groups(machine).in_group),
    "get_sub_group_local_id": _constant_in_group(lambda machine: sub_groups(machine).place),
    "sub_group_barrier": _barrier,
    "sub_group_elect": _elect,
    "sub_group_broadcast_first": _broadcast_first,
    "sub_group_non_uniform_all_equal": _all_equal,
    "sub_group_shuffle": _shuffle(lambda teams, place, given: given),
    "sub_group_shuffle_xor": _shuffle(_xor),
    "sub_group_shuffle_up": _shuffle(lambda teams, place, given: place - given),
    "sub_group_shuffle_down": _shuffle(lambda teams, place, given: place + given),
    "sub_group_rotate": _rotate,
    "sub_group_clustered_rotate": _rotate,
    "intel_sub_group_shuffle": _shuffle(lambda teams, place, given: given % teams.sizes[teams.team]),
    "intel_sub_group_shuffle_xor": _shuffle(_xor),
    "intel_sub_group_shuffle_up": _two_sources(up=True),
    "intel_sub_group_shuffle_down": _two_sources(up=False),
}
