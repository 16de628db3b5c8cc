"""Runs that do not end, rules of CPUs, and global sizes that were rounded up: what `explain` says of each."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from says import says

from tilewright import custom_kernel, explain, what_if
from tilewright.analysis.diagnosis import diagnosed
from tilewright.analysis.explain import explain_source
from tilewright.analysis.explain.models import CPU, NVIDIA
from tilewright.analysis.explain.reuse import reuses
from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explain.simt.machine import OutOfSteps
from tilewright.analysis.explain.totals import totals
from tilewright.analysis.explain.verdict import verdict
from tilewright.analysis.explanations import ANY_DEVICE
from tilewright.cli.main import main
from tilewright.core.kernel import Kernel
from tilewright.core.problem import Gemm
from tilewright.core.records import Row, RowStatus
from tilewright.errors import SourceError

HEAD = """__kernel void mine(const int M, const int N, const int K, __global const REAL* A, __global const REAL* B,
                   __global REAL* C)"""
ENDLESS = "C[get_global_id(0)] = 0;\n    for (int i = 1; i; i |= 1) C[get_global_id(0)] += A[0];"


def kernel(tmp_path: Path, body: str, size: str = "M", local: str = "8") -> Kernel:
    path = tmp_path / "mine.cl"
    path.write_text(f"// Mine.\n{HEAD}\n{{\n    {body}\n}}\n")
    return custom_kernel(path, size.split(","), local.split(","))


def test_a_kernel_that_does_not_end_is_explained_as_far_as_it_came(tmp_path: Path) -> None:
    found = explain(kernel(tmp_path, ENDLESS), 16, steps=500)
    assert found.stop is not None
    assert (found.stop.position.line, found.stop.ended, found.stop.chosen) == (6, 0, 2)
    assert found.stop.steps == 500
    assert says(verdict(found)[0], 500, "line 6", "0 of 2", "--steps", "--time-limit")
    assert {access.buffer for access in found.accesses} == {"A", "C"}
    assert to_dict(found)["stop"] == {"line": 6, "steps": found.stop.steps, "ended": 0, "chosen": 2}
    assert to_dict(explain("rows/02", 16))["stop"] is None


def test_a_watcher_may_end_a_run(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def watch(steps: int, groups: int) -> bool:
        seen.append((steps, groups))
        return len(seen) == 3

    found = explain(kernel(tmp_path, ENDLESS), 16, watch=watch)
    assert found.stop is not None
    assert found.stop.steps == seen[-1][0]
    assert [groups for _, groups in seen] == [2, 2, 2]


def test_the_groups_that_ended_are_counted(tmp_path: Path) -> None:
    endless = "if (get_group_id(0) == 9) while (M) ; C[get_global_id(0)] = 0;"
    found = explain(kernel(tmp_path, endless, "M", "512"), 16 * 512, steps=200, groups="all")
    assert found.stop is not None
    assert (found.stop.ended, found.stop.chosen) == (8, 16)
    assert not any("never" in line for line in verdict(found)), "what was not run is not said to be left out"


def test_a_fault_before_the_end_of_the_steps_is_found(tmp_path: Path) -> None:
    found = explain(kernel(tmp_path, f"C[M * N] = 1; {ENDLESS}"), 16, steps=100)
    assert "out of bounds" in {each.kind for each in found.faults}


HANGS = "__local uint h[8]; uint c;\ndo { c = h[9]; h[9] = ++c; } while (h[9] != c);\no[0] = c;"


def test_a_fault_that_makes_a_loop_endless_is_named_before_the_stop() -> None:
    """What lies outside an array reads as 0 again and again."""
    source = f"__kernel void k(__global uint* o) {{\n{HANGS}\n}}"
    run = partial(explain_source, source, global_size=(64,), local_size=(32,), arguments={"o": np.zeros(64, np.uint32)})
    with pytest.raises(OutOfSteps, match=r"500 loop iterations.*perhaps the cause: out of bounds at line 3") as caught:
        run(step_limit=500)
    assert {each.kind for each in caught.value.findings if each.is_fault} == {"out of bounds"}
    first, *others = verdict(run(step_limit=500, partial=True))
    assert first.startswith("out of bounds at line 3")
    assert any(says(line, "stopped at line 3", "may be why") for line in others)
    with pytest.raises(OutOfSteps, match="out of bounds at line 3"):
        run(watch=lambda steps, groups: steps > 200)


def test_a_variation_that_does_not_end_has_no_count(tmp_path: Path) -> None:
    source = kernel(tmp_path, "for (int i = 1; i; i |= STEP) C[get_global_id(0)] = A[0];")
    (answer,) = what_if(source, 16, sweep={"STEP": (1,)}).answers
    assert answer.totals is None
    assert says(answer.reason, "40,000")


def test_a_failed_row_says_how_far_explain_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.analysis.diagnosis.STEP_LIMIT", 300)
    row = Row("mine", "", "", (), 0, 0, status=RowStatus.LAUNCH_FAILED, reason="made up")
    found = diagnosed(row, kernel(tmp_path, f"C[M * N] = 1; {ENDLESS}"), Gemm(16, 8, 8), ANY_DEVICE)
    assert says(found.explained, "line 6", "0 of 2")
    assert "out of bounds" in {each.kind for each in found.faults}


def test_the_command_ends_with_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = kernel(tmp_path, ENDLESS).source
    assert main(["explain", str(path), "--global", "M", "--local", "8", "--size", "16", "--steps", "100"]) == 1
    assert "stopped at line 6" in capsys.readouterr().out


def test_work_groups_of_one_item_get_the_rules_of_a_cpu_with_a_word(tmp_path: Path) -> None:
    body = "for (int k = 0; k < 64; k++) C[get_global_id(0)] = A[get_global_id(0)] + B[k * 16];"
    found = explain(kernel(tmp_path, body, "M", "1"), 64)
    assert found.model is CPU
    text = str(found).split("\n")
    assert "--device-model" in text[1]
    assert "sector" not in "\n".join(text)
    assert totals(found).global_load_sectors == 2 * 64 * 64, "one cache line for each load of a work-item"
    chosen = explain(kernel(tmp_path, body, "M", "1"), 16, model="nvidia")
    assert (chosen.model, chosen.why_model) == (NVIDIA, "")
    assert explain(kernel(tmp_path, body, "M", "8"), 16).model is NVIDIA


def test_a_cpu_counts_bytes_asked_for_as_fetched(tmp_path: Path) -> None:
    body = "for (int k = 0; k < 64; k++) C[get_global_id(0)] = A[k];"
    (found,) = reuses(explain(kernel(tmp_path, body, "M", "1"), 16))
    assert (found.buffer, found.times, found.data) == ("A", 16, 64 * 4)


def test_a_global_size_that_was_rounded_up_is_said(tmp_path: Path) -> None:
    body = "C[get_global_id(1) * N + get_global_id(0)] = 1;"
    found = explain(kernel(tmp_path, body, "N,M", "16,16"), (20, 40, 8))
    assert says(found.rounding, "40x20", "48x32", "16x16", "get_global_id(0) < N && get_global_id(1) < M")
    assert found.rounding == verdict(found)[0], "it is the cause of the faults"
    whole = explain(kernel(tmp_path, body, "N,M", "8,4"), (20, 40, 8))
    assert whole.rounding == ""
    guarded = f"if (get_global_id(0) < N && get_global_id(1) < M) {body}"
    right = explain(kernel(tmp_path, guarded, "N,M", "16,16"), (20, 40, 8))
    assert right.faults == ()
    assert right.rounding in verdict(right)[1:], "it is a remark"


def test_explain_source_raises_unless_it_may_be_partial(tmp_path: Path) -> None:
    from tilewright.analysis.explain import explain_kernel

    with pytest.raises(SourceError, match="300"):
        explain_kernel(kernel(tmp_path, ENDLESS), replace(Gemm(16, 16, 16)), step_limit=300)
