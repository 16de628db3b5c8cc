"""The exact products on Hopper without a device: tensor maps, refusals, packing, tiles that are shared out, and the choice."""

from dataclasses import replace

import pytest
from devices import HOPPER
from families import kernels_of
from says import says

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Kernel, render
from tilewright.core.operands import Layout
from tilewright.core.plan import Plan, plan_kernel
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.core.tensor_map import TensorMap
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.cuda_cores_tma import search as cuda_cores_tma
from tilewright.kernels.product.cuda_cores_tma.config import EXCHANGED, LOCAL_BYTES, CudaCoresConfig, tensor_map
from tilewright.kernels.product.cuda_cores_tma.kernels import PRODUCT
from tilewright.kernels.product.cuda_cores_tma.search import SPACE

FEATURES = ("gpu", "nvidia", "tma", "wgmma")
ORDERS = [(a, b) for a in ("row", "column") for b in ("row", "column")]


def hopper(*without: str) -> DeviceInfo:
    return replace(HOPPER, features=HOPPER.features - set(without))


def in_config(config: CudaCoresConfig) -> Kernel:
    return replace(PRODUCT, config=config)


def planned(problem: Gemm, config: CudaCoresConfig) -> Plan:
    return plan_kernel(in_config(config), problem, hopper())


def reasons(problem: Gemm, config: CudaCoresConfig) -> str:
    return "; ".join(config.violations(problem, hopper()))


def test_operands_across_k_are_fetched_whole_and_others_by_boxes() -> None:
    call = call_of(Gemm(300, 520, 332, a_order="row", b_order="row"))
    assert tensor_map("A", call, 256, 16) == TensorMap("float32", (332, 300, 1), (1328, 398400), (16, 256, 1), 64)
    assert tensor_map("B", call, 128, 16) == TensorMap("float32", (520, 332, 1), (2080, 690560), (128, 16, 1), 0)


def test_code_that_no_launch_needs_is_left_out() -> None:
    problem, config = Gemm(512, 512, 512), CudaCoresConfig(256, 128)
    macros = config.macros(problem)
    assert macros["WITH_C"] == macros["STREAM_K"] == 0
    for beta in (1, -0.5, float("nan")):
        assert config.macros(replace(problem, beta=beta))["WITH_C"] == 1
    assert replace(config, stream_k=True).macros(problem)["STREAM_K"] == 1


def test_a_batch_is_the_third_dimension() -> None:
    call = call_of(Gemm(64, 64, 64, batch=5))
    assert tensor_map("A", call, 64, 16).sizes == (64, 64, 5)
    lone = replace(call, views=(replace(call.a, batch=0), call.b, call.c))
    assert tensor_map("A", lone, 64, 16).sizes == (64, 64, 1)
    assert CudaCoresConfig(256, 128).macros(lone)["A_BATCHED"] == 0


@pytest.mark.parametrize(("a_order", "b_order"), ORDERS)
@pytest.mark.parametrize("config", SPACE, ids=str)
def test_stages_fit_into_local_memory(config: CudaCoresConfig, a_order: str, b_order: str) -> None:
    problem = Gemm(1024, 1024, 1024, "float32", a_order, b_order)
    if reasons(problem, config):
        assert config.stages(call_of(problem)) < 3 or "slices exchange" in reasons(problem, config)
        return
    call = call_of(problem)
    assert config.stages(call) >= 3
    assert config.stages(call) * config.stage_bytes(call) <= LOCAL_BYTES
    if config.SLICED_K > 1:
        assert config.stages(call) * config.stage_bytes(call) >= EXCHANGED
    assert f"#define TRANSPOSE_A {int(a_order == 'row')}\n" in render(PRODUCT, config, call)


def test_every_order_has_a_tile_of_each_shape() -> None:
    for a_order, b_order in ORDERS:
        problem = Gemm(1024, 1024, 1024, "float32", a_order, b_order)
        usable = {(each.BM, each.BN) for each in SPACE if not reasons(problem, each)}
        assert usable >= {(256, 128), (128, 256), (128, 128), (128, 64), (64, 128)}


def test_what_the_copy_engine_cannot_read_is_refused_or_packed() -> None:
    ragged, plain, packing = Gemm(301, 523, 331), CudaCoresConfig(256, 128), CudaCoresConfig(256, 128, pack=True)
    assert says(reasons(ragged, plain), "A", 16, 1324)
    assert says(reasons(ragged, plain), "B", 16, 2092)
    names = [step.kernel.name for step in planned(ragged, packing).steps]
    assert names == ["product/pack", "cuda_cores_tma/main_loop"]
    assert says(reasons(Gemm(300, 520, 332), packing), "A", "B")
    scattered = StridedGemm(64, 64, 64, views=(Layout(0, 200, 2), Layout(0, 64, 1), Layout(0, 64, 1)))
    assert says(reasons(scattered, plain), "A", "200, 2")
    shifted = StridedGemm(64, 64, 64, views=(Layout(2, 64, 1), Layout(0, 64, 1), Layout(0, 64, 1)))
    assert says(reasons(shifted, plain), "A", 16, 8)
    assert "K=0" in reasons(Gemm(64, 64, 0), plain)


def test_wrong_geometry_is_refused_with_its_numbers() -> None:
    problem = Gemm(512, 512, 512)
    assert says(reasons(problem, CudaCoresConfig(256, 128, 2)), 2, "256x128", 8, "64x64")
    assert says(reasons(problem, CudaCoresConfig(256, 128, DEPTH=8)), 8, 16)
    assert says(reasons(problem, CudaCoresConfig(256, 128, groups=4, stream_k=True)), 8, 4)


def test_operands_along_k_are_turned_before_if_asked_for() -> None:
    problem = Gemm(4096, 4096, 4096, b_order="column")
    turning = CudaCoresConfig(256, 128, transpose=True)
    steps = planned(problem, turning).steps
    assert [step.kernel.source.parent.name for step in steps] == ["copy", "copy", "cuda_cores_tma"]
    assert [dict(step.buffers)["output"] for step in steps[:-1]] == ["packed_A", "packed_B"]
    macros = turning.macros(problem)
    assert (macros["TRANSPOSE_A"], macros["TRANSPOSE_B"], macros["CONSUMER_REGISTERS"]) == (0, 0, 224)
    (move, _) = planned(Gemm(4096, 4096, 4096), turning).steps
    assert dict(move.buffers)["output"] == "packed_A"
    assert reasons(Gemm(4096, 4096, 4096, a_order="column"), turning)
    assert reasons(Gemm(4097, 4097, 4097), turning), "packing does it"
    small = replace(hopper(), global_bytes=2**29)
    assert says("; ".join(turning.violations(problem, small)), "134,217,728", "1/8")


def test_a_side_of_512_is_fetched_by_two_boxes() -> None:
    call = call_of(Gemm(64, 4096, 1024))
    assert tensor_map("B", call, 512, 16).box == (256, 16, 1)
    assert tensor_map("A", call_of(Gemm(4096, 64, 1024)), 512, 16).box == (16, 256, 1)
    assert "boxes" not in reasons(call, CudaCoresConfig(64, 512))


def test_few_tiles_are_cut_evenly_so_that_nobody_has_parts_of_two() -> None:
    thin = call_of(Gemm(128, 4096, 4096))
    assert CudaCoresConfig(128, 256, stream_k=True).work_groups(thin) == 128  # 16 tiles in 8 parts of 32 stages
    assert (
        CudaCoresConfig(128, 256, stream_k=True, groups=100).work_groups(thin) == 100
    )  # 6 parts would take 43 stages, not 41
    sliced = CudaCoresConfig(64, 128, 4, stream_k=True)
    assert (sliced.work_groups(thin), sliced.full_wave_tiles(thin)) == (128, 0)
    assert not reasons(thin, sliced)
    assert says(reasons(Gemm(1024, 1024, 1024), sliced), 128), "128 tiles for 132 work-groups"
    assert CudaCoresConfig(64, 64, 8, 8, stream_k=True).work_groups(call_of(Gemm(64, 64, 128))) == 2  # of one stage


def test_too_few_stages_are_not_shared_out() -> None:
    config = CudaCoresConfig(128, 256, stream_k=True)
    assert says(reasons(Gemm(128 * 133, 256, 32), config), 2, 132)
    assert not reasons(Gemm(128 * 133, 256, 16 * 132), config)


def test_what_is_left_after_whole_rounds_is_shared_out() -> None:
    problem = Gemm(4096, 4096, 4096)
    config = CudaCoresConfig(256, 128, stream_k=True)
    call = call_of(problem)
    assert (config.tiles(call), config.work_groups(call), config.full_wave_tiles(call)) == (512, 132, 396)
    (step,) = planned(problem, config).steps
    assert dict(step.scratch) == {"partial": 4 * (132 + 116) * 256 * 128, "semaphores": 4 * 116}
    assert step.zeroed == ("semaphores",)
    (alone,) = planned(problem, replace(config, stream_k=False)).steps
    assert alone.scratch == ()
    assert alone.config.scalars(alone.problem) == {"whole": 512, "tiles": 512}


def test_the_library_takes_it_where_it_should_beat_the_portable_kernels() -> None:
    best = kernels_of(cuda_cores_tma, Gemm(8192, 8192, 8192), hopper())[0].config
    assert isinstance(best, CudaCoresConfig)
    assert best.stream_k
    assert best.BM * best.BN == 256 * 128
    assert all(each.config.pack for each in kernels_of(cuda_cores_tma, Gemm(4097, 4097, 4097), hopper()))  # type: ignore[attr-defined]
    assert plan_product(Gemm(16, 4096, 4096), hopper()).steps[-1].kernel.source != PRODUCT.source
    assert kernels_of(cuda_cores_tma, Gemm(4096, 4096, 4096), hopper("tma")) == ()
    assert kernels_of(cuda_cores_tma, Gemm(4096, 4096, 4096, "float64"), hopper()) == ()
    assert kernels_of(cuda_cores_tma, Gemm(4096, 4096, 4096, precision="tf32"), hopper()) == ()


def test_a_product_too_small_for_halves_to_gain_comes_here() -> None:
    plan = plan_product(Gemm(512, 512, 8192, precision="fp32_split"), hopper())
    assert [step.kernel.name for step in plan.steps if step.kernel.precision] == []
    assert plan.steps[-1].kernel.name == PRODUCT.name
    assert any(says(note, "float32") for note in plan.notes)


def test_parts_of_complex_numbers_are_rows_and_columns_of_sums() -> None:
    problem, config = Gemm(300, 520, 332, "complex64", "column"), CudaCoresConfig(256, 128)
    call = call_of(problem)
    assert tensor_map("A", call, 256, 16) == TensorMap("float32", (600, 332, 1), (2400, 796800), (256, 16, 1), 0)
    assert config.tiles(call) == 3 * 9
    assert replace(config, groups=132, stream_k=True).partial_bytes(call) == 4 * (132 + 27) * 256 * 128 // 2
    assert config.macros(problem)["C_VEC"] == 2
    assert "A lies along k" in reasons(replace(problem, a_order="row"), config)
    packed = planned(replace(problem, a_order="row"), replace(config, pack=True))
    assert [step.kernel.name for step in packed.steps][-1] == "cuda_cores_tma/main_loop"
    assert packed.scratch == {"packed_A": 332 * 320 * 8}


def test_copies_of_complex_operands_take_no_more_than_their_part_of_memory() -> None:
    problem, small = Gemm(8192, 64, 8192, "complex64"), replace(hopper(), global_bytes=2**30)
    assert says("; ".join(CudaCoresConfig(256, 128, pack=True).violations(problem, small)), "536,870,912", "1/8")
    assert says(reasons(Gemm(2**30 + 8, 64, 1, "complex64", "column"), CudaCoresConfig(256, 128)), "complex64")
