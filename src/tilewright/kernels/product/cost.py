"""What all estimates of a product's time share: a device's rates in clock cycles, bytes, and splits of K.

The constants were fitted to one H200, those of the launch that adds up splits and of fix-ups to an H100. They were kept few, so
that they hold elsewhere: they rank, they do not predict.
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
BYTES = 18  # bytes per clock and compute unit from global memory: an H200's 4.7 TB/s by 132 units of 1.98 GHz
START = 4000  # cycles from one launch's end to the first instruction of the next
LAUNCH = 11000  # cycles that a launch in addition costs, with its own work's start and end
REDUCE_LAUNCH = 5000  # of reduce.cl: 1.5 to 2 us in a CUDA graph of an H100, and in a loop of calls those of the host
LATENCY = 3500  # cycles until a work-group has its first panel, and to write its tile
FIXUP_BYTES = 22  # bytes per clock of other work-groups' partial tiles that one work-group reads
FIXUP_READ = 280  # cycles at least for each of them, which are read one after another
COPY_TILE = 64  # rows or columns of a matrix that is copied
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
        return LATENCY + max(tile_elements * size / FIXUP_BYTES, splits * FIXUP_READ)
    return REDUCE_LAUNCH + 2 * call.batch * call.m * call.n * size / (L2_BYTES * device.compute_units)


def splits_of(config: SplitKConfig, call: GemmCall) -> tuple[int, int]:
    """Into how many parts K is split, and how deep each is."""
    depth = config.chunk(call) or call.k
    return (-(-call.k // depth) if depth else 1), depth


def mirroring_cycles(call: GemmCall, device: DeviceInfo) -> float:
    """Cycles of the launch that mirrors a symmetric product, which no family counts: most kernels need it."""
    return LAUNCH + mirror_bytes(call) / (BYTES * device.compute_units)


def memory_cycles(call: GemmCall, device: DeviceInfo) -> float:
    """Cycles to read the operands once and write the result."""
    return moved_bytes(call) / (BYTES * device.compute_units)


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
