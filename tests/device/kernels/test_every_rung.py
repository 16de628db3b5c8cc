"""Every rung of every ladder on every driver: right, or refused with a sentence, at every shape and dtype."""

import numpy as np
import pytest
from shapes import DTYPES, check_kernel, shapes_of

from tilewright.core.kernel import Kernel
from tilewright.core.plan import plan_kernel
from tilewright.core.problem import random_arrays
from tilewright.core.problems import make_problem
from tilewright.errors import Unsupported
from tilewright.kernels import LADDERS
from tilewright.kernels.known_bad import KNOWN_BAD
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution
from tilewright.runtime.verify import Reference, verify, verify_execution

RUNGS = [kernel for ladder in LADDERS.values() for kernel in ladder.with_originals]
PRODUCTS = [kernel for kernel in RUNGS if kernel.operation == "gemm"]


def named(kernel: Kernel) -> str:
    return kernel.name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", RUNGS, ids=named)
def test_every_rung_is_right_or_refuses(kernel: Kernel, dtype: str, device: Device) -> None:
    outcomes = {shape: check_kernel(kernel, shape, dtype, device) for shape in shapes_of(kernel)}
    can_run = (dtype != "float64" or device.info.fp64) and all(
        feature in device.info.features for feature, _ in kernel.requires
    )
    multiple_of_every_tile = (128, 256, 64) if kernel.operation == "gemm" else (128, 256, 0)
    if can_run and dtype in kernel.dtypes:
        assert outcomes[multiple_of_every_tile] == "passed", f"{kernel.name} on {device.info.label}: {outcomes}"


@pytest.mark.parametrize("kernel", PRODUCTS, ids=named)
def test_infinities_and_nan_go_where_ieee_arithmetic_sends_them(kernel: Kernel, device: Device) -> None:
    problem = make_problem(kernel, (128, 256, 64), kernel.usual_dtype)
    arrays = random_arrays(problem)
    arrays["A"][3, 5], arrays["A"][17, 0], arrays["B"][9, 11] = np.inf, np.nan, -np.inf
    reference = Reference(problem, arrays)
    assert np.isnan(reference.expected[17]).all()
    assert np.isfinite(reference.expected[0, 0])
    try:
        plan = plan_kernel(kernel, problem, device.info)
    except Unsupported as refusal:
        pytest.skip(str(refusal))
    verdict = verify_execution(Execution(plan, device), reference)
    assert verdict.passed, f"{kernel.name} on {device.info.label}: {verdict}"


def known_bad(stem: str) -> Kernel:
    return next(each for each in KNOWN_BAD if each.source.stem == stem)


@pytest.mark.parametrize("stem", ["03_eight_way_conflict", "04_two_way_conflict"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_slow_known_bad_kernels_are_right(stem: str, dtype: str, device: Device) -> None:
    kernel = known_bad(stem)
    for shape in shapes_of(kernel):
        outcome = check_kernel(kernel, shape, dtype, device)
        if dtype in kernel.dtypes and (dtype != "float64" or device.info.fp64):
            assert outcome == "passed", f"{kernel.name} {shape} {dtype} on {device.info.label}"


@pytest.mark.parametrize(
    "stem", ["05_out_of_bounds", "06_divergent_barrier", "07_uninitialised_local", "08_rest_of_k_dropped"]
)
def test_wrong_known_bad_kernels_are_right_where_every_tile_is_whole(stem: str, device: Device) -> None:
    assert check_kernel(known_bad(stem), (128, 64, 32), "float32", device) == "passed"


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_what_a_known_bad_kernel_reads_beyond_its_operands_is_poison(dtype: str, device: Device) -> None:
    kernel = known_bad("05_out_of_bounds")
    problem = make_problem(kernel, (4, 4, 15), dtype)  # one row of a tile beyond A and B, inside their fences
    verdict = verify(plan_kernel(kernel, problem, device.info), device)
    assert not verdict.passed, f"{kernel.name} {dtype} on {device.info.label}"
    assert "16 of 16 elements" in verdict.reason
