"""Turns conflicts found by the shadow memory into findings, and separates benign races from harmful ones."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ....core.language import Sentence
from ..terms import term
from .conflicts import Conflict
from .findings import BENIGN, BENIGN_GROUPS, COUNTED, GROUPS, RACE
from .race_words import example, own_offset, scope, subject
from .readers import Touch
from .segment_table import SegmentTable
from .segments import Access, Segment
from .stored_together import report_together
from .team_order import ITEM


def report_read(memory: SegmentTable, segment: Segment, touch: Touch, cells: npt.NDArray[np.int64]) -> None:
    """Checks a plain read against earlier writes and atomic updates of other items."""
    shadow = segment.shadow
    assert shadow is not None
    for written in shadow.conflicts_with_write(touch, cells):
        counter = _counter(memory, segment, touch, written)
        _report(memory, segment, touch, written, "read", benign=False, counter=counter)
    for updated in shadow.conflicts_with_readers(touch, cells, "atomic update"):
        _report(memory, segment, touch, updated, "read", benign=False)


def report_write(
    memory: SegmentTable, segment: Segment, touch: Touch, access: Access, values: npt.NDArray[Any], low: int
) -> None:
    """Checks a plain write against all earlier accesses and against itself, and records it."""
    shadow = segment.shadow
    assert shadow is not None
    shadow.absorb()
    cells = shadow.cells(touch)
    _report_stored_again(memory, segment, touch, access, values, low, cells)
    for kind in ("read", "atomic update", "atomic load"):
        for conflict in shadow.conflicts_with_readers(touch, cells, kind):
            last = kind == "atomic update" and _all_are_last(memory, segment, touch, cells, conflict)
            _report(memory, segment, touch, conflict, "write", benign=False, counter=segment.name if last else None)
    lost = shadow.write(touch, cells, memory.machine.clock)
    if lost is not None:
        segment.contest(cells[lost], shadow.granule)
        report_together(memory, segment, touch, values, cells, lost)


def _report_stored_again(
    memory: SegmentTable,
    segment: Segment,
    touch: Touch,
    access: Access,
    values: npt.NDArray[Any],
    low: int,
    cells: npt.NDArray[np.int64],
) -> None:
    """Checks a plain write against earlier plain writes."""
    shadow = segment.shadow
    assert shadow is not None
    found = shadow.conflicts_with_write(touch, cells)
    if not found:
        return
    same = _bits(segment.gather(touch.offsets, access.dtype, access.count, low)) == _bits(values)
    same = same.all(axis=0) if same.ndim == 2 else same
    changed = shadow.changed
    for conflict in found:
        segment.contest(cells[conflict.which], shadow.granule)
        benign = bool((same | ~conflict.which).all())
        if benign and changed is not None and not conflict.between_groups:
            # Another group's store lies between both, and may have left the value that was compared.
            hidden = conflict.which & found[-1].which & found[-1].between_groups
            benign = not changed[cells[hidden]].any()
        _report(memory, segment, touch, conflict, "write", benign)
    if found[-1].between_groups and not same.all():
        shadow.mark_changed(cells[found[-1].which & ~same])


def report_atomic(memory: SegmentTable, segment: Segment, touch: Touch, loads: bool = False) -> None:
    """Checks an atomic update, or a load, against plain accesses of other items, and records it."""
    shadow = segment.shadow
    assert shadow is not None
    shadow.absorb()
    cells = shadow.cells(touch)
    own = "atomic load" if loads else "atomic update"
    read = () if loads else shadow.conflicts_with_readers(touch, cells, "read")
    for conflict in (*shadow.conflicts_with_write(touch, cells), *read):
        _report(memory, segment, touch, conflict, own, benign=False)
    shadow.update(touch, cells, loads)


def _synchronised(memory: SegmentTable, segment: Segment, touch: Touch, conflict: Conflict) -> bool:
    """Whether releases and acquires order all of the conflicting accesses."""
    machine, known = memory.machine, memory.ordering.synchronisation
    if not known.active:
        return False
    slots, items = np.divmod((conflict.opposing[0] & ITEM) - 1 - machine.first_item, machine.span)
    if not ((slots >= 0) & (slots < machine.slots) & (items < machine.items)).all():
        return False
    earlier = slots * machine.items + items
    later = _lanes(memory, touch, conflict.which)
    pairs = set(zip(earlier.tolist(), later.tolist(), strict=True))
    atomic = conflict.earlier.startswith("atomic")
    return all(known.ordered(segment, before, after, atomic) for before, after in pairs)


def _lanes(memory: SegmentTable, touch: Touch, which: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """The lane of each conflicting cell."""
    lanes = np.arange(memory.machine.lanes) if touch.lanes is None else touch.lanes
    return np.broadcast_to(lanes, which.shape)[which]


def _counter(memory: SegmentTable, segment: Segment, touch: Touch, conflict: Conflict) -> str | None:
    """The counter that orders all the writes before the conflicting reads, if there is one."""
    if not memory.ordering.updates:
        return None
    groups = ((conflict.opposing[0] & ITEM) - 1) // memory.machine.span
    pairs = set(zip(groups.tolist(), _lanes(memory, touch, conflict.which).tolist(), strict=True))
    alike = {(writer, memory.ordering.alike(reader)): (writer, reader) for writer, reader in pairs}
    counters = {memory.ordering.counter_between(segment, writer, reader) for writer, reader in alike.values()}
    only = counters.pop() if len(counters) == 1 else None
    return None if only is None else memory.segments[only].name


def _all_are_last(
    memory: SegmentTable, segment: Segment, touch: Touch, cells: npt.NDArray[np.int64], conflict: Conflict
) -> bool:
    """Whether the written counters (set back to 0) are used only by the writers by now."""
    assert segment.shadow is not None
    offsets = cells[conflict.which] * segment.shadow.granule
    pairs = zip(offsets.tolist(), _lanes(memory, touch, conflict.which).tolist(), strict=True)
    return all(memory.ordering.is_last(segment, offset, lane) for offset, lane in set(pairs))


def _bits(values: Any) -> Any:
    """Values as integers, so that a NaN equals itself."""
    values = np.ascontiguousarray(values)
    return values.view(f"u{values.dtype.itemsize}")


def _report(
    memory: SegmentTable,
    segment: Segment,
    touch: Touch,
    conflict: Conflict,
    own: str,
    benign: bool,
    counter: str | None = None,
) -> None:
    synchronised = _synchronised(memory, segment, touch, conflict)
    if synchronised and not conflict.between_groups:
        return
    if conflict.between_groups:
        kind = BENIGN_GROUPS if benign else GROUPS
        how = Sentence("no barrier orders different groups")
    else:
        kind = BENIGN if benign else RACE
        how = Sentence("no barrier between them")
    if synchronised or (counter is not None and not memory.ordering.older):
        kind, how = COUNTED, Sentence("release and acquire of atomic functions order them in this run")
    elif counter is not None:
        kind = COUNTED
        how = Sentence(
            "a race by OpenCL 1.2, whose memory model orders nothing between groups; devices that perform fences and atomic "
            "functions in order have it right, since both groups updated '{counter}' in that order",
            counter=counter,
        )
    elif benign:
        how = Sentence("both store the same value")
    other = memory.sites[conflict.site].position
    text = Sentence(
        "{own} of {subject} meets the {earlier} at line {line}: {how}",
        own=term(own), subject=subject(segment), earlier=term(conflict.earlier), line=other.line, how=how,
    )  # fmt: skip
    pair = example(memory, conflict.own_tag, conflict.other_tag, own_offset(segment, conflict.offset))
    among = "" if conflict.between_groups else scope(memory, conflict.own, conflict.opposing)
    where = (subject(segment), among, memory.machine.last_barrier)
    memory.machine.findings.add(kind, touch.site.position, text, pair, other, conflict.count, where)
