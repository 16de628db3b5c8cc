"""The simulated cache against one written the slow way, one sector after the other."""

from collections import OrderedDict

import numpy as np
import pytest

from tilewright.analysis.predict.cache import SectoredCache


class SlowCache:
    """A sectored cache with least-recently-used lines, line by line."""

    def __init__(self, lines: int, pairs: bool) -> None:
        self.most, self.pairs = lines, pairs
        self.lines: OrderedDict[int, set[int]] = OrderedDict()

    def touch(self, sectors: list[int]) -> list[bool]:
        hits = [sector % 4 in self.lines.get(sector // 4, set()) for sector in sectors]
        for sector in sectors:
            line, place = divmod(sector, 4)
            held = self.lines.setdefault(line, set())
            held.update({place, place ^ 1} if self.pairs else {place})
            self.lines.move_to_end(line)
        while len(self.lines) > self.most:
            self.lines.popitem(last=False)
        return hits


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_single_sectors_hit_as_in_the_slow_cache(seed: int, pairs: bool) -> None:
    chance = np.random.default_rng(seed)
    span, lines = 400, int(chance.integers(1, 60))
    fast, slow = SectoredCache(128 * lines, span, pairs=pairs), SlowCache(lines, pairs)
    for sector in chance.integers(0, span, 3000):
        assert fast.touch(np.array([sector])).tolist() == slow.touch([int(sector)])


def test_pieces_that_fit_hit_as_in_the_slow_cache() -> None:
    chance = np.random.default_rng(3)
    fast, slow = SectoredCache(128 * 256, 1000), SlowCache(256, False)
    for first in (0, 40, 20, 0, 300, 0, 310, 900, 20):
        piece = np.sort(chance.permutation(100)[:30] + first)  # different sectors of few lines
        assert fast.touch(piece).tolist() == slow.touch(piece.tolist())


def test_a_walk_beyond_the_capacity_never_hits() -> None:
    cache = SectoredCache(128 * 10, 44)
    hits = [cache.touch(np.array([4 * line])).any() for _ in range(3) for line in range(11)]
    assert not any(hits)


def test_stores_that_do_not_fill_leave_no_trace() -> None:
    cache = SectoredCache(1024, 64)
    assert not cache.touch(np.array([5]), fill=False).any()
    assert not cache.touch(np.array([5])).any()
    assert cache.touch(np.array([5])).all()
