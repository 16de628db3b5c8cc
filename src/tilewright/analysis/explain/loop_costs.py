"""Which loops of the source cost most: iterations, requests, and the share of all passes through the load and store unit."""

from dataclasses import dataclass
from math import prod

from ...core.language import translated
from .clc.lexer import Position
from .explanation import Explanation
from .loop_places import LoopPlace
from .numbers import number
from .profile import LineAccess
from .reuse import loads_of

SHOWN = 3
LEAST_SHARE = 0.1  # of all passes, below which a loop is not shown


@dataclass(frozen=True)
class LoopCost:
    """One loop of the source in the executed groups. `iterations` are those of all sub-groups, `requests` and `slots` (see
    LineAccess.slots) those of the accesses inside, `share` their part of the slots of the whole kernel. What an inner loop
    costs is part of the outer loop's cost."""

    position: Position
    last_line: int
    iterations: int
    requests: int
    slots: int
    share: float


def loop_costs(explanation: Explanation) -> list[LoopCost]:
    """The loops that were executed, the costliest first."""
    accesses = (*explanation.accesses, *explanation.private_accesses)
    whole = sum(each.slots for each in accesses)
    found = []
    for place in explanation.loops:
        own = [each for each in accesses if place.holds(each.position)]
        slots = sum(each.slots for each in own)
        requests = sum(each.requests for each in own)
        share = slots / whole if whole else 0.0
        found.append(LoopCost(place.position, place.last_line, place.iterations, requests, slots, share))
    return sorted(found, key=lambda each: (-each.slots, each.position))


def loop_lines(explanation: Explanation) -> list[str]:
    """A short table for the report; empty if no loop costs much."""
    costs = [each for each in loop_costs(explanation) if each.share >= LEAST_SHARE]
    if not costs:
        return []
    model = explanation.model
    sub_groups = -(-prod(explanation.local_size) // model.lanes) * max(1, len(explanation.groups))
    lines = [translated("loops, costliest first (share of all passes through the load and store unit):")]
    for each in costs[:SHOWN]:
        counts = {
            "share": f"{100 * each.share:.3g}", "iterations": number(each.iterations / sub_groups),
            "sub_group": model.sub_group, "requests": number(each.requests / sub_groups),
        }  # fmt: skip
        first, last = each.position.line, each.last_line
        if first == last:
            text = translated(
                "line {line}: {share}%, {iterations} iterations of each {sub_group}, {requests} requests",
                line=first, **counts,
            )  # fmt: skip
        else:
            text = translated(
                "lines {first} to {last}: {share}%, {iterations} iterations of each {sub_group}, {requests} requests",
                first=first, last=last, **counts,
            )  # fmt: skip
        lines.append(f"  {text}")
    return lines


def dropped_rests(explanation: Explanation) -> list[str]:
    """A sentence about each loop around the loads of buffers of which the ends of rows, or the end, are never read."""
    buffers: dict[Position, list[str]] = {}
    for each in explanation.coverage:
        if each.rest and each.read and not each.written:
            loops = [_around(explanation, access) for access in loads_of(explanation.accesses, each.buffer)]
            for place in dict.fromkeys(loop for loop in loops if loop is not None):
                buffers.setdefault(place.position, []).append(each.buffer)
    return [
        translated(
            "the loop at line {line} reads {buffers} without that rest: if its count is a quotient such as K / 16, it drops the "
            "remainder",
            line=position.line,
            buffers=translated(" and ").join(names),
        )
        for position, names in sorted(buffers.items())
    ]


def _around(explanation: Explanation, access: LineAccess) -> LoopPlace | None:
    """The smallest loop around an access."""
    around = [each for each in explanation.loops if each.holds(access.position)]
    return max(around, key=lambda each: each.position, default=None)
