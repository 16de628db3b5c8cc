"""Building and running plans: compiler logs, launch errors, memory, arguments by name, the cache on disk."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from says import says

from tilewright import matmul
from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Kernel
from tilewright.core.plan import Plan, plan_kernel
from tilewright.core.problem import Gemm, random_arrays
from tilewright.core.problems import make_problem
from tilewright.errors import (
    BuildFailed,
    InvalidInput,
    LaunchFailed,
    NoDevice,
    OutOfDeviceMemory,
    UnknownName,
    WrongResult,
)
from tilewright.kernels import find_kernel
from tilewright.runtime.opencl.device import Device, choose, list_devices, open_device
from tilewright.runtime.run import Execution, run_plan
from tilewright.runtime.verify import verify

PROBLEM = Gemm(8, 8, 8)


def kernel_of(folder: Path, text: str, name: str = "mine.cl", local: str = "8") -> Kernel:
    path = folder / name
    path.write_text(text)
    return custom_kernel(path, ("M", "N"), (local, local))


def execution_of(kernel: Kernel, device: Device, problem: Gemm = PROBLEM) -> Execution:
    return Execution(plan_kernel(kernel, problem, device.info), device)


def test_a_build_failure_names_file_and_line_and_keeps_the_whole_log(tmp_path: Path, device: Device) -> None:
    faults = "\n".join(f"    C[0] = no_such_name_{number};" for number in range(5))
    text = f"// Does not compile.\n__kernel void broken(__global REAL* C)\n{{\n{faults}\n}}\n"
    with pytest.raises(BuildFailed) as caught:
        execution_of(kernel_of(tmp_path, text, "broken.cl"), device)
    message = str(caught.value)
    assert device.info.label in message
    assert f"{tmp_path.name}/broken.cl:4:" in message
    assert f"{tmp_path.name}/broken.cl:8:" in message
    for number in range(5):
        assert f"no_such_name_{number}" in caught.value.log


def test_warnings_of_the_compiler_are_kept_with_the_execution(device: Device) -> None:
    kernel = find_kernel("rows/03_private_sum")
    execution = execution_of(kernel, device, Gemm(8, 8, 8, b_order="column"))
    assert list(execution.logs) == ["rows/03_private_sum"]


@pytest.mark.parametrize("event", [True, False])
def test_a_launch_error_names_the_launch(event: bool, tmp_path: Path, device: Device) -> None:
    text = (
        "// Wants another work-group than it gets.\n__kernel __attribute__((reqd_work_group_size(4, 4, 1)))\n"
        "void picky(__global REAL* C) { C[0] = 0; }\n"
    )
    execution = execution_of(kernel_of(tmp_path, text), device)
    with pytest.raises(LaunchFailed) as caught:
        execution.launch() if event else execution.enqueue()
    message = str(caught.value)
    assert f"launching {tmp_path.name}/mine (gemm 8x8x8 float32) over 8x8 by 8x8" in message
    assert "OpenCL INVALID_WORK_GROUP_SIZE (-54)" in message
    assert caught.value.code == -54


def test_launches_without_events_compute_the_same(device: Device) -> None:
    execution = execution_of(find_kernel("rows/02_coalesced"), device, Gemm(8, 8, 8, b_order="column"))
    arrays = random_arrays(PROBLEM)
    execution.write(arrays)
    results = []
    for enqueue in (execution.launch, execution.enqueue):
        execution.poison()
        enqueue()
        device.finish("a product")
        results.append(execution.read())
    assert np.array_equal(results[0], results[1])


def test_more_memory_than_there_is_is_told_with_both_figures(device: Device) -> None:
    limit = device.info.max_alloc_bytes
    with pytest.raises(OutOfDeviceMemory) as caught:
        device.allocate(limit + 1)
    assert f"{limit + 1:,} bytes" in str(caught.value)
    assert f"{limit:,} in one buffer" in str(caught.value)


def test_a_problem_that_does_not_fit_is_refused_before_anything_is_filled(device: Device) -> None:
    side = int(device.info.max_alloc_bytes**0.5)
    kernel = find_kernel("rows/01_naive")
    with pytest.raises(OutOfDeviceMemory, match=f"{device.info.max_alloc_bytes:,}"):
        execution_of(kernel, device, Gemm(side, side, 1))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("__global REAL* D", ("D", "A", "B", "C")),
        ("__global REAL* C, const int WIDTH", ("WIDTH", "M", "N", "K")),
        ("__global REAL* C, const unsigned short M", ("M", "unsigned short")),
    ],
)
def test_an_argument_that_nothing_binds_is_named(
    tmp_path: Path, device: Device, arguments: str, named: tuple[str, ...]
) -> None:
    kernel = kernel_of(tmp_path, f"// Odd.\n__kernel void odd({arguments}) {{ }}\n")
    with pytest.raises(InvalidInput) as caught:
        execution_of(kernel, device)
    assert says(str(caught.value), *named)


@pytest.mark.parametrize("ctype", ["int", "uint", "unsigned int", "unsigned", "long", "ulong", "unsigned long", "REAL"])
def test_arguments_are_bound_by_name_in_any_order_and_type(tmp_path: Path, device: Device, ctype: str) -> None:
    text = (
        f"// The order of arguments is free.\n__kernel void product(__global REAL* C, const {ctype} K, "
        f"__global const REAL* B,\n    const {ctype} N, __global const REAL* A, const {ctype} M)\n"
        "{\n    const int row = get_global_id(0), column = get_global_id(1);\n"
        "    if (row >= (int)M || column >= (int)N)\n        return;\n    REAL sum = 0;\n"
        "    for (int k = 0; k < (int)K; k++)\n        sum += A[row * (int)K + k] * B[k * (int)N + column];\n"
        "    C[row * (int)N + column] = sum;\n}\n"
    )
    verdict = verify(plan_kernel(kernel_of(tmp_path, text), Gemm(5, 6, 7), device.info), device)
    assert verdict.passed, verdict


def test_operands_of_another_shape_or_dtype_are_refused(device: Device) -> None:
    execution = execution_of(find_kernel("rows/01_naive"), device)
    arrays = random_arrays(PROBLEM)
    with pytest.raises(InvalidInput, match=r"\bB\b.*\bA\b"):
        execution.write({"A": arrays["A"]})
    with pytest.raises(InvalidInput, match=r"\bA\b.*\(8, 8\) float64.*\(8, 8\) float32"):
        execution.write(arrays | {"A": arrays["A"].astype(np.float64)})
    with pytest.raises(InvalidInput, match=r"\bB\b.*\(7, 8\) float32.*\(8, 8\) float32"):
        execution.write(arrays | {"B": arrays["B"][:7]})


def test_solve_gives_the_product_and_its_times(device: Device) -> None:
    kernel = find_kernel("tiles/06_register_tile")
    problem = make_problem(kernel, (33, 44, 55), "float32")
    arrays = random_arrays(problem)
    output, times = run_plan(plan_kernel(kernel, problem, device.info), arrays, device)
    np.testing.assert_allclose(output, arrays["A"] @ arrays["B"], atol=1e-4)
    assert times.device_s > 0
    assert times.wall_s > 0


def test_an_empty_problem_launches_nothing_and_takes_no_device_time(device: Device) -> None:
    kernel = find_kernel("rows/01_naive")
    output, times = run_plan(plan_kernel(kernel, Gemm(0, 4, 3), device.info), random_arrays(Gemm(0, 4, 3)), device)
    assert output.shape == (0, 4)
    assert times.device_s == 0.0


def test_reading_after_a_write_outside_is_an_error(tmp_path: Path, device: Device) -> None:
    kernel = kernel_of(tmp_path, "// Too far.\n__kernel void far(__global REAL* C) { C[64] = 1; }\n")
    with pytest.raises(WrongResult, match=r"\bC\b"):
        run_plan(plan_kernel(kernel, PROBLEM, device.info), random_arrays(PROBLEM), device)


def test_a_damaged_cache_entry_is_built_again(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    plan = plan_kernel(find_kernel("rows/01_naive"), PROBLEM, device.info)

    def fresh() -> Device:
        return Device(device.info, device.device, device.context)

    assert verify(plan, fresh()).passed
    entries = list((tmp_path / "cache").rglob("programs/*.bin"))
    assert len(entries) == 1
    intact = entries[0].read_bytes()
    assert verify(plan, fresh()).passed, "from the intact entry"
    for damaged in (b"", intact[:40], intact[: len(intact) // 2], b"x" * len(intact)):
        entries[0].write_bytes(damaged)
        assert verify(plan, fresh()).passed
        assert entries[0].read_bytes() != damaged, "the entry was not mended"


def test_an_intact_entry_that_the_driver_refuses_is_built_again(
    tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    plan = plan_kernel(find_kernel("rows/01_naive"), PROBLEM, device.info)
    first = Device(device.info, device.device, device.context)
    assert verify(plan, first).passed
    entry = next((tmp_path / "cache").rglob("programs/*.bin"))
    first._disk.put(entry.stem, b"of another driver, perhaps")
    assert verify(plan, Device(device.info, device.device, device.context)).passed


def test_devices_are_chosen_by_number_kind_or_part_of_the_name() -> None:
    infos = list_devices()
    assert infos
    for number, info in enumerate(infos):
        assert choose(infos, str(number)) == number
        assert infos[choose(infos, info.kind)].kind == info.kind
        assert infos[choose(infos, info.platform.upper())].platform == info.platform
    assert choose(infos, None) == 0
    with pytest.raises(NoDevice, match="tilewright doctor"):
        choose([], None)


def test_a_device_by_its_index() -> None:
    assert open_device(0).info == open_device("0").info == list_devices()[0]


@pytest.mark.parametrize("wanted", [1.5, {}, True, 10**400, b"0"], ids=str)
def test_what_names_no_device_is_told(wanted: Any) -> None:
    with pytest.raises(InvalidInput, match="pass an index or a name"):
        open_device(wanted)
    matmul(np.eye(2), np.eye(2), device=0)
    with pytest.raises(InvalidInput):
        matmul(np.eye(2), np.eye(2), device=wanted)


@pytest.mark.parametrize("wanted", [False, 0.0, 0j])
def test_what_equals_an_index_is_none(wanted: Any) -> None:
    matmul(np.eye(2), np.eye(2), device=0)
    with pytest.raises(InvalidInput, match="pass an index or a name"):
        matmul(np.eye(2), np.eye(2), device=wanted)


def test_an_unknown_device_names_the_near_ones() -> None:
    name = list_devices()[0].label
    with pytest.raises(UnknownName) as caught:
        open_device(name[:-3] + "xyz")
    assert name in str(caught.value)


def test_c_is_read_where_beta_asks_for_it(one_device: Device) -> None:
    problem = Gemm(24, 20, 16, alpha=2, beta=3)
    plan = plan_kernel(find_kernel("cpu/06"), problem, one_device.info)
    assert verify(plan, one_device).passed
    arrays = random_arrays(problem)
    result, _ = run_plan(plan, arrays, one_device)
    assert np.allclose(result, 2 * arrays["A"] @ arrays["B"] + 3 * arrays["C"], atol=1e-5)
    with pytest.raises(InvalidInput, match="C"):
        run_plan(plan, {name: arrays[name] for name in "AB"}, one_device)


def test_a_plan_that_calls_the_host_is_refused(one_device: Device) -> None:
    plan = Plan(PROBLEM, (), host_call="numpy.matmul")
    for run in (lambda: run_plan(plan, random_arrays(PROBLEM), one_device), lambda: verify(plan, one_device)):
        with pytest.raises(InvalidInput) as caught:
            run()
        assert says(str(caught.value), "numpy.matmul", PROBLEM.title)


def test_what_is_no_array_is_refused(one_device: Device) -> None:
    plan = plan_kernel(find_kernel("rows/01_naive"), PROBLEM, one_device.info)
    arrays: dict[str, Any] = random_arrays(PROBLEM)
    wrongs: list[Any] = [arrays["B"].tolist(), "B", None]
    for wrong in wrongs:
        with pytest.raises(InvalidInput, match="B="):
            run_plan(plan, {"A": arrays["A"], "B": wrong}, one_device)
