"""The products by mma.sync without a device: how operands are copied, what is packed, and what the library plans."""

from dataclasses import replace

import pytest
from devices import NVIDIA
from families import fitting_mma, kernels_of
from says import says

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import render
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.core.tensor_map import TensorMap
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.mma import search as mma
from tilewright.kernels.product.mma.config import ACROSS, ALONG_K, CopyForm, MmaConfig, copy_form
from tilewright.kernels.product.mma.config_tma import MmaTmaConfig
from tilewright.kernels.product.mma.kernels import COMPLEX128_TMA, FP64, FP64_TMA, KERNELS
from tilewright.kernels.product.packing import across_k, on_lines, room, with_packed

FEATURES = ("gpu", "nvidia", "mma", "mma_f64", "mma_f64_m8", "ldmatrix", "cp_async")
HOPPER = ("tma", "wgmma")


def gpu(*without: str, local: int = 232448, more: tuple[str, ...] = ()) -> DeviceInfo:
    return replace(
        NVIDIA,
        static_local_bytes=local,
        features=frozenset((*FEATURES, *more)) - set(without),
    )


def test_copies_are_as_wide_as_addresses_allow() -> None:
    narrow, wide = Gemm(64, 64, 63, "float64"), Gemm(64, 64, 64, "float64")
    assert copy_form(call_of(wide), "A").width == 16
    assert copy_form(call_of(narrow), "A").width == 8
    assert copy_form(call_of(narrow), "B").width == 16
    config = MmaConfig(128, 128, 2, 4, 4, pack=True)
    assert config.packed(call_of(narrow)) == ("A",)


@pytest.mark.parametrize(
    ("dtype", "a_order", "b_order", "a", "b"),
    [
        ("float64", "row", "row", CopyForm(ALONG_K, 16), CopyForm(ACROSS, 16)),
        ("float64", "column", "column", CopyForm(ACROSS, 16), CopyForm(ALONG_K, 16)),
        ("float16", "row", "row", CopyForm(ALONG_K, 16), CopyForm(ACROSS, 16)),
        ("int8", "row", "column", CopyForm(ALONG_K, 16), CopyForm(ALONG_K, 16)),
        ("int8", "column", "row", CopyForm(ALONG_K, 0), CopyForm(ALONG_K, 0)),
    ],
)
def test_each_order_has_its_direction(dtype: str, a_order: str, b_order: str, a: CopyForm, b: CopyForm) -> None:
    call = call_of(Gemm(64, 128, 96, dtype, a_order, b_order))
    assert (copy_form(call, "A"), copy_form(call, "B")) == (a, b)


def test_what_cannot_be_copied_is_refused_or_packed() -> None:
    scattered = (Layout(0, 200, 2), Layout(0, 100, 1), Layout(0, 64, 1))
    problem = StridedGemm(64, 64, 64, "float16", views=scattered)
    base = next(each for each in KERNELS if each.dtypes == ("float16",))
    found = list(fitting_mma(base, call_of(problem), gpu()))
    assert found
    assert all(config.pack for config in found)
    assert "strides 200 and 2" in " ".join(MmaConfig(128, 128, 2, 4, 4).violations(problem, gpu()))


def test_operands_are_packed_on_cache_lines_and_halves_as_they_lie() -> None:
    stack = Gemm(10, 100, 33, "float16", batch=3)
    assert on_lines(call_of(Gemm(10, 10, 33, "float16")), "A") == Layout(0, 64, 1, 0)
    assert on_lines(call_of(stack), "B") == Layout(0, 1, 128, 33 * 128)
    assert on_lines(call_of(replace(stack, n=10)), "B") == Layout(0, 64, 1, 640)  # its lines would be short
    assert on_lines(call_of(replace(stack, dtype="float32")), "B") == Layout(0, 64, 1, 6400)
    packed = with_packed(call_of(stack), "B", on_lines)
    assert packed.b == Layout(0, 128, 1, 33 * 128)
    assert room(call_of(stack), "B", on_lines) == 3 * 33 * 128
    assert across_k(call_of(replace(stack, dtype="float32")), "A") == Layout(0, 1, 32, 33 * 32)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_every_configuration_renders_and_counts_its_tiles(kernel: object) -> None:
    base = next(each for each in KERNELS if each is kernel)
    problem = Gemm(1000, 900, 800, base.dtypes[0], b_order="column", batch=2, precision=base.precision)
    configs = list(fitting_mma(base, call_of(problem), gpu()))
    assert configs
    for config in configs:
        call = config.oriented(problem)
        groups, tiles, whole = config.work_groups(call), config.tiles(call), config.full_wave_tiles(call)
        assert 0 < groups <= tiles * config.steps(call)
        assert 0 <= whole <= tiles
        assert config.stream_k == (whole < tiles)
        assert "#define STREAM_K" in render(base, config, problem)
        assert config.local_bytes(problem) <= 232448


def test_a_device_gets_the_instruction_that_it_has() -> None:
    problem = Gemm(2048, 2048, 2048, "float64")
    assert kernels_of(mma, problem, gpu())[0].variant == "float64"
    old = kernels_of(mma, problem, gpu("mma_f64", local=166912))
    assert old[0].variant == "float64 by 8 rows"
    assert plan(old, problem, gpu("mma_f64", local=166912)).steps[0].config.local_bytes(problem) <= 166912
    assert kernels_of(mma, problem, gpu("mma_f64", "mma_f64_m8")) == ()
    assert kernels_of(mma, problem, gpu("cp_async")) == ()
    odd = replace(problem, k=2047)
    assert {each.name for each in kernels_of(mma, odd, gpu("cp_async"))} == {"mma/main_loop_elements[float64]"}


def test_tf32_only_where_it_is_asked_for() -> None:
    assert kernels_of(mma, Gemm(512, 512, 512), gpu()) == ()
    assert kernels_of(mma, Gemm(512, 512, 512, precision="fp32_split"), gpu()) == ()
    assert kernels_of(mma, Gemm(512, 512, 512, precision="tf32"), gpu())[0].precision == "tf32"


def test_products_of_few_columns_are_left_to_the_kernels_for_them() -> None:
    vector = plan_product(Gemm(2000, 1, 2000, "float64"), gpu())
    assert {step.kernel.source.parent.name for step in vector.steps} <= {"gemv", "product"}
    assert kernels_of(mma, Gemm(4096, 4096, 4096, "complex128"), gpu("mma_f64")) == ()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_hoppers_copy_engine_fetches_large_products(dtype: str) -> None:
    problem = Gemm(4096, 4096, 4096, dtype)
    found = kernels_of(mma, problem, gpu(more=HOPPER))
    assert found[0].name == f"mma/main_loop_tma[{dtype}]"
    assert isinstance(found[0].config, MmaTmaConfig)
    assert found[0].config.stream_k  # 1024 tiles are seven rounds of 132 work-groups, and a part of one
    without = kernels_of(mma, problem, gpu())
    assert not any(each.name.startswith("mma/main_loop_tma") for each in without)


def test_the_copy_engine_reads_lines_of_128_bytes() -> None:
    config = FP64_TMA.config
    maps = config.tensor_maps(Gemm(500, 300, 200, "float64"))
    assert maps["map_a"] == TensorMap("float64", (200, 500, 1), (1600, 800000), (16, 128, 1), 128)
    assert maps["map_b"] == TensorMap("float64", (300, 200, 1), (2400, 480000), (16, 16, 1), 128)
    maps = COMPLEX128_TMA.config.tensor_maps(Gemm(500, 300, 200, "complex128", batch=3))
    assert maps["map_a"] == TensorMap("float64", (400, 500, 3), (3200, 1600000), (16, 128, 1), 128)
    assert maps["map_b"] == TensorMap("float64", (600, 200, 3), (4800, 960000), (16, 8, 1), 128)


def test_what_the_copy_engine_cannot_read_is_refused_or_packed() -> None:
    problem, device = Gemm(500, 300, 201, "float64"), gpu(more=HOPPER)
    assert says(" ".join(FP64_TMA.config.violations(problem, device)), "A", 16, 1608)
    assert isinstance(FP64_TMA.config, MmaTmaConfig)
    config = replace(FP64_TMA.config, pack=True)
    assert config.packed(config.orientation(problem)) == ("A",)
    assert not list(config.violations(problem, device))
    assert says(" ".join(FP64_TMA.config.violations(Gemm(5, 6, 0, "float64"), device)), "K=0")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"WARPS_M": 4}, "4x4x1 warps"),
        ({"BM": 512}, "at most 256 rows"),
        ({"lines": 2}, "panels of 2 lines"),
    ],
)
def test_configurations_that_cannot_work_are_refused(change: dict[str, int], sentence: str) -> None:
    problem = Gemm(512, 512, 512, "float64")
    config = replace(FP64_TMA.config, **change)
    assert sentence in " ".join(config.violations(problem, gpu(more=HOPPER)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"WARPS_K": 2}, "WARPS_K=2 does not divide the 1 lines"),
        (
            {"BM": 32, "BN": 32, "WARPS_M": 1, "WARPS_N": 1, "WARPS_K": 32, "lines": 32},
            "no two elements for each of 1024",
        ),
        ({"MMA_K": 16}, "16 elements of k is no even number of MMA_K=16"),
    ],
)
def test_parts_of_the_depth_that_cannot_be_are_refused(change: dict[str, int], sentence: str) -> None:
    config = replace(FP64.config, **change)
    assert sentence in " ".join(config.violations(Gemm(512, 512, 512, "float64"), gpu()))


@pytest.mark.parametrize("n", [64, 128, 256, 512])
def test_small_products_of_doubles_keep_every_quarter_of_a_compute_unit_busy(n: int) -> None:
    config = kernels_of(mma, Gemm(n, n, n, "float64"), gpu(more=HOPPER))[0].config
    assert isinstance(config, MmaConfig)
    assert config.WARPS_K > 1
    assert config.items >= 128


@pytest.mark.parametrize("config", [FP64.config, FP64_TMA.config], ids=["copied", "fetched"])
def test_too_few_panels_are_not_shared_out(config: MmaConfig) -> None:
    """133 tiles of 2 panels: the last tile's two would go to 132 work-groups, and the tile would wait for all of them."""
    shared = replace(config, stream_k=True, groups=132)
    problem = Gemm(128 * 133, 128, 2 * shared.depth(call_of(Gemm(1, 1, 1, "float64"))), "float64")
    (reason,) = shared.violations(problem, gpu(more=HOPPER))
    assert says(reason, 2, 132)
    enough = replace(problem, k=66 * problem.k)
    assert not list(shared.violations(enough, gpu(more=HOPPER)))
