"""Explains the launches of a running program as they come, within a budget of time."""

from collections import Counter
from dataclasses import replace
from threading import Lock
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


class Watcher:
    """Collects launches: `seen` takes each one. It may be called from several threads."""

    def __init__(self, limits: Limits = LIMITS, model: Model | None = None) -> None:
        self._limits = limits
        self._model = model
        self._counts: Counter[Key] = Counter()
        self._rows: dict[Key, WatchedLaunch] = {}  # of a key's first launch, or of the one that was explained
        self._tried: Counter[CapturedKernel] = Counter()
        self._lock, self._explaining = Lock(), Lock()
        self._begin, self._spent = monotonic(), 0.0

    def launches(self) -> tuple[WatchedLaunch, ...]:
        """The rows so far, the worst first."""
        with self._lock:
            rows = [replace(row, launches=self._counts[key]) for key, row in self._rows.items()]
        return tuple(sorted(rows, key=WatchedLaunch.rank))

    def seen(self, pending: Pending) -> None:
        """Count a launch, and explain it if it is the first of its kind and there is time. Its errors become the row's
        reason: the program goes on as if nobody watched."""
        key = (pending.kernel, pending.global_size, pending.local_size, pending.offset)
        with self._lock:
            self._counts[key] += 1
            row = self._rows.get(key)
            if row is not None and row.sample:
                return
            row = WatchedLaunch(*key[:3])
            refusal = self._refusal(key)
            if refusal:
                self._rows[key] = replace(row, reason=refusal)
                return
            self._tried[pending.kernel] += 1
            row = replace(row, sample=self._counts[key], reason="the program ended while it was being explained")
            self._rows[key] = row
        found = self._explain(pending, row)
        with self._lock:
            self._rows[key] = found

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

    def _explain(self, pending: Pending, row: WatchedLaunch) -> WatchedLaunch:
        """The row of a launch with its explanation or the reason why there is none."""
        try:
            captured = pending.capture(max(PATIENCE_S, self._time_left()))
            with self._explaining:
                begin = monotonic()
                seconds = max(min(self._limits.launch_seconds, self._time_left()), SHORTEST_S)
                try:
                    found = explain_captured(captured, model=self._model, seconds=seconds)
                finally:
                    taken = monotonic() - begin
                    self._spent += taken
        except TilewrightError as error:
            return replace(row, reason=str(error))
        except Exception as error:  # of whatever kind: it must not become the program's
            return replace(row, reason=f"{type(error).__name__}: {error}")
        return replace(row, explanation=found.explanation, notes=found.notes, reason="", seconds=taken)
