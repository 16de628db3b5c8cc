"""What is remembered of instructions at whose trial a child process ended."""

from dataclasses import replace
from pathlib import Path

import pytest
from devices import NVIDIA as GPU

from tilewright.analysis.explain.clc.parser import parse_program
from tilewright.runtime.children import ChildRun
from tilewright.runtime.opencl import instructions

PROBES = len(instructions.FEATURES) + len(instructions.STATIC_LOCAL)


@pytest.mark.parametrize(
    ("ending", "trials"), [("killed by SIGSEGV", 1), ("killed by SIGKILL", 2), ("timed out after 60 s", 2)]
)
def test_only_a_fault_of_the_childs_own_is_remembered(
    ending: str, trials: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0

    def run(command: list[str], limit: float) -> ChildRun:
        nonlocal count
        count += 1
        return ChildRun("", "", ending)

    monkeypatch.setattr(instructions, "run_child", run)
    monkeypatch.setattr(instructions, "cache_folder", lambda: tmp_path)
    for _ in range(2):
        assert set(instructions.answers_for(GPU).values()) == {ending}
    assert count == trials * PROBES


@pytest.mark.parametrize(
    ("driver", "capability", "asked"),
    [
        ("580.159.04", (9, 0), False),
        ("580", (9, 0), False),
        ("581.10", (9, 0), True),
        ("580.159.04", (8, 0), True),
        ("", (9, 0), True),
    ],
)
def test_only_a_proven_capability_under_a_proven_driver_is_not_tried(
    driver: str, capability: tuple[int, int], asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def run(command: list[str], limit: float) -> ChildRun:
        calls.append(command)
        return ChildRun("", "", "killed by SIGSEGV")

    monkeypatch.setattr(instructions, "run_child", run)
    monkeypatch.setattr(instructions, "cache_folder", lambda: tmp_path)
    answers = instructions.answers_for(replace(GPU, driver=driver, compute_capability=capability))
    assert bool(calls) is asked
    assert set(answers) == set(instructions.every_probe())
    assert (set(answers.values()) == {instructions.WORKS}) is not asked


@pytest.mark.parametrize(
    "name", [*instructions.FEATURES, *(instructions.static_local(size) for size in instructions.STATIC_LOCAL)]
)
def test_the_text_of_a_probe_is_whole(name: str) -> None:
    """A probe that does not compile makes the library believe that the device lacks the instruction."""
    assert "probe" in parse_program(instructions.probe_text(name)).functions
