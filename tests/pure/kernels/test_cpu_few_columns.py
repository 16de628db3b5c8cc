"""How a product with few columns is cut on CPUs: rows among work-groups, and k in blocks that fit what is packed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.core.device import DeviceInfo
from tilewright.core.operands import Layout
from tilewright.core.problem import Gemm
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.cpu.config import CpuConfig
from tilewright.kernels.product.cpu.config_few_columns import MOST_COLUMNS, CpuFewColumnsConfig
from tilewright.kernels.product.cpu.kernels import FEW_COLUMNS_TILES, few_columns_kernel, product_kernel

CPU = DeviceInfo("a CPU", "a vendor", "a driver", "cpu", compute_units=2, native_widths={"float32": 16})


def config_of(dtype: str, vector_bytes: int, device: DeviceInfo = CPU) -> CpuFewColumnsConfig:
    config = few_columns_kernel(dtype, device, vector_bytes).config
    assert isinstance(config, CpuFewColumnsConfig)
    return config


@given(
    st.integers(1, 10**6), st.integers(1, MOST_COLUMNS), st.integers(128, 10**7), st.integers(1, 40),
    st.sampled_from(sorted(FEW_COLUMNS_TILES)), st.sampled_from(("float32", "float64")),
)  # fmt: skip
def test_blocks_cover_k_and_fit(m: int, n: int, k: int, batch: int, vector_bytes: int, dtype: str) -> None:
    config = config_of(dtype, vector_bytes)
    call = call_of(Gemm(m, n, k, dtype, batch=batch))
    kb, width = config.depth(call), config.VW
    assert kb % width == 0
    last = k - (k - 1) // kb * kb
    if last < width and k > kb:  # it belongs to the block before
        last += kb
    assert last >= width
    columns = -(-n // config.COLUMNS) * config.COLUMNS
    assert columns * max(kb + width, last) <= config.PACKED
    rows = config.group_rows(call)
    assert rows <= config.MAX_ROWS
    assert rows * config.ndrange(call).global_size[0] >= m
    assert config.ROWS * config.COLUMNS % width == 0  # sums are transposed by whole blocks of vectors


@pytest.mark.parametrize(
    ("problem", "word"),
    [
        (Gemm(100, 33, 200), "33 columns"),
        (Gemm(100, 4, 127), "k=127"),
        (Gemm(100, 4, 200, a_order="column"), "100 apart"),
        (
            Gemm(100, 14, 4200),
            "14 columns fill enough of vectors of 16, by which another kernel computes k=4200 sooner",
        ),
        (Gemm(100, 32, 4096), "32 columns fill enough"),
    ],
)
def test_what_it_does_not_take(problem: Gemm, word: str) -> None:
    (said,) = config_of("float32", 64).violations(problem, CPU)
    assert word in said


def test_few_rows_are_columns_where_parts_have_other_bits_anyway() -> None:
    config = config_of("float32", 64)
    for problem, transposed in (
        (Gemm(4, 500, 900, b_order="column"), True),
        (Gemm(4, 500, config.uncut_depth, b_order="column"), False),
        (Gemm(4, 500, 900), False),
        (Gemm(4, 4, 900, b_order="column"), False),
    ):
        call = config.oriented(problem)
        assert call.is_transposed == transposed
        assert config.oriented(call) == call
        assert (not any(config.violations(problem, CPU))) == config.takes(call)


def taken(dtype: str, k: int, device: DeviceInfo = CPU, vector_bytes: int = 64) -> list[int]:
    """The numbers of columns that it is taken for."""
    config = config_of(dtype, vector_bytes, device)
    return [n for n in range(1, MOST_COLUMNS + 1) if config.takes(call_of(Gemm(1000, n, k, dtype)))]


def upto(*spans: tuple[int, int]) -> list[int]:
    return [n for first, last in spans for n in range(first, last + 1)]


def test_it_is_taken_where_vectors_of_columns_would_waste_half() -> None:
    assert taken("float32", 900) == taken("float32", 4500) == taken("float32", 200) == upto((1, 8))
    assert taken("float64", 900) == upto((1, 4))
    assert taken("float32", 900, vector_bytes=32) == upto((1, 4))


def test_each_sum_costs_it_some_steps() -> None:
    assert taken("float32", 199) == taken("float32", 128) == upto((1, 4))
    assert taken("float64", 199) == []


def test_rows_a_multiple_of_a_page_apart_are_read_where_they_lie() -> None:
    assert taken("float32", 1024) == taken("float32", 4096) == upto((1, 24))
    assert taken("float64", 1024) == upto((1, 12), (17, 20))
    assert taken("float64", 512) == upto((1, 4))
    view = replace(call_of(Gemm(1000, 12, 900)).a, row=1024)
    call = call_of(Gemm(1000, 12, 900))
    assert not config_of("float32", 64).takes(call)
    assert config_of("float32", 64).takes(replace(call, views=(view, call.b, call.c)))


@given(st.integers(1, 10**5), st.integers(1, MOST_COLUMNS), st.integers(128, 10**5), st.sampled_from((32, 64)))
def test_rows_change_nothing(m: int, n: int, k: int, vector_bytes: int) -> None:
    """Or parts of A would get other bits."""
    config = config_of("float32", vector_bytes)
    assert config.takes(call_of(Gemm(m, n, k))) == config.takes(call_of(Gemm(1, n, k)))


def test_whole_vectors_of_columns_are_taken_where_tiles_are_four_wide() -> None:
    for level2_bytes, wide in ((1 << 20, False), (2 << 20, True)):
        device = replace(CPU, level2_bytes=level2_bytes)
        for dtype, columns in (("float32", 16), ("float64", 8), ("float64", 16)):
            assert config_of(dtype, 64, device).takes(call_of(Gemm(1000, columns, 1000, dtype))) == wide
        assert not config_of("float32", 64, device).takes(call_of(Gemm(1000, 32, 1000)))
    assert taken("float32", 1000, device) == taken("float32", 130, device) == upto((1, 24))


def test_enough_work_is_left_for_a_group() -> None:
    config = config_of("float32", 64)
    assert config.group_rows(call_of(Gemm(100000, 4, 128))) == config.MAX_ROWS
    assert config.group_rows(call_of(Gemm(100, 4, 128))) == 256  # 128 KiB
    assert config.group_rows(call_of(Gemm(1000, 4, 4096))) == 500


def test_a_by_columns_is_the_transposed_product_of_few_rows() -> None:
    config = product_kernel("float32", CPU, 64).config
    assert isinstance(config, CpuConfig)
    for n, k, order, flipped in (
        (64, 512, "column", True),
        (64, 511, "column", False),
        (65, 999, "column", False),
        (16, 300, "row", False),
    ):
        call = config.oriented(Gemm(100, n, k, a_order=order))
        assert call.is_transposed == flipped
        assert config.oriented(call) == call
    assert not config.oriented(Gemm(4, 8, 300, a_order="column")).is_transposed  # few rows as they are


@pytest.mark.parametrize("side", [(16, 16), (20, 16)])
def test_a_result_with_gaps_is_oriented_once(side: tuple[int, int]) -> None:
    """Neither stride of C is 1, so that neither view of the product is the row-major one."""
    m, n = side
    product = call_of(Gemm(m, n, 200, a_order="column"))
    gaps = replace(product, views=(product.a, product.b, Layout(0, 2 * n, 2, 0)))
    config = product_kernel("float32", CPU, 64).config
    assert isinstance(config, CpuConfig)
    once = config.oriented(gaps)
    assert config.oriented(once) == once


@pytest.mark.parametrize(
    ("problem", "vector_bytes", "taken"),
    [
        (Gemm(8, 700, 400, "float64", b_order="column"), 64, True),
        (Gemm(8, 700, 400, "float64", b_order="column"), 32, False),
        (Gemm(8, 700, 400, "float64", b_order="column", batch=9), 64, False),
        (Gemm(9, 700, 400, "float64", b_order="column"), 64, False),
        (Gemm(8, 700, 190, "float16", b_order="column"), 64, False),
        (Gemm(16, 2500, 2500, "float64", b_order="column"), 64, True),
        (Gemm(17, 2500, 2500, "float64", b_order="column"), 64, False),
        (Gemm(16, 3000, 1100, "float32", b_order="column"), 64, False),
        (Gemm(16, 2500, 2500, "float32", b_order="column"), 64, True),
        (Gemm(2500, 16, 2500, "float32"), 64, False),  # A is read where it lies by 06_production.cl, too
    ],
)
def test_few_rows_need_no_packing_of_b(problem: Gemm, vector_bytes: int, taken: bool) -> None:
    config = config_of(problem.dtype, vector_bytes)
    assert config.takes(config.oriented(problem)) == taken
