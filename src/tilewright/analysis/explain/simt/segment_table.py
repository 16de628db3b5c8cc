"""All segments of a machine, by number, and all sites of the source that access them.

An address is segment << 40 | (2**39 + byte offset), so a stray pointer is always noticed. Local and private segments have one
copy of their bytes for each group or lane.
"""

import numpy as np
import numpy.typing as npt

from ....errors import InvalidInput
from ..clc.lexer import Position
from ..clc.types import Space
from .compiled_code import Site
from .images import BoundImage
from .local_window import LocalWindow
from .machine_state import MachineState
from .ordering import Ordering
from .segments import Access, Offsets, Segment, Unset, round_up
from .shadow import Shadow

MOST_ROOM = 1 << 28  # bytes that one variable may take in all groups or lanes that run at once


def check_room(name: str, space: Space, size: int, copies: int, position: Position | None) -> None:
    """Refuses a variable that is too large; `position` is None for the caller's argument."""
    if size * copies <= MOST_ROOM:
        return
    owner = {Space.PRIVATE: f" for each of {copies:,} work-items", Space.LOCAL: f" for each of {copies:,} work-groups"}
    text = f"{space.word} {name!r} takes {size:,} bytes{owner.get(space, '')}; explain has {MOST_ROOM:,} bytes for it"
    raise InvalidInput(text) if position is None else position.error(text)


class SegmentTable:
    """Makes and keeps the segments."""

    def __init__(self, machine: MachineState, ordering: Ordering) -> None:
        self.machine = machine
        self.ordering = ordering
        self.segments: dict[int, Segment] = {}
        self.sites: list[Site] = []
        self._without = 0
        self.window = LocalWindow(self.segments)
        self.images: dict[int, BoundImage] = {}  # by the address that stands for them

    def site(self, position: Position, operation: str, size: int, alignment: int, bulk: bool = False) -> Site:
        self.sites.append(Site(len(self.sites), position, operation, size, alignment, bulk))
        return self.sites[-1]

    def buffer(
        self, name: str, data: npt.NDArray[np.uint8], space: Space, writable: bool, initialised: bool = True
    ) -> Segment:
        """Memory shared by all groups, with the caller's contents, which are undefined if it is not `initialised`. It is
        copied before the first write."""
        segment = self._add(name, space, data.size, data, None)
        segment.writable = writable
        if space in (Space.GLOBAL, Space.IMAGE) and writable:  # races need a writer
            segment.shadow = Shadow(data.size, self.machine.span, initialised)
        return segment

    def local(self, name: str, size: int, position: Position | None = None) -> Segment:
        """`size` bytes for each group."""
        room = round_up(size, 256)
        check_room(name, Space.LOCAL, size, self.machine.slots, position)
        data = np.full(room * self.machine.slots, self.machine.fill, np.uint8)
        base = self.machine.slot_of_lane * room if self.machine.slots > 1 else None
        segment = self._add(name, Space.LOCAL, size, data, base)
        segment.written = True
        segment.shadow = Shadow(data.size, 0, initialised=False)
        return segment

    def private(self, name: str, size: int, position: Position | None = None) -> Segment:
        """`size` bytes for each lane."""
        room = round_up(size, 128 if size > 16 else 16)
        lanes = self.machine.lanes
        check_room(name, Space.PRIVATE, size, lanes, position)
        segment = self._add(
            name, Space.PRIVATE, size, np.full(room * lanes, self.machine.fill, np.uint8), np.arange(lanes) * room
        )
        segment.written = True
        segment.unset = Unset(room * lanes)
        return segment

    def without_bytes(self, name: str, size: int) -> Segment:
        """The segment of an off-chip array whose values are kept elsewhere: a name for its traffic, at no address."""
        self._without += 1
        segment = Segment(-self._without, name, Space.PRIVATE, size, np.zeros(0, np.uint8), None)
        segment.off_chip = True
        return segment

    def _add(self, name: str, space: Space, size: int, data: npt.NDArray[np.uint8], base: Offsets | None) -> Segment:
        number = len(self.segments) + 1
        segment = self.segments[number] = Segment(number, name, space, size, data, base)
        return segment

    @property
    def largest(self) -> int:
        """Bytes of the largest segment. Larger offsets are out of bounds of all segments."""
        return max(segment.size for segment in self.segments.values())

    def local_names(self) -> list[str]:
        return [segment.name for segment in self.segments.values() if segment.space is Space.LOCAL]

    def new_batch(self) -> None:
        for segment in self.segments.values():
            if segment.space is Space.LOCAL:
                segment.shadow = Shadow(segment.data.size, 0, initialised=False)
                segment.data[:] = self.machine.fill
            elif segment.shadow is not None:
                segment.shadow.new_batch()

    def forget_local_reads(self) -> None:
        for segment in self.segments.values():
            if segment.space is Space.LOCAL and segment.shadow is not None:
                segment.shadow.forget_reads()
                segment.shadow.complete = segment.shadow.complete or bool(segment.shadow.writer.all())

    @staticmethod
    def inside(offsets: Offsets, segment: Segment, access: Access) -> bool:
        """Whether all of these bytes belong to the segment. As unsigned numbers, negative offsets are too large as well."""
        room = segment.size - access.size
        return room >= 0 and int(offsets.view(np.uint64).max()) <= room

    def written_lately(self, segment: Segment) -> bool:
        """Whether it was written since the last barrier for its space. Barriers do not order groups."""
        assert segment.shadow is not None
        since = self.machine.synced[Space.LOCAL] if segment.space is Space.LOCAL else 0
        return segment.shadow.last_write >= since
