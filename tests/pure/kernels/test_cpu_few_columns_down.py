"""How a product of few columns with A by columns is cut on CPUs, and which products are cut so."""

import pytest
from devices import CPU
from hypothesis import assume, given
from hypothesis import strategies as st

from tilewright.core.problem import Gemm
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.cpu.config_few_columns_down import MOST_COLUMNS, CpuFewColumnsDownConfig
from tilewright.kernels.product.cpu.kernels import FEW_COLUMNS_DOWN_TILES, few_columns_down_kernel


def config_of(dtype: str, vector_bytes: int = 64) -> CpuFewColumnsDownConfig:
    config = few_columns_down_kernel(dtype, CPU, vector_bytes).config
    assert isinstance(config, CpuFewColumnsDownConfig)
    return config


@given(
    st.integers(2, 10**6), st.integers(1, MOST_COLUMNS), st.integers(1000, 10**7), st.integers(1, 40),
    st.sampled_from(sorted(FEW_COLUMNS_DOWN_TILES)), st.sampled_from(("float32", "float64")),
)  # fmt: skip
def test_groups_cover_the_rows_and_their_sums_fit(
    m: int, n: int, k: int, batch: int, vector_bytes: int, dtype: str
) -> None:
    config = config_of(dtype, vector_bytes)
    call = call_of(Gemm(m, n, k, dtype, batch=batch, a_order="column"))
    assume(config.takes(call))
    rows = config.group_rows(call)
    scalars = config.scalars(call)
    assert rows % config.VW == 0
    assert rows * -(-m // rows) >= m
    assert n * scalars["sum_row"] <= config.SUMS
    assert scalars["mb"] == rows
    assert scalars["sum_row"] >= rows
    kb = config.depth(call)
    assert 1 <= kb <= config.DEPTH
    assert -(-k // kb) == -(-k // config.DEPTH)


@pytest.mark.parametrize(
    ("problem", "word"),
    [
        (Gemm(300, 33, 200, a_order="column"), "33 columns"),
        (Gemm(300, 4, 200), "200 apart"),
        (Gemm(300, 4, 63, a_order="column"), "4 columns and k=63 sooner"),
        (Gemm(300, 29, 255, a_order="column"), "29 columns and k=255 sooner"),
        (Gemm(28, 300, 64), ""),
        (Gemm(29, 300, 2000), "300 columns"),
        (Gemm(300, 28, 64, a_order="column"), ""),
        (Gemm(300, 32, 256, a_order="column"), ""),
        (Gemm(4096, 8, 256, a_order="column"), ""),
        (Gemm(4096, 9, 256, a_order="column"), "9 columns and k=256 sooner"),
        (Gemm(4160, 9, 256, a_order="column"), ""),
        (Gemm(255, 4, 256, a_order="column"), "4 columns and k=256 sooner"),
        (Gemm(2, 4, 257, a_order="column"), ""),
    ],
)
def test_what_it_takes(problem: Gemm, word: str) -> None:
    said = "; ".join(config_of("float32").violations(problem, CPU))
    assert word in said if word else not said


def test_few_rows_are_columns_unless_parts_would_get_other_bits() -> None:
    config = config_of("float32")
    for problem, transposed in (
        (Gemm(4, 500, 900), True),
        (Gemm(4, 500, 200), True),
        (Gemm(4, 514, 200), False),  # 06_production.cl sums the last two columns along k
        (Gemm(4, 514, 100), True),
        (Gemm(4, 514, config.uncut_depth + 1), True),  # and gives parts other bits here anyway
        (Gemm(4, 500, 900, b_order="column"), False),
        (Gemm(500, 4, 900, a_order="column"), False),
    ):
        call = config.oriented(problem)
        assert call.is_transposed == transposed, problem.title
        assert config.oriented(call) == call
