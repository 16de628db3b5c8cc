"""tools.sanitize: changes of plans are found, cases beside them are clean under the interpreter, faults are told."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from families import kernels_of
from says import says

from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm, Problem, StridedGemm, Transpose
from tilewright.kernels.product.cpu import search as cpu
from tilewright.kernels.product.cpu.config import CpuConfig
from tilewright.runtime.children import ChildRun
from tools.sanitize import cuda, oclgrind
from tools.sanitize.driven import SAID
from tools.sanitize.explained import explain_case
from tools.sanitize.lines import apart, backwards, move_lines, product_lines, resized, view
from tools.sanitize.memory import memory_of
from tools.sanitize.record import rows_of, table
from tools.sanitize.shapes import Case, Line, changes, chosen, find_cases, planned
from tools.sanitize.sweeps import ANY_GPU, HOPPER, NVIDIA, SMALL_CPU, cost


def case_of(problem: Problem, device: object = ANY_GPU) -> Case:
    made = planned(problem, device)  # type: ignore[arg-type]
    assert made is not None
    return Case(device, made)  # type: ignore[arg-type]


def faults(case: Case) -> list[str]:
    return [f"{each.kernel} {each.problem}: {each.fault}" for each in explain_case(case) if each.fault]


def test_a_change_of_plan_is_found_to_the_element() -> None:
    """Blocks of K hold 512 steps: with 513 the sums of halves wait in scratch memory."""
    base = Gemm(40, 40, 1, "float16")
    line = Line("k", lambda size: resized(base, "k", size), 300, 700)
    pairs = [
        (before.problem, after.problem, before.plan.scratch, after.plan.scratch)
        for before, after in changes(line, SMALL_CPU)
    ]
    assert pairs == [(replace(base, k=512), replace(base, k=513), {}, {"sums": 4 * 40 * 40})]


def test_of_many_places_the_cheapest_is_taken() -> None:
    lines = [Line(f"m at {n}", lambda m, n=n: Transpose(m, n)) for n in (500, 3, 40)]  # type: ignore[misc]
    found = find_cases(lines, ANY_GPU, cost)
    variants = [case.variant for case in found]
    assert len(set(variants)) > 1
    assert [cost(case) for case in found] == sorted(cost(case) for case in found)
    few = chosen(found, 1)
    assert 0 < len(few) < len(found)
    assert {name for case in few for name in case.kernels} == {name for case in found for name in case.kernels}


def cheap(lines: Sequence[Line], device: object, count: int, most: float) -> list[Case]:
    return chosen([case for case in find_cases(lines, device, cost) if cost(case) <= most], count)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_moves_for_gpus_are_clean_where_plans_change(dtype: str) -> None:
    cases = cheap(list(move_lines(dtype)), ANY_GPU, 4, 1.0)
    assert len({name for case in cases for name in case.kernels}) >= 3
    assert [fault for case in cases for fault in faults(case)] == []


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_products_on_cpus_are_clean_where_plans_change(dtype: str) -> None:
    cases = cheap(list(product_lines(dtype)), SMALL_CPU, 4, 0.8)
    assert {"cpu/06_production", "cpu/few_columns", "cpu/gemv"} <= {name for case in cases for name in case.kernels}
    assert [fault for case in cases for fault in faults(case)] == []


VIEWED = StridedGemm(14, 18, 9)


@pytest.mark.parametrize(
    "problem",
    [
        Gemm(33, 20, 17),
        Gemm(70, 1, 40),
        view(VIEWED, 3, 1),
        apart(VIEWED),
        backwards(VIEWED),
        view(replace(VIEWED, bias="row"), 1, 2),
    ],
    ids=str,
)
def test_products_for_gpus_are_clean(problem: Gemm) -> None:
    assert faults(case_of(problem)) == []


def in_short_blocks(dtype: str) -> Case:
    """A product of halves whose K of 20 is cut into blocks of 16, so that sums wait."""
    problem = Gemm(2, 17, 20, dtype)
    kernel = kernels_of(cpu, problem, SMALL_CPU)[-1]
    assert isinstance(kernel.config, CpuConfig)
    config = replace(kernel.config, KC=16)
    return Case(SMALL_CPU, Plan(problem, kernel.steps(kernel, config, problem)))


def test_sums_that_wait_in_c_itself_are_caught() -> None:
    """The fault that once was: no scratch matrix for sums, which are longer than C's elements, if blocks of K are short."""
    right = in_short_blocks("float16")
    assert right.plan.scratch == {"sums": 4 * 2 * 17}
    assert faults(right) == []
    (step,) = right.plan.steps
    wrong = replace(
        step, buffers=tuple((name, "C" if name == "partial" else to) for name, to in step.buffers), scratch=()
    )
    said = "; ".join(faults(replace(right, plan=Plan(right.problem, (wrong,)))))
    assert "out of bounds" in said or "elements are wrong" in said


def test_what_cannot_be_interpreted_is_said_and_counted() -> None:
    outcomes = explain_case(case_of(Gemm(512, 512, 512, "float16"), HOPPER))
    assert "cannot" in outcomes[-1].unread or "tensor maps" in outcomes[-1].unread
    rows = rows_of(outcomes)
    assert sum(row.not_run for row in rows) == 1
    assert outcomes[-1].unread in table(rows)


def test_wrong_elements_and_written_gaps_are_told() -> None:
    memory = memory_of(view(StridedGemm(3, 4, 5), 2, 1))
    result = memory.buffers["C"].copy()
    assert memory.expected is not None
    result[memory.places] = memory.expected
    assert memory.verdict(result) == ""
    result[memory.places[1, 2]] += 1
    assert memory.verdict(result) == "1 of 12 elements are wrong"
    result[memory.places] = memory.expected
    result[memory.places[0, 3] + 1] = 0
    assert memory.verdict(result) == "elements between the rows of the output were written"


def said(number: int, fault: str = "") -> str:
    return SAID + json.dumps({"number": number, "fault": fault, "seconds": 0.5})


def test_what_compute_sanitizer_says_is_put_down_to_the_case_that_ran() -> None:
    cases = [case_of(Gemm(33, 20, 17), NVIDIA), case_of(Transpose(9, 8), NVIDIA)]
    words = "========= Invalid __global__ read of size 4 bytes"
    text = "\n".join(("========= COMPUTE-SANITIZER", said(0), words, said(1), "========= ERROR SUMMARY: 0 errors"))
    first, second = cuda.outcomes_of(ChildRun(text, "", f"exit code {cuda.FOUND}"), cases, "memcheck")
    assert (first.kernel, first.fault) == ("portable/main_loop (memcheck)", "")
    assert second.fault == "Invalid __global__ read of size 4 bytes"


def test_a_child_that_dies_is_a_row() -> None:
    cases = [case_of(Gemm(33, 20, 17), NVIDIA)]
    dead = ChildRun(said(0), "error: no memory", "killed by SIGKILL")
    *_, last = cuda.outcomes_of(dead, cases, "racecheck")
    assert last.fault == "killed by SIGKILL; error: no memory"
    (lost,), _ = oclgrind.outcomes_of(ChildRun("", "", "timed out after 9 s"), cases)
    assert says(lost.fault, 9)


def test_what_oclgrind_says_is_put_down_to_the_case_that_ran() -> None:
    cases = [case_of(Gemm(33, 20, 17)), case_of(Transpose(2, 2, "int8"))]
    lines = (
        "Uninitialized value written to local memory address 0x1000",
        "\tKernel: gemm",
        "Controlflow depends on uninitialized value",
        "\tKernel: gemm",
        "\t  %call = call spir_func <16 x float> @_Z3fmaDv16_fS_S_(<16 x float> noundef %0)",  # lanes beyond the edge
        "Invalid read of size 4 at global memory address 0x2000",
        said(0),
        "Uninitialized value written to global memory address 0x2000",  # the result is right: it was set
        said(1),
    )
    (first, second), carried = oclgrind.outcomes_of(ChildRun("", "\n".join(lines), ""), cases)
    assert first.fault == "Invalid read of size 4 at global memory address an address"
    assert second.fault == ""
    assert carried == 3


def test_kernels_without_a_cuda_text_are_named() -> None:
    names = {outcome.kernel.split("[")[0] for outcome in cuda.without_cuda()}
    assert {
        "wgmma/main_loop",
        "mma/main_loop",
        "mma/main_loop_tma",
        "cuda_cores_tma/main_loop",
        "fp16x3/main_loop",
    } <= names
    assert all(outcome.unread for outcome in cuda.without_cuda())


def test_results_that_no_one_wrote_are_wrong() -> None:
    memory = memory_of(Transpose(5, 3))
    assert memory.verdict(memory.buffers["output"]) != ""
    assert np.isnan(memory.buffers["output"]).all()


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_children_without_a_gpu_are_rows_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way to a child and back, with a stand-in for compute-sanitizer that only runs what it is given."""
    stand_in = tmp_path / "compute-sanitizer"
    stand_in.write_text('#!/bin/sh\nshift 6\nexec "$@"\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(cuda, "find_sanitizer", lambda: str(stand_in))
    monkeypatch.setattr(cuda, "first_gpu", lambda: NVIDIA)
    monkeypatch.setattr(cuda, "cuda_cases", lambda sweep, shapes, processes: [case_of(Gemm(33, 20, 17), NVIDIA)])
    monkeypatch.setattr(cuda, "TOOLS", ("memcheck",))
    monkeypatch.setattr(cuda, "without_cuda", lambda: ())
    outcomes, notes = cuda.sanitize(1, 60)
    assert [outcome.kernel for outcome in outcomes] == ["the child itself (memcheck)"] * 2
    assert all(outcome.fault.startswith("exit code 1") for outcome in outcomes)
    assert [note.split(":")[0] for note in notes] == ["memcheck, gemm", "memcheck, moves"]
