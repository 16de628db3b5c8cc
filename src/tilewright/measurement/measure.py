"""Measures workloads in interleaved rounds, so that a drift of the machine affects all of them equally."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import cycle
from time import perf_counter, sleep
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..core.records import Samples
from ..errors import LaunchFailed, ProcessFailed
from ..runtime.device import Device
from ..runtime.resting import REST_S, let_threads_rest
from ..runtime.run import Execution, Times, Work
from .timestamps import Timestamps

SETTLE_S = 0.002  # between workloads: the device settles
SHORT_S = 0.05  # a faster workload runs untimed before each timed run, to warm up caches, clocks and threads
# For so long, and at least once. Threads wake in the first runs, which also tell how often a brief call is repeated: after a
# single one a product of 37 us took 73 in the first timed run and 53 in the second.
WARM_S = 2e-3
# They go on until one takes at most STEADY times the least so far, or for WAKE_S. Two threads that have woken on one processor
# share it until the system's next balancing: after 4 ms on two processors, after 16 to 32 ms on 16.
STEADY = 1.25
WAKE_S = 0.06
FLUSH_BYTES = 256 << 20  # larger than known last-level caches


RunFailed: TypeAlias = (
    LaunchFailed | ProcessFailed
)  # a kernel of ours fails by the first, a baseline in a child process by the second


class Timed(Protocol):
    """What can be run once and timed."""

    def run(self) -> Times: ...


class Workload(Timed, Protocol):
    """What a case measures: single runs, or turns of seconds."""

    def sustain(self, seconds: float) -> Work:
        """Work without pause for at least `seconds`."""


@runtime_checkable
class TakesTurns(Timed, Protocol):
    """A workload in a process of its own, which works only in its turns."""

    def turn(self) -> AbstractContextManager[None]:
        """As long as the process may work: several runs follow each other without a pause."""


def repeated(workload: Timed, seconds: float) -> Work:
    """Run again and again for at least `seconds`; each run is one call."""
    begin, calls = perf_counter(), 0
    while (passed := perf_counter() - begin) < seconds or not calls:
        workload.run()
        calls += 1
    return Work(passed, calls)


BRIEF_S = 500e-6  # shorter calls are repeated this long for one time: a single one is that of cold caches


class RepeatedCall:
    """Times a call on the host. Children of baselines have the same rule for theirs."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call, self._calls = call, 1

    def seconds(self) -> float:
        """The time of one call, the mean of so many as last took BRIEF_S."""
        begin = perf_counter()
        for _ in range(self._calls):
            self._call()
        found = (perf_counter() - begin) / self._calls
        self._calls = max(1, int(BRIEF_S / found)) if found else 1
        return found


@dataclass(frozen=True)
class LaunchWorkload:
    """One launch of a plan as a workload. `flush` empties the caches before each run."""

    execution: Execution
    flush: "CacheFlush | None" = None

    def run(self) -> Times:
        if self.flush is not None:
            self.flush.flush()
        return self.execution.launch()

    def sustain(self, seconds: float) -> Work:
        return self.execution.sustain(seconds)


ROUNDS = 20  # at most; slow workloads get fewer
BURST_S = 500e-6  # the length of a burst, which is also that of a baseline's replayed graph
MOST_CALLS = 50


class BurstWorkload:
    """Several launches of a plan back to back, as in a baseline's replayed graph: clocks and caches are warm.

    On NVIDIA GPUs two timestamps of the device's clock time the whole burst. Elsewhere the launches' events do.
    """

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        once = min(execution.launch().device_s for _ in range(3))
        self.calls = max(1, min(MOST_CALLS, round(BURST_S / once) if once else MOST_CALLS))
        self._timestamps = Timestamps(execution.device) if execution.device.supports_timestamps else None

    def run(self) -> Times:
        if self._timestamps is None:
            return self.execution.burst(self.calls)
        begin = perf_counter()
        seconds = self._timestamps.seconds(self._enqueue, self.calls * self.execution.launches)
        return Times(seconds / self.calls, (perf_counter() - begin) / self.calls)

    def sustain(self, seconds: float) -> Work:
        return self.execution.sustain(seconds)

    def _enqueue(self, queue: Any) -> None:
        for _ in range(self.calls):
            self.execution.enqueue(queue)


class CacheFlush:
    """Writes a buffer larger than the device's caches, so that the next kernel reads its operands from memory."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._buffer = device.allocate(FLUSH_BYTES)

    def flush(self) -> None:
        self._device.fill(self._buffer, 1, 0, FLUSH_BYTES)
        self._device.finish("the cache flush")


@dataclass
class Collected:
    """The times of one workload so far."""

    times: list[Times] = field(default_factory=list)
    failed: bool = False
    least: float = float("inf")  # wall-clock time of a run so far, timed or not

    def samples(self) -> Samples:
        device = tuple(each.device_s for each in self.times)
        return Samples(tuple(each.wall_s for each in self.times), device if any(device) else ())


def orders(count: int) -> list[list[int]]:
    """The order of `count` workloads in each round. Over the rounds each one follows every other one equally often
    (E. J. Williams, "Experimental designs balanced for the estimation of residual effects of treatments", 1949).

    Order matters, because a run inherits the GPU clock that the previous one left: an H200 multiplies 8192 x 8192
    matrices in fp64 10% slower right after cuBLAS than after a pause.
    """
    outwards = sorted(range(count), key=lambda place: min(place, count - place))  # 0, 1, count - 1, 2, count - 2 ...
    rounds = [[(place + shift) % count for place in outwards] for shift in range(count)]
    return rounds if count % 2 == 0 else rounds + [each[::-1] for each in rounds]


def measure_interleaved(
    workloads: Sequence[Timed],
    seconds: float,
    rounds: int = ROUNDS,
    warm: bool = True,
    progress: Callable[[int, Samples], None] = lambda index, samples: None,
    failed: Callable[[int, RunFailed], None] | None = None,
) -> list[Samples]:
    """Run all workloads in changing order, until `rounds` rounds are done or `seconds` are over, but at least once each.

    A workload that has used twice its equal share of the time is left out of later rounds, and counts for that much of
    `seconds`, so that a slow one cannot starve the others. `progress` gets a workload's index and its samples after each
    run. A run that fails ends the measurement; with `failed` only its workload is left out.
    """
    collected = [Collected() for _ in workloads]
    spent = [0.0] * len(workloads)
    most = 2 * seconds / max(1, len(workloads))
    for turn, order in zip(range(rounds), cycle(orders(len(workloads))), strict=False):
        for index in order:
            over = sum(min(each, most) for each in spent) > seconds or spent[index] > most
            if (turn and over) or collected[index].failed:
                continue
            start = perf_counter()
            try:
                collected[index].times.append(_timed(workloads[index], collected[index], warm))
            except (LaunchFailed, ProcessFailed) as failure:
                if failed is None:
                    raise
                collected[index].failed = True
                failed(index, failure)
                continue
            spent[index] += perf_counter() - start
            progress(index, collected[index].samples())
    return [each.samples() for each in collected]


def _timed(workload: Timed, before: Collected, warm: bool) -> Times:
    sleep(SETTLE_S)
    let_threads_rest(REST_S)
    with workload.turn() if isinstance(workload, TakesTurns) else nullcontext():
        if warm and (not before.times or before.times[-1].wall_s < SHORT_S):
            first = _warmed_up(workload, before)
            if first.wall_s > SHORT_S:
                return first  # warming up is a small part of so long a run
        times = workload.run()
    before.least = min(before.least, times.wall_s)
    return times


def _warmed_up(workload: Timed, before: Collected) -> Times:
    """Run untimed until caches, clocks and threads are awake; the first run's times.

    In the first turn that is two runs at least, since nothing tells yet how long one takes.
    """
    begin, first = perf_counter(), workload.run()
    last, runs = first.wall_s, 1
    before.least = min(before.least, last)
    while last <= SHORT_S:
        passed = perf_counter() - begin
        is_steady = last <= STEADY * before.least and (before.times or runs > 1)
        if passed >= WARM_S and (is_steady or passed >= WAKE_S):
            break
        last, runs = workload.run().wall_s, runs + 1
        before.least = min(before.least, last)
    return first
