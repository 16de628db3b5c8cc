"""cp.async: copies that were started but not waited for. Their bytes arrive when they are waited for, as late as they may."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .compiled_code import Value
from .masks import Mask

Lanes = npt.NDArray[np.bool_]
Store = Callable[[Value, Value, Mask], None]


@dataclass(frozen=True)
class PendingCopy:
    """What some lanes copy: `store` writes `values` to their `targets`."""

    store: Store
    targets: Value
    values: Value
    lanes: Lanes

    def of(self, lanes: Lanes) -> "PendingCopy":
        return PendingCopy(self.store, self.targets, self.values, self.lanes & lanes)

    def finish(self, lanes: Lanes) -> None:
        mask = Mask(self.lanes & lanes)
        if mask.any:
            self.store(self.targets, self.values, mask)


@dataclass
class CopyGroup:
    """The copies that the lanes committed together. A lane may have committed none."""

    lanes: Lanes
    copies: list[PendingCopy]


class PendingCopies:
    """The copies of one batch of work-groups, the oldest first."""

    def __init__(self) -> None:
        self.started: list[PendingCopy] = []
        self.groups: list[CopyGroup] = []

    def begin(self) -> None:
        """A new batch: nothing is under way."""
        self.started.clear()
        self.groups.clear()

    def start(self, copy: PendingCopy) -> None:
        self.started.append(copy)

    def commit(self, mask: Mask) -> None:
        """What the lanes of `mask` have started becomes a group."""
        self.groups.append(CopyGroup(mask.lanes.copy(), [each.of(mask.lanes) for each in self.started]))
        left = [each.of(~mask.lanes) for each in self.started]
        self.started = [each for each in left if each.lanes.any()]

    def wait(self, mask: Mask, pending: int) -> None:
        """Finish all groups of each lane but its `pending` latest."""
        count = np.zeros(mask.lanes.size, np.int64)
        finished: list[tuple[CopyGroup, Lanes]] = []
        for group in reversed(self.groups):
            own = group.lanes & mask.lanes
            count += own
            finished.append((group, own & (count > pending)))
        for group, lanes in reversed(finished):
            for copy in group.copies:
                copy.finish(lanes)
            group.lanes = group.lanes & ~lanes
        self.groups = [group for group in self.groups if group.lanes.any()]
