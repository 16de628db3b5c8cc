"""How much memory a launch and a work-group touch, how often it is fetched, and which caches hold it."""

from dataclasses import dataclass

from ...core.language import translated, translated_count
from .explanation import Explanation
from .profile import SECTORS
from .reuse import many, megabytes

SHOWN = 6  # buffers


@dataclass(frozen=True)
class Footprint:
    """One buffer. `nbytes` are the different bytes that the executed groups read or write, `sectors` the pieces of memory that
    hold them, `group_bytes` those of the first group; `fetched` are the bytes that all loads of the executed groups move."""

    buffer: str
    nbytes: int
    sectors: int
    group_bytes: int
    fetched: int

    @property
    def times(self) -> float:
        """How often each byte is fetched."""
        return self.fetched / self.nbytes if self.nbytes else 0.0


def footprints(explanation: Explanation) -> list[Footprint]:
    """The buffers that are touched, in the order of the arguments."""
    found = []
    for each in explanation.coverage:
        loads = [
            access
            for access in explanation.accesses
            if access.buffer == each.buffer and access.operation == "load" and access.unit == SECTORS
        ]
        fetched = sum(access.cost * access.sector for access in loads)
        if each.touched_bytes:
            found.append(Footprint(each.buffer, each.touched_bytes, each.sectors, each.group_bytes, fetched))
    return found


def footprint_lines(explanation: Explanation) -> list[str]:
    """What is touched, and whether the caches hold it; empty if nothing is."""
    found = footprints(explanation)
    if not found:
        return []
    run = len(explanation.groups)
    buffers = translated("; ").join(map(_touched, found[:SHOWN])) + (" ..." if len(found) > SHOWN else "")
    if run == explanation.group_count:
        lines = [translated("footprint: {buffers}", buffers=buffers)]
    else:
        lines = [translated("footprint of the {run} work-groups that were run: {buffers}", run=run, buffers=buffers)]
    group = sum(each.group_bytes for each in found)
    touches = translated("the first work-group touches {bytes}", bytes=megabytes(group))
    return [*lines, f"{touches}{_fits(explanation, group)}"]


def _touched(each: Footprint) -> str:
    values = {"buffer": each.buffer, "bytes": megabytes(each.nbytes), "times": many(each.times)}
    if each.fetched:
        return translated_count(
            "{buffer} {bytes}, fetched {times} time",
            "{buffer} {bytes}, fetched {times} times",
            values["times"],
            **values,
        )
    return translated("{buffer} {bytes}", **values)


def _fits(explanation: Explanation, nbytes: int) -> str:
    """Which caches hold so much, each by itself."""
    caches = explanation.model.caches
    for name, room in caches:
        if nbytes <= room:
            return translated(": less than {cache} ({room:,} KiB)", cache=name, room=room >> 10)
    if not caches:
        return ""
    return translated(": more than {cache} ({room:,} KiB)", cache=caches[-1][0], room=caches[-1][1] >> 10)
