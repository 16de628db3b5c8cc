"""Work-items that act together: the work-groups of a batch, their sub-groups, or clusters of those, as rows of lanes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .masks import Mask


class Teams:
    """Teams of `width` consecutive work-items; the last one of a work-group of `items` may be smaller.

    NVIDIA and AMD fill sub-groups in the order of the linear local id, which is what counts here, too."""

    def __init__(self, name: str, lanes: int, items: int, width: int) -> None:
        self.name = name
        item = np.arange(lanes) % items
        per_group = -(-items // width)
        self.count = lanes // items * per_group
        self.in_group: npt.NDArray[np.intp] = item // width  # the number of each lane's team in its work-group
        self.team: npt.NDArray[np.intp] = np.arange(lanes) // items * per_group + self.in_group
        self.place: npt.NDArray[np.intp] = item % width
        first = np.arange(self.count) // per_group * items + np.arange(self.count) % per_group * width
        self.sizes = np.minimum(width, items - np.arange(self.count) % per_group * width)
        self.members = first[:, None] + np.minimum(np.arange(width), self.sizes[:, None] - 1)
        self.exists = np.arange(width) < self.sizes[:, None]

    def active(self, mask: Mask) -> npt.NDArray[np.bool_]:
        """(teams, width): which members take part."""
        active: npt.NDArray[np.bool_] = self.exists & mask.lanes[self.members]
        return active

    def rows(self, value: Any) -> npt.NDArray[Any]:
        """One value for all lanes, or one each, as (..., teams, width). A missing member shows the last one's."""
        value = np.asarray(value)
        lanes = self.team.size
        whole = np.broadcast_to(value, (lanes,) if value.ndim == 0 else (*value.shape[:-1], lanes))
        rows: npt.NDArray[Any] = whole[..., self.members]
        return rows

    def lanes(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(..., teams, width), or (..., teams, 1) for what all members share, as one value for each lane."""
        if rows.shape[-1] == 1:
            return np.ascontiguousarray(rows[..., self.team, 0])
        return np.ascontiguousarray(rows[..., self.team, self.place])

    def lane_at(self, place: Any) -> npt.NDArray[np.intp]:
        """For each lane, the lane of its own team at `place`, as far as there is one."""
        wanted = np.clip(place, 0, self.sizes[self.team] - 1)
        lanes: npt.NDArray[np.intp] = self.members[self.team, 0] + wanted
        return lanes

    def reached(self, mask: Mask) -> npt.NDArray[np.intp]:
        """How many members of each team are in `mask`."""
        return np.bincount(self.team[mask.indices], minlength=self.count)
