"""The sustained race: turns in order, what is sampled during each, and how it is told."""

from dataclasses import dataclass, field, replace

import pytest
from devices import GPU

from tilewright.core.records import Environment, Record, Row, Samples, Turn
from tilewright.errors import LaunchFailed
from tilewright.measurement import measure
from tilewright.measurement.measure import repeated
from tilewright.measurement.sustained import as_samples, take_turns
from tilewright.reports.benchmark_table import ENERGY, energy, markdown, turn_seconds
from tilewright.runtime.run import Times, Work
from tilewright.runtime.telemetry import NoSampler, Reading, parse_smi, sampler_for


@dataclass
class Sampler:
    """Reads a clock that falls by 10 MHz with each turn."""

    source: str = "a test"
    log: list[str] = field(default_factory=list)

    def start(self) -> None:
        self.log.append("start")

    def stop(self) -> Reading:
        self.log.append("stop")
        return Reading(2000.0 - 10 * self.log.count("stop"), 500.0)


@dataclass
class Worker:
    """Works for a quarter of a second longer than it must, 10 calls a second."""

    name: str
    log: list[str]
    fails_at: int = -1

    def run(self) -> Times:
        raise AssertionError("it has a sustain of its own")

    def sustain(self, seconds: float) -> Work:
        self.log.append(self.name)
        if self.log.count(self.name) == self.fails_at:
            raise LaunchFailed("it broke", -5)
        return Work(seconds + 0.25, round(10 * (seconds + 0.25)))


def test_turns_alternate_and_each_is_sampled() -> None:
    sampler, log = Sampler(), list[str]()
    first, second = take_turns([Worker("a", log), Worker("b", log)], 1.75, sampler, turns=2)
    assert log == ["a", "b", "a", "b"]
    assert sampler.log == ["start", "stop"] * 4
    assert first == (Turn(2.0, 20, 1990.0, 500.0), Turn(2.0, 20, 1970.0, 500.0))
    assert [turn.clock_mhz for turn in second] == [1980.0, 1960.0]
    assert first[0].joules == pytest.approx(50.0)


def test_who_fails_is_out_and_the_others_go_on() -> None:
    sampler, log, told = Sampler(), list[str](), list[int]()
    workloads = [Worker("a", log, fails_at=2), Worker("b", log)]
    broken, whole = take_turns(workloads, 1.0, sampler, turns=3, failed=lambda index, failure: told.append(index))
    assert (len(broken), len(whole), told) == (1, 3, [0])
    assert log == ["a", "b", "a", "b", "b"]
    assert sampler.log.count("start") == sampler.log.count("stop")


def test_a_failure_that_nobody_takes_ends_the_measurement() -> None:
    sampler = Sampler()
    with pytest.raises(LaunchFailed, match="it broke"):
        take_turns([Worker("a", [], fails_at=1)], 1.0, sampler)
    assert sampler.log == ["start", "stop"]


def test_what_is_called_one_by_one_runs_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    class Runner:
        def run(self) -> Times:
            now[0] += 0.5
            return Times(0.4, 0.5)

    monkeypatch.setattr(measure, "perf_counter", lambda: now[0])
    assert repeated(Runner(), 2.0) == Work(2.0, 4)


def test_the_times_of_a_turn_are_means_of_its_calls() -> None:
    assert as_samples((Turn(2.0, 20), Turn(3.0, 20))) == Samples((0.1, 0.15))


def test_what_nvidia_smi_prints_is_read_and_cut_lines_are_left_out() -> None:
    assert parse_smi("1980, 600.0\n1900, 700.0\n1980, 650.0\n19") == Reading(1980.0, 650.0)
    assert parse_smi("[N/A], 600\nFailed to initialize NVML\n") == Reading(None, None)


def test_without_an_nvidia_gpu_nothing_is_read_and_the_source_says_so() -> None:
    sampler = sampler_for(GPU)
    assert isinstance(sampler, NoSampler)
    sampler.start()
    assert sampler.stop() == Reading(None, None)
    assert sampler.source


def row(name: str, *turns: Turn) -> Row:
    return Row(
        name, "", "gemm 8x8x8 float32", (8, 8, 8), 1024, 768, notes=("NN",), samples=as_samples(turns), turns=turns
    )


def test_the_table_has_clock_power_and_energy() -> None:
    baseline = row(
        "cuBLAS", Turn(2.0, 100, 1400.0, 700.0), Turn(2.0, 110, 1410.0, 690.0), Turn(2.0, 120, 1420.0, 695.0)
    )
    ours = row(
        "tilewright", Turn(2.0, 100, 1980.0, 600.0), Turn(2.0, 100, 1980.0, 610.0), Turn(2.0, 100, 1970.0, 620.0)
    )
    assert energy((baseline, ours)) == ("1,980", "610", "12.2", "1,410", "695", "12.5", "0.972")
    environment = Environment(GPU, "now", "3", "Linux", "CPU", 2, 0.0, {})
    record = Record("benchmark x sustained", "float32", environment, None, (baseline, ours), telemetry="NVML")
    text = markdown(record)
    assert " | ".join(ENERGY) in text
    assert "Turns of 2.0 s" in text
    assert "NVML" in text
    assert turn_seconds(record) == 2.0


def test_a_burst_record_has_no_such_columns() -> None:
    plain = replace(row("cuBLAS"), samples=Samples((0.1,)))
    environment = Environment(GPU, "now", "3", "Linux", "CPU", 2, 0.0, {})
    record = Record("benchmark x", "float32", environment, None, (plain, replace(plain, name="tilewright")))
    assert "MHz" not in markdown(record)
    assert turn_seconds(record) == 0.0


def test_energy_that_was_not_read_is_left_empty() -> None:
    assert energy((row("cuBLAS", Turn(2.0, 100)), row("tilewright", Turn(2.0, 100)))) == ("",) * len(ENERGY)
