"""Functions of all work-items of a work-group, a sub-group or a cluster: reduce, scan, broadcast, all, any.

OpenCL C 3.0, 6.15.16 and 6.15.19; cl_khr_subgroups, cl_khr_subgroup_non_uniform_arithmetic, _clustered_reduce,
cl_khr_work_group_uniform_arithmetic. Sums are rounded from the first work-item to the last; devices choose their own order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .....core.language import Sentence
from ...clc.lexer import Position
from ...clc.tree import Call
from ...clc.types import INT, Scalar, Vector, element_of, promoted
from ...terms import term
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change, elementwise, truth
from ..findings import COLLECTIVE, NO_SOURCE
from ..machine import Machine
from ..masks import Mask
from ..teams import Teams
from .common import Builtin, arguments, constant_argument

Chosen = Callable[[Machine], Teams]


@dataclass(frozen=True)
class Operation:
    """How two values meet, and the value that changes nothing."""

    function: Any
    neutral: Callable[["np.dtype[Any]"], Any]
    floats: bool = True
    logical: bool = False


def _lowest(dtype: "np.dtype[Any]") -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype: "np.dtype[Any]") -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


OPERATIONS = {
    "add": Operation(np.add, lambda dtype: 0),
    "mul": Operation(np.multiply, lambda dtype: 1),
    "min": Operation(np.fmin, _highest),
    "max": Operation(np.fmax, _lowest),
    "and": Operation(np.bitwise_and, lambda dtype: -1 if dtype.kind == "i" else np.iinfo(dtype).max, floats=False),
    "or": Operation(np.bitwise_or, lambda dtype: 0, floats=False),
    "xor": Operation(np.bitwise_xor, lambda dtype: 0, floats=False),
    "logical_and": Operation(np.bitwise_and, lambda dtype: 1, floats=False, logical=True),
    "logical_or": Operation(np.bitwise_or, lambda dtype: 0, floats=False, logical=True),
    "logical_xor": Operation(np.bitwise_xor, lambda dtype: 0, floats=False, logical=True),
}


def check_reached(machine: Machine, teams: Teams, mask: Mask, position: Position, name: str) -> None:
    """A collective that only a part of a team executes has no defined result."""
    machine.check_together(mask, position, name, teams, COLLECTIVE)


def number(code: Code, call: Call) -> Scalar:
    """The scalar type in which a collective works; smaller integers keep theirs."""
    element = element_of(code.type)
    if element is None or isinstance(code.type, Vector):
        raise call.position.error(f"{call.name} takes one number, not {code.type}")
    return promoted(element) if element.name == "bool" else element


def _combined(operation: Operation, teams: Teams, value: Value, mask: Mask, scan: str) -> Value:
    """The reduction ("") or scan ("inclusive", "exclusive") of each team's active members, for each lane."""
    rows = teams.rows(value)
    neutral = rows.dtype.type(operation.neutral(rows.dtype))
    kept = np.where(teams.active(mask), rows, neutral)
    if scan == "exclusive":
        kept = np.concatenate([np.full((len(kept), 1), neutral), kept[:, :-1]], axis=1)
    running: npt.NDArray[Any] = operation.function.accumulate(kept, axis=1, dtype=kept.dtype)
    return teams.lanes(running if scan else running[:, -1:])


def reduction(chosen: Chosen, operation: Operation, scan: str = "", uniform: bool = True) -> Builtin:
    """A reduction or scan. `uniform`: all members must meet here, else it is about those that do."""

    def build(context: Context, call: Call) -> Code:
        (code,) = arguments(context, call, 1)
        return _reduced(context, call, code, chosen(context.machine), operation, scan, uniform)

    return build


def clustered(operation: Operation) -> Builtin:
    """sub_group_clustered_reduce_*(value, size) with a constant size, a power of two."""

    def build(context: Context, call: Call) -> Code:
        code, size = arguments(context, call, 2)
        return _reduced(context, call, code, clusters(context.machine, size, call), operation, "", False)

    return build


def clusters(machine: Machine, size: Code, call: Call) -> Teams:
    width = constant_argument(size, call)
    if width < 1 or width & (width - 1) or width > machine.sub_group:
        raise call.position.error(
            f"{call.name} takes clusters of a power of two up to the sub-group's {machine.sub_group} work-items, not {width}"
        )
    return Teams("cluster", machine.lanes, machine.items, width)


def _reduced(
    context: Context, call: Call, code: Code, teams: Teams, operation: Operation, scan: str, uniform: bool
) -> Code:
    kind = number(code, call)
    if kind.is_float and not operation.floats:
        raise call.position.error(f"{call.name} takes integers, not {kind}")
    kind = INT if operation.logical else kind
    code = change(truth(code), INT) if operation.logical else change(code, kind)
    machine, source, position = context.machine, code.run, call.position

    def run(frame: Frame, mask: Mask) -> Value:
        value = source(frame, mask)
        if uniform:
            check_reached(machine, teams, mask, position, call.name)
        return _combined(operation, teams, value, mask, scan)

    return Code(kind, run)


def vote(chosen: Chosen, every: bool, uniform: bool = True) -> Builtin:
    """all and any: 1 if the condition holds for all members, for any of them."""

    def build(context: Context, call: Call) -> Code:
        (code,) = arguments(context, call, 1)
        teams, operation = chosen(context.machine), OPERATIONS["logical_and" if every else "logical_or"]
        return _reduced(context, call, code, teams, operation, "", uniform)

    return build


def fetch(
    machine: Machine, teams: Teams, value: Value, place: Value, mask: Mask, position: Position, name: str
) -> Value:
    """For each lane, the value that the member at `place` of its team holds. Values of missing or inactive members are
    undefined, which becomes a note where the place is not simply beyond the ends."""
    place = np.broadcast_to(np.asarray(place).astype(np.int64), (machine.lanes,))
    lane = teams.lane_at(place)
    asleep = mask.lanes & ~mask.lanes[lane] & (place >= 0) & (place < teams.sizes[teams.team])
    if asleep.any():
        first = int(np.flatnonzero(asleep)[0])
        text = Sentence(
            "{name} asks for the value of a work-item that does not execute it, which is undefined", name=name
        )
        machine.findings.add(NO_SOURCE, position, text, machine.item_name(first), count=int(asleep.sum()))
    value = np.asarray(value)
    if value.ndim == 0 or value.shape[-1] == 1:
        return value[()]
    return value[..., lane]


def broadcast_from(chosen: Chosen, uniform: bool = True) -> Builtin:
    """broadcast(value, id), or (value, x, y) and (value, x, y, z) in work-groups; all members must name the same one."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, *((2, 3, 4) if "work_group" in call.name else (2,)))
        machine, position = context.machine, call.position
        teams, kind = chosen(machine), codes[0].type
        if element_of(kind) is None:
            raise position.error(f"{call.name} takes numbers, not {kind}")
        source, places = codes[0].run, [elementwise(each, INT).run for each in codes[1:]]

        def run(frame: Frame, mask: Mask) -> Value:
            value = source(frame, mask)
            place: Any = np.int64(0)
            for each, step in zip(places, _steps(machine), strict=False):
                place = place + np.asarray(each(frame, mask)).astype(np.int64) * step
            if uniform:
                check_reached(machine, teams, mask, position, call.name)
            _check_equal(machine, teams, place, mask, position, call.name)
            return fetch(machine, teams, value, place, mask, position, call.name)

        return Code(kind, run)

    return build


def _steps(machine: Machine) -> tuple[int, int, int]:
    x, y, _ = machine.local_size
    return 1, x, x * y


def _check_equal(machine: Machine, teams: Teams, place: Any, mask: Mask, position: Position, name: str) -> None:
    """All members must ask for the same work-item."""
    if np.ndim(place) == 0:
        return
    rows, active = teams.rows(place), teams.active(mask)
    high, low = np.where(active, rows, -(2**62)).max(axis=1), np.where(active, rows, 2**62).min(axis=1)
    differs = active.any(axis=1) & (high != low)
    if differs.any():
        lane = int(teams.members[int(np.flatnonzero(differs)[0]), 0])
        text = Sentence(
            "the work-items of a {team} name different work-items in {name}, which is undefined",
            team=term(teams.name), name=name,
        )  # fmt: skip
        machine.findings.add(COLLECTIVE, position, text, machine.item_name(lane), count=int(differs.sum()))


def work_groups(machine: Machine) -> Teams:
    return machine.work_groups


def sub_groups(machine: Machine) -> Teams:
    return machine.sub_groups


def _table() -> dict[str, Builtin]:
    table: dict[str, Builtin] = {}
    for prefix, chosen in (("work_group", work_groups), ("sub_group", sub_groups)):
        table[f"{prefix}_all"], table[f"{prefix}_any"] = vote(chosen, True), vote(chosen, False)
        table[f"{prefix}_broadcast"] = broadcast_from(chosen)
        for name, operation in OPERATIONS.items():
            table[f"{prefix}_reduce_{name}"] = reduction(chosen, operation)
            for scan in ("inclusive", "exclusive"):
                table[f"{prefix}_scan_{scan}_{name}"] = reduction(chosen, operation, scan)
    for name, operation in OPERATIONS.items():
        table[f"sub_group_non_uniform_reduce_{name}"] = reduction(sub_groups, operation, uniform=False)
        for scan in ("inclusive", "exclusive"):
            table[f"sub_group_non_uniform_scan_{scan}_{name}"] = reduction(sub_groups, operation, scan, uniform=False)
        table[f"sub_group_clustered_reduce_{name}"] = clustered(operation)
    table["sub_group_non_uniform_all"] = vote(sub_groups, True, uniform=False)
    table["sub_group_non_uniform_any"] = vote(sub_groups, False, uniform=False)
    table["sub_group_non_uniform_broadcast"] = broadcast_from(sub_groups, uniform=False)
    return table


COLLECTIVES = _table()
