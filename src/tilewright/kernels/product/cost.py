"""What all estimates of a product's time share: a device's rates in clock cycles, bytes, and splits of K.

A cycle is one of 1.98 GHz, an H100's and an H200's. The constants of all families were fitted to 13,000 times of an H100: of 880
random products of float32, float64, complex64 and float16, and of 60 in each of three types that callers have
(measurement/sets.py), by up to 16 plans each, back to back in CUDA graphs. Costs then were within 9 to 18% of the times (the root
of the mean square of the logarithms), so that those of different families compare; the first choice took 5% longer than the best
of the plans. The constants were kept few: elsewhere they rank, they do not predict.
"""

from ...core.device import DeviceInfo
from ...core.kernel import round_up
from ...core.types import element_type
from .call import GemmCall, remembered
from .config import SplitKConfig
from .macros import elements
from .packing import copied
from .symmetric import mirror_bytes

SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)  # parts of K that are tried
LANES = 128  # multiply-adds that a compute unit starts per clock: NVIDIA's and AMD's 128, Intel's Xe cores 128
HOT = 40e6  # bytes that an H100's or H200's L2 mostly has from the call before
# Of which each compute unit gets so many in a cycle; and of more, from global memory: 12.8 on an H100, 18.4 on an H200.
HOT_BYTES, COLD_BYTES = 20, 15
COPY_BYTES = 11.5  # of what packing reads and writes, in a cycle of a compute unit
LAUNCH = 3500  # cycles that a launch in addition costs in a CUDA graph; in a loop of calls the host may take longer
FIXUP = 2850  # cycles until a tile's last work-group knows that the others have written their parts
FIXUP_BYTES = 19  # bytes per clock of those parts that one work-group reads
FIXUP_READ = 240  # cycles at least for each of them, which are read one after another
COPY_TILE = 64  # rows or columns of a matrix that is copied
ROUNDED_DOWN = 1 - 1e-9  # so that a floor stays one, although sums are rounded
L2_BYTES = 40  # bytes per clock and compute unit from L2


def slowness(dtype: str) -> float:
    """How many times longer one element's multiply-add takes than float32's."""
    kind = element_type(dtype)
    if kind.exact:
        return 6.0 if kind.component_bytes == 8 else 1.5  # four instructions for 32 bits make the product of 64
    complex_factor = 4.0 if kind.parts == 2 else 1.0
    return complex_factor * (2.0 if kind.component_bytes == 8 else 1.0)


def fixup_cycles(tile_elements: int, splits: int, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles to add up the splits of K: by a tile's last work-group, of so many elements, or by a launch if they are 0."""
    if splits == 1:
        return 0.0
    kind = elements(call.dtype)
    size = splits * kind.parts * kind.component_bytes
    if tile_elements:
        return FIXUP + max(tile_elements * size / FIXUP_BYTES, splits * FIXUP_READ)
    return LAUNCH + 2 * call.batch * call.m * call.n * size / (L2_BYTES * device.compute_units)


def splits_of(config: SplitKConfig, call: GemmCall) -> tuple[int, int]:
    """Into how many parts K is split, and how deep each is."""
    depth = config.chunk(call) or call.k
    return (-(-call.k // depth) if depth else 1), depth


def mirroring_cycles(call: GemmCall, device: DeviceInfo) -> float:
    """Cycles of the launch that mirrors a symmetric product, which no family counts: most kernels need it."""
    return LAUNCH + mirror_bytes(call) / (COPY_BYTES * device.compute_units)


def memory_cycles(call: GemmCall, device: DeviceInfo) -> float:
    """Cycles to read the operands once and write the result."""
    moved = moved_bytes(call)
    return moved / device.compute_units / (HOT_BYTES if moved < HOT else COLD_BYTES)


@remembered
def moved_bytes(call: GemmCall) -> int:
    """Bytes of the operands and of the result."""
    result = call.batch * call.m * call.n * element_type(call.result).itemsize
    return operand_bytes(call, "A") + operand_bytes(call, "B") + result


@remembered
def copied_bytes(call: GemmCall, names: tuple[str, ...]) -> int:
    """Bytes that are read and written to pack operands. Kernels copy a matrix by tiles, however small it is: 976 of 20 x 142 and
    142 x 34 took an H200 as long as matrices four times as large."""
    total = 0
    for name in copied(call, names):
        view, outer = call.sided(name)
        elements = outer * call.k
        if call.batch > 1 and view.batch:
            elements = call.batch * round_up(outer, COPY_TILE) * round_up(call.k, COPY_TILE)
        total += 2 * elements * element_type(call.dtype).itemsize
    return total


@remembered
def operand_bytes(call: GemmCall, name: str) -> int:
    """Bytes of operand "A" or "B", a broadcast one counted once."""
    view, side = (call.a, call.m) if name == "A" else (call.b, call.n)
    return (1 if view.batch == 0 else call.batch) * side * call.k * element_type(call.dtype).itemsize
