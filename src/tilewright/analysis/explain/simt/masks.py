"""The executing work-items: an immutable set of lanes."""

from typing import Any

import numpy as np
import numpy.typing as npt

Lanes = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]


class Mask:
    """A set of lanes as a boolean array, with its count, its indices and a comparison key."""

    __slots__ = ("_indices", "_signature", "any", "count", "everyone", "lanes")

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.count = int(np.count_nonzero(lanes))
        self.any = self.count > 0
        self.everyone = self.count == lanes.size
        self._indices: Indices | None = None
        self._signature: bytes | None = None

    @property
    def indices(self) -> Indices:
        if self._indices is None:
            self._indices = np.flatnonzero(self.lanes)
        return self._indices

    @property
    def signature(self) -> bytes:
        """Equal for equal masks; empty for the full mask."""
        if self._signature is None:
            self._signature = b"" if self.everyone else self.lanes.tobytes()
        return self._signature

    def where(self, condition: Any) -> "Mask":
        """The lanes for which `condition` (one value for all, or one for each) is true."""
        if condition.ndim == 0:
            return self if condition else self.nobody()
        return Mask(self.lanes & condition)

    def except_where(self, condition: Any) -> "Mask":
        if condition.ndim == 0:
            return self.nobody() if condition else self
        return Mask(self.lanes & ~condition)

    def nobody(self) -> "Mask":
        return Mask(np.zeros_like(self.lanes))

    def without(self, other: "Mask") -> "Mask":
        return Mask(self.lanes & ~other.lanes) if other.any else self

    def union(self, other: "Mask | None") -> "Mask":
        if other is None or not other.any:
            return self
        return Mask(self.lanes | other.lanes) if self.any else other
