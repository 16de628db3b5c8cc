"""The commands `bench --sustained`, `bench --sets` and `tune`, as a user calls them."""

from pathlib import Path

import pytest

from tilewright import sets
from tilewright.cli import main
from tilewright.problem import Gemm
from tilewright.records import load_record
from tilewright.stacks import InPlaceTranspose, StackedTranspose


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [Gemm(40, 30, 20), Gemm(8, 8, 8, batch=3), StackedTranspose(20, 30, batch=2), InPlaceTranspose(33)]
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


def test_a_cpu_is_not_tuned(device_number: str, capsys: pytest.CaptureFixture[str]) -> None:
    from tilewright.backend.opencl import list_devices

    if list_devices()[int(device_number)].kind != "cpu":
        pytest.skip("the preferred device is a GPU")
    assert main(["tune", "--device", device_number]) == 2
    assert "tables are for GPUs" in capsys.readouterr().err


def test_an_unknown_set_is_refused(device_number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--sets", "thinn", "--device", device_number]) == 2
    assert "did you mean thin" in capsys.readouterr().err
