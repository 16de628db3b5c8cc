"""What plans choose for reproducible products, why they refuse the rest, and what plans of free products say of their parts."""

from dataclasses import replace

import pytest
from devices import CPU, GPU, HOPPER

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Dialect, Kernel, render
from tilewright.core.plan import plan_kernel
from tilewright.core.precision import PRECISIONS, REPRODUCIBLE
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import plan_product, product_candidates
from tilewright.dispatch.parts import note_on_parts
from tilewright.errors import InvalidInput, Unsupported
from tilewright.kernels.product.chain import DIVIDES_K, chained
from tilewright.kernels.product.cuda_cores_tma.config import CudaCoresConfig
from tilewright.kernels.product.cuda_cores_tma.kernels import PRODUCT
from tilewright.kernels.product.gemv.kernels import ROWS
from tilewright.kernels.product.mma.kernels import FP64
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.kernels import TILES

CHAINING = replace(HOPPER, features=HOPPER.features | {"mma_f64_chain"})
SHAPES = ((4096, 4096, 4096), (1, 4096, 4096), (64, 64, 8192), (300, 1000, 17), (5, 5, 0), (3, 0, 4))


@pytest.mark.parametrize("facts", [CPU, GPU, HOPPER, CHAINING], ids=lambda each: each.name)
@pytest.mark.parametrize("dtype", PRECISIONS[REPRODUCIBLE])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_chosen_kernel_sums_parts_of_k_by_themselves(
    shape: tuple[int, int, int], dtype: str, facts: DeviceInfo
) -> None:
    steps = plan_product(Gemm(*shape, dtype, precision=REPRODUCIBLE), facts).steps
    product = steps[-1]
    assert product.kernel.precision == REPRODUCIBLE
    assert all(getattr(product.config, name, 1) in (0, 1) for name in DIVIDES_K), product.config


@pytest.mark.parametrize(
    ("dtype", "facts", "name"),
    [
        ("float32", HOPPER, "cuda_cores_tma/main_loop[reproducible]"),
        ("float64", CHAINING, "mma/main_loop[float64 reproducible]"),
        ("float64", HOPPER, "portable/main_loop[reproducible]"),
        ("float32", CPU, "cpu/reproducible"),
    ],
)
def test_the_fastest_that_is_one_chain_is_chosen(dtype: str, facts: DeviceInfo, name: str) -> None:
    assert plan_product(Gemm(4096, 4096, 4096, dtype, precision=REPRODUCIBLE), facts).steps[-1].kernel.name == name


@pytest.mark.parametrize("kernel", [chained(TILES), chained(PRODUCT)], ids=lambda each: each.name)
def test_a_division_of_k_is_refused_with_its_name_and_number(kernel: Kernel) -> None:
    assert isinstance(kernel.config, PortableConfig | CudaCoresConfig)
    config = replace(kernel.config, SLICED_K=2)
    with pytest.raises(Unsupported, match=r"one chain, and SLICED_K=2 sums parts of k"):
        plan_kernel(replace(kernel, config=config), Gemm(512, 512, 512, precision=REPRODUCIBLE), HOPPER)


def test_kernels_that_add_in_other_orders_are_refused() -> None:
    with pytest.raises(Unsupported, match=r"ascending k.*gemv/rows"):
        plan_kernel(ROWS, Gemm(512, 1, 512, precision=REPRODUCIBLE), GPU)


def test_an_instruction_that_was_not_seen_to_be_a_chain_is_refused() -> None:
    assert not any(
        "mma/" in each.name
        for each in product_candidates(Gemm(512, 512, 512, "float64", precision=REPRODUCIBLE), HOPPER)
    )


@pytest.mark.parametrize("facts", [CPU, GPU, CHAINING], ids=lambda each: each.name)
def test_free_products_know_nothing_of_it(facts: DeviceInfo) -> None:
    for dtype in PRECISIONS[REPRODUCIBLE]:
        assert all(each.precision != REPRODUCIBLE for each in product_candidates(Gemm(300, 300, 300, dtype), facts))


@pytest.mark.parametrize("free", [TILES, PRODUCT, FP64], ids=lambda each: each.name)
@pytest.mark.parametrize("dialect", [Dialect.OPENCL, Dialect.CUDA])
def test_roundings_are_written_down(free: Kernel, dialect: str) -> None:
    """No sum of a product is left to the compiler, which may round once or twice."""
    dtype = free.dtypes[0] if free.dtypes == ("float64",) else "float32"
    problem = Gemm(512, 512, 512, dtype, a_order="column", alpha=2.0, beta=1.0)
    own, text = chained(free), "value = fma(alpha, sum[i], added);"
    assert text in render(own, own.config, replace(problem, precision=REPRODUCIBLE), dialect)
    assert text not in render(free, free.config, problem, dialect)
    assert "scale(value, alpha)" not in render(own, own.config, replace(problem, precision=REPRODUCIBLE), dialect)


def test_types_that_have_no_such_arithmetic() -> None:
    with pytest.raises(InvalidInput, match=r"complex64 does not support precision='reproducible'"):
        Gemm(4, 4, 4, "complex64", precision=REPRODUCIBLE)


@pytest.mark.parametrize(
    ("shape", "dtype", "facts", "word"),
    [
        ((512, 512, 256), "float32", CPU, ""),
        ((512, 512, 257), "float32", CPU, "blocks"),
        ((512, 512, 128), "float64", CPU, ""),
        ((512, 512, 129), "float64", CPU, "blocks"),
        ((1, 512, 64), "float32", CPU, "single row"),
        ((512, 8, 5000), "float32", CPU, ""),
        ((9, 512, 5000), "float32", CPU, "few rows"),
        ((9, 512, 200), "float32", CPU, ""),
        ((40, 512, 5000), "float32", CPU, "blocks"),
        ((512, 512, 64), "float32", HOPPER, "other kernels"),
        ((512, 512, 4096), "int32", CPU, ""),
        ((512, 0, 4096), "float32", CPU, ""),
    ],
)
def test_the_note_on_parts(shape: tuple[int, int, int], dtype: str, facts: DeviceInfo, word: str) -> None:
    note = note_on_parts(plan_product(Gemm(*shape, dtype), facts))
    assert (word in note and "reproducible" in note) if word else not note
    if dtype == "float32":
        assert not note_on_parts(plan_product(Gemm(*shape, dtype, precision=REPRODUCIBLE), facts))


@pytest.mark.parametrize(
    ("shape", "dtype", "word"),
    [
        ((512, 512, 256), "float32", "NumPy's own"),
        ((512, 512, 257), "float32", "blocks"),
        ((512, 512, 1), "float32", ""),
        ((512, 512, 64), "int32", ""),
        ((512, 512, 64), "float16", "NumPy's own"),
        ((512, 512, 64), "bfloat16", ""),  # NumPy multiplies none
    ],
)
def test_the_note_on_parts_that_numpy_may_multiply(shape: tuple[int, int, int], dtype: str, word: str) -> None:
    note = note_on_parts(plan_product(Gemm(*shape, dtype), CPU), numpys_too=True)
    assert word in note if word else not note
