"""Turns conflicts found by the shadow memory into findings, and separates benign races from harmful ones."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ....core.language import Sentence
from ..clc.types import Space
from ..terms import term
from .findings import BENIGN, BENIGN_GROUPS, BETWEEN, COUNTED, GROUPS, RACE, WITHIN
from .readers import Touch
from .segment_table import SegmentTable
from .segments import Access, Segment
from .shadow import Conflict, Shadow
from .team_order import ITEM


def report_read(memory: SegmentTable, segment: Segment, touch: Touch, cells: npt.NDArray[np.int64]) -> None:
    """Checks a plain read against earlier writes and atomic updates of other items."""
    shadow = segment.shadow
    assert shadow is not None
    written = shadow.conflicts_with_write(touch, cells)
    if written is not None:
        counter = _counter(memory, segment, touch, cells, written)
        _report(memory, segment, touch, written, "read", benign=False, counter=counter)
    updated = shadow.conflicts_with_readers(touch, cells, "atomic update")
    if updated is not None:
        _report(memory, segment, touch, updated, "read", benign=False)


def report_write(
    memory: SegmentTable, segment: Segment, touch: Touch, access: Access, values: npt.NDArray[Any], low: int
) -> None:
    """Checks a plain write against all earlier accesses and against itself, and records it."""
    shadow = segment.shadow
    assert shadow is not None
    shadow.absorb()
    cells = shadow.cells(touch)
    earlier = shadow.conflicts_with_write(touch, cells)
    if earlier is not None:
        segment.contest(cells[earlier.which], shadow.granule)
        which = earlier.which.any(axis=0) if earlier.which.ndim == 2 else earlier.which
        old = segment.gather(touch.offsets, access.dtype, access.count, low)
        same = (_bits(old) == _bits(values)) | ~which
        _report(memory, segment, touch, earlier, "write", benign=bool(same.all()))
    for kind in ("read", "atomic update", "atomic load"):
        conflict = shadow.conflicts_with_readers(touch, cells, kind)
        if conflict is not None:
            last = kind == "atomic update" and _all_are_last(memory, segment, touch, cells, conflict)
            _report(memory, segment, touch, conflict, "write", benign=False, counter=segment.name if last else None)
    lost = shadow.write(touch, cells, memory.machine.clock)
    if lost is not None:
        segment.contest(cells[lost], shadow.granule)
        _report_together(memory, segment, touch, access, values, cells, lost)


def report_atomic(
    memory: SegmentTable, segment: Segment, touch: Touch, cells: npt.NDArray[np.int64], loads: bool = False
) -> None:
    """Checks an atomic update, or a load, against plain accesses of other items, and records it."""
    shadow = segment.shadow
    assert shadow is not None
    shadow.absorb()
    own = "atomic load" if loads else "atomic update"
    read = None if loads else shadow.conflicts_with_readers(touch, cells, "read")
    for conflict in (shadow.conflicts_with_write(touch, cells), read):
        if conflict is not None:
            _report(memory, segment, touch, conflict, own, benign=False)
    shadow.update(touch, cells, loads)


def _synchronised(memory: SegmentTable, segment: Segment, touch: Touch, conflict: Conflict) -> bool:
    """Whether releases and acquires order all of the conflicting accesses."""
    machine, known = memory.machine, memory.ordering.synchronisation
    if not known.active:
        return False
    slots, items = np.divmod((conflict.rivals[0] & ITEM) - 1 - machine.first_item, machine.span)
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


def _counter(
    memory: SegmentTable, segment: Segment, touch: Touch, cells: npt.NDArray[np.int64], conflict: Conflict
) -> str | None:
    """The counter that orders all the writes before the conflicting reads, if there is one."""
    assert segment.shadow is not None
    if not memory.ordering.updates:
        return None
    groups = ((segment.shadow.writer[cells][conflict.which] & ITEM) - 1) // memory.machine.span
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
        own=term(own), subject=_subject(segment), earlier=term(conflict.earlier), line=other.line, how=how,
    )  # fmt: skip
    example = _example(memory, conflict.own_tag, conflict.other_tag, _own_offset(segment, conflict.offset))
    scope = "" if conflict.between_groups else _scope(memory, conflict.own, conflict.rivals)
    where = (_subject(segment), scope, memory.machine.last_barrier)
    memory.machine.findings.add(kind, touch.site.position, text, example, other, conflict.count, where)


def _subject(segment: Segment) -> Sentence:
    """What the accesses of a race have in common."""
    return Sentence("{space} '{name}'", space=term(segment.space.word), name=segment.name)


def _example(memory: SegmentTable, one: int, other: int, offset: int) -> Sentence:
    """Two work-items by their tags, and the byte at which they met."""
    machine = memory.machine
    items = machine.tag_name(one), machine.tag_name(other)
    return Sentence("{one} against {other}, byte {offset}", one=items[0], other=items[1], offset=offset)


def _scope(memory: SegmentTable, own: npt.NDArray[np.int64], rivals: tuple[npt.NDArray[np.int64], ...]) -> str:
    """Whether all pairs of tags are of one sub-group each."""
    mine = _sub_group(memory, own)
    return WITHIN if all((mine == _sub_group(memory, each)).all() for each in rivals) else BETWEEN


def _sub_group(memory: SegmentTable, tags: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A number for the sub-group of each tag; async copies have their own."""
    machine = memory.machine
    group, item = np.divmod((tags & ITEM) - 1, machine.span)
    found: npt.NDArray[np.int64] = group * (machine.span + 1) + np.where(
        item == machine.items, machine.span, item // machine.request_lanes
    )
    return found


def _report_together(
    memory: SegmentTable,
    segment: Segment,
    touch: Touch,
    access: Access,
    values: npt.NDArray[Any],
    cells: npt.NDArray[np.int64],
    lost: npt.NDArray[np.bool_],
) -> None:
    """Several lanes stored to one cell in one instruction."""
    shadow = segment.shadow
    assert shadow is not None
    at = tuple(np.argwhere(lost)[0])
    winner = int(shadow.writer[cells[at]])
    lane = int(at[-1])
    loser = int(touch.tags[lane])
    between = segment.space is not Space.LOCAL and _group(memory, winner) != _group(memory, loser)
    benign = _same_values(shadow, cells, values)
    kind = (BENIGN_GROUPS if between else BENIGN) if benign else (GROUPS if between else RACE)
    subject = _subject(segment)
    if benign:
        text = Sentence("several work-items store the same value in one place of {subject}", subject=subject)
    else:
        text = Sentence("several work-items store different values in one place of {subject}", subject=subject)
    example = _example(memory, loser, winner, _own_offset(segment, int(cells[at]) * shadow.granule))
    count = int((lost.any(axis=0) if lost.ndim == 2 else lost).sum())
    losers = np.broadcast_to(touch.tags, cells.shape)[lost]
    scope = "" if between else _scope(memory, losers, (shadow.writer[cells[lost]],))
    where = (subject, scope, memory.machine.last_barrier)
    memory.machine.findings.add(kind, touch.site.position, text, example, touch.site.position, count, where)


def _same_values(shadow: Shadow, cells: npt.NDArray[np.int64], values: npt.NDArray[Any]) -> bool:
    """Whether all lanes that store into one cell store the same bytes."""
    lanes = cells.shape[-1]
    rows = np.ascontiguousarray(values.reshape(-1, lanes).T).view(np.uint8).reshape(lanes, -1)
    pieces = rows.reshape(lanes, -1, shadow.granule).transpose(1, 0, 2).reshape(-1, shadow.granule)
    flat = cells.reshape(-1)
    order = np.argsort(flat, kind="stable")
    together = flat[order][1:] == flat[order][:-1]
    differs = (pieces[order][1:] != pieces[order][:-1]).any(axis=1)
    return not (together & differs).any()


def _group(memory: SegmentTable, tag: int) -> int:
    return ((tag & int(ITEM)) - 1) // memory.machine.span


def _own_offset(segment: Segment, offset: int) -> int:
    """The offset in one copy of a byte offset in all copies."""
    if segment.base is None:
        return offset
    rooms = np.unique(segment.base)
    return offset - int(rooms[np.searchsorted(rooms, offset, side="right") - 1])
