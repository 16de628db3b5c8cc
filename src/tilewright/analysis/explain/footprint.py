"""How much memory a launch and a work-group touch, how often it is fetched, and which caches hold it."""

from dataclasses import dataclass

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
    whose = "" if run == explanation.group_count else f" of the {run} work-groups that were run"
    parts = [
        f"{each.buffer} {megabytes(each.nbytes)}" + (f", fetched {many(each.times)} times" if each.fetched else "")
        for each in found[:SHOWN]
    ]
    lines = [f"footprint{whose}: {'; '.join(parts)}{' ...' if len(found) > SHOWN else ''}"]
    group = sum(each.group_bytes for each in found)
    lines.append(f"the first work-group touches {megabytes(group)}{_fits(explanation, group)}")
    return lines


def _fits(explanation: Explanation, nbytes: int) -> str:
    """Which caches hold so much, each by itself."""
    caches = explanation.model.caches
    for name, room in caches:
        if nbytes <= room:
            return f": less than {name} ({room >> 10:,} KiB)"
    return f": more than {caches[-1][0]} ({caches[-1][1] >> 10:,} KiB)" if caches else ""
