"""What the findings of races say of their memory, their work-items and their scope."""

import numpy as np
import numpy.typing as npt

from ....core.language import Sentence
from ..terms import term
from .findings import BETWEEN, WITHIN
from .segment_table import SegmentTable
from .segments import Segment
from .team_order import ITEM


def subject(segment: Segment) -> Sentence:
    """What the accesses of a race have in common."""
    return Sentence("{space} '{name}'", space=term(segment.space.word), name=segment.name)


def example(memory: SegmentTable, one: int, other: int, offset: int) -> Sentence:
    """Two work-items by their tags, and the byte at which they met."""
    machine = memory.machine
    items = machine.tag_name(one), machine.tag_name(other)
    return Sentence("{one} against {other}, byte {offset}", one=items[0], other=items[1], offset=offset)


def scope(memory: SegmentTable, own: npt.NDArray[np.int64], opposing: tuple[npt.NDArray[np.int64], ...]) -> str:
    """Whether all pairs of tags are of one sub-group each."""
    mine = _sub_group(memory, own)
    return WITHIN if all((mine == _sub_group(memory, each)).all() for each in opposing) else BETWEEN


def _sub_group(memory: SegmentTable, tags: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A number for the sub-group of each tag; async copies have their own."""
    machine = memory.machine
    group, item = np.divmod((tags & ITEM) - 1, machine.span)
    found: npt.NDArray[np.int64] = group * (machine.span + 1) + np.where(
        item == machine.items, machine.span, item // machine.request_lanes
    )
    return found


def own_offset(segment: Segment, offset: int) -> int:
    """The offset in one copy of a byte offset in all copies."""
    if segment.base is None:
        return offset
    rooms = np.unique(segment.base)
    return offset - int(rooms[np.searchsorted(rooms, offset, side="right") - 1])
