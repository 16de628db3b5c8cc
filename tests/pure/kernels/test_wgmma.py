"""Products by wgmma without a device: which configurations are offered, what speaks against others, what is launched."""

from dataclasses import replace

import pytest
from devices import HOPPER
from families import kernels_of
from says import says

from tilewright.core.device import DeviceInfo
from tilewright.core.operands import Layout
from tilewright.core.plan import plan, violations
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.core.types import FLOAT8
from tilewright.dispatch.choice import plan_product
from tilewright.errors import Unsupported
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.wgmma import search as wgmma
from tilewright.kernels.product.wgmma.config import WgmmaConfig
from tilewright.kernels.product.wgmma.kernels import KERNELS
from tilewright.kernels.product.wgmma.maps import alignment, edge_rows, loaded_rows, rows_aligned
from tilewright.kernels.product.wgmma.search import SPACE, configurations, shapes

FP16 = next(each for each in KERNELS if each.dtypes == ("float16",))


def reasons(problem: Gemm, config: WgmmaConfig) -> str:
    return "; ".join(violations(replace(FP16, config=config), config, problem, HOPPER))


def test_nothing_is_offered_without_the_instructions() -> None:
    older = replace(HOPPER, features=frozenset(("gpu", "nvidia", "mma")))
    assert kernels_of(wgmma, Gemm(4096, 4096, 4096, "float16"), older) == ()


@pytest.mark.parametrize("dtype", ["float64", "int32", "float32", "complex64"])
def test_other_types_are_left_to_others(dtype: str) -> None:
    assert kernels_of(wgmma, Gemm(4096, 4096, 4096, dtype), HOPPER) == ()


def test_large_products_get_the_largest_tiles() -> None:
    for problem in (Gemm(8192, 8192, 8192, "float16"), Gemm(8192, 8192, 8192, precision="tf32")):
        first = plan(kernels_of(wgmma, problem, HOPPER), problem, HOPPER).steps[-1].config
        assert isinstance(first, WgmmaConfig)
        assert first.BM * first.BN == 128 * 256


def test_few_tiles_are_computed_together_where_memory_is_not_what_takes_the_time() -> None:
    for problem, together in (
        (Gemm(128, 2048, 7168, "float16", "row", "column"), True),
        (Gemm(64, 2048, 7168, "bfloat16"), True),
        (Gemm(64, 4096, 7168, "float16"), False),  # B comes from memory, whoever fetches it
        (Gemm(64, 7168, 2112, "float16"), False),  # so many tiles are enough
    ):
        first = plan(kernels_of(wgmma, problem, HOPPER), problem, HOPPER).steps[-1].config
        assert isinstance(first, WgmmaConfig)
        assert (first.tail_split > 1) == together, f"{problem.title}: {first}"


def test_every_tile_fits_into_local_memory_and_is_shared_out_evenly() -> None:
    problem = Gemm(4096, 4096, 4096, "float16", "row", "column", out_dtype="float32")
    for bm, bn, stages, rows, columns in SPACE:
        config = WgmmaConfig(bm, bn, stages, rows, columns)
        assert config.local_bytes(problem) <= HOPPER.static_local_bytes
        assert bm % (64 * rows) == 0
        assert bn % (64 * columns) == 0
        assert bm // rows // 64 * bn // columns // 2 <= 128  # registers of a sum


def test_every_tile_with_an_operand_from_registers_fits_too() -> None:
    for problem in (Gemm(4096, 4096, 4096, precision="tf32"), Gemm(4096, 4096, 4096, "float32", "column", "column")):
        for config in (each for each in shapes(problem.dtype) if each.register_operand):
            assert config.local_bytes(problem) <= HOPPER.static_local_bytes
            rows, columns = config.sums
            assert rows in (64, 128)
            assert columns % 32 == 0
            assert rows * columns <= 128 * 128  # sums of a warpgroup, beside the operand that it holds


def test_wide_elements_across_k_are_multiplied_from_registers_and_not_copied() -> None:
    for a_order, b_order, held, copies in (
        ("row", "row", "B", 0), ("column", "column", "A", 0), ("row", "column", "", 0), ("column", "row", "AB", 1),
    ):  # fmt: skip
        for n in (1024, 2048, 8192):
            problem = Gemm(n, n, n, "float32", a_order, b_order, precision="tf32")
            steps = plan(kernels_of(wgmma, problem, HOPPER), problem, HOPPER).steps
            config = steps[-1].config
            assert isinstance(config, WgmmaConfig)
            assert config.register_operand in held
            assert bool(config.register_operand) == bool(held)
            assert len(steps) == 1 + copies


def test_what_speaks_against_holding_an_operand_is_a_sentence() -> None:
    config = WgmmaConfig(128, 256, 4, 1, 2, register_operand="B")
    problem = Gemm(256, 256, 256, precision="tf32")
    assert not list(config.violations(problem, HOPPER))
    assert list(config.violations(replace(problem, b_order="column"), HOPPER)) == [
        "B lies along k: from registers it gains nothing"
    ]
    assert "64 or 128" in "; ".join(WgmmaConfig(128, 256, 4, 2, 1, register_operand="B").violations(problem, HOPPER))
    assert says(reasons(Gemm(256, 256, 256, "float16"), config), "float16")
    both = replace(problem, a_order="column")
    assert list(config.violations(both, HOPPER)) == ["wgmma multiplies float32 only along k, and A lies across it"]
    assert not list(replace(config, pack="A").violations(both, HOPPER))


def test_a_configuration_tells_of_operands_only_where_it_names_some() -> None:
    assert str(WgmmaConfig(128, 256, 4)).endswith("tail_split=1")
    assert str(WgmmaConfig(128, 256, 4, 1, 2, pack="A", register_operand="B")).endswith(
        "tail_split=1 pack=A register_operand=B"
    )


def test_lines_that_straddle_those_of_the_cache_may_be_packed_by_themselves() -> None:
    """Rows of 5000 halves are 78 lines of 128 bytes and an eighth; those of 5056 are 79."""
    views = (Layout(0, 5000, 1), Layout(0, 5056, 1), Layout(0, 5056, 1))
    problem = StridedGemm(5000, 5000, 5000, "float16", views=views)
    tried = {config.pack for config in configurations(call_of(problem), HOPPER)}
    assert tried == {"", "A"}
    assert says(reasons(problem, WgmmaConfig(128, 256, 4, pack="B")), "B", 128)
    both = Gemm(5000, 5000, 5000, "float16")
    assert {config.pack for config in configurations(call_of(both), HOPPER)} == {"", "A", "B", "AB"}
    assert plan(kernels_of(wgmma, both, HOPPER), both, HOPPER).scratch


def test_sums_with_b_held_are_turned() -> None:
    problem = call_of(Gemm(4096, 4096, 4096, precision="tf32"))
    config = WgmmaConfig(128, 256, 4, 1, 2, register_operand="B")
    macros = config.macros(problem)
    assert (macros["BLOCKS"], macros["WN"], macros["C_VEC"]) == (2, 128, 4)
    assert config.tensor_maps(problem)["map_b"].box == (32, 32, 1)  # 128 bytes across k, 32 of k
    assert config.tensor_maps(problem)["map_b"].dtype == "tf32"  # rounded on its way
    assert not config.stores_by_tma(problem)  # each row gets 64 bytes and more from a warp
    macros = WgmmaConfig(64, 256, 4, 1, 2, register_operand="A").macros(
        call_of(Gemm(4096, 4096, 4096, "float32", "column", "column"))
    )
    assert (macros["BLOCKS"], macros["WN"], macros["STORE_BY_TMA"]) == (1, 128, 1)
    assert macros["C_VEC"] == 1  # as TMA stores all of C


def test_operands_that_cannot_be_fetched_are_refused_with_their_numbers() -> None:
    tile = WgmmaConfig(128, 256, 4)
    assert "not 2002" in reasons(Gemm(1001, 1001, 1001, "float16"), tile)
    assert "K=0" in reasons(Gemm(8, 8, 0, "float16"), tile)
    strided = StridedGemm(64, 64, 64, "float16", views=(Layout(0, 128, 2), Layout(0, 64, 1), Layout(0, 64, 1)))
    assert "strides 128, 2" in reasons(strided, tile)
    assert says(reasons(Gemm(128 * 132, 256, 512, "float16"), replace(tile, tail_split=2)), 132)
    assert "gains nothing" in reasons(Gemm(128, 256, 64, "float16"), replace(tile, pack="B"))


def test_bytes_are_multiplied_along_k_alone() -> None:
    bytes_ = next(each for each in KERNELS if each.dtypes == ("int8",))
    problem = Gemm(4096, 4096, 4096, "int8", out_dtype="int32")
    with pytest.raises(Unsupported, match=r"\bB\b"):
        plan([bytes_], problem, HOPPER)
    steps = plan(kernels_of(wgmma, problem, HOPPER), problem, HOPPER).steps
    assert [step.problem.operation for step in steps] == ["strided copy", "gemm"]
    assert dict(steps[0].buffers) == {"input": "B", "output": "packed_B"}


def test_8_bit_floats_are_summed_by_the_tensor_cores_only_if_that_is_asked_for() -> None:
    problem = Gemm(4096, 4096, 4096, FLOAT8[0], "row", "column", out_dtype="bfloat16")
    assert kernels_of(wgmma, problem, HOPPER) == ()
    names = [step.kernel.name for step in plan_product(problem, HOPPER).steps]
    assert names == ["fp8/convert", "fp8/convert", "wgmma/main_loop[float16]"]
    (step,) = plan_product(replace(problem, precision="fp8"), HOPPER).steps
    assert isinstance(step.config, WgmmaConfig)
    assert (step.config.BN, step.config.PROMOTE) == (256, 2)
    small = replace(problem, m=64, n=64, k=64)
    assert [step.kernel.name for step in plan_product(small, HOPPER).steps] == ["portable/main_loop"]


def test_sums_that_are_kept_twice_must_fit_into_registers() -> None:
    problem = Gemm(512, 512, 512, FLOAT8[1], "row", "column", out_dtype="float32", precision="fp8")
    (reason,) = WgmmaConfig(128, 256, 4, PROMOTE=1).violations(problem, HOPPER)
    assert says(reason, 128)
    for config in (WgmmaConfig(128, 192, 4, PROMOTE=1), WgmmaConfig(128, 256, 4, PROMOTE=2)):
        assert not list(config.violations(problem, HOPPER))
        assert config.macros(problem)["PART"] == (128 if config.PROMOTE == 2 else 192)


@pytest.mark.parametrize("order", ["row", "column"])
def test_scales_reach_the_kernel_that_can_scale_and_else_a_launch_of_their_own(order: str) -> None:
    plain = Gemm(4096, 2048, 4096, FLOAT8[0], "row", "column", order, out_dtype="bfloat16", precision="fp8")
    problem = replace(call_of(plain), scale_a="each", scale_b="one", alpha=2)
    (step,) = plan_product(problem, HOPPER).steps
    turned = order == "column"
    assert step.buffer_of("scale_a") == ("scale_b" if turned else "scale_a")
    assert step.problem.scalars["scale_a_row"] == (0 if turned else 1)
    older = replace(HOPPER, features=frozenset(("gpu", "nvidia")))
    *product, last = plan_product(problem, older).steps
    assert last.kernel.name == "product/reduce"
    assert dict(last.buffers)["partial"] == "unscaled"
    assert last.problem.scalars["alpha"] == 2
    assert all(
        step.buffer_of("C") in ("unscaled", "partial") and step.problem.scalars["alpha"] == 1 for step in product
    )


def test_tiles_left_after_whole_rounds_are_cut_and_get_room_and_counters_that_start_at_zero() -> None:
    problem = Gemm(5120, 5120, 5120, "float16")  # 800 tiles: 6 rounds of 132 and 8
    config = WgmmaConfig(128, 256, 4, tail_split=16)
    found = plan([replace(FP16, config=config)], problem, HOPPER)
    assert found.zeroed == {"semaphores"}
    assert found.scratch == {"partial": 8 * 16 * 128 * 256 * 4, "semaphores": 8 * 2 * 4}
    assert config.ndrange(problem).global_size == (132 * 384,)
    assert config.scalars(problem)["whole"] == 792
    assert kernels_of(wgmma, problem, HOPPER)[0].config == config
    offered = [each for each in configurations(call_of(problem), HOPPER) if (each.BM, each.BN) == (128, 256)]
    assert {each.tail_split for each in offered} == {1, 8, 16}


def test_a_tile_computed_together_has_a_work_group_for_each_part_of_k() -> None:
    problem = Gemm(64, 2048, 7168, "float16", "row", "column")
    config = WgmmaConfig(64, 128, 8, 1, 1, tail_split=8)
    found = plan([replace(FP16, config=config)], problem, HOPPER)
    assert config.ndrange(problem).global_size == (256, 16, 8)
    assert found.zeroed == {"semaphores"}
    assert found.scratch == {"partial": 16 * 8 * 64 * 128 * 4, "semaphores": 16 * 4}


def test_work_groups_are_counted_by_tiles_where_each_has_one() -> None:
    config = WgmmaConfig(128, 256, 4)
    assert config.ndrange(Gemm(2048, 2048, 64, "float16")).global_size == (16 * 384, 8, 1)
    assert config.ndrange(Gemm(4096, 4096, 64, "float16")).global_size == (132 * 384,)


def test_tiles_are_computed_together_only_by_work_groups_that_run_at_a_time() -> None:
    config = WgmmaConfig(64, 128, 8, 1, 1, tail_split=9)
    assert says(reasons(Gemm(64, 2048, 7168, "float16"), config), 132)
    assert says(reasons(Gemm(64, 128, 512, "float16"), config), 9)
    assert not config.staged(call_of(Gemm(64, 128, 7168, "float16")))
    large = replace(config, groups=200)
    assert says(reasons(Gemm(64, 2048, 7168, "float16"), large), 200, 132)
    assert says(reasons(Gemm(9, 9, 2**30, "float16"), replace(config, tail_split=132)), "132", "1,073,741,824")
    assert says(reasons(Gemm(2**31 - 1, 64, 64, "float16"), WgmmaConfig(128, 64, 8)), "2,147,483,647")


def test_b_makes_room_in_cache_first_where_it_is_read_once() -> None:
    config = WgmmaConfig(64, 128, 8, 1, 1)
    assert config.loads_b_once(call_of(Gemm(64, 7168, 16384, "float16")))
    assert not config.loads_b_once(call_of(Gemm(64, 7168, 2112, "float16")))  # the cache holds it until the next call
    assert not config.loads_b_once(call_of(Gemm(8192, 7168, 16384, "float16")))  # later rows of tiles want it again


def test_c_is_stored_by_the_copy_engine_where_more_tiles_follow() -> None:
    config = WgmmaConfig(128, 256, 4)
    large, small = call_of(Gemm(8192, 8192, 64, "float16")), call_of(Gemm(2048, 2048, 64, "float16"))
    assert config.stores_by_tma(large)
    assert not config.staged(large)
    assert config.staged(small) == 16
    assert not config.stores_by_tma(small)


def test_c_is_stored_by_words_where_its_rows_begin_anywhere() -> None:
    config = WgmmaConfig(128, 256, 4)
    for n, out_dtype in ((4095, None), (4095, "float32"), (100, None)):
        assert config.staged(call_of(Gemm(4096, n, 64, "float16", out_dtype=out_dtype))) == 4
    assert config.staged(call_of(Gemm(128, 130, 128, "int8"))) == 0  # bytes go by themselves


def test_c_is_stored_by_16_bytes_where_its_rows_are_aligned() -> None:
    assert rows_aligned(call_of(Gemm(100, 104, 64, "float16")))
    assert not rows_aligned(call_of(Gemm(100, 100, 64, "float16")))
    assert not rows_aligned(call_of(Gemm(128, 128, 128, "int8")))
    assert rows_aligned(call_of(Gemm(128, 128, 128, "int8", out_dtype="int32")))


def test_even_and_odd_rows_are_two_matrices_where_they_begin_apart() -> None:
    """Rows of 5000 halves are 312.5 times 32 bytes."""
    problem = Gemm(5000, 4096, 5000, "float16")
    config = WgmmaConfig(256, 128, 4, even_odd_rows=True)
    assert not list(config.violations(problem, HOPPER))
    call = config.oriented(problem)
    assert (call.m, call.batch, call.a, call.b.batch) == (2500, 2, Layout(0, 10000, 1, 5000), 0)
    assert (call.c, config.oriented(call)) == (Layout(0, 8192, 1, 4096), call)
    assert alignment(call, "A") == 32
    assert config.macros(problem)["ODD_ROW_LEAD"] == 8
    assert config.tensor_maps(problem)["map_a"].sizes == (5000, 2500, 2)
    assert "even_odd_rows=True" in str(kernels_of(wgmma, problem, HOPPER)[0].config)


def test_cuts_and_scratch_are_those_of_the_divided_product() -> None:
    problem = Gemm(300, 4096, 5000, "float16")
    assert any(each.even_odd_rows and each.tail_split > 1 for each in configurations(call_of(problem), HOPPER))
    odd = Gemm(300, 4095, 5000, "float16")
    found = plan([replace(FP16, config=WgmmaConfig(128, 256, 4, pack="B", even_odd_rows=True))], odd, HOPPER)
    assert found.scratch == {"packed_B": 5000 * 4096 * 2}


def test_b_along_k_begins_early_with_odd_rows_of_a() -> None:
    views = (Layout(0, 5000, 1), Layout(0, 1, 5056), Layout(0, 4096, 1))
    problem = StridedGemm(5000, 4096, 5000, "float16", views=views)
    config = WgmmaConfig(256, 128, 4)
    assert alignment(config.oriented(problem), "B") == 128
    assert alignment(replace(config, even_odd_rows=True).oriented(problem), "B") == 16


def test_rows_that_cannot_be_two_matrices_are_refused() -> None:
    config = WgmmaConfig(128, 256, 4, even_odd_rows=True)
    assert says(reasons(Gemm(512, 512, 5000, "float16", batch=0), config), 512, 0)
    assert says(reasons(Gemm(5001, 512, 5000, "float16"), config), 5001, 1)
    assert not reasons(Gemm(5000, 512, 5000, "float16"), config)
    assert says(reasons(Gemm(200, 512, 5000, "float16", batch=3), config), 200, 3)
    assert says(reasons(Gemm(5000, 512, 5008, "float16"), config), 10016, 32)
    assert reasons(Gemm(5000, 512, 5000, "float16", "column"), config)
    assert reasons(Gemm(5000, 512, 5000, "float16"), replace(config, pack="A"))
    views = (Layout(0, 5000, 1), Layout(0, 512, 1), Layout(0, 512, 1))
    biased = StridedGemm(5000, 512, 5000, "float16", views=views, bias="column")
    assert reasons(biased, config)
    assert not reasons(replace(biased, bias="row"), config)


def test_of_a_narrow_operand_only_rows_that_exist_are_fetched() -> None:
    for m, rows in ((1, 8), (8, 8), (9, 16), (64, 64), (65, 64), (500, 64)):
        call = call_of(Gemm(m, 4096, 4096, "float16"))
        assert loaded_rows(call, "A", 64) == rows
        assert WgmmaConfig(64, 64, 12).tensor_maps(call)["map_a"].box == (64, rows, 1)
    across = call_of(Gemm(8, 4096, 4096, "float16", a_order="column"))
    assert loaded_rows(across, "A", 256) == 64  # a box across k is a square
    assert WgmmaConfig(256, 64, 4).tensor_maps(across)["map_a"].box == (64, 64, 1)


def test_the_last_rows_have_a_map_of_their_own_where_many_are_missing() -> None:
    for m, left in ((128, 0), (129, 8), (150, 24), (224, 96), (225, 0), (256, 0), (100, 0)):
        call = call_of(Gemm(m, 4096, 4096, "float16"))
        config = WgmmaConfig(128, 64, 8)
        assert edge_rows(call, "A", 128) == left
        assert config.macros(call)["A_EDGED"] == (left > 0)
        assert config.tensor_maps(call)["edge_a"].box == (64, left or loaded_rows(call, "A", 128), 1)
    assert edge_rows(call_of(Gemm(64, 4104, 4096, "float16")), "B", 256) == 64  # of B across k, one box of four


def test_halves_of_few_rows_are_multiplied_by_tensor_cores_and_those_of_two_at_memory_speed() -> None:
    for m in (3, 8, 16):
        assert plan_product(Gemm(m, 4096, 4096, "float16"), HOPPER).steps[-1].kernel.source.parent.name == "wgmma"
    for m in (1, 2):
        assert plan_product(Gemm(m, 4096, 4096, "float16"), HOPPER).steps[-1].kernel.source.parent.name == "gemv"


CUDA = replace(HOPPER, features=HOPPER.features | {"clusters"})  # as CUDA launches it


def test_clusters_are_for_cuda_and_for_lines_that_straddle() -> None:
    def clusters(n: int, device: DeviceInfo) -> set[int]:
        return {each.cluster for each in configurations(call_of(Gemm(n, n, n, "float16")), device)}

    assert clusters(5000, CUDA) == {1, 2}
    assert clusters(5000, HOPPER) == clusters(5120, CUDA) == {1}
    config = replace(wgmma.shapes("float16")[0], CLUSTER_M=2)
    assert says(reasons(Gemm(5000, 5000, 5000, "float16"), config), "clusters")
    chosen = plan_product(Gemm(5000, 5000, 5000, "float16"), CUDA).steps
    assert len(chosen) == 1
    assert isinstance(chosen[0].config, WgmmaConfig)
    assert chosen[0].config.cluster == 2


def test_symmetric_products_have_no_clusters() -> None:
    a = Layout(0, 5000, 1)
    problem = StridedGemm(5000, 5000, 5000, "float16", views=(a, a.swapped, a), symmetric=True)
    assert {each.cluster for each in configurations(call_of(problem), CUDA)} == {1}


def test_clusters_at_the_edge_have_tiles_outside() -> None:
    call = call_of(Gemm(650, 1304, 648, "float16"))  # 6 x 6 tiles, the last ones partly outside
    for down, across, tiles in ((2, 1, 36), (1, 2, 36)):
        config = WgmmaConfig(128, 256, 4, CLUSTER_M=down, CLUSTER_N=across)
        assert config.tiles(call) == tiles
        ndrange = config.ndrange(call)
        assert ndrange.cluster == (down, across, 1)
        assert tuple(a // b for a, b in zip(ndrange.global_size, ndrange.local_size, strict=True)) == (6, 6, 1)
    few = WgmmaConfig(128, 256, 4, CLUSTER_M=2, groups=10)
    assert few.ndrange(replace(call, m=520)).cluster == (2,)
    assert few.tiles(replace(call, m=520)) == 36  # five rows of tiles and one outside
    assert few.scalars(call)["whole"] == 18  # counted by clusters


def test_work_groups_of_a_cluster_load_parts_of_whole_swizzle_units() -> None:
    call = call_of(Gemm(648, 296, 648, "float16", b_order="column"))
    config = WgmmaConfig(128, 256, 4, CLUSTER_M=2)
    maps, macros, scalars = config.tensor_maps(call), config.macros(call), config.scalars(call)
    assert (maps["map_b"].box, maps["edge_b"].box) == ((64, 128, 1), (64, 24, 1))  # 40 columns, as 48
    assert (maps["map_a"].box, maps["edge_a"].box) == ((64, 128, 1), (64, 8, 1))
    assert (scalars["b_rows"], macros["B_EDGED"], macros["A_EDGED"]) == (256, 1, 1)


def test_a_cluster_is_refused_where_one_of_its_work_groups_would_hold_the_other_up() -> None:
    lone = WgmmaConfig(64, 192, 6, 1, 1, CLUSTER_M=2)
    assert "the other work-group waits" in "; ".join(lone.violations(Gemm(4224, 4112, 160, "float16", "column"), CUDA))
    assert not any(lone.violations(Gemm(1000, 1000, 1000, "float16"), CUDA))  # a tile for each
    once = Gemm(208, 7624, 7800, "float16")
    assert "B is loaded once" in "; ".join(WgmmaConfig(128, 256, 4, CLUSTER_M=2).violations(once, CUDA))
    assert not any(WgmmaConfig(256, 128, 4, CLUSTER_N=2).violations(once, CUDA))
