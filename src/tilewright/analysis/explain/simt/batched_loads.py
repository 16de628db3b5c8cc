"""Loads of many iterations of a loop at once. They are kept aside until it is known that all are regular.

A value that depends on the iteration is a column (iterations, 1) where all lanes agree, else a table (iterations, lanes).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .compiled_code import Value
from .findings import Irregular
from .masks import Mask
from .readers import Touch
from .segment_table import SegmentTable
from .segments import SHIFT, Access, Segment, places


@dataclass
class Loads:
    """The reads of one access of the source: row i of `offsets`, or its only row, in iteration i. `same` says that all lanes
    read one place of memory that is never written. `touch` is for the segment's shadow, if it has one."""

    access: Access
    segment: Segment
    offsets: npt.NDArray[np.int64]
    same: bool
    touch: Touch | None


class Batch:
    """The loads of one batch."""

    def __init__(self, memory: SegmentTable) -> None:
        self.memory = memory
        self.loads: list[Loads] = []

    def load(self, address: Value, access: Access, mask: Mask) -> Value:
        """As VirtualMemory.load, for all iterations. Irregular if there would be a finding, or if a comparison with earlier
        writes is needed."""
        uniform = address.ndim == 0 or (address.ndim == 2 and address.shape[1] == 1)
        rows = address if address.ndim == 2 else address.reshape(1, -1)
        if not uniform and not mask.everyone:
            rows = rows[:, mask.indices]
        segment = self.memory.segments.get(int(rows[0, 0]) >> SHIFT)
        if segment is None or segment.unset is not None or access.count != 1:
            raise Irregular
        same = uniform and segment.base is None and segment.shadow is None
        offsets = rows - segment.address
        if uniform and not same:
            offsets = offsets.repeat(mask.count, axis=1)
        low = int(np.bitwise_or.reduce(offsets, axis=None))
        if low & (max(access.alignment, access.dtype.itemsize) - 1) or not self.memory.inside(offsets, segment, access):
            raise Irregular
        lanes = None if mask.everyone else mask.indices
        whole = offsets
        if segment.base is not None:
            whole = offsets + (segment.base if lanes is None else segment.base[lanes])
        touch = self._touch(segment, whole, low, access, lanes)
        self.loads.append(Loads(access, segment, offsets, same, touch))
        if uniform and segment.base is None:
            values = segment.view(access.dtype, 1).take(places(whole[:, :1] // access.dtype.itemsize))
            return values if address.ndim == 2 else values[0, 0]
        values = segment.view(access.dtype, 1).take(places(whole // access.dtype.itemsize))
        if lanes is not None:
            spread = np.zeros((len(values), self.memory.machine.lanes), values.dtype)
            spread[:, lanes] = values
            values = spread
        return values if address.ndim == 2 else values[0]

    def note(self, access: Access, segment: Segment, offsets: npt.NDArray[np.int64]) -> None:
        """A use of an off-chip private array: a row of offsets for each iteration, or one for all. They must be the same
        for all lanes."""
        if offsets.shape[1] != 1:
            raise Irregular
        self.loads.append(Loads(access, segment, offsets, True, None))

    def _touch(self, segment: Segment, whole: Any, low: int, access: Access, lanes: Any) -> Touch | None:
        """All rows together, as the segment's shadow sees them: reads of one epoch, whose order does not matter."""
        shadow = segment.shadow
        if shadow is None:
            return None
        if shadow.atomics is not None or self.memory.written_lately(segment):
            raise Irregular
        machine = self.memory.machine
        tags, floors = machine.tags[segment.space], machine.floors.get(segment.space)
        if lanes is not None:
            tags, floors = tags[lanes], None if floors is None else floors.of(lanes)
        unit = low | access.size | 16
        touch = Touch(whole, access.size, unit & -unit, tags, access.site, lanes, floors)
        if not shadow.complete and shadow.unset(shadow.cells(touch)) is not None:
            raise Irregular
        return touch

    def report(self, count: int, mask: Mask) -> None:
        """Report to the recorder and the shadows what `count` single iterations would have reported."""
        self.memory.machine.recorder.record_rows(
            [(each.access.site, each.segment, each.offsets, each.same) for each in self.loads if each.access.counted],
            count,
            mask,
        )
        for each in self.loads:
            if each.touch is not None:
                assert each.segment.shadow is not None
                each.segment.shadow.defer_read(each.touch)
                if self.memory.ordering.synchronisation.active:
                    self.memory.ordering.synchronisation.touch(each.segment, each.touch.lanes)
