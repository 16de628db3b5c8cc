"""The register tiles of CPU products stay in registers: Intel's compiler spills none of their sums in the loops over K."""

import re
from dataclasses import replace

import pytest

from tilewright.analysis.inspect.compile_and_count import find_target
from tilewright.analysis.inspect.driver import FORM, code_from_driver
from tilewright.analysis.inspect.loops import loops_of
from tilewright.analysis.inspect.x86_code import parse_x86
from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Config, Step
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.cpu.config import CpuConfig
from tilewright.kernels.product.cpu.config_few_columns import CpuFewColumnsConfig
from tilewright.kernels.product.cpu.config_few_columns_down import CpuFewColumnsDownConfig
from tilewright.kernels.product.cpu.cost import LARGE_LEVEL2, SMALL_LEVEL2
from tilewright.runtime.device import Device

# A vector that is loaded from the stack or stored to it. A, B and the panel are reached by other registers.
SPILL = re.compile(r"[yz]mm\d+.*\[r[sb]p\b|\[r[sb]p\b.*[yz]mm\d+")
# Where B is read in place, 12 x 2 of float32 spill seven vectors: Intel's scheduler loads all 12 rows of A before the
# prefetches of B. Without these it does not, but few rows, which that loop computes alone, then take twice as long.
SPILLS_IN_PLACE = ("x86-64-v4", "float32")
IN_PLACE = "prefetcht1"  # what only the loops have that read B in place
LEVELS = ("x86-64-v3", "x86-64-v4")  # AVX2 and AVX-512


def spills(config: Config, plan: Plan, step: Step, intel: DeviceInfo, level: str) -> list[tuple[bool, list[str]]]:
    """For each loop that multiplies a whole tile: whether it reads B in place, and its accesses to vectors on the stack."""
    assert isinstance(config, CpuConfig)
    compiled = code_from_driver(plan, step, intel, level)
    found = []
    for loop in loops_of(parse_x86(compiled.texts[FORM])):
        texts = [each.text for each in loop.instructions]
        fused = sum("vfmadd" in each for each in texts)
        if fused and fused % (config.MR * config.NV) == 0:
            in_place = any(IN_PLACE in each for each in texts)
            found.append((in_place, [each for each in texts if SPILL.search(each)]))
    return found


@pytest.mark.parametrize("level2", [0, SMALL_LEVEL2, LARGE_LEVEL2], ids=["any cache", "a small cache", "a large cache"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("level", LEVELS)
def test_no_sum_of_a_tile_leaves_its_register(one_device: Device, level: str, dtype: str, level2: int) -> None:
    pytest.importorskip("capstone")
    if not one_device.info.platform.startswith("Intel"):
        pytest.skip("Intel's CPU runtime is not here")
    info = replace(find_target(level).info, compute_units=2, level2_bytes=level2)
    plan = plan_product(Gemm(256, 256, 256, dtype), info)
    (step,) = plan.steps
    found = spills(step.config, plan, step, one_device.info, level)
    assert {in_place for in_place, _ in found} == {True, False}
    exempt = (level, dtype) == SPILLS_IN_PLACE and level2 != LARGE_LEVEL2
    assert not [texts for in_place, texts in found if texts and not (in_place and exempt)]


def test_a_tile_of_too_many_sums_is_seen_to_spill(one_device: Device) -> None:
    pytest.importorskip("capstone")
    if not one_device.info.platform.startswith("Intel"):
        pytest.skip("Intel's CPU runtime is not here")
    info = replace(find_target("x86-64-v3").info, compute_units=2)
    plan = plan_product(Gemm(256, 256, 256), info)
    (step,) = plan.steps
    config = replace(step.config, MR=9, NV=3)  # type: ignore[call-arg]
    large = replace(step, config=config, kernel=replace(step.kernel, config=config))
    found = spills(config, plan, large, one_device.info, "x86-64-v3")
    assert any(texts for _, texts in found)


def loops_of_product(problem: Gemm, intel: DeviceInfo, level: str) -> tuple[Config, list[list[str]]]:
    """The configuration that is chosen, and the instructions of each loop that Intel's driver makes of its kernel."""
    pytest.importorskip("capstone")
    if not intel.platform.startswith("Intel"):
        pytest.skip("Intel's CPU runtime is not here")
    plan = plan_product(problem, replace(find_target(level).info, compute_units=2))
    (step,) = plan.steps
    code = parse_x86(code_from_driver(plan, step, intel, level).texts[FORM])
    return step.config, [[each.text for each in loop.instructions] for loop in loops_of(code)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("level", LEVELS)
def test_no_sum_of_few_columns_leaves_its_register(one_device: Device, level: str, dtype: str) -> None:
    config, loops = loops_of_product(Gemm(256, 2, 256, dtype), one_device.info, level)
    assert isinstance(config, CpuFewColumnsConfig)
    tile = config.ROWS * config.COLUMNS
    tiles = [texts for texts in loops if sum("vfmadd" in each for each in texts) == tile]
    # One loop runs along k. The other goes from columns to columns, for what is left of k, and so loads and stores all sums.
    assert min(sum(bool(SPILL.search(each)) for each in texts) for texts in tiles) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("level", LEVELS)
def test_no_sum_of_few_columns_down_leaves_its_register(one_device: Device, level: str, dtype: str) -> None:
    config, loops = loops_of_product(Gemm(2000, 12, 256, dtype, a_order="column"), one_device.info, level)
    assert isinstance(config, CpuFewColumnsDownConfig)
    for columns in range(1, config.COLUMNS + 1):
        along_k = [each for each in loops if sum("vfmadd" in text for text in each) == config.VECTORS * columns]
        assert along_k, columns
        assert not any(SPILL.search(text) for each in along_k for text in each), columns
