"""The instruction that multiplies bytes: who is asked about it, what is remembered, and what a plan says without it."""

from pathlib import Path

import pytest
from devices import CPU, GPU
from says import says

from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product
from tilewright.runtime.children import ChildRun
from tilewright.runtime.opencl import vpdpbusd

PROBLEM = Gemm(20, 30, 40, "int8", out_dtype="int32")
WORKS = '{"stage": "vpdpbusd", "reason": ""}\n'


class Children:
    """Stands for child processes: counts them, and ends them as told."""

    def __init__(self, run: ChildRun) -> None:
        self.run, self.count = run, 0

    def __call__(self, command: list[str], time_limit: float) -> ChildRun:
        self.count += 1
        return self.run


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Children:
    children = Children(ChildRun(WORKS, "", ""))
    monkeypatch.setattr(vpdpbusd, "run_child", children)
    monkeypatch.setattr(vpdpbusd, "cache_folder", lambda: tmp_path)
    vpdpbusd._tried.cache_clear()
    return children


def test_only_bytes_on_cpu_devices_are_worth_a_trial(child: Children) -> None:
    assert vpdpbusd.equipped(GPU, "int8") is GPU
    assert vpdpbusd.equipped(CPU, "float32") is CPU
    assert child.count == 0


def test_a_trial_that_passes_adds_the_feature_and_is_remembered(child: Children) -> None:
    for _ in range(2):
        info = vpdpbusd.equipped(CPU, "int8")
        assert vpdpbusd.VPDPBUSD in info.features
        vpdpbusd._tried.cache_clear()  # what is on disk has to do
    assert child.count == 1
    assert plan_product(PROBLEM, info).steps[0].kernel.name == "cpu/06_production[vpdpbusd]"
    assert vpdpbusd.equipped(info, "int8") is info


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (ChildRun('{"stage": "vpdpbusd", "reason": "the trial gave a wrong result"}', "", ""), "wrong result"),
        (ChildRun("", "", "killed by SIGILL"), "the trial was killed by SIGILL"),
        (
            ChildRun("", "LLVM ERROR: Cannot select", "killed by SIGABRT"),
            "killed by SIGABRT: LLVM ERROR: Cannot select",
        ),
        (ChildRun("", "", ""), "ended without an answer"),
    ],
)
def test_without_it_the_plan_says_why_and_multiplies_otherwise(child: Children, run: ChildRun, reason: str) -> None:
    child.run = run
    plan = plan_product(PROBLEM, vpdpbusd.equipped(CPU, "int8"))
    assert plan.steps[0].kernel.name == "cpu/06_production"
    assert reason in str(plan)
    assert says(str(plan), "float32")


@pytest.mark.parametrize(
    ("ending", "trials"),
    [
        ("killed by SIGILL", 1),
        ("killed by SIGSEGV", 1),
        ("killed by SIGKILL", 2),
        ("killed by SIGTERM", 2),
        ("timed out after 60 s", 2),
    ],
)
def test_only_what_will_last_is_remembered(child: Children, ending: str, trials: int) -> None:
    child.run = ChildRun("", "", ending)
    for _ in range(2):
        assert ending in vpdpbusd.equipped(CPU, "int8").missing[vpdpbusd.VPDPBUSD]
        vpdpbusd._tried.cache_clear()
    assert child.count == trials


def test_a_platform_that_is_not_there_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This one starts the real child."""
    monkeypatch.setattr(vpdpbusd, "cache_folder", lambda: tmp_path)
    vpdpbusd._tried.cache_clear()
    info = vpdpbusd.equipped(CPU, "int8")
    assert says(info.missing[vpdpbusd.VPDPBUSD], "'nowhere'")
