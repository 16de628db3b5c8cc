"""Writes outside of buffers: every buffer whose fence was hit is named, the output first."""

from pathlib import Path

import pytest
from says import says

from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Kernel
from tilewright.core.plan import Plan, plan_kernel
from tilewright.core.problem import Gemm, random_arrays
from tilewright.errors import InvalidInput, WrongResult
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution

ARGUMENTS = "__global REAL* B, __global REAL* C, const __global REAL* A"


def plan_of(body: str, folder: Path, device: Device, arguments: str = ARGUMENTS) -> Plan:
    path = folder / "own.cl"
    path.write_text(f"__kernel void own({arguments})\n{{\n    {body}\n}}\n")
    kernel: Kernel = custom_kernel(path, ["1"], ["1"])
    return plan_kernel(kernel, Gemm(16, 16, 16), device.info)


def complaint(plan: Plan, device: Device, fence_bytes: int = 0) -> str:
    execution = Execution(plan, device, fence_bytes=fence_bytes)
    execution.write(random_arrays(plan.problem))
    execution.launch()
    with pytest.raises(WrongResult) as caught:
        execution.read()
    return str(caught.value)


def test_all_overrun_buffers_are_named_and_the_output_first(tmp_path: Path, one_device: Device) -> None:
    words = complaint(plan_of("C[256] = 1; B[-1] = 1;", tmp_path, one_device), one_device)
    assert says(words, "after C and before B", "B, C")


def test_the_only_buffer_that_can_be_written_is_named(tmp_path: Path, one_device: Device) -> None:
    arguments = ARGUMENTS.replace("__global REAL* B", "const __global REAL* B")
    words = complaint(plan_of("C[257] = 1;", tmp_path, one_device, arguments), one_device)
    assert says(words, "after C", "the only buffer")


def test_wide_fences_take_in_what_lies_farther_away(tmp_path: Path, one_device: Device) -> None:
    plan = plan_of("C[256 + 200000] = 1;", tmp_path, one_device)
    assert says(complaint(plan, one_device, 2**20), "after C")


def test_arguments_without_a_value_are_named_before_anything_is_built(tmp_path: Path, one_device: Device) -> None:
    plan = plan_of(
        "this would not compile", tmp_path, one_device, "__global REAL* a, const int width, __global REAL* C"
    )
    with pytest.raises(InvalidInput) as caught:
        Execution(plan, one_device)
    assert says(str(caught.value), "'a', 'width'", "a to A")
