"""Measures workloads against each other in interleaved rounds, so that a machine's drift hits all of them alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from time import perf_counter, sleep
from typing import Any, Protocol, TypeAlias

from ..core.records import Samples
from ..errors import LaunchFailed, ProcessFailed
from ..runtime.device import Device
from ..runtime.run import Execution, Times, Work
from .timestamps import Timestamps

SETTLE_S = 0.002  # between workloads, for the threads of the one before to go to sleep
SHORT_S = 0.05  # a workload this fast is run once untimed before each timed run: caches, clocks and threads wake up
FLUSH_BYTES = 256 << 20  # larger than any last-level cache met so far


RunFailed: TypeAlias = LaunchFailed | ProcessFailed  # of our own kernels and of baselines in child processes


class Timed(Protocol):
    """What can be run once and timed."""

    def run(self) -> Times: ...


class Workload(Timed, Protocol):
    """What takes part in a benchmark: runs one by one, or turns of seconds."""

    def sustain(self, seconds: float) -> Work:
        """Work without pause for at least `seconds`."""


def repeated(workload: Timed, seconds: float) -> Work:
    """Runs, which are one call each, one after the other for at least `seconds`."""
    begin, calls = perf_counter(), 0
    while (passed := perf_counter() - begin) < seconds or not calls:
        workload.run()
        calls += 1
    return Work(passed, calls)


@dataclass(frozen=True)
class LaunchWorkload:
    """An execution as a workload; `flush` overwrites the caches before each run."""

    execution: Execution
    flush: "CacheFlush | None" = None

    def run(self) -> Times:
        if self.flush is not None:
            self.flush.flush()
        return self.execution.launch()

    def sustain(self, seconds: float) -> Work:
        return self.execution.sustain(seconds)


ROUNDS = 20  # of a race; slow workloads end with fewer
BURST_S = 500e-6  # of work in a burst, as of the baseline's replays
MOST_CALLS = 50


class BurstWorkload:
    """An execution run several times back to back, as a baseline's replayed graph is: clocks and caches are warm.

    On NVIDIA GPUs it is timed by stamps of the device's clock around the whole burst, elsewhere by its launches' events.
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
    """Writes a buffer larger than the device's caches, so that the next kernel finds none of its operands there."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._buffer = device.allocate(FLUSH_BYTES)

    def flush(self) -> None:
        self._device.fill(self._buffer, 1, 0, FLUSH_BYTES)
        self._device.finish("the cache flush")


@dataclass
class Collected:
    """The times of one workload while a race runs."""

    times: list[Times] = field(default_factory=list)
    failed: bool = False

    def samples(self) -> Samples:
        device = tuple(each.device_s for each in self.times)
        return Samples(tuple(each.wall_s for each in self.times), device if any(device) else ())


def orders(count: int) -> list[list[int]]:
    """The orders in which `count` workloads run, a round each: within them everyone follows every other one equally
    often (E. J. Williams, "Experimental designs balanced for the estimation of residual effects of treatments", 1949).

    For who runs next meets the clock that the one before left: an H200 multiplies 8192 x 8192 doubles 10% slower right
    after cuBLAS did than after a pause.
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
    """Run all workloads, in changing order, until `rounds` rounds are done or `seconds` are over; at least one run each.

    A workload that has used twice its equal share of the time sits out the rest, so that a slow one cannot starve the
    others. `progress` is called with a workload's index and samples so far after each of its runs. A run that fails
    ends the race, or with `failed` takes its workload out of it.
    """
    collected = [Collected() for _ in workloads]
    spent = [0.0] * len(workloads)
    begin = perf_counter()
    for turn, order in zip(range(rounds), cycle(orders(len(workloads))), strict=False):
        for index in order:
            over = perf_counter() - begin > seconds or spent[index] > 2 * seconds / len(workloads)
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
    if warm and (not before.times or before.times[-1].wall_s < SHORT_S):
        first = workload.run()
        if first.wall_s > SHORT_S:
            return first  # long enough that warming up is a small part of it
    return workload.run()
