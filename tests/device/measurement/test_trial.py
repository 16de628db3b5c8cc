"""Kernels of the user's own are tried in a child process: what hangs or crashes there becomes a row here."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from says import says

from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Kernel
from tilewright.core.problem import Copy
from tilewright.errors import InvalidInput
from tilewright.kernels import find_kernel
from tilewright.measurement import trial
from tilewright.measurement.cases import Case, CaseBuilder
from tilewright.measurement.ladders import run_kernel
from tilewright.runtime.children import ChildRun
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution

PROBLEM = Copy(8, 16)
RIGHT = "output[get_global_id(0)] = input[get_global_id(0)];"

MakeKernel = Callable[[str], Kernel]


@pytest.fixture
def make(tmp_path: Path) -> MakeKernel:
    """Writes a kernel with these lines, one work-item for each element, and makes it."""

    def write(lines: str, arguments: str = "const __global REAL* input, __global REAL* output") -> Kernel:
        path = tmp_path / "own.cl"
        path.write_text(f"// A test's own.\n__kernel void own({arguments})\n{{\n    {lines}\n}}\n")
        return custom_kernel(path, ["ROWS*COLUMNS"], ["16"], operation="copy")

    return write


def tried(kernel: Kernel, device: Device, time_budget: float = 60.0) -> Case:
    return trial.tried_case(CaseBuilder(device, "float32"), kernel, PROBLEM, device, time_budget)


def test_a_kernel_that_does_not_end_is_a_row_after_the_time(make: MakeKernel, one_device: Device) -> None:
    case = tried(make("for (int i = 1; i; i |= 1) output[0] = i;"), one_device, 15.0)
    assert case.row.status == "launch failed"
    assert says(case.row.reason, 15)
    assert says(case.row.reason, "--time-budget")
    assert case.workload is None


def test_a_kernel_that_ends_its_process_is_a_row(make: MakeKernel, one_device: Device) -> None:
    if one_device.info.kind != "cpu":
        pytest.skip("GPUs answer a wild pointer with an error")
    record, verdict = run_kernel(
        make("output[(get_global_id(0) + 1L) << 40] = 1;"), (8, 16), one_device, "float32", baselines=False
    )
    (row,) = record.rows
    assert (row.status, verdict) == ("launch failed", None)
    assert says(row.reason, "SIGSEGV")
    assert "outside its buffers" in row.reason


def test_a_wrong_kernel_is_not_launched_here_and_its_verdict_is_whole(
    make: MakeKernel, one_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Execution, "launch", lambda self: pytest.fail("it was launched in this process"))
    case = tried(make(f"{RIGHT} if (get_global_id(0) == 37) output[37] = 2;"), one_device)
    assert case.row.status == "wrong"
    verdict = case.verdict
    assert verdict is not None
    assert verdict.worst is not None
    assert (verdict.worst.index, verdict.worst.value) == ((2, 5), 2.0)
    assert verdict.reason == case.row.reason
    assert len(verdict.sample) == 10
    assert np.isinf(verdict.worst_ratio)


def test_a_right_kernel_is_entered_here(make: MakeKernel, one_device: Device) -> None:
    case = tried(make(RIGHT), one_device)
    assert (case.row.status, case.row.reason) == ("ok", "")
    assert case.workload is not None


def test_what_refuses_a_kernel_before_its_launch_says_so_itself(tmp_path: Path, one_device: Device) -> None:
    path = tmp_path / "own.cl"
    path.write_text("__kernel void own(const int nonsense, __global REAL* output) { output[0] = nonsense; }\n")
    kernel = custom_kernel(path, ["ROWS"], ["1"], operation="copy")
    with pytest.raises(InvalidInput, match="'nonsense'"):
        tried(kernel, one_device)


def test_rungs_are_not_tried_and_changed_ones_are(one_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = ChildRun("", "", "killed by SIGKILL")
    monkeypatch.setattr(trial, "run_child", lambda *arguments: ended)
    rung = find_kernel("transpose/01_copy")
    assert trial.tried_case(CaseBuilder(one_device, "float32"), rung, PROBLEM, one_device).row.status == "ok"
    changed = replace(rung, options=("-cl-fast-relaxed-math",))
    case = trial.tried_case(CaseBuilder(one_device, "float32"), changed, PROBLEM, one_device)
    assert case.row.status == "launch failed"
    assert "SIGKILL" in case.row.reason


def test_how_a_child_ended_is_read_from_what_it_told() -> None:
    def read(ending: str, *stages: Mapping[str, object], stderr: str = "") -> tuple[str, str, object] | None:
        return trial.read(ChildRun("\n".join(map(json.dumps, stages)), stderr, ending), PROBLEM, 7.0)

    trying = {"stage": "trying"}
    good = {"stage": "row", "status": "ok", "reason": "", "verdict": None}
    assert read("", trying, good) is None
    assert read("killed by SIGSEGV", trying, good) is None, "a driver that crashes at its end has answered"
    assert read("", trying, {"stage": "raised"}) is None
    refused = read("", trying, {**good, "status": "build failed", "reason": "the log"})
    assert refused == ("build failed", "the log", None)
    for told in (read("timed out after 7 s", trying), read("killed by SIGBUS", trying, stderr="Please report")):
        assert told is not None
        assert told[0] == "launch failed"
        assert "Please report" not in told[1]
    aborted = read("killed by SIGABRT", trying, stderr="LLVM ERROR: Cannot select")
    assert aborted is not None
    assert (aborted[0], aborted[2]) == ("launch failed", None)
    assert says(aborted[1], "SIGABRT", "LLVM ERROR: Cannot select")
