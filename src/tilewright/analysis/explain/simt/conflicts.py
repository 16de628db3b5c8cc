"""Conflicts of one access with earlier ones: those inside groups and those between groups are two, as are their faults."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .readers import Touch
from .team_order import Bools, Int64s


@dataclass(slots=True)
class Conflict:
    """A race: the kind and position of the earlier access, both tags, the byte, and whether it is between groups. `own` and
    `opposing` are the tags of all conflicts; of several readers of a cell those with the highest and the lowest number."""

    earlier: str
    site: int
    own_tag: int
    other_tag: int
    offset: int
    between_groups: bool
    count: int
    which: Bools
    own: Int64s
    opposing: tuple[Int64s, ...]


@dataclass(slots=True)
class Opposing:
    """The cells of an access that conflict, the tags of those that they conflict with, and the numbers of their sites."""

    which: Bools
    tags: tuple[Int64s, ...]
    sites: Any

    @classmethod
    def of(cls, which: Bools, other: Int64s, another: Int64s, sites: Any) -> "Opposing":
        return cls(which, (other, another), sites)

    def or_those(self, others: "Opposing", where: Bools) -> "Opposing":
        """With those of `others`, as far as they are in `where`."""
        better = others.which & where
        if not better.any():
            return self
        tags = tuple(np.where(better, new, old) for new, old in zip(others.tags, self.tags, strict=True))
        return Opposing(self.which | better, tags, np.where(better, others.sites, self.sites))


def conflict_of(kind: str, touch: Touch, cells: Int64s, granule: int, opposing: Opposing, between: bool) -> Conflict:
    """The conflict of an access with earlier ones of this kind; `opposing` is not empty."""
    which = opposing.which
    at = tuple(np.argwhere(which)[0])
    tags = np.broadcast_to(touch.tags, cells.shape)
    return Conflict(
        kind,
        int(opposing.sites[at]),
        int(tags[at]),
        int(opposing.tags[0][at]),
        int(cells[at]) * granule,
        between,
        int(which.any(axis=0).sum() if which.ndim == 2 else which.sum()),
        which,
        tags[which],
        tuple(each[which] for each in opposing.tags),
    )
