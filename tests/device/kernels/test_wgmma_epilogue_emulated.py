"""What wgmma/main_loop.cl makes of sums, with the instructions put into plain OpenCL C: alpha, beta, bias, scales and an
activation, on tiles of whole lines and of parts of lines, to rows that begin at 16 bytes or anywhere."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from emulation import WGMMA, emulated_text
from strided_products import view

from tilewright.core.kernel import Dialect, Kernel, NDRange, render
from tilewright.core.operands import Layout
from tilewright.core.problem import StridedGemm
from tilewright.core.types import numpy_dtype
from tilewright.kernels.product.call import GemmCall
from tilewright.kernels.product.wgmma.config import WgmmaConfig
from tilewright.kernels.product.wgmma.kernels import KERNELS
from tilewright.kernels.product.wgmma.search import ONE_WAVE_SPACE
from tilewright.runtime.opencl.device import Device

PARTS_OF_LINES = [WgmmaConfig(*each) for each in ONE_WAVE_SPACE]
WHOLE_LINES = [WgmmaConfig(128, 192, 4), WgmmaConfig(64, 64, 12, 1, 1)]  # which are known to be right on a GPU
TWO_BLOCKS = [WgmmaConfig(128, 96, 4, 1, 1), WgmmaConfig(128, 128, 4, 1, 1)]  # of rows, in one warpgroup
ENTRY = r"""
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void gemm(const __global float* product, const int M, const int N, const ACC alpha, const ACC beta, __global RESULT* C,
          const long c_offset, const long c_row, const long c_batch, const __global RESULT* bias, const long bias_row,
          const long bias_column, const __global float* scale_a, const long scale_a_row, const __global float* scale_b,
          const long scale_b_column)
{
    __local uchar slots[4 / SLAB_WARPS * SLOTS_BYTES] __attribute__((aligned(1024)));
    __local uint words[128];
    const int item = get_local_id(0), matrix = get_group_id(2), columns = get_num_groups(1) * WN;
    const Part part = {(int)get_group_id(0) * BLOCKS * 64, (int)get_group_id(1) * WN, matrix, M, N};
    COMPONENT sums[BLOCKS][WN / 2];
    // As the PTX ISA draws the accumulators of wgmma.m64nNk16.
    for (int i = 0; i < BLOCKS * WN / 2; i++) {
        const int own = i % (WN / 2), column = part.n + own / 4 * 8 + item % 4 * 2 + own % 2;
        const int row = part.m + i / (WN / 2) * 64 + item / 32 * 16 + item % 32 / 4 + own / 2 % 2 * 8;
        sums[i / (WN / 2)][own] = product[((size_t)matrix * get_num_groups(0) * BLOCKS * 64 + row) * columns + column];
    }
#if SCALED
    scale_part(sums, part, scale_a, scale_a_row, scale_b, scale_b_column, item);
#endif
    store_part(words, sums, part, alpha, beta, 0, C + c_offset + matrix * c_batch, c_row, bias, bias_row, bias_column, slots, 0,
               item);
}
"""
EDITS = (
    ("INLINE void stage_slab(", "INLINE void stage_slab(local uint* words, "),
    ("        stage_slab(", "        stage_slab(words, "),
    ("INLINE void store_part(", "INLINE void store_part(local uint* words, "),
)


@dataclass(frozen=True)
class Case:
    """C and its epilogue. Its lines have gaps of `gap` elements, and the first one begins at element `offset`."""

    m: int
    n: int
    gap: int
    offset: int
    staged: int = 4  # bytes that a work-item stores at a time
    batch: int = 1
    alpha: float = 2
    beta: float = -3
    bias: str = "row"
    activation: str = "relu"
    scaled: bool = False
    order: str = "row"

    def problem(self, result: str) -> StridedGemm:
        by_rows = self.order == "row"
        pitch, lines = (self.n if by_rows else self.m) + self.gap, self.m if by_rows else self.n
        c = Layout(self.offset, *((pitch, 1) if by_rows else (1, pitch)), pitch * lines + self.gap)
        a, b = Layout(0, 64, 1, 64 * self.m), Layout(0, self.n, 1, 64 * self.n)
        scale = "each" if self.scaled else ""
        return StridedGemm(
            self.m, self.n, 64, "float16", alpha=self.alpha, beta=self.beta, out_dtype=result, batch=self.batch,
            views=(a, b, c), bias=self.bias, activation=self.activation, scale_a=scale, scale_b=scale,
        )  # fmt: skip


def sides(config: WgmmaConfig) -> str:
    return f"{config.BM}x{config.BN}"


CASES = {
    "rows on 16 bytes": Case(100, 520, 8, 8, staged=16),
    "rows anywhere": Case(100, 520, 9, 8),
}
MORE_CASES = {
    "ends of slabs": Case(197, 168, 0, 0, staged=16, batch=2, bias="column"),
    "odd ends": Case(197, 171, 4, 3, batch=2, bias="column"),
    "by columns": Case(168, 100, 8, 8, staged=16, order="column"),
    "by columns anywhere": Case(171, 100, 8, 1, order="column", bias="column"),
    "no alpha and no bias": Case(70, 328, 8, 0, staged=16, alpha=1, bias="", activation=""),
    "no C": Case(70, 331, 8, 0, beta=0),
    "scales": Case(131, 328, 8, 8, staged=16, scaled=True),
    "a corner": Case(1, 3, 2, 1),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("result", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("config", [*PARTS_OF_LINES, *WHOLE_LINES, *TWO_BLOCKS], ids=sides)
def test_the_epilogue(config: WgmmaConfig, result: str, case: Case, device: Device, tmp_path: Path) -> None:
    check(config, case, result, device, tmp_path)


@pytest.mark.parametrize("case", MORE_CASES.values(), ids=MORE_CASES)
@pytest.mark.parametrize("config", [*PARTS_OF_LINES, WHOLE_LINES[0]], ids=sides)
def test_every_way_of_an_epilogue(config: WgmmaConfig, case: Case, device: Device, tmp_path: Path) -> None:
    check(config, case, "float16", device, tmp_path)


def check(config: WgmmaConfig, case: Case, result: str, device: Device, folder: Path) -> None:
    """Every element is right to the bit, as all numbers are small, and what lies between rows of C is as it was, NaN."""
    random, problem = np.random.default_rng(1), case.problem(result)
    call = config.oriented(problem)
    assert config.staged(call) == case.staged
    kind, shape = numpy_dtype(call.result), (problem.batch, problem.m, problem.n)
    products, old = (random.integers(-9, 10, shape).astype(np.float64) for _ in range(2))
    bias = random.integers(-9, 10, problem.n if problem.bias == "row" else problem.m).astype(np.float64)
    scales = [2.0 ** random.integers(-1, 2, side) for side in (problem.m, problem.n)]
    memory = np.full(problem.batch * (problem.m + 16) * (problem.n + 16) + 1024, np.nan, np.float32).astype(kind)
    view(memory, problem.views[2], problem)[...] = old.astype(kind)
    sums = products * np.multiply.outer(*scales) if problem.scale_a else products
    expected = problem.alpha * sums + problem.beta * old
    if problem.bias:
        expected += bias if problem.bias == "row" else bias[:, None]
    after = memory.copy()
    finished = np.maximum(expected, 0) if problem.activation else expected
    view(after, problem.views[2], problem)[...] = finished.astype(kind)
    if call.is_transposed:
        products, scales = products.swapaxes(1, 2), scales[::-1]
    arrays = {"C": memory, "bias": bias.astype(kind)}
    arrays |= {"scale_a": scales[0].astype(np.float32), "scale_b": scales[1].astype(np.float32)}
    got = run(config, call, products, arrays, device, folder)
    assert got.tobytes() == after.tobytes()


def run(config: WgmmaConfig, call: GemmCall, products: np.ndarray, arrays: Mapping[str, np.ndarray], device: Device,
        folder: Path) -> np.ndarray:  # fmt: skip
    """What the memory of C holds after the epilogue of all warpgroups. Sums outside of C are NaN."""
    rows, columns = config.sums
    parts = (-(-call.m // rows), -(-call.n // columns))
    padded = np.full((call.batch, parts[0] * rows, parts[1] * columns), np.nan, np.float32)
    padded[:, : call.m, : call.n] = products
    kernel = emulated(config, folder)
    program = device.build(render(kernel, config, call, Dialect.OPENCL), kernel.name, kernel.signature, "float32")
    bound, held = program.new_kernel(), {**arrays, "product": padded}
    buffers = {name: device.allocate(each.nbytes) for name, each in held.items()}
    for name, each in held.items():
        device.write(buffers[name], each)
    kinds = {"int": np.int32, "long": np.int64, "float": np.float32, "ACC": np.float32}
    for number, argument in enumerate(kernel.signature.parameters):
        if argument.pointer:
            bound.set_arg(number, buffers[argument.name])
        else:
            bound.set_arg(number, np.asarray(call.scalars[argument.name], kinds[argument.ctype])[()])
    device.launch(bound, NDRange((128 * parts[0], parts[1], call.batch), (128, 1, 1)), kernel.name)
    device.finish(kernel.name)
    memory = arrays["C"]
    return device.read(buffers["C"], memory.size, memory.dtype)


def emulated(config: WgmmaConfig, folder: Path) -> Kernel:
    fp16 = next(each for each in KERNELS if each.dtypes == ("float16",))
    path = folder / "main_loop.cl"
    path.write_text(emulated_text(fp16, WGMMA, EDITS) + ENTRY)
    return replace(fp16, source=path, config=config, requires=(), target="")
