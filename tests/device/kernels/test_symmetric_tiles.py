"""Symmetric products by the kernels for GPUs, on every driver: tiles of a triangle, and the mirror image."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from emulation import MMA_TMA, NO_MAPS, emulated_text
from symmetric_products import check_symmetric, symmetric

from tilewright.core.includes import with_includes
from tilewright.core.kernel import KERNELS, PRELUDE, NDRange
from tilewright.core.problem import Problem
from tilewright.core.source import parse_signature, read_source
from tilewright.kernels.product.mma.config_tma import MmaTmaConfig
from tilewright.kernels.product.mma.kernels import FP64_TMA
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.kernels import TILES
from tilewright.kernels.product.symmetric import TRIANGLE
from tilewright.runtime.opencl.device import Device

WGMMA = KERNELS / "product" / "wgmma" / "triangle.cl"
# All work of all work-groups: row, column and matrix of a tile, the first step and how many.
RECORDER = """
__kernel void record(const int M, const int batches, const int whole, const int groups, const int steps, __global int* out)
{
    const int tiles_m = (M + BM - 1) / BM, tiles_n = (M + BN - 1) / BN;
    int at = 1;
    for (int group = 0; group < groups; group++) {
        const Grid grid = {tiles_m, tiles_n, steps, whole, tiles_m * tiles_n * batches - whole, group, groups};
        for (WorkTile work = first_work(grid); work.steps > 0; work = next_work(grid, work)) {
            const Origin place = origin_of(grid, work.tile);
            out[at++] = place.m, out[at++] = place.n, out[at++] = place.matrix;
            out[at++] = work.first, out[at++] = work.steps;
        }
    }
    out[0] = at;
}
"""


@pytest.mark.parametrize(("bm", "bn", "rows", "split"), [(128, 256, 16, 1), (192, 192, 10, 3), (256, 64, 8, 2)])
def test_each_step_of_each_tile_of_the_triangle_is_done_once(
    bm: int, bn: int, rows: int, split: int, one_device: Device
) -> None:
    """wgmma/triangle.cl, which stands on triangle.cl."""
    macros = {
        "BM": bm,
        "BN": bn,
        "GROUP_M": rows,
        "TAIL_SPLIT": split,
        "ONE_WAVE": 0,
        "ODD_ROW_LEAD": 0,
        "CLUSTER_M": 1,
        "CLUSTER_N": 1,
        "REAL": "float",
    }
    macros |= {"REAL_IS_INTEGER": 0, "REAL_IS_DOUBLE": 0}
    defines = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    replaced = {**TRIANGLE, "scheduler.cl": "triangle.cl"}
    text = "\n".join(
        (defines, read_source(PRELUDE / "opencl.cl"), with_includes(read_source(WGMMA), WGMMA, replaced), RECORDER)
    )
    program = one_device.build(text, "record", parse_signature(text, "triangle", "record"), "float32")
    kernel, steps = program.new_kernel(), 13
    for size in (100, 300, 1000, 2000, 4097):
        for batches in (1, 3):
            sides = -(-size // bm), -(-size // bn)
            tiles = {(i * bm, j * bn) for i in range(sides[0]) for j in range(sides[1]) if (i + 1) * bm > j * bn}
            count = len(tiles) * batches
            for units in (132, 7):
                groups = min(count * split, units)
                whole = count if split == 1 else count // groups * groups
                if (count - whole) * split > groups:
                    continue
                out = np.zeros(5 * count * split + 6, np.int32)
                buffer = one_device.allocate(out.nbytes)
                scalars = (size, batches, whole, groups, steps)
                for place, value in enumerate((*map(np.int32, scalars), buffer)):
                    kernel.set_arg(place, value)
                one_device.launch(kernel, NDRange((1,), (1,)), "record")
                found = one_device.read(buffer, out.size, np.dtype(np.int32))
                done: dict[tuple[int, ...], list[int]] = {}
                for row, column, matrix, first, length in found[1 : found[0]].reshape(-1, 5).tolist():
                    done.setdefault((matrix, row, column), []).extend(range(first, first + length))
                assert done.keys() == {(matrix, *tile) for matrix in range(batches) for tile in tiles}
                assert all(sorted(each) == list(range(steps)) for each in done.values())


@pytest.mark.parametrize(
    "config",
    [
        PortableConfig(64, 64, 16, 4, 4),
        PortableConfig(16, 64, 32, 4, 4, 2, 16, SLICED_K=4),
        PortableConfig(64, 32, 32, 8, 4, SLICED_K=4, GROUP_M=1),
        PortableConfig(32, 32, 16, 4, 4, split_k=2),  # its sums are added up by a launch, for which all tiles are there
    ],
    ids=str,
)
def test_any_gpu(config: PortableConfig, device: Device) -> None:
    kernel = replace(TILES, config=config)
    check_symmetric(kernel, symmetric(130, 50, batch=3), device)
    check_symmetric(kernel, symmetric(217, 33, order="column"), device)
    check_symmetric(kernel, symmetric(65, 70, "int64"), device)
    check_symmetric(kernel, symmetric(33, 70, "float64"), device)
    check_symmetric(
        kernel, symmetric(300, 40, "uint8"), device
    )  # four elements in a word of a tile of the mirror image, and two
    check_symmetric(kernel, symmetric(261, 40, "float16", order="column"), device)


def test_one_copy_of_an_operand_that_is_packed(device: Device) -> None:
    check_symmetric(replace(TILES, config=PortableConfig(32, 32, 16, 4, 4, pack=True)), symmetric(131, 51), device)


@dataclass(frozen=True)
class InStep(MmaTmaConfig):
    """main_loop_tma.cl without the warps that fetch."""

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((self.work_groups(self.oriented(problem)) * self.items,), (self.items,))

    def tensor_maps(self, problem: Problem) -> dict[str, object]:  # type: ignore[override]
        return {}


def test_stream_k_of_a_triangle(device: Device, tmp_path: Path) -> None:
    """mma/main_loop_tma.cl with its instructions put into plain OpenCL C, as test_mma_tma_emulated.py does."""
    edits = (
        *NO_MAPS,
        ("INLINE int arrives_last(volatile", "INLINE int arrives_last(__local double* held, volatile"),
        ("(arrives_last(semaphores", "(arrives_last(held, semaphores"),
        ("shfl_sync_idx(arrived, 0)", "of_first(held, arrived)"),
        ("    __local uchar stages[", "    __local double held[ITEMS * 6];\n    __local uchar stages["),
        ("        int stage = 0;\n        uint parity = 0,",
         "        Work ahead = before_work(whole, tiles, steps);\n        int stage = 0;\n        uint parity = 0,"),
    )  # fmt: skip
    path = tmp_path / FP64_TMA.source.name
    path.write_text(emulated_text(FP64_TMA, MMA_TMA, edits, TRIANGLE))
    kernel = replace(FP64_TMA, source=path, requires=(), target="")
    config = InStep(64, 64, 2, 4, 2, GROUP_M=2, groups=7, stream_k=True)
    check_symmetric(replace(kernel, config=config), symmetric(260, 150, "float64"), device)
    narrow = InStep(128, 64, 4, 2, 2, GROUP_M=2, groups=3)
    check_symmetric(replace(kernel, config=narrow), symmetric(300, 20, "float64", batch=2), device)
