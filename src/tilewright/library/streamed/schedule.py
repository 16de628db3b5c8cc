"""Hands tiles to devices as they ask for them, so that fast ones get more and no slow one holds up the end."""

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from threading import Condition
from time import perf_counter

from .tiles import Tile

SMOOTHING = 0.5  # the weight of a device's last tile in its seconds a tile
# Of several devices, none claims more than its share of this part of what is left, so that all end together; but so many tiles
# it may always have: two that are stored, one that is computed, and one that is loaded.
AHEAD, LEAST_AHEAD = 0.5, 4


class Stopped(Exception):
    """The call ends, or this device does: its threads stop. Nobody outside sees it."""


class _Worker:
    """What is known of one device."""

    def __init__(self) -> None:
        self.claimed: dict[int, Tile] = {}
        self.seconds = 0.0  # for a tile; 0 until one is done
        self.since = 0.0
        self.strip: deque[Tile] | None = None
        self.done = 0


class Schedule:
    """The tiles that are left, by strips. A device takes one strip after the other, then the ends of other devices' strips."""

    def __init__(self, strips: Iterable[Sequence[Tile]], done: Iterable[int] = ()) -> None:
        finished = set(done)
        self._strips = [deque(tile for tile in strip if tile.number not in finished) for strip in strips]
        self._strips = [strip for strip in self._strips if strip]
        self._free = deque(self._strips)
        self._workers: dict[Hashable, _Worker] = {}
        self._changed = Condition()
        self._stopped = False
        self._dismissed: set[Hashable] = set()
        self.left = sum(map(len, self._strips))  # tiles that are not stored yet

    def join(self, worker: Hashable) -> None:
        with self._changed:
            self._workers[worker] = _Worker()

    def claim(self, worker: Hashable) -> Tile | None:
        """The next tile for a device; None when all are done. Waits while it has enough of what is left, or others would be
        faster: they may fail yet."""
        with self._changed:
            own = self._workers[worker]
            while True:
                if self._stopped or worker in self._dismissed:
                    raise Stopped
                if not self.left:
                    return None
                tile = self._next(worker, own)
                if tile is not None:
                    own.since = own.since or perf_counter()
                    own.claimed[tile.number] = tile
                    return tile
                self._changed.wait()

    def stored(self, worker: Hashable, tile: Tile) -> None:
        """A tile is where it belongs."""
        with self._changed:
            own = self._workers[worker]
            del own.claimed[tile.number]
            now = perf_counter()
            taken, own.since = now - own.since, now
            own.seconds = taken if not own.done else SMOOTHING * taken + (1 - SMOOTHING) * own.seconds
            own.done += 1
            self.left -= 1
            self._changed.notify_all()

    def dismiss(self, worker: Hashable) -> None:
        """A device has failed and gets no tiles any more. What it claimed it may still be storing."""
        with self._changed:
            self._dismissed.add(worker)
            self._changed.notify_all()

    def leave(self, worker: Hashable) -> None:
        """A device that was dismissed has ended: the others do its tiles."""
        with self._changed:
            lost = self._workers.pop(worker, _Worker())
            if lost.claimed:
                strip = deque(lost.claimed.values())
                self._strips.append(strip)
                self._free.appendleft(strip)
            if lost.strip:
                self._free.append(lost.strip)
            self._changed.notify_all()

    def stop(self) -> None:
        """No tile is handed out any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until something changes, or so long."""
        with self._changed:
            self._changed.wait(seconds)

    def _next(self, worker: Hashable, own: _Worker) -> Tile | None:
        if not any(self._strips) or self._has_enough(own) or not self._worthwhile(worker, own):
            return None
        if own.strip:
            return own.strip.popleft()
        while self._free:
            own.strip = self._free.popleft()
            if own.strip:
                return own.strip.popleft()
        longest = max(self._strips, key=len)  # another device's, from its end
        return longest.pop() if longest else None

    def _has_enough(self, own: _Worker) -> bool:
        devices = len(self._workers)
        return devices > 1 and len(own.claimed) >= max(LEAST_AHEAD, AHEAD * self.left / devices)

    def _worthwhile(self, worker: Hashable, own: _Worker) -> bool:
        """Whether this device ends a tile before the others would have done all that is left."""
        others = [each for name, each in self._workers.items() if name != worker]
        if not own.seconds or not others or not all(each.seconds for each in others):
            return True
        tiles = sum(map(len, self._strips)) + sum(len(each.claimed) for each in others)
        rest = tiles / sum(1 / each.seconds for each in others)
        return own.seconds * (1 + len(own.claimed)) <= max(rest, max(each.seconds for each in others))
