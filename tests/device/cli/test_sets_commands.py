"""The commands `bench --sustained`, `bench --sets` and `tune`, as a user calls them."""

import os
import signal
from pathlib import Path

import pytest
from says import says

from tilewright.cli.main import main
from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.problem import Gemm, Problem, Transpose
from tilewright.core.records import load_record
from tilewright.dispatch.table_files import load_table
from tilewright.dispatch.tuned import key_of
from tilewright.measurement import library as benchmark
from tilewright.measurement import sets
from tilewright.measurement.tuning import Effort, Outcome, tune
from tilewright.runtime.opencl.device import Device


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [Gemm(40, 30, 20), Gemm(8, 8, 8, batch=3), Transpose(20, 30, batch=2), InPlaceTranspose(33)]
    monkeypatch.setitem(sets.SETS, "tiny", lambda dtype: iter(problems))


@pytest.mark.usefixtures("tiny", "wide_terminal")
def test_a_sustained_benchmark_is_measured_and_saved(
    device_number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    assert main(["bench", "--sets", "tiny", "--sustained", "0.05", "--device", device_number, "--json", str(path)]) == 0
    assert "clock and power:" in capsys.readouterr().out
    record = load_record(path)
    assert record.title == "benchmark tiny sustained"
    assert record.telemetry
    ours = [row for row in record.rows if row.name == "tilewright"]
    assert [row.status for row in ours] == ["ok"] * 4
    for row in record.rows:
        if row.status == "ok":
            assert len(row.turns) == len(row.samples.wall) == 3
            assert all(turn.seconds >= 0.05 for turn in row.turns)
            assert row.rate > 0


@pytest.mark.usefixtures("tiny", "wide_terminal")
def test_stacks_and_squares_in_place_have_their_rows(device_number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--sets", "tiny", "--seconds", "0.1", "--device", device_number]) == 0
    text = capsys.readouterr().out
    for title in ("3 of 8x8x8", "stacked transpose 2 of 20x30", "in-place transpose 33x33"):
        assert title in text


@pytest.mark.usefixtures("tiny", "wide_terminal")
def test_who_ends_a_benchmark_keeps_what_was_measured(
    device_number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured_problem, path = benchmark.measure_problem, tmp_path / "record.json"

    def ended_at_the_third(problem: Problem, *others: object) -> object:
        if isinstance(problem, Transpose):
            os.kill(os.getpid(), signal.SIGTERM)
        return measured_problem(problem, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(benchmark, "measure_problem", ended_at_the_third)
    before = signal.getsignal(signal.SIGTERM)
    arguments = ["bench", "--sets", "tiny", "--seconds", "0.1", "--device", device_number, "--json", str(path)]
    assert main(arguments) == 143
    assert signal.getsignal(signal.SIGTERM) is before
    assert says(capsys.readouterr().err, "2 problems", str(path))
    assert load_record(path).title == "benchmark tiny, ended early"
    ours = [row.problem for row in load_record(path).rows if row.name == "tilewright"]
    assert ours == ["gemm 40x30x20 float32", "gemm 3 of 8x8x8 float32"]


def test_a_cpu_is_not_tuned(device_number: str, capsys: pytest.CaptureFixture[str]) -> None:
    from tilewright.runtime.opencl.device import list_devices

    if list_devices()[int(device_number)].kind != "cpu":
        pytest.skip("the preferred device is a GPU")
    assert main(["tune", "--device", device_number]) == 2
    assert "tables are for GPUs" in capsys.readouterr().err


def test_children_measure_the_candidates(one_device: Device, device_number: str, tmp_path: Path) -> None:
    """Below the command, which would refuse a CPU: children build, verify and measure, whatever the device."""
    path, problems = tmp_path / "table.json", [Gemm(64, 48, 32), Gemm(40, 30, 20, "float32", "column", batch=3)]
    outcomes: list[Outcome] = []
    table = tune(problems, one_device.info, device_number, path, Effort(0.1, 2), outcomes.append)
    assert [outcome.problem for outcome in outcomes] == [problem.title for problem in problems]
    for problem, outcome in zip(problems, outcomes, strict=True):
        assert outcome.entry is not None, outcome.complaints
        assert outcome.entry.problem == key_of(problem)
        assert 0 < outcome.entry.seconds <= outcome.entry.untuned_seconds
        assert outcome.entry.worst_ratio <= 1
    assert sorted((*(entry.problem for entry in table.entries), *table.settled)) == sorted(map(key_of, problems))
    assert load_table(path) == table


def test_an_unknown_set_is_refused(device_number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--sets", "llm-decoder", "--device", device_number]) == 2
    assert says(capsys.readouterr().err, "llm-decode")
