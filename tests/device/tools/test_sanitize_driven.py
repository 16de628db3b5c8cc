"""Cases of tools.sanitize run on devices in buffers without fences: clean ones pass, and a wrong one is told."""

from dataclasses import replace

from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.operands import Layout
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm, Problem, StridedGemm, Transpose
from tilewright.runtime.opencl.device import Device
from tools.sanitize.driven import SAID, drive, drive_all
from tools.sanitize.lines import backwards, move, view
from tools.sanitize.shapes import Case, planned


def case_of(problem: Problem, device: Device) -> Case:
    made = planned(problem, device.info)
    assert made is not None
    return Case(device.info, made)


def test_clean_cases_pass(device: Device) -> None:
    strided = StridedGemm(14, 18, 9)
    problems = (
        Gemm(13, 33, 20), Gemm(70, 1, 40, "complex64"), view(strided, 3, 1), backwards(strided), Transpose(33, 17, "int8"),
        move("float64", 2, True, 3), InPlaceTranspose(33),
    )  # fmt: skip
    lines = list(drive_all([case_of(problem, device) for problem in problems], device, 60))
    assert len(lines) == len(problems)
    for problem, line in zip(problems, lines, strict=True):
        assert line.startswith(SAID)
        assert '"fault": ""' in line, f"{problem}: {line}"


def test_a_wrong_result_is_told(one_device: Device) -> None:
    case = case_of(Gemm(13, 33, 20), one_device)
    doubled = case_of(Gemm(13, 33, 20, alpha=2.0), one_device)
    wrong = replace(case, plan=Plan(case.problem, doubled.plan.steps))
    assert drive(wrong, one_device) == "429 of 429 elements are wrong"


def test_a_written_gap_is_told(one_device: Device) -> None:
    """C's rows are one element apart, but the kernel is told that they are dense."""
    gapped = StridedGemm(3, 4, 5, views=(Layout(0, 5, 1), Layout(0, 4, 1), Layout(0, 5, 1)))
    dense = replace(gapped, views=(Layout(0, 5, 1), Layout(0, 4, 1), Layout(0, 4, 1)))
    wrong = replace(case_of(gapped, one_device), plan=Plan(gapped, case_of(dense, one_device).plan.steps))
    assert drive(wrong, one_device) == "elements between the rows of the output were written"
