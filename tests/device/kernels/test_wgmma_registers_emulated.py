"""How wgmma/main_loop.cl multiplies an operand from registers, with the instructions put into plain OpenCL C: one warpgroup's
part of a tile, from what TMA left in local memory to C."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulation import WGMMA, emulated_text

from tilewright.core.kernel import Dialect, NDRange, render
from tilewright.core.problem import Gemm
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.wgmma.config import WgmmaConfig
from tilewright.kernels.product.wgmma.kernels import KERNELS
from tilewright.runtime.opencl.device import Device

TF32 = next(each for each in KERNELS if each.precision == "tf32")
STAGES, BK = 2, 32
ALPHA, BETA = 2, -1
ENTRY = r"""
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void gemm(const __global float* fetched, const int steps, const int M, const int N, const ACC alpha, const ACC beta,
          __global RESULT* C, const long c_row)
{
    __local float local_tiles[STAGES * STAGE_BYTES / 4] __attribute__((aligned(1024)));
    __local uchar slots[4 / SLAB_WARPS * SLOTS_BYTES] __attribute__((aligned(1024)));
    __local uint words[128 * 4];
    const int item = get_local_id(0);
    for (int i = item; i < STAGES * STAGE_BYTES / 4; i += 128)
        local_tiles[i] = fetched[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const __local uchar* tiles = (const __local uchar*)local_tiles;
    COMPONENT sums[BLOCKS][WN / 2];
    const PipelineState state = {0, 0};
    const Ring ring = {0, 0, 0};
    multiply(words, tiles, sums, state, steps, tiles + REGISTER_B * A_TILE, REGISTER_A * A_TILE, ring, item);
    const Part part = {0, 0, 0, M, N};
    store_part(sums, part, alpha, beta, 0, C, c_row, C, 0, 0, slots + item / 32 / SLAB_WARPS * SLOTS_BYTES, 0, item);
}
"""
EDITS = (
    ("INLINE void start_half(", "INLINE void start_half(__local uint* words, const __local uchar* tiles, "),
    ("        start_half(", "        start_half(words, tiles, "),
    (
        "INLINE PipelineState multiply(",
        "INLINE PipelineState multiply(__local uint* words, const __local uchar* tiles, ",
    ),
)


class OneWarpgroup(WgmmaConfig):
    """A tile that one warpgroup multiplies."""

    def ndrange(self, problem: object) -> NDRange:
        return NDRange((128,), (128,))


def swizzled(lines: np.ndarray) -> np.ndarray:
    """Lines of 128 bytes as TMA leaves them: pieces of 16 exchanged within eight lines."""
    pieces = lines.reshape(-1, 8, 4)
    number = np.arange(len(pieces))[:, None] % 8
    return np.take_along_axis(pieces, (np.arange(8) ^ number)[:, :, None], 1).reshape(lines.shape)


def fetched_tile(side: np.ndarray, across: bool) -> np.ndarray:
    """The stages of an operand, given by its rows across k: boxes of 32 of them, or rows of k."""
    stages = [side[:, k : k + BK] for k in range(0, side.shape[1], BK)]
    if across:
        stages = [np.concatenate([stage[row : row + 32].T for row in range(0, len(stage), 32)]) for stage in stages]
    return np.stack([swizzled(np.ascontiguousarray(stage)) for stage in stages])


@pytest.mark.parametrize(("rows", "columns", "short"), [(128, 64, 4), (128, 32, 5), (64, 64, 2), (64, 32, 4)])
@pytest.mark.parametrize("held", ["A", "B"])
def test_a_part_of_a_tile(held: str, rows: int, columns: int, short: int, device: Device, tmp_path: Path) -> None:
    """`rows` and `columns` are those of its sums: with B held they are columns and rows of C. Rows of C are shorter."""
    bm, bn = (rows, columns) if held == "A" else (columns, rows)
    m, n, k = bm - 3, bn - short, STAGES * BK
    config = OneWarpgroup(bm, bn, STAGES, 1, 1, register_operand=held)
    problem = Gemm(m, n, k, a_order="column" if held == "A" else "row", b_order="row" if held == "B" else "column", alpha=ALPHA,
                   beta=BETA, precision="tf32")  # fmt: skip
    random = np.random.default_rng(1)
    a, b = (random.integers(-9, 10, (side, k)).astype(np.float32) for side in (bm, bn))
    c = random.integers(-9, 10, (m, n)).astype(np.float32)
    tiles = np.concatenate([fetched_tile(a, held == "A"), fetched_tile(b, held == "B")], axis=1)
    got = run(config, problem, tiles, c, device, tmp_path)
    assert (got == ALPHA * (a @ b.T)[:m, :n] + BETA * c).all()


def run(
    config: WgmmaConfig, problem: Gemm, tiles: np.ndarray, c: np.ndarray, device: Device, folder: Path
) -> np.ndarray:
    path = folder / "main_loop.cl"
    path.write_text(emulated_text(TF32, WGMMA, EDITS) + ENTRY)
    own = replace(TF32, source=path, config=config, requires=(), target="")
    source = render(own, config, call_of(problem), Dialect.OPENCL)
    program = device.build(source, own.name, own.signature, "float32")
    bound, buffers = program.new_kernel(), [device.allocate(each.nbytes) for each in (tiles, c)]
    for buffer, values in zip(buffers, (tiles, c), strict=True):
        device.write(buffer, values)
    m, n = c.shape
    scalars = (np.int32(STAGES), np.int32(m), np.int32(n), np.float32(ALPHA), np.float32(BETA))
    for number, value in enumerate((buffers[0], *scalars, buffers[1], np.int64(n))):
        bound.set_arg(number, value)
    device.launch(bound, config.ndrange(problem), own.name)
    device.finish(own.name)
    return device.read(buffers[1], m * n, np.dtype(np.float32)).reshape(m, n)
