"""Races of the lanes of one store with each other: inside groups, and between groups."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ....core.language import Sentence
from .findings import BENIGN, BENIGN_GROUPS, GROUPS, RACE
from .race_words import example, own_offset, scope, subject
from .readers import Touch
from .segment_table import SegmentTable
from .segments import Segment
from .shadow import Shadow
from .team_order import ITEM, Bools, Int64s


def report_together(
    memory: SegmentTable, segment: Segment, touch: Touch, values: npt.NDArray[Any], cells: Int64s, lost: Bools
) -> None:
    """Several lanes stored to one cell in one instruction. Others overwrote what those in `lost` stored."""
    shadow = segment.shadow
    assert shadow is not None
    winners = shadow.writer[cells]
    if not shadow.group_items:
        benign = _same_values(shadow, cells, values)
        _report(memory, segment, touch, cells, lost, winners, BENIGN if benign else RACE)
        return
    tags = np.broadcast_to(touch.tags, cells.shape)
    groups = ((tags & ITEM) - 1) // shadow.group_items
    own_cells, own_winners = _of_each_group(cells, groups, tags)
    own = own_winners != tags
    if own.any():
        benign = _same_values(shadow, own_cells, values)
        _report(memory, segment, touch, cells, own, own_winners, BENIGN if benign else RACE)
    foreign = lost & (((winners & ITEM) - 1) // shadow.group_items != groups)
    if foreign.any():
        several = np.isin(cells, cells[foreign])
        benign = _same_values(shadow, np.where(several, cells, -1 - np.arange(cells.size).reshape(cells.shape)), values)
        _report(memory, segment, touch, cells, foreign, winners, BENIGN_GROUPS if benign else GROUPS)
        if not benign:
            shadow.mark_changed(cells[foreign])


def _of_each_group(cells: Int64s, groups: Int64s, tags: Int64s) -> tuple[Int64s, Int64s]:
    """A number for each cell of each group, and the tag of the group's last lane that stored there."""
    numbers = np.unique(groups, return_inverse=True)[1].reshape(groups.shape) * (int(cells.max()) + 1) + cells
    places = np.unique(numbers, return_inverse=True)[1].ravel()
    last = np.zeros(cells.size, np.int64)
    last[places] = tags.ravel()
    return numbers, last[places].reshape(cells.shape)


def _report(
    memory: SegmentTable, segment: Segment, touch: Touch, cells: Int64s, lost: Bools, winners: Int64s, kind: Sentence
) -> None:
    shadow = segment.shadow
    assert shadow is not None
    what = subject(segment)
    if kind in (BENIGN, BENIGN_GROUPS):
        text = Sentence("several work-items store the same value in one place of {subject}", subject=what)
    else:
        text = Sentence("several work-items store different values in one place of {subject}", subject=what)
    at = tuple(np.argwhere(lost)[0])
    losers = np.broadcast_to(touch.tags, cells.shape)[lost]
    offset = own_offset(segment, int(cells[at]) * shadow.granule)
    pair = example(memory, int(losers[0]), int(winners[at]), offset)
    count = int((lost.any(axis=0) if lost.ndim == 2 else lost).sum())
    among = scope(memory, losers, (winners[lost],)) if kind in (BENIGN, RACE) else ""
    where = (what, among, memory.machine.last_barrier)
    memory.machine.findings.add(kind, touch.site.position, text, pair, touch.site.position, count, where)


def _same_values(shadow: Shadow, cells: Int64s, values: npt.NDArray[Any]) -> bool:
    """Whether all lanes that store into one cell store the same bytes. Equal numbers are one cell."""
    lanes = cells.shape[-1]
    rows = np.ascontiguousarray(values.reshape(-1, lanes).T).view(np.uint8).reshape(lanes, -1)
    pieces = rows.reshape(lanes, -1, shadow.granule).transpose(1, 0, 2).reshape(-1, shadow.granule)
    flat = cells.reshape(-1)
    order = np.argsort(flat, kind="stable")
    together = flat[order][1:] == flat[order][:-1]
    differs = (pieces[order][1:] != pieces[order][:-1]).any(axis=1)
    return not (together & differs).any()
