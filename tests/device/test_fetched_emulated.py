"""mma/main_loop_tma.cl on every driver, with Hopper's instructions put into plain OpenCL C: its schedule, edges and sums.

All warps go in step here, and a panel is copied when they wait for it: what the barriers of a stage protect is not seen.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from emulated_mma import EXCHANGE_AND_MULTIPLY

from tilewright.backend.opencl import Device
from tilewright.includes import with_includes
from tilewright.kernel import Kernel, NDRange
from tilewright.kernels.product.mma.config_tma import FetchedConfig
from tilewright.kernels.product.mma.kernels import FETCHED, FETCHED_COMPLEX
from tilewright.plan import plan
from tilewright.problem import Gemm, Problem
from tilewright.source import read_source
from tilewright.verify import verify

EMULATION = (
    EXCHANGE_AND_MULTIPLY
    + r"""
#define local_address(pointer) 0
#define mbarrier_init(barrier, count)
#define fence_mbarrier_init()
#define mbarrier_wait(barrier, parity)
#define mbarrier_arrive(barrier)
#define mbarrier_arrive_expect_tx(barrier, bytes)
#define cp_async_bulk_tensor_3d(to, map, x, y, z, barrier)
#define tensormap_address(map, address)
#define setmaxnreg_dec(registers)
#define setmaxnreg_inc(registers)
#define fence_proxy_async()
#define bar_warp_sync()
#define fence_acq_rel_gpu() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define shfl_sync_idx(value, lane) (value)

// What work-item 0 of the warp holds.
static inline uint of_first(__local double* held, uint value)
{
    if (get_local_id(0) % 32 == 0)
        held[get_local_id(0) / 32] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value = held[get_local_id(0) / 32];
    barrier(CLK_LOCAL_MEM_FENCE);
    return value;
}

// What the copy engine would put into a panel: lines of 16 doubles, whose pieces of two are exchanged within eight lines.
static inline void copy_panel(__local uchar* panel, const __global double* matrix, const int across, const int side,
                              const int parts, const int row, const int k, const int rows, const int depth, const int pitch)
{
    const int lines = 16 / parts;  // of a box that runs across k
    for (int i = get_local_id(0); i < side * 16; i += get_local_size(0)) {
        const int line = i / 16, place = i % 16, part = place % parts;
        const int r = row + (across ? line / lines * lines + place / parts : line);
        const int d = k + (across ? line % lines : place / parts);
        const double value = r < rows && d < depth ? matrix[(across ? d * pitch + r : r * pitch + d) * parts + part] : 0;
        ((__local double*)panel)[line * 16 + (place / 2 ^ line % 8) * 2 + place % 2] = value;
    }
}

#define FILL                                                                                                          \
    {                                                                                                                 \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        if (ahead.first == ahead.last)                                                                                \
            next_work(&ahead, whole, tiles, steps);                                                                   \
        if (ahead.first < ahead.last) {                                                                               \
            const int2 tile = tile_place(ahead.number % area, M, N) * (int2)(BM, BN);                                 \
            const size_t batch = ahead.number / area;                                                                 \
            copy_panel(stages + stage * STAGE_BYTES, A + a_offset + A_BATCHED * batch * M * K * PARTS, A_ACROSS, BM,  \
                       PARTS, tile.x, ahead.first * BK, M, K, A_ACROSS ? M : K);                                      \
            copy_panel(stages + stage * STAGE_BYTES + A_BYTES, B + b_offset + B_BATCHED * batch * N * K * PARTS,      \
                       B_ACROSS, BN, PARTS, tile.y, ahead.first * BK, N, K, B_ACROSS ? N : K);                        \
            ahead.first++;                                                                                            \
        }                                                                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
    }
"""
)
EDITS = (
    ("ITEMS + 128", "ITEMS"),
    ("INLINE int join(double* sum,", "INLINE int join(__local double* held, double* sum,"),
    ("join(sum[0][0],", "join(held, sum[0][0],"),
    ("shfl_sync_idx(drawn, 0)", "of_first(held, drawn)"),
    ("    __local uchar stages[", "    __local double held[ITEMS * 6];\n    __local uchar stages["),
    ("        int stage = 0;\n        uint parity = 0,",
     "        Work ahead = before_work(whole, tiles, steps);\n        int stage = 0;\n        uint parity = 0,"),
    ("mbarrier_wait(ring.full, parity);", "FILL"),
    ("mbarrier_wait(ring.full + 8 * stage, parity);", "FILL"),
    ("mma_sync_m16n8k8_f64(sum[i][j]", "exchange_and_multiply(held, sum[i][j]"),
    ("produce(ring, map_a, map_b, M, N, steps, whole, tiles);", ""),
    ("__global ulong* map_a, ", ""),
    ("__global ulong* map_b, ", ""),
    ("#pragma unroll 1\n", ""),
    ("#pragma unroll\n", ""),  # barriers in unrolled loops take drivers minutes
)  # fmt: skip


@dataclass(frozen=True)
class InStep(FetchedConfig):
    """Without the warps that fetch."""

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((self.work_groups(self.oriented(problem)) * self.items,), (self.items,))

    def tensor_maps(self, problem: Problem) -> dict[str, object]:  # type: ignore[override]
        return {}


SMALL = InStep(64, 64, 2, 4, 2, GROUP_M=2, groups=3)


def emulated(kernel: Kernel, folder: Path) -> Kernel:
    """The kernel in a file of its own, that needs no feature."""
    source = kernel.source
    text = EMULATION + with_includes(read_source(source), source, {})
    for old, new in EDITS:
        assert old in text, f"{source.name} has changed: {old!r} is no longer there"
        text = text.replace(old, new)
    fetching, kernel_begins = text.index("// Asks the copy engine"), text.index("__kernel")
    path = folder / source.name
    path.write_text(text[:fetching] + text[kernel_begins:])
    return replace(kernel, source=path, requires=(), target="")


def check(kernel: Kernel, config: InStep, problem: Gemm, device: Device, folder: Path) -> None:
    if not device.info.fp64:
        pytest.skip(f"{device.info.label} has no double precision")
    found = plan([replace(emulated(kernel, folder), config=config)], problem, device.info)
    verdict = verify(found, device)
    assert verdict.passed, (
        f"{config} {problem.title} {problem.a_order} {problem.b_order} on {device.info.label}: {verdict}"
    )


@pytest.mark.parametrize("b_order", ["row", "column"])
@pytest.mark.parametrize("a_order", ["row", "column"])
@pytest.mark.parametrize("kernel", [FETCHED, FETCHED_COMPLEX], ids=lambda kernel: kernel.name)
def test_layouts_and_edges(kernel: Kernel, a_order: str, b_order: str, device: Device, tmp_path: Path) -> None:
    problem = Gemm(70, 36, 34, kernel.dtypes[0], a_order, b_order, batch=2)
    check(kernel, SMALL, problem, device, tmp_path)


def test_tiles_that_are_shared_out(device: Device, tmp_path: Path) -> None:
    config = replace(SMALL, groups=5, shared=True)
    check(FETCHED, config, Gemm(64, 64, 400, "float64"), device, tmp_path)
    check(FETCHED, replace(config, STAGES=3), Gemm(130, 66, 100, "float64", c_order="column"), device, tmp_path)
    check(FETCHED_COMPLEX, replace(SMALL, groups=5, shared=True), Gemm(64, 40, 150, "complex128"), device, tmp_path)


def test_operands_that_are_packed(device: Device, tmp_path: Path) -> None:
    """They lie along k then, with room at the end of each row: here as many doubles as a panel takes."""
    found = replace(SMALL, pack=True)
    problem = Gemm(65, 33, 16, "float64", a_order="column", b_order="column")
    assert found.packed(found.orientation(problem)) == ("A",)
    check(FETCHED, found, problem, device, tmp_path)
