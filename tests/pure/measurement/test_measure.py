"""Measuring by turns, on a clock that only the workloads move."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from tilewright.core.records import Samples
from tilewright.measurement import measure
from tilewright.measurement.measure import measure_interleaved, orders
from tilewright.runtime.run import Times


@dataclass
class Clock:
    """Stands for perf_counter and sleep."""

    now: float = 0.0

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Runner:
    """A workload that takes `seconds`, of which its device says half."""

    clock: Clock
    seconds: float
    log: list[float] = field(default_factory=list)
    has_device: bool = True

    def run(self) -> Times:
        self.clock.now += self.seconds
        self.log.append(self.clock.now)
        return Times(self.seconds / 2 if self.has_device else 0.0, self.seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(measure, "perf_counter", fake.read)
    monkeypatch.setattr(measure, "sleep", fake.sleep)
    return fake


def test_workloads_run_in_turn_and_change_places(clock: Clock) -> None:
    first, second = Runner(clock, 0.1), Runner(clock, 0.1)
    measure_interleaved([first, second], seconds=100, rounds=3)
    order = sorted((when, name) for name, runner in (("first", first), ("second", second)) for when in runner.log)
    assert [name for _, name in order] == ["first", "second", "second", "first", "first", "second"]


@pytest.mark.parametrize("count", range(1, 10))
def test_everyone_follows_every_other_one_equally_often(count: int) -> None:
    assert all(sorted(order) == list(range(count)) for order in orders(count))
    pairs = Counter(pair for order in orders(count) for pair in pairwise(order))
    assert len(pairs) == count * (count - 1)
    assert len(set(pairs.values())) <= 1


def test_a_slow_workload_does_not_starve_the_others(clock: Clock) -> None:
    slow, *fast = Runner(clock, 2.0), Runner(clock, 0.01), Runner(clock, 0.01), Runner(clock, 0.01)
    samples = measure_interleaved([slow, *fast], seconds=9.0, rounds=20)
    assert [len(each.wall) for each in samples] == [3, 20, 20, 20]
    assert clock.now < 9.0


def test_one_run_that_takes_all_of_the_time_does_not_take_it_from_the_others(clock: Clock) -> None:
    samples = measure_interleaved([Runner(clock, 20.0), *(Runner(clock, 0.1) for _ in range(4))], seconds=15, rounds=20)
    assert [len(each.wall) for each in samples] == [1, 20, 20, 20, 20]


def test_everyone_runs_once_even_if_the_time_is_over(clock: Clock) -> None:
    samples = measure_interleaved([Runner(clock, 50.0), Runner(clock, 50.0), Runner(clock, 0.001)], seconds=1.0)
    assert [len(each.wall) for each in samples] == [1, 1, 1]


def test_short_runs_are_warmed_up_and_long_ones_are_not(clock: Clock) -> None:
    brief, short, long = Runner(clock, 0.0011), Runner(clock, 0.01), Runner(clock, 0.5)
    samples = measure_interleaved([brief, short, long], seconds=100, rounds=4)
    assert (len(brief.log), len(samples[0].wall)) == (12, 4)
    assert (len(short.log), len(samples[1].wall)) == (9, 4), "two untimed runs in the first turn"
    assert (len(long.log), len(samples[2].wall)) == (4, 4)


@dataclass
class Waking(Runner):
    """Takes 20 ms more in the first runs of a turn, as threads do that woke on one processor."""

    late: int = 2
    turns: int = 0
    left: int = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        self.turns, self.left = self.turns + 1, self.late
        yield
        self.left = 0

    def run(self) -> Times:
        usual = self.seconds
        self.seconds += 0.02 * (self.left > 0)
        self.left -= 1
        times = super().run()
        self.seconds = usual
        return times


def test_threads_that_share_a_processor_at_first_are_not_timed(clock: Clock) -> None:
    waking = Waking(clock, 0.001)
    (samples,) = measure_interleaved([waking], seconds=100, rounds=4)
    assert waking.turns == 4
    assert samples.wall == (0.001,) * 4


def test_a_workload_that_never_gets_steady_is_timed_all_the_same(clock: Clock) -> None:
    slower = Waking(clock, 0.001, late=1000)
    slower.turn().__enter__()
    slower.left = 0  # one fast run, and none again
    samples = measure_interleaved([slower], seconds=100, rounds=3)
    assert [len(each.wall) for each in samples] == [3]
    assert clock.now < 0.5


def test_cold_runs_are_not_warmed_up(clock: Clock) -> None:
    short = Runner(clock, 0.001)
    measure_interleaved([short], seconds=100, rounds=4, warm=False)
    assert len(short.log) == 4


def test_both_clocks_are_kept_and_a_missing_one_is_left_out(clock: Clock) -> None:
    kernel, host = measure_interleaved(
        [Runner(clock, 0.2), Runner(clock, 0.2, has_device=False)], seconds=100, rounds=2
    )
    assert kernel == Samples(wall=(0.2, 0.2), device=(0.1, 0.1))
    assert host == Samples(wall=(0.2, 0.2))


def test_progress_tells_who_ran_and_all_samples_so_far(clock: Clock) -> None:
    seen: list[tuple[int, int]] = []
    workloads = [Runner(clock, 0.1), Runner(clock, 0.1)]
    measure_interleaved(
        workloads, seconds=100, rounds=2, progress=lambda index, samples: seen.append((index, len(samples.wall)))
    )
    assert seen == [(0, 1), (1, 1), (1, 2), (0, 2)]


def test_without_workloads_nothing_is_measured() -> None:
    assert measure_interleaved([], seconds=1.0) == []
