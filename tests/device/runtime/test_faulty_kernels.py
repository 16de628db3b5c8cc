"""Kernels with one fault each: verification must find it. Where the right kernel passes, the fault is what is found."""

import re
from pathlib import Path

import numpy as np
import pytest
from faulty import STORE, MakeKernel

from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Kernel
from tilewright.core.plan import plan_kernel
from tilewright.core.problem import Copy, Gemm, Problem, Transpose, random_arrays
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution
from tilewright.runtime.verify import Reference, Verdict, verify, verify_execution

# name: (the right text, the fault that takes its place)
WRONG_EVERYWHERE = {
    "reads B transposed": ("B[k * N + column]", "B[column * K + k]"),
    "reads A transposed": ("A[row * K + k]", "A[k * M + row]"),
    "writes C transposed": (STORE, "C[column * M + row] = sum;"),
    "leaves out the last product": ("k < K;", "k < K - 1;"),
    "counts the first product twice": ("REAL sum = 0;", "REAL sum = A[row * K] * B[column];"),
    "adds to what C held": (STORE, "C[row * N + column] += sum;"),
    "writes nothing": (STORE, ""),
}
WRONG_IN_ONE_PLACE = {
    "leaves one element unwritten": (STORE, f"if (row != 7 || column != 11) {STORE}"),
    "writes one wrong element": (STORE, "C[row * N + column] = row == 7 && column == 11 ? sum + 1 : sum;"),
}
WRONG_FLOATS = {
    "writes a NaN": (STORE, "C[row * N + column] = row == 7 && column == 11 ? NAN : sum;"),
    "writes an infinity": (STORE, "C[row * N + column] = row == 7 && column == 11 ? INFINITY : sum;"),
    "rounds each element to a short mantissa": (STORE, "C[row * N + column] = as_float(as_uint(sum) & 0xffffe000u);"),
    "rounds the operands to a short mantissa": (
        "sum += A[row * K + k] *",
        "sum += as_float(as_uint(A[row * K + k]) & 0xffffe000u) *",
    ),
}
OUTSIDE = {
    "after C": (STORE, f"{STORE} if (row == 0) C[M * N + column] = 1;"),
    "one element after C": (STORE, f"{STORE} if (row + column == 0) C[M * N] = 1;"),
    "one element before C": (STORE, f"{STORE} if (row + column == 0) C[-1] = 1;"),
    "after A": (STORE, f"{STORE} if (row + column == 0) ((__global REAL*)A)[M * K] = 1;"),
    "before B": (STORE, f"{STORE} if (row + column == 0) ((__global REAL*)B)[-1] = 1;"),
}


def judged(kernel: Kernel, problem: Problem, device: Device) -> Verdict:
    return verify(plan_kernel(kernel, problem, device.info), device)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_without_a_fault_it_passes(faulty: MakeKernel, dtype: str, device: Device) -> None:
    if dtype == "float64" and not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    for size in ((24, 24, 24), (13, 29, 7), (1, 1, 1)):
        verdict = judged(faulty(STORE, STORE), Gemm(*size, dtype), device)
        assert verdict.passed, f"{size} {dtype} on {device.info.label}: {verdict}"


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("fault", WRONG_EVERYWHERE)
def test_a_fault_everywhere_is_found(faulty: MakeKernel, fault: str, dtype: str, device: Device) -> None:
    verdict = judged(faulty(*WRONG_EVERYWHERE[fault]), Gemm(24, 24, 24, dtype), device)
    assert not verdict.passed, f"a kernel that {fault} passed in {dtype} on {device.info.label}"
    assert verdict.worst is not None
    assert re.search(r"of 576 elements(; the worst is|, the first at) \[", verdict.reason)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("fault", WRONG_IN_ONE_PLACE)
def test_a_fault_in_one_place_is_found_there(faulty: MakeKernel, fault: str, dtype: str, device: Device) -> None:
    verdict = judged(faulty(*WRONG_IN_ONE_PLACE[fault]), Gemm(24, 24, 24, dtype), device)
    assert not verdict.passed, f"a kernel that {fault} passed in {dtype} on {device.info.label}"
    wanted = ", that at [7, 11] was never written" if "unwritten" in fault else "; the worst is [7, 11]"
    assert f"1 of 576 elements{wanted}" in verdict.reason


@pytest.mark.parametrize("fault", WRONG_FLOATS)
def test_a_fault_of_floating_point_is_found(faulty: MakeKernel, fault: str, device: Device) -> None:
    verdict = judged(faulty(*WRONG_FLOATS[fault]), Gemm(24, 24, 24), device)
    assert not verdict.passed, f"a kernel that {fault} passed on {device.info.label}"


@pytest.mark.parametrize("place", OUTSIDE)
def test_a_write_outside_a_buffer_is_found(faulty: MakeKernel, place: str, device: Device) -> None:
    for dtype in ("float32", "int32"):
        verdict = judged(faulty(*OUTSIDE[place]), Gemm(9, 11, 5, dtype), device)
        assert not verdict.passed, f"a write {place} passed in {dtype} on {device.info.label}"
        side, buffer = place.split()[-2:]
        assert f"memory {side} {buffer}" in verdict.reason
        assert "outside of C" in verdict.reason, "a fence of A or B does not say that A or B was written to"


def test_a_write_into_an_input_is_found(faulty: MakeKernel, device: Device) -> None:
    kernel = faulty(STORE, f"{STORE} if (row == 8 && column == 10) ((__global REAL*)A)[0] += 1;")
    problem = Gemm(9, 11, 5)
    execution = Execution(plan_kernel(kernel, problem, device.info), device)
    verdict = verify_execution(execution, Reference(problem, random_arrays(problem)))
    assert not verdict.passed
    assert execution.spoiled_inputs(random_arrays(problem)) == ["A"]


def test_only_operands_that_vary_tell_a_transposed_one(faulty: MakeKernel, device: Device) -> None:
    problem = Gemm(16, 16, 16)
    kernel = faulty(*WRONG_EVERYWHERE["reads B transposed"])
    execution = Execution(plan_kernel(kernel, problem, device.info), device)
    constant = {name: np.full((16, 16), 0.5, np.float32) for name in "AB"}
    assert verify_execution(execution, Reference(problem, constant)).passed
    assert not verify_execution(execution, Reference(problem, random_arrays(problem))).passed


def test_a_kernel_that_hides_a_nan_is_found(faulty: MakeKernel, device: Device) -> None:
    problem = Gemm(16, 16, 16)
    arrays = random_arrays(problem)
    arrays["A"][2, 3] = np.nan
    reference = Reference(problem, arrays)
    for store, passes in ((STORE, True), ("C[row * N + column] = isnan(sum) ? 0 : sum;", False)):
        execution = Execution(plan_kernel(faulty(STORE, store), problem, device.info), device)
        assert verify_execution(execution, reference).passed is passes


MOVE = """// Moves each element.
__kernel void move(const int ROWS, const int COLUMNS, const int OFFSET,
                   __global const REAL* input, __global REAL* output)
{
    const int column = get_global_id(0), row = get_global_id(1), kept = COLUMNS - OFFSET;
    if (column < kept && row < ROWS)
        output[PLACE] = input[row * COLUMNS + column + OFFSET];
}
"""


def test_copies_and_transposes_are_told_apart(tmp_path: Path, device: Device) -> None:
    path = tmp_path / "move.cl"
    path.write_text(MOVE)
    places = {"copy": "row * kept + column", "transpose": "column * ROWS + row"}
    problems: list[Problem] = [Copy(12, 12, offset=2), Transpose(12, 12, offset=2)]
    for problem in problems:
        for does, place in places.items():
            kernel = custom_kernel(path, ("COLUMNS", "ROWS"), ("4", "4"), {"PLACE": place}, problem.operation)
            assert judged(kernel, problem, device).passed is (does == problem.operation), (does, problem.title)
