"""Explains the launches of a running program as they come, within a budget of time."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import RLock
from time import monotonic
from typing import Protocol

from ...core.captured import CapturedKernel, CapturedLaunch
from ...core.watch_limits import LIMITS, Limits
from ...errors import TilewrightError
from ..explain import Model
from .explained import explain_captured
from .watched import WatchedLaunch

SHARE = 0.5  # of the program's own time that explaining may take, besides Limits.seconds
SHORTEST_S = 0.05  # less time than this is not worth a beginning
ENDED = "the program ended while it was being explained"
PATIENCE_S = 2.0  # at least, for work that the program enqueued before; it would have taken this time anyway


class Pending(Protocol):
    """A launch that is about to be enqueued."""

    @property
    def kernel(self) -> CapturedKernel: ...
    @property
    def global_size(self) -> tuple[int, ...]: ...
    @property
    def local_size(self) -> tuple[int, ...] | None: ...
    @property
    def offset(self) -> tuple[int, ...]: ...
    def capture(self, patience: float) -> CapturedLaunch: ...


Key = tuple[CapturedKernel, tuple[int, ...], tuple[int, ...] | None, tuple[int, ...]]


@dataclass(frozen=True)
class _Copied:
    """A launch that is to be explained, or why it is not. `is_sample` says that it is the one of its row."""

    launch: CapturedLaunch | None = None
    reason: str = ""
    is_sample: bool = False


class Watcher:
    """Collects launches. It may be called from several threads."""

    def __init__(self, limits: Limits = LIMITS, model: Model | None = None) -> None:
        self._limits = limits
        self._model = model
        self._counts: Counter[Key] = Counter()
        self._rows: dict[Key, WatchedLaunch] = {}  # of a key's first launch, or of the one that was explained
        self._tried: Counter[CapturedKernel] = Counter()
        # A destructor, or a signal's handler, may enqueue a launch meanwhile.
        self._lock, self._explaining = RLock(), RLock()
        self._begin, self._spent = monotonic(), 0.0

    def launches(self) -> tuple[WatchedLaunch, ...]:
        """The rows so far, the worst first."""
        with self._lock:
            rows = [replace(row, launches=self._counts[key]) for key, row in self._rows.items()]
        return tuple(sorted(rows, key=WatchedLaunch.rank))

    def seen(self, pending: Pending) -> None:
        """A launch that was enqueued."""
        with self.enqueueing(pending):
            pass

    @contextmanager
    def enqueueing(self, pending: Pending) -> Iterator[None]:
        """Around the enqueueing of a launch, which may end in an exception: then it is none. What explaining needs is copied
        before. Afterwards the launch is counted, and explained if it is the first of its kind and there is time. Its errors
        become the row's reason: the program goes on as if nobody watched."""
        key = (pending.kernel, pending.global_size, pending.local_size, pending.offset)
        copied = self._copied(pending, key)
        try:
            yield
        except BaseException:
            with self._lock:
                self._tried[pending.kernel] -= copied.is_sample
            raise
        with self._lock:
            self._counts[key] += 1
            row = self._rows.get(key)
            if row is not None and row.sample:
                return
            row = replace(WatchedLaunch(*key[:3]), reason=copied.reason)
            if copied.is_sample:
                row = replace(row, sample=self._counts[key], reason=copied.reason or ENDED)
            self._rows[key] = row
        if copied.launch is not None:
            found = self._explain(copied.launch, row)
            with self._lock:
                self._rows[key] = found

    def _copied(self, pending: Pending, key: Key) -> _Copied:
        """The launch with its buffers, if it is to be explained."""
        with self._lock:
            row = self._rows.get(key)
            if row is not None and row.sample:
                return _Copied()
            refusal = self._refusal(key)
            if refusal:
                return _Copied(reason=refusal)
            self._tried[pending.kernel] += 1
        try:
            return _Copied(pending.capture(max(PATIENCE_S, self._time_left())), is_sample=True)
        except Exception as error:  # of whatever kind: it must not become the program's
            return _Copied(reason=_said(error), is_sample=True)

    def _refusal(self, key: Key) -> str:
        """Why this launch is not explained, or ""."""
        if not all(key[1]):
            return "the NDRange is empty"
        if self._tried[key[0]] >= self._limits.samples:
            most = self._limits.samples
            return f"{most} launches of {key[0].entry} were explained, with other NDRanges; --samples sets how many"
        if self._time_left() < SHORTEST_S:
            return (
                f"the time for explaining was used up: {self._limits.seconds:g} s and half of the program's own time; --budget "
                "sets the seconds"
            )
        return ""

    def _time_left(self) -> float:
        own = monotonic() - self._begin - self._spent
        return self._limits.seconds + SHARE * own - self._spent

    def _explain(self, captured: CapturedLaunch, row: WatchedLaunch) -> WatchedLaunch:
        """The row of a launch with its explanation or the reason why there is none."""
        try:
            with self._explaining:
                begin, spent = monotonic(), self._spent
                seconds = max(min(self._limits.launch_seconds, self._time_left()), SHORTEST_S)
                try:
                    found = explain_captured(captured, model=self._model, seconds=seconds)
                finally:
                    taken = monotonic() - begin
                    self._spent = spent + taken  # with launches of such destructors
        except Exception as error:  # of whatever kind: it must not become the program's
            return replace(row, reason=_said(error))
        return replace(row, explanation=found.explanation, notes=found.notes, reason="", seconds=taken)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, TilewrightError) else f"{type(error).__name__}: {error}"
