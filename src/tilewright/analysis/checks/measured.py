"""What is measured of an explained kernel, each with the place in the source that it comes from."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...core.language import in_english
from ..captured.watched import FAULT_GROUPS
from ..explain import Explanation
from ..explain.clc.lexer import Position
from ..explain.profile import SECTORS, LineAccess
from ..explain.simt import Finding
from ..explain.verdict import cost_sentence


@dataclass(frozen=True)
class Measured:
    """One measure of one kernel, of all buffers or of one. `position` is the line that decides it, and `text` says why."""

    measure: str
    buffer: str
    value: float
    position: Position
    text: str

    @property
    def name(self) -> str:
        return f"{self.measure} {self.buffer}".rstrip()


@in_english()
def measures_of(found: Explanation) -> tuple[Measured, ...]:
    """Every measure of a kernel: conflicts and sectors of all buffers and of each, bytes moved, and counts of faults."""
    local = [each for each in found.accesses if each.is_local]
    others = [each for each in found.accesses if each.unit == SECTORS]
    measured = [
        *_worst(found, "conflicts", local, lambda each: max(each.degree, 1.0)),
        *_worst(found, "sectors", others, lambda each: each.per_request),
        Measured("moved_bytes", "", _moved(found, others), found.entry_position, "bytes of global memory are moved"),
        _faults(found, "faults", found.faults),
    ]
    for name, kinds in FAULT_GROUPS.items():
        measured.append(_faults(found, name, [each for each in found.faults if each.kind in kinds]))
    return tuple(measured)


def _worst(
    found: Explanation, measure: str, accesses: list[LineAccess], value: Callable[[LineAccess], float]
) -> Iterable[Measured]:
    """The worst access of all, and that of each buffer."""
    for buffer in ("", *dict.fromkeys(each.buffer for each in accesses)):
        own = [each for each in accesses if buffer in ("", each.buffer)]
        if own:
            worst = max(own, key=value)
            yield Measured(measure, buffer, round(value(worst), 6), worst.position, _reason(found, worst))
        else:
            least = 1.0 if measure == "conflicts" else 0.0
            yield Measured(measure, buffer, least, found.entry_position, "nothing is accessed")


def _reason(found: Explanation, access: LineAccess) -> str:
    if access.is_atomic or access.cost > access.ideal:
        return cost_sentence(found, access)
    return f"line {access.position.line} has no more than the bytes that its {access.operation}s ask for need"


def _moved(found: Explanation, accesses: list[LineAccess]) -> float:
    scale = found.group_count / max(1, len(found.groups))
    return float(round(scale * sum(each.sector * each.cost for each in accesses)))


def _faults(found: Explanation, measure: str, faults: Iterable[Finding]) -> Measured:
    """The number of faults, and the first of them."""
    listed = list(faults)
    if not listed:
        return Measured(measure, "", 0.0, found.entry_position, "none was found")
    first = listed[0]
    return Measured(measure, "", float(len(listed)), first.position, f"{first.kind}: {first.text}")
