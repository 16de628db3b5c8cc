"""The program that explains every kernel of a folder: on a folder of its own."""

import json
import sys
from pathlib import Path

import pytest

from tools import foreign_kernels
from tools.foreign_kernels import Outcome, outcomes, report

FILES = {
    "right.cl": "__kernel void twice(__global float* x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2; }",
    "below/two.cl": "__kernel void a(__global int* o) { o[0] = get_global_id(0); }\n"
    "__kernel void b(__global int* o) { o[get_global_id(0)] = 1; }",
    "broken.cl": "__kernel void c(__global int* o) { o[0] = ; }",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_kernel_has_an_outcome(folder: Path) -> None:
    found = {(each.file, each.entry): each for each in outcomes(folder, 10)}
    assert set(found) == {("right.cl", "twice"), ("below/two.cl", "a"), ("below/two.cl", "b"), ("broken.cl", "")}
    assert found["right.cl", "twice"].faults == found["below/two.cl", "b"].faults == ()
    assert found["below/two.cl", "a"].faults
    assert "broken.cl" in found["broken.cl", ""].refused


def test_the_sums_are_of_the_kernels_that_ran() -> None:
    found = [
        Outcome("a.cl", "k", 0.1, ("data race",)),
        Outcome("b.cl", "k", 4.0),
        Outcome("c.cl", "", 0.0, refused="no"),
    ]
    lines = list(report(found))
    assert "2 of 3 ran; faults in 1" in lines
    assert any("50% under 0.2 s, 1 over 3.0 s" in line for line in lines)
    assert any("1  data race" in line for line in lines)


def test_the_command_prints_and_writes(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = folder / "found.json"
    monkeypatch.setattr(sys, "argv", ["foreign_kernels", str(folder), "--json", str(target)])
    foreign_kernels.main()
    assert "3 of 4 ran" in capsys.readouterr().out
    assert len(json.loads(target.read_text())) == 4
