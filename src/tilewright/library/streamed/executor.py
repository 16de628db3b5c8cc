"""Runs a plan: devices ask for tiles, failed ones are replaced by the others, and what is done is noted."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock

import pyopencl as cl

from ...errors import BuildFailed, LaunchFailed
from .bar import Bar
from .journal import Journal
from .schedule import Schedule
from .tiles import Tile
from .worker import Worker

LOOK_S = 0.2  # between two looks at the devices: Ctrl-C is noticed then, too
DEVICE_ERRORS = (LaunchFailed, BuildFailed, cl.Error)  # after which other devices can still do the tiles


class Run:
    """The tiles of one call, while devices compute them."""

    def __init__(self, schedule: Schedule, journal: Journal | None, in_place: bool) -> None:
        self._schedule, self._journal, self._in_place = schedule, journal, in_place
        self._noting = Lock()
        self._total = schedule.left
        self.replaced = False  # whether a device failed, and the others did its tiles

    def stored(self, worker: Worker, tile: Tile, check: int) -> None:
        """Called by a device's thread once a tile is where it belongs."""
        if self._journal is not None:
            with self._noting:
                self._journal.add(tile.number, check)
        self._schedule.stored(worker, tile)

    def execute(self, workers: Sequence[Worker], bar: Bar) -> None:
        """Compute all tiles. What ends it early is raised after all threads have ended."""
        working = list(workers)
        try:
            for worker in working:
                worker.start()
            while self._schedule.left:
                self._schedule.wait(LOOK_S)
                bar.show(self._total - self._schedule.left)
                for worker in [each for each in working if each.error is not None]:
                    working.remove(worker)
                    self._replace(worker, working)
        finally:
            try:
                _done_despite_interrupts(partial(self._end, workers))
            finally:
                for worker in workers:
                    worker.close()
        bar.show(self._total)

    def _end(self, workers: Sequence[Worker]) -> None:
        """Stop all threads, and wait for them: they write to the caller's memory."""
        self._schedule.stop()
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.join()

    def _replace(self, worker: Worker, others: Sequence[Worker]) -> None:
        """Let the others do a failed device's tiles. Raises the error if they cannot."""
        error = worker.error
        assert error is not None
        worker.join()
        done = self._total - self._schedule.left
        label = worker.device.info.label
        if not isinstance(error, DEVICE_ERRORS):
            try:
                raise error
            finally:
                del error  # or it would know itself by its own traceback, and keep the caller's arrays
        if worker.storing and self._in_place:
            raise LaunchFailed(
                f"{label} failed while a tile was written over c, which cannot be computed again: {error}",
                getattr(error, "code", None),
            ) from error
        if not others:
            raise LaunchFailed(
                f"{label} failed, and no other device is left: {done} of {self._total} tiles are done: {error}",
                getattr(error, "code", None),
            ) from error
        warnings.warn(
            f"{label} failed after {done} of {self._total} tiles; the other devices do the rest: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        self.replaced = True
        self._schedule.leave(worker)


def _done_despite_interrupts(step: Callable[[], None]) -> None:
    """Repeat a step until no Ctrl-C interrupts it, and raise the last KeyboardInterrupt then."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            step()
            break
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


def left_over(journal: Journal | None, check_of: Callable[[int], int]) -> list[int]:
    """The numbers of tiles that a journal says are done, and whose bytes are still the same."""
    return [] if journal is None else [number for number, check in journal.sums.items() if check_of(number) == check]
