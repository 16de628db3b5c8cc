"""A sectored cache with least-recently-used lines, for streams of sectors in pieces.

The sectors of one piece count as used at the same time, which lets NumPy do the work: the resident lines are those whose last
use is not older than the oldest that still fits. Within a piece no line is evicted. Lines are fully associative: real caches
hash addresses to sets, so that conflicts of sets are rare.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

SECTORS = 4  # of a line
Sectors = npt.NDArray[np.int64]


class SectoredCache:
    """`size` bytes in lines of `line` bytes, over `span` sectors of memory, numbered from 0. A miss fills the sector, or with
    `pairs` that and the other half of its 64 bytes, which is the least that memory delivers."""

    def __init__(self, size: int, span: int, line: int = 128, pairs: bool = False) -> None:
        self.pairs = pairs
        self.capacity = max(1, size // line)  # lines
        lines = span // SECTORS + 2
        self.used: npt.NDArray[np.int32] = np.full(lines, -1, np.int32)  # the piece of each line's last use
        self.valid: npt.NDArray[np.uint8] = np.zeros(lines, np.uint8)  # a bit for each sector
        self.counts: list[int] = []  # lines whose last use was in that piece
        self.oldest = 0  # lines used before this piece are evicted
        self.resident = 0

    def touch(self, sectors: Sectors, fill: bool = True) -> Any:
        """Use different `sectors` in one piece: which of them were there. Those that were not are filled in, if they may."""
        lines, bits = sectors // SECTORS, (1 << (sectors % SECTORS)).astype(np.uint8)
        filled = np.where(sectors % SECTORS < 2, 3, 12).astype(np.uint8) if self.pairs else bits
        there = self.used[lines] >= self.oldest
        hit = there & ((self.valid[lines] & bits) != 0)
        if not fill:
            lines, filled = lines[there], filled[there]
            if not len(lines):
                return hit
        own = np.unique(lines)
        before = self.used[own]
        stale = before < self.oldest
        self.valid[own[stale]] = 0
        np.bitwise_or.at(self.valid, lines, filled)
        self._use(own, before[~stale])
        return hit

    def _use(self, lines: Sectors, before: Any) -> None:
        """These lines are the newest; drop the oldest ones that no longer fit."""
        if len(before):
            ages = np.bincount(before - self.oldest)
            for place in np.flatnonzero(ages):
                self.counts[self.oldest + int(place)] -= int(ages[place])
        self.resident += len(lines) - len(before)
        self.used[lines] = len(self.counts)
        self.counts.append(len(lines))
        while self.resident > self.capacity and self.oldest < len(self.counts) - 1:
            self.resident -= self.counts[self.oldest]
            self.oldest += 1
