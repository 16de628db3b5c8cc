"""Products by wgmma without a device: which configurations are offered, what speaks against others, what is launched."""

from dataclasses import replace

import pytest

from tilewright.device import DeviceInfo
from tilewright.errors import Unsupported
from tilewright.kernels.gemm.call import call_of
from tilewright.kernels.wgmma.configs import WgmmaConfig, stores_by_tma
from tilewright.kernels.wgmma.product import KERNELS, SPACE, candidates
from tilewright.plan import plan, violations
from tilewright.problem import Gemm, Layout, StridedGemm

HOPPER = DeviceInfo(
    "a Hopper GPU", "NVIDIA CUDA", kind="gpu", compute_units=132, local_bytes=49152, static_local_bytes=232448,
    max_work_group_size=1024, max_work_item_sizes=(1024, 1024, 64),
    features=frozenset(("gpu", "nvidia", "tma", "wgmma")),
)  # fmt: skip
HALVES = next(each for each in KERNELS if each.dtypes == ("float16",))


def reasons(problem: Gemm, config: WgmmaConfig) -> str:
    return "; ".join(violations(replace(HALVES, config=config), config, problem, HOPPER))


def test_nothing_is_offered_without_the_instructions() -> None:
    older = replace(HOPPER, features=frozenset(("gpu", "nvidia", "mma")))
    assert candidates(Gemm(4096, 4096, 4096, "float16"), older) == ()


@pytest.mark.parametrize("dtype", ["float64", "int32", "float32", "complex64"])
def test_other_types_are_left_to_others(dtype: str) -> None:
    assert candidates(Gemm(4096, 4096, 4096, dtype), HOPPER) == ()


def test_large_products_get_the_largest_tiles() -> None:
    for problem in (Gemm(8192, 8192, 8192, "float16"), Gemm(8192, 8192, 8192, precision="tf32")):
        first = plan(candidates(problem, HOPPER), problem, HOPPER).steps[-1].config
        assert isinstance(first, WgmmaConfig)
        assert first.BM * first.BN == 128 * 256


def test_every_tile_fits_into_local_memory_and_is_shared_out_evenly() -> None:
    problem = Gemm(4096, 4096, 4096, "float16", "row", "column", out_dtype="float32")
    for bm, bn, stages, rows, columns in SPACE:
        config = WgmmaConfig(bm, bn, stages, rows, columns)
        assert config.local_bytes(problem) <= HOPPER.static_local_bytes
        assert bm % (64 * rows) == 0
        assert bn % (64 * columns) == 0
        assert bm // rows // 64 * bn // columns // 2 <= 128  # registers of a sum


def test_operands_that_cannot_be_fetched_are_refused_with_their_numbers() -> None:
    tile = WgmmaConfig(128, 256, 4)
    assert "not 2002" in reasons(Gemm(1001, 1001, 1001, "float16"), tile)
    assert "K=0" in reasons(Gemm(8, 8, 0, "float16"), tile)
    strided = StridedGemm(64, 64, 64, "float16", views=(Layout(0, 128, 2), Layout(0, 64, 1), Layout(0, 64, 1)))
    assert "strides 128, 2" in reasons(strided, tile)
    assert "none is left" in reasons(Gemm(128 * 132, 256, 64, "float16"), replace(tile, shared=True))
    assert "gains nothing" in reasons(Gemm(128, 256, 64, "float16"), replace(tile, pack=True))


def test_bytes_are_multiplied_along_k_alone() -> None:
    bytes_ = next(each for each in KERNELS if each.dtypes == ("int8",))
    problem = Gemm(4096, 4096, 4096, "int8", out_dtype="int32")
    with pytest.raises(Unsupported, match="only along k, and B lies across it"):
        plan([bytes_], problem, HOPPER)
    steps = plan(candidates(problem, HOPPER), problem, HOPPER).steps
    assert [step.problem.operation for step in steps] == ["move", "gemm"]
    assert dict(steps[0].buffers) == {"input": "B", "output": "packed_B"}


def test_shared_tiles_get_room_and_counters_that_start_at_zero() -> None:
    problem = Gemm(64, 2112, 7168, "float16", "row", "column")
    found = plan([replace(HALVES, config=WgmmaConfig(64, 128, 8, 1, 1, shared=True))], problem, HOPPER)
    assert found.zeroed == {"tickets"}
    assert found.scratch == {"partial": 2 * 132 * 64 * 128 * 4, "tickets": 17 * 4}


def test_c_is_stored_by_the_copy_engine_where_its_rows_are_aligned() -> None:
    assert stores_by_tma(call_of(Gemm(100, 104, 64, "float16")))
    assert not stores_by_tma(call_of(Gemm(100, 100, 64, "float16")))
    assert not stores_by_tma(call_of(Gemm(128, 128, 128, "int8")))
    assert stores_by_tma(call_of(Gemm(128, 128, 128, "int8", out_dtype="int32")))
