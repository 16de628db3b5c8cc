"""Products whose lines no asynchronous copy can take: how they are loaded and stored, and what the library plans for them."""

from dataclasses import replace

import pytest
from devices import HOPPER, NVIDIA
from says import says

from tilewright.core.kernel import render
from tilewright.core.operands import Layout
from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.call import GemmCall, call_of
from tilewright.kernels.product.mma.config import MmaConfig
from tilewright.kernels.product.mma.config_elements import MmaElementsConfig
from tilewright.kernels.product.mma.cost_elements import cost, least_cost, resident
from tilewright.kernels.product.mma.kernels import ELEMENTS
from tilewright.kernels.product.mma.search_elements import FP64_SPACE, SPACE, offers
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.cost import TILE_SPACE

HALF = SPACE[0]


def space_of(dtype: str) -> tuple[MmaElementsConfig, ...]:
    return SPACE if dtype in ("float16", "bfloat16") else FP64_SPACE


@pytest.mark.parametrize("kernel", ELEMENTS, ids=lambda kernel: kernel.name)
def test_every_tile_suits_every_layout(kernel) -> None:  # type: ignore[no-untyped-def]
    (dtype,) = kernel.dtypes
    for sizes in ((45, 33, 67), (36, 60, 20), (40, 64, 72)):
        for a_order, b_order in (("row", "row"), ("row", "column"), ("column", "row"), ("column", "column")):
            call = call_of(Gemm(*sizes, dtype, a_order, b_order, batch=2))
            for config in space_of(dtype):
                assert not list(config.violations(call, HOPPER)), (config, sizes, a_order, b_order)
                for side, how in zip((config.BM, config.BN), config.readings(call), strict=True):
                    assert side * config.BK % (config.items * how.width) == 0
                assert config.BM * config.BN % (config.items * config.store_width(call)) == 0
                assert resident(config, call, HOPPER) * config.local_bytes(call) <= 232448
                assert config.ndrange(call).global_size == (config.tiles(call) * config.items, 1, 2)
                assert f"#define WARPS_K {config.WARPS_K}" in render(kernel, config, call)


def test_words_of_two_elements_are_stored_where_rows_begin_anywhere() -> None:
    def widths(n: int, **others: str) -> tuple[int, bool]:
        call = call_of(Gemm(64, n, 64, "float16", **others))  # type: ignore[arg-type]
        return HALF.store_width(call), HALF.stores_pairs(call)

    assert widths(64) == (8, False)
    assert widths(66) == (2, False)
    assert widths(65) == (1, True)
    assert widths(65, out_dtype="float32") == (1, False), "an element is a word"
    spread = StridedGemm(64, 65, 64, "float16", views=(Layout(0, 64, 1), Layout(0, 65, 1), Layout(0, 130, 2)))
    assert not HALF.stores_pairs(call_of(spread)), "its elements do not lie side by side"


def test_parts_of_k_and_slices_of_panels_exclude_each_other() -> None:
    call, sliced = call_of(Gemm(64, 64, 1024, "float16")), replace(HALF, BK=64, WARPS_K=2)
    assert not list(sliced.violations(call, HOPPER))
    assert says(" ".join(replace(sliced, split_k=2).violations(call, HOPPER)), "split_k=2", "WARPS_K=2")
    assert says(" ".join(replace(HALF, WARPS_K=4).violations(call, HOPPER)), "BK=32", "WARPS_K=4")


@pytest.mark.parametrize("sizes", [(31, 31, 31, 4000), (997, 31, 1009, 1), (2000, 3000, 7, 1), (509, 509, 509, 1)])
@pytest.mark.parametrize("kernel", ELEMENTS, ids=lambda kernel: kernel.name)
def test_no_tile_costs_less_than_the_floor(kernel, sizes: tuple[int, int, int, int]) -> None:  # type: ignore[no-untyped-def]
    (dtype,), (m, n, k, batch) = kernel.dtypes, sizes
    call = call_of(Gemm(m, n, k, dtype, batch=batch))
    (group,) = offers(kernel, call, HOPPER)
    assert group.floor == least_cost(call, HOPPER) > 0
    assert all(group.floor <= cost(each, call, HOPPER) for each in space_of(dtype))
    assert all(each.rank >= group.rank for each in group.open())
    assert not list(offers(kernel, call_of(Gemm(m, n, 0, dtype)), HOPPER)), "without k there is nothing to load"
    assert bool(list(offers(kernel, call_of(Gemm(64, 64, 64, dtype)), HOPPER))) == (dtype != "float64")


def planned(m: int, n: int, k: int, dtype: str, layout: str = "NN", batch: int = 1) -> Plan:
    a_order, b_order = ({"N": "row", "T": "column"}[letter] for letter in layout)
    return plan_product(Gemm(m, n, k, dtype, a_order, b_order, batch=batch), HOPPER)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("sizes", "layout", "batch"),
    [
        ((12544, 64, 147), "NN", 1), ((31, 31, 31), "NN", 4000), ((997, 31, 1009), "NN", 1), ((127, 127, 127), "NN", 1),
        ((154, 15, 38), "NT", 106), ((1556, 4673, 8), "NT", 1), ((1407, 6463, 67), "TT", 1),
    ],
)  # fmt: skip
def test_odd_lines_take_one_launch(dtype: str, sizes: tuple[int, int, int], layout: str, batch: int) -> None:
    """Copies of them would be two more, each as long as such a product."""
    (step,) = planned(*sizes, dtype, layout, batch).steps
    assert step.kernel.name == f"mma/main_loop_elements[{dtype}]"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_lines_of_words_are_copied_without_registers(dtype: str) -> None:
    (step,) = planned(20, 34, 142, dtype, "TT", 976).steps
    assert step.kernel.name == f"mma/main_loop[{dtype}]"


@pytest.mark.parametrize("layout", ["NN", "NT"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_thin_products_slice_the_depth_of_their_panels(dtype: str, layout: str) -> None:
    """Whatever the layout of B: lines across k of 16 and 32 elements are shorter than 128 bytes."""
    (step,) = planned(512, 16, 1024, dtype, layout).steps
    assert step.kernel.name == f"mma/main_loop[{dtype}]"
    assert isinstance(step.config, MmaConfig)
    assert step.config.WARPS_K > 1


def test_large_products_pay_for_copies_and_aligned_ones_need_none() -> None:
    packed = planned(2039, 2039, 2039, "float16")
    assert [step.kernel.name for step in packed.steps][-1] == "wgmma/main_loop[float16]"
    assert len(packed.steps) == 3
    (step,) = planned(1024, 1024, 1024, "float16").steps
    assert step.kernel.name == "wgmma/main_loop[float16]"


def test_devices_without_tensor_cores_load_elements_in_the_kernel_for_any_gpu() -> None:
    found = plan_product(Gemm(31, 31, 31, "float16", batch=4000), NVIDIA)
    assert {step.kernel.name for step in found.steps} == {"portable/main_loop"}


def test_rows_of_c_go_through_local_memory_where_a_store_is_no_whole_fragment() -> None:
    def gathered(config: PortableConfig, n: int, dtype: str = "float32") -> tuple[int, GemmCall]:
        call = call_of(Gemm(64, n, 64, dtype))
        return config.gathered(call), call

    for config in TILE_SPACE:
        assert gathered(config, 64)[0] == 0
        for dtype in ("float32", "float64", "complex64", "float16"):
            rows, call = gathered(config, 65, dtype)
            assert config.macros(call)["GATHERED"] == rows
            if dtype == "float64":
                assert rows == 0, "a store of a double is wide enough"
                continue
            assert 1 <= rows <= config.TM
            assert config.TM % rows == 0
    small = PortableConfig(32, 32, 32, 4, 4, SLICED_K=4)
    rows, call = gathered(small, 65)
    assert rows == small.TM, "all at once where the panels' place is large enough"
    assert small.local_bytes(call) == small.local_bytes(call_of(Gemm(64, 64, 64))), "and no more is taken"
