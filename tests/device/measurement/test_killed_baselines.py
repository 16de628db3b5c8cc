"""`bench` and `ladder` when the baseline's process is killed: a row says so, the others are measured, the record is kept."""

from pathlib import Path

import pytest
from says import says

from tilewright.cli.main import main
from tilewright.core.problem import Gemm
from tilewright.core.records import load_record
from tilewright.measurement import sets
from tilewright.measurement.baselines.child import ChildBaseline
from tilewright.runtime.run import Times, Work


@pytest.fixture(autouse=True)
def killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy multiplies these problems; each of its processes is killed at its third turn, or when it is to go on for long."""
    problems = [Gemm(40, 30, 20), Gemm(30, 20, 10)]
    monkeypatch.setitem(sets.SETS, "tiny", lambda dtype: iter(problems))
    run, sustain, turns = ChildBaseline.run, ChildBaseline.sustain, dict[int, int]()

    def run_thrice(self: ChildBaseline) -> Times:
        turns[id(self)] = turns.get(id(self), 0) + 1
        if turns[id(self)] == 3:
            self._process.kill()
        return run(self)

    def killed_before(self: ChildBaseline, seconds: float) -> Work:
        self._process.kill()
        return sustain(self, seconds)

    monkeypatch.setattr(ChildBaseline, "run", run_thrice)
    monkeypatch.setattr(ChildBaseline, "sustain", killed_before)


@pytest.mark.parametrize(
    "command",
    [
        ["bench", "--sets", "tiny", "--seconds", "0.2"],
        ["bench", "--sets", "tiny", "--sustained", "0.05"],
        ["ladder", "transpose", "--rung", "transpose/1", "--size", "64", "--seconds", "0.2"],
    ],
    ids=["bench", "sustained", "ladder"],
)
@pytest.mark.usefixtures("wide_terminal")
def test_the_record_is_kept_with_a_row_for_the_killed(command: list[str], device_number: str, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    assert main([*command, "--device", device_number, "--json", str(path)]) in (0, 1)
    rows = load_record(path).rows
    baselines = [row for row in rows if row.name.startswith("NumPy")]
    assert baselines
    assert {row.status for row in baselines} == {"launch failed"}
    assert all(says(row.reason, "numpy_child.py", "SIGKILL") for row in baselines)
    others = [row for row in rows if row.name in ("tilewright", "transpose/01_copy")]
    assert {row.status for row in others} == {"ok"}
    assert all(row.samples.wall for row in others)
