"""Which bytes belong to async copies of a work-group until its work-items have waited for them."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .machine_state import MachineState
from .masks import Mask
from .readers import Touch
from .segments import Segment


class AsyncCopies:
    """The accesses of copies that nobody has waited for; `running` while one is made."""

    def __init__(self, machine: MachineState) -> None:
        self.machine = machine
        self.running = False
        self._made: list[tuple[Segment, Touch, bool]] = []

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Accesses inside belong to the group's async copy, not to a work-item."""
        self.running = True
        try:
            yield
        finally:
            self.running = False

    def note(self, segment: Segment, touch: Touch, written: bool) -> None:
        """An access to shadowed memory, which may be a copy's."""
        if self.running:
            self._made.append((segment, touch, written))

    def forget(self) -> None:
        """Other groups run now; some may never have waited."""
        self._made.clear()

    def finish(self, mask: Mask) -> None:
        """The groups of `mask` have waited for their copies. All may now read what they wrote, and write what they read."""
        reached = set(self.machine.slot_of_lane[mask.indices].tolist())
        kept: list[tuple[Segment, Touch, bool]] = []
        for segment, touch, written in self._made:
            lanes = np.arange(self.machine.lanes) if touch.lanes is None else touch.lanes
            slots = set(self.machine.slot_of_lane[lanes].tolist())
            if not slots <= reached:
                kept.append((segment, touch, written))
                continue
            assert segment.shadow is not None
            if written:
                segment.shadow.settle(touch)
            else:
                segment.shadow.release(touch)
        self._made = kept
