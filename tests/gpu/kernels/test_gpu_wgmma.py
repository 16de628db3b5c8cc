"""On a Hopper GPU: the products by wgmma, every element type, tile, layout and size, against float64."""

from dataclasses import replace

import numpy as np
import pytest
from families import kernels_of
from strided_products import check_strided
from symmetric_products import check_symmetric, symmetric

import tilewright
from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import plan
from tilewright.core.problem import Gemm, StridedGemm, random_arrays
from tilewright.core.types import EXACT, FLOAT8, numpy_dtype
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.wgmma import search as wgmma
from tilewright.kernels.product.wgmma.config import WgmmaConfig
from tilewright.kernels.product.wgmma.kernels import KERNELS
from tilewright.kernels.product.wgmma.search import configurations
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import Execution
from tilewright.runtime.verify import Reference, verify, verify_execution

RESULTS = {"int8": "int32", "float8_e4m3fn": "bfloat16", "float8_e5m2": "float32"}
SHAPES = ((1, 1, 1), (128, 256, 64), (257, 136, 336), (515, 261, 258))
ORDERS = [(a, b) for a in ("row", "column") for b in ("row", "column")]
FLOATS = [each for each in KERNELS if each.dtypes[0] not in EXACT]
# bfloat16 differs from float16 in the instruction alone, and a program takes a second to build.
DRIFT = 3e-3  # relative error of a whole product, whatever its depth
DIFFERENT = [each for each in KERNELS if each.dtypes != ("bfloat16",)]
FP16 = next(each for each in KERNELS if each.dtypes == ("float16",))
TF32 = next(each for each in KERNELS if each.precision == "tf32")
HELD_B = (WgmmaConfig(128, 256, 4, 1, 2, register_operand="B"), WgmmaConfig(256, 128, 4, 1, 2, register_operand="B"))
ACROSS = [("row", "row"), ("column", "column"), ("column", "row")]  # A, B or both lie across k
FLOAT8_KERNELS = [each for each in KERNELS if each.dtypes[0] in FLOAT8]


def problem_of(kernel: Kernel, m: int, n: int, k: int, **more: object) -> Gemm:
    dtype = kernel.dtypes[0]
    own: dict[str, object] = {"out_dtype": RESULTS.get(dtype), "precision": kernel.precision, **more}
    return Gemm(m, n, k, dtype, **own)  # type: ignore[arg-type]


def named(kernel: Kernel) -> str:
    return kernel.name


def after_rounds(config: WgmmaConfig, problem: Gemm) -> WgmmaConfig:
    """The configuration on so few work-groups that tiles are left after whole rounds, and these cut in two."""
    tiles = config.tiles(config.oriented(problem))
    groups = next(each for each in range(4, tiles) if 0 < tiles % each <= each // 2)
    return replace(config, groups=groups, tail_split=2)


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
@pytest.mark.parametrize("kernel", DIFFERENT, ids=named)
def test_every_layout_and_size(kernel: Kernel, a_order: str, b_order: str, hopper: Device) -> None:
    for m, n, k in SHAPES:
        problem = problem_of(kernel, m, n, k, a_order=a_order, b_order=b_order)
        tried = list(configurations(call_of(problem), hopper.info))
        assert tried, f"no configuration of {kernel.name} takes {problem.title}, {a_order} and {b_order}"
        verdict = verify(plan([replace(kernel, config=tried[0])], problem, hopper.info), hopper)
        assert verdict.passed, f"{kernel.name} {tried[0]} {problem.title} {a_order} {b_order}: {verdict}"


def test_every_tile(hopper: Device) -> None:
    problem = problem_of(FP16, 650, 528, 640, b_order="column")
    for config in configurations(call_of(problem), hopper.info):
        few = replace(config, groups=min(config.groups, 13))  # so that each has several tiles
        for each in (config, few):
            if not any(each.violations(problem, hopper.info)):
                verdict = verify(plan([replace(FP16, config=each)], problem, hopper.info), hopper)
                assert verdict.passed, f"{each}: {verdict}"


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
@pytest.mark.parametrize(
    ("dtype", "result"), [("float16", "float16"), ("bfloat16", "bfloat16"), ("float16", "float32")]
)
def test_tiles_of_parts_of_lines(dtype: str, result: str, a_order: str, b_order: str, hopper: Device) -> None:
    """Whole, cut off in the middle of a box, of rows that begin anywhere, in a batch, and added up of parts."""
    kernel = next(each for each in KERNELS if each.dtypes == (dtype,))
    tiles = [WgmmaConfig(*each) for each in wgmma.ONE_WAVE_SPACE]
    for m, n, k, batch in (
        (384, 480, 320, 1),
        (392, 328, 264, 1),
        (200, 136, 512, 5),
        (8, 8, 8, 1),
        (1536, 1480, 520, 1),
    ):
        problem = Gemm(m, n, k, dtype, a_order, b_order, alpha=-0.5, batch=batch, out_dtype=result)
        for tile in tiles:
            for parts in (1, 2) if k == 512 else (1,):
                config = replace(tile, tail_split=parts)
                verdict = verify(plan([replace(kernel, config=config)], problem, hopper.info), hopper)
                assert verdict.passed, f"{config} {problem.title} {a_order} {b_order} {result}: {verdict}"


@pytest.mark.parametrize("config", [WgmmaConfig(*each) for each in wgmma.ONE_WAVE_SPACE], ids=str)
def test_parts_of_lines_of_rows_that_begin_anywhere(config: WgmmaConfig, hopper: Device) -> None:
    for n, staged in ((581, 4), (584, 16)):
        problem = Gemm(770, n, 1024, "float16", "row", "column", alpha=-0.5)
        assert config.staged(call_of(problem)) == staged
        verdict = verify(plan([replace(FP16, config=config)], problem, hopper.info), hopper)
        assert verdict.passed, f"{config} {n}: {verdict}"


@pytest.mark.parametrize("config", [WgmmaConfig(*each) for each in wgmma.ONE_WAVE_SPACE], ids=str)
def test_the_epilogue_of_parts_of_lines(config: WgmmaConfig, hopper: Device) -> None:
    """Rows are longer than k and n, and what lies between those of A and of B is no number."""
    for gap, staged in ((0, 16), (1, 4)):  # C by vectors of 16 bytes, and of rows that begin anywhere
        views = (Layout(0, 112, 1), Layout(0, 528, 1), Layout(8, 528 + gap, 1))
        problem = StridedGemm(
            100, 520, 104, "float16", alpha=2, beta=3, out_dtype="float16", views=views, bias="row", activation="relu"
        )
        assert config.staged(call_of(problem)) == staged
        check_strided(problem, replace(FP16, config=config), hopper)


@pytest.mark.parametrize("order", ["row", "column"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_tile_stores_its_mirror_image(dtype: str, order: str, hopper: Device) -> None:
    kernel = next(each for each in KERNELS if each.dtypes == (dtype,))
    for problem in (symmetric(1096, 136, dtype, order=order), symmetric(200, 72, dtype, 3, order)):
        for config in {
            replace(each, tail_split=1, groups=13) for each in configurations(call_of(problem), hopper.info)
        }:
            assert config.mirrors(config.oriented(problem))
            check_symmetric(replace(kernel, config=config), problem, hopper)


@pytest.mark.parametrize("n", [3, 8, 63, 64, 71, 456, 515])
def test_a_symmetric_product_of_any_size(n: int, hopper: Device) -> None:
    """Rows that do not end on 16 bytes, and split tiles, leave the mirror image to another launch."""
    problem = symmetric(n, 520, "float16")
    for config in configurations(call_of(problem), hopper.info):
        # A few work-groups compute several tiles each; work-groups that share tiles must all run at a time.
        groups = config.groups if config.tail_split > 1 else min(config.groups, 40)
        check_symmetric(replace(FP16, config=replace(config, groups=groups)), problem, hopper)


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_even_and_odd_rows_apart(kernel: Kernel, b_order: str, hopper: Device) -> None:
    k = 137 * 16 // numpy_dtype(kernel.dtypes[0]).itemsize  # rows begin by turns in the middle of 32 bytes
    scaled: dict[str, object] = {} if kernel.dtypes[0] in EXACT else {"alpha": -0.5}
    problem = problem_of(kernel, 650, 528, k, b_order=b_order, **scaled)
    offered = [each for each in configurations(call_of(problem), hopper.info) if each.even_odd_rows]
    tiles = list({(each.BM, each.BN, each.register_operand): each for each in offered}.values())
    tried = tiles if kernel is FP16 else tiles[:3]
    assert tried, f"{kernel.name} {b_order}"
    for config in (*tried, after_rounds(replace(tried[0], tail_split=1), problem)):
        verdict = verify(plan([replace(kernel, config=config)], problem, hopper.info), hopper)
        assert verdict.passed, f"{config} {b_order}: {verdict}"


@pytest.mark.parametrize(("a_order", "b_order"), ACROSS)
def test_every_tile_with_an_operand_from_registers(a_order: str, b_order: str, hopper: Device) -> None:
    problem = problem_of(TF32, 652, 528, 400, a_order=a_order, b_order=b_order)
    tried = [each for each in configurations(call_of(problem), hopper.info) if each.register_operand]
    assert {each.register_operand for each in tried} == {"AB"[order == "row"] for order in (a_order, b_order)}
    alone = [each for each in tried if each.tail_split == 1]
    cut = [next(each for each in tried if each.tail_split > 1), after_rounds(alone[0], problem)]
    few = [replace(each, groups=13) for each in alone[:2]]  # so that each has several tiles
    for config in (*alone, *few, *cut):
        verdict = verify(plan([replace(TF32, config=config)], problem, hopper.info), hopper)
        assert verdict.passed, f"{config} {a_order} {b_order}: {verdict}"


@pytest.mark.parametrize(("a_order", "b_order"), ACROSS)
def test_edges_and_batches_with_an_operand_from_registers(a_order: str, b_order: str, hopper: Device) -> None:
    for m, n, k, more in (
        (4, 4, 4, {}),
        (260, 136, 336, {"c_order": "column", "alpha": -0.5}),
        (516, 260, 260, {"batch": 3}),
        (1000, 1032, 36, {}),
    ):
        problem = problem_of(TF32, m, n, k, a_order=a_order, b_order=b_order, **more)
        offered = list(configurations(call_of(problem).row_major, hopper.info))
        tried = [
            next((each for each in offered if each.register_operand == held and each.tail_split == 1), None)
            for held in "AB"
        ]
        assert any(tried), f"nothing is held for {problem.title}, {a_order} and {b_order}"
        for config in filter(None, tried):
            for each in (config, replace(config, groups=2)):
                verdict = verify(plan([replace(TF32, config=each)], problem, hopper.info), hopper)
                assert verdict.passed, f"{each} {problem.title} {a_order} {b_order}: {verdict}"


def test_the_epilogue_with_an_operand_from_registers(hopper: Device) -> None:
    m, n, k = 152, 76, 48
    along, across = Layout(0, k, 1, m * k), Layout(0, 1, m, m * k)
    for config in (HELD_B[0], replace(HELD_B[1], groups=2)):
        turned = replace(config, BM=config.BN, BN=config.BM, CONSUMERS_M=config.CONSUMERS_N, register_operand="A",
                         CONSUMERS_N=config.CONSUMERS_M)  # fmt: skip
        for each, a, b in ((config, along, Layout(0, n, 1, n * k)), (turned, across, Layout(0, 1, k, n * k))):
            for bias, activation in (("row", "relu"), ("column", "")):
                problem = StridedGemm(
                    m, n, k, "float32", alpha=2, beta=3, batch=3, views=(a, b, Layout(0, n, 1, m * n)), bias=bias,
                    activation=activation, precision="tf32",
                )  # fmt: skip
                check_strided(problem, replace(TF32, config=each), hopper)


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
def test_tf32_is_rounded_to_nearest(a_order: str, b_order: str, hopper: Device) -> None:
    """Cut off instead, all of these would be too small, by 2^-11 of a factor on average."""
    problem = problem_of(TF32, 256, 256, 512, a_order=a_order, b_order=b_order)
    random = np.random.default_rng(6)
    arrays = {
        name: random.uniform(1, 2, each.shape).astype(np.float32) for name, each in random_arrays(problem).items()
    }
    offered = list(configurations(call_of(problem), hopper.info))
    for config in (offered[0], *[each for each in offered if each.register_operand][:1]):
        execution = Execution(plan([replace(TF32, config=config)], problem, hopper.info), hopper)
        execution.write(arrays)
        execution.launch()
        expected = problem.reference(arrays)
        assert abs(np.mean(execution.read() / expected - 1)) < 2**-14, str(config)


def test_warps_that_share_lines_wait_for_each_other(hopper: Device) -> None:
    """C lies from its last row to its first, which no tensor map describes: many tiles in turn leave by the same local memory."""
    m, n, k = 900, 64, 64
    views = (Layout(0, 1, m), Layout(0, 1, k), Layout((m - 1) * n, -n, 1))
    problem = StridedGemm(m, n, k, "float32", out_dtype="float32", views=views, precision="tf32")
    config = WgmmaConfig(64, 32, 16, 1, 1, groups=4, register_operand="A")
    macros = config.macros(call_of(problem))
    assert (macros["STAGED"], macros["STORE_BY_TMA"], macros["ONE_WAVE"]) == (16, 0, 0)
    check_strided(problem, replace(TF32, config=config), hopper)


def test_tf32_goes_to_the_nearer_neighbour(hopper: Device) -> None:
    """Neighbours lie 2^-10 apart above 1: a quarter of that is dropped, of three quarters it becomes the next."""
    problem = problem_of(TF32, 256, 256, 64, b_order="column")
    arrays = {name: np.zeros(each.shape, np.float32) for name, each in random_arrays(problem).items()}
    arrays["A"][0::2, 0], arrays["A"][1::2, 0], arrays["B"][0] = 1 + 2**-12, 1 + 3 * 2**-12, 1
    execution = Execution(plan(kernels_of(wgmma, problem, hopper.info), problem, hopper.info), hopper)
    execution.write(arrays)
    execution.launch()
    result = execution.read()
    assert set(result[0::2].flat) == {1.0}
    assert set(result[1::2].flat) == {1 + 2**-10}


def test_every_tile_of_8_bit_floats(hopper: Device) -> None:
    kernel = FLOAT8_KERNELS[0]
    problem = problem_of(kernel, 650, 528, 1280, b_order="column", out_dtype="float32")
    tried = list(configurations(call_of(problem), hopper.info))
    assert all(each.PROMOTE for each in tried)
    for config in tried:
        few = replace(config, groups=min(config.groups, 13))
        for each in (config, few):
            if not any(each.violations(problem, hopper.info)):
                verdict = verify(plan([replace(kernel, config=each)], problem, hopper.info), hopper)
                assert verdict.passed, f"{each}: {verdict}"


@pytest.mark.parametrize("how", ["normal", "positive"])
def test_sums_of_8_bit_floats_do_not_drift(how: str, hopper: Device) -> None:
    """As cuBLAS's do: what a tensor core cuts off within 128 steps of k must not add up over a long sum."""
    random = np.random.default_rng(3)
    for kernel in FLOAT8_KERNELS:
        problem = problem_of(kernel, 128, 128, 65536, b_order="column", out_dtype="float32")
        arrays = {name: random.normal(size=shape) for name, shape in (("A", (128, 65536)), ("B", (65536, 128)))}
        if how == "positive":
            arrays = {name: np.abs(values) for name, values in arrays.items()}
        arrays = {name: values.astype(numpy_dtype(problem.dtype)) for name, values in arrays.items()}
        execution = Execution(plan_product(problem, hopper.info), hopper)
        execution.write(arrays)
        execution.launch()
        expected = problem.reference(arrays)
        error = np.linalg.norm(execution.read() - expected) / np.linalg.norm(expected)
        assert error < DRIFT, f"{kernel.name} {how}: {error:.2e}"


@pytest.mark.parametrize("result", ["float32", "bfloat16"])
@pytest.mark.parametrize("precision", ["ieee", "fp8"])
def test_rows_and_columns_of_8_bit_products_are_scaled(precision: str, result: str, hopper: Device) -> None:
    random = np.random.default_rng(4)
    m, n, k = 700, 516, 1040
    a, b = (random.normal(size=shape).astype(numpy_dtype(FLOAT8[0])) for shape in ((m, k), (n, k)))
    rows, columns = (random.uniform(0.5, 2, side).astype(np.float32) for side in (m, n))
    for scale_a, scale_b in ((rows, columns), (0.25, columns), (rows, 3.0)):
        got = tilewright.gemm(
            a, b, trans_b="T", scale_a=scale_a, scale_b=scale_b, dtype=numpy_dtype(result), precision=precision,
            queue=hopper.queue,
        )  # fmt: skip
        weight = np.multiply.outer(np.broadcast_to(scale_a, m), np.broadcast_to(scale_b, n))
        expected = weight * (a.astype(np.float64) @ b.astype(np.float64).T)
        error = np.linalg.norm(got.astype(np.float64) - expected) / np.linalg.norm(expected)
        assert error < (2e-3 if result == "bfloat16" else 1e-3 if precision == "fp8" else 1e-6)


@pytest.mark.parametrize("result", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_results_of_every_type_by_rows_and_columns(dtype: str, result: str, hopper: Device) -> None:
    kernel = next(each for each in KERNELS if each.dtypes == (dtype,))
    for m, n, k, order in ((200, 264, 136, "column"), (131, 67, 72, "row"), (131, 66, 72, "row")):
        problem = Gemm(m, n, k, dtype, "row", "column", order, alpha=-0.5, out_dtype=result)
        verdict = verify(plan([kernel], problem, hopper.info), hopper)
        assert verdict.passed, f"{problem.title} {result} by {order}s: {verdict}"


@pytest.mark.parametrize("result", ["float16", "float32"])
def test_rows_that_begin_anywhere_by_words_and_in_parts(result: str, hopper: Device) -> None:
    problem = Gemm(770, 581, 1024, "float16", "row", "column", alpha=-0.5, out_dtype=result)
    for tile in (WgmmaConfig(192, 192, 3, 3, 1), WgmmaConfig(128, 256, 4), WgmmaConfig(64, 128, 8, 1, 1)):
        config = after_rounds(tile, problem)
        assert (config.staged(call_of(problem)), config.full_wave_tiles(call_of(problem)) > 0) == (4, True)
        verdict = verify(plan([replace(FP16, config=config)], problem, hopper.info), hopper)
        assert verdict.passed, f"{config} {result}: {verdict}"


@pytest.mark.parametrize("result", ["float16", "float32"])
def test_the_epilogue_of_parts_and_of_rows_apart(result: str, hopper: Device) -> None:
    """Rows are longer than k, and what lies between them is no number; C by rows, and by columns."""
    for apart in (False, True):
        kernel = replace(FP16, config=WgmmaConfig(64, 64, 12, 1, 1, groups=3, tail_split=2, even_odd_rows=apart))
        by_rows = (Layout(0, 536, 1), Layout(0, 104, 1), Layout(5, 103, 1))
        by_columns = (Layout(0, 1, 104), Layout(0, 1, 536), Layout(5, 1, 103))
        for m, n, views, bias in ((100, 101, by_rows, "row"), (101, 100, by_columns, "column")):
            problem = StridedGemm(
                m, n, 520, "float16", alpha=2, beta=3, out_dtype=result, views=views, bias=bias, activation="relu"
            )
            check_strided(problem, kernel, hopper)


@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_parts_of_tiles_add_up_the_same_at_every_run(kernel: Kernel, hopper: Device) -> None:
    problem = problem_of(kernel, 300, 320, 4992, b_order="column")
    offered = list(configurations(call_of(problem), hopper.info))
    together = max(offered, key=lambda each: each.tail_split)
    assert together.tail_split > 4
    arrays = random_arrays(problem)
    for config in (together, after_rounds(offered[0], problem)):
        execution = Execution(plan([replace(kernel, config=config)], problem, hopper.info), hopper)
        execution.write(arrays)
        execution.launch()
        first = execution.read()
        assert Reference(problem, arrays).judge(first).passed, str(config)
        for _ in range(5):
            execution.poison()
            execution.launch()
            assert (execution.read() == first).all(), str(config)


@pytest.mark.parametrize("kernel", FLOATS, ids=named)
def test_infinities_and_nan_go_where_ieee_arithmetic_sends_them(kernel: Kernel, hopper: Device) -> None:
    for a_order, b_order in ORDERS:
        problem = problem_of(kernel, 72, 96, 64, a_order=a_order, b_order=b_order)
        arrays = random_arrays(problem)
        arrays["A"][3, 5], arrays["A"][17, 0], arrays["B"][9, 11] = np.inf, np.nan, -np.inf
        offered = list(configurations(call_of(problem), hopper.info))
        for config in (offered[0], *[each for each in offered if each.register_operand][:1]):
            chosen = plan([replace(kernel, config=config)], problem, hopper.info)
            verdict = verify_execution(Execution(chosen, hopper), Reference(problem, arrays))
            assert verdict.passed, f"{kernel.name} {config} {a_order} {b_order}: {verdict}"


@pytest.mark.parametrize("kernel", DIFFERENT, ids=named)
@pytest.mark.parametrize("gap", [16, 3], ids=["aligned", "packed first"])
def test_batches_views_and_the_epilogue(kernel: Kernel, gap: int, hopper: Device) -> None:
    """Three matrices of a stack, with gaps between rows, alpha and beta, a bias along rows, and relu."""
    m, n, k = 150, 72, 48
    dtype, result = kernel.dtypes[0], RESULTS.get(kernel.dtypes[0], kernel.dtypes[0])
    a = Layout(gap, k + gap, 1, m * (k + gap))
    b = Layout(2 * gap, 1, k + gap, n * (k + gap))
    c = Layout(gap, n + gap, 1, m * (n + gap) + gap)
    config = replace(kernel.config, groups=4, pack="AB" if gap % 16 else "")  # type: ignore[call-arg]
    for bias, activation in (("", ""), ("row", "relu")):
        problem = StridedGemm(
            m, n, k, dtype, alpha=2, beta=3, batch=3, out_dtype=result, views=(a, b, c), bias=bias, activation=activation,
            precision=kernel.precision,
        )  # fmt: skip
        check_strided(problem, replace(kernel, config=config), hopper)


def test_large_products_of_halves_are_planned_with_wgmma(hopper: Device) -> None:
    for dtype, precision in (("float16", ""), ("bfloat16", ""), (FLOAT8[0], "fp8")):
        out = "float32" if precision else None
        chosen = kernels_of(wgmma, Gemm(4096, 4096, 4096, dtype, out_dtype=out, precision=precision), hopper.info)
        assert chosen
        assert chosen[0].source.parent.name == "wgmma"
