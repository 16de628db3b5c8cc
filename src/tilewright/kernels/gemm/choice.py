"""Which kernel in which configuration a product should run: all candidates, what each would cost, why others cannot.

Costs are estimates in clock cycles of the device, from a model with few constants, fitted to one H200 and kept simple so
that it holds elsewhere: they rank, they do not predict. A tuned table beats them where there is one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, log2, sqrt

from ...device import DeviceInfo
from ...dtypes import DOUBLES, element_type
from ...kernel import Config, Kernel
from ...problem import Problem
from .call import GemmCall, call_of
from .configs import TileConfig
from .kernels import COLUMNS, JOINED, ROWS, TILES
from .macros import elements, reading, result_width
from .packing import launches
from .vectors import ColumnsConfig, RowsConfig, VectorConfig

# Every tile with the part of the multiply-adds in what its work-items issue, and what else keeps it from its best: fitted
# to some 4000 measurements on an H200 in float32, from 64 to 5000 a side, thin, batched and square.
TILE_SPACE: dict[TileConfig, float] = {
    TileConfig(128, 256, 8, 8, 16, 8, 4, ZIGZAG=0): 0.8,
    TileConfig(64, 256, 8, 8, 16): 0.66,
    TileConfig(64, 128, 16, 8, 16, SLICES=4): 0.63,
    TileConfig(64, 128, 16, 8, 16, SLICES=2): 0.61,
    TileConfig(128, 128, 8, 8, 8): 0.58,
    TileConfig(128, 128, 16, 8, 8, SLICES=2): 0.63,
    TileConfig(128, 64, 16, 8, 8, SLICES=2): 0.59,
    TileConfig(64, 128, 16, 8, 8): 0.64,
    TileConfig(64, 64, 16, 8, 8, SLICES=2): 0.60,
    TileConfig(64, 128, 8, 16, 8): 0.69,
    TileConfig(128, 64, 16, 4, 8): 0.74,
    TileConfig(128, 64, 16, 8, 4): 0.67,
    TileConfig(64, 64, 16, 8, 4): 0.755,
    TileConfig(64, 64, 16, 8, 4, SLICES=2): 0.71,
    TileConfig(64, 64, 16, 4, 4): 0.59,
    TileConfig(32, 256, 8, 8, 8): 0.70,
    TileConfig(32, 128, 16, 4, 8): 0.7,
    TileConfig(128, 32, 16, 8, 4, 8, 4): 0.62,
    TileConfig(32, 64, 32, 4, 8, SLICES=4): 0.52,
    TileConfig(32, 64, 32, 4, 4, SLICES=2): 0.57,
    TileConfig(64, 32, 32, 8, 4, SLICES=4): 0.53,
    TileConfig(32, 32, 32, 4, 4, SLICES=4): 0.50,
    TileConfig(32, 32, 16, 4, 4): 0.51,
    TileConfig(16, 256, 16, 4, 4, 2, 16): 0.63,
    TileConfig(16, 128, 32, 4, 4, 2, 16, SLICES=2): 0.61,
    TileConfig(128, 16, 32, 4, 4, 16, 2, SLICES=2): 0.62,
    TileConfig(16, 64, 32, 4, 4, 2, 16, SLICES=4): 0.47,
    TileConfig(64, 16, 32, 4, 4, 16, 2, SLICES=4): 0.43,
    TileConfig(128, 16, 16, 4, 4, 16, 2): 0.51,
    TileConfig(16, 32, 32, 4, 4, SLICES=4): 0.45,
    # Not measured; for devices with few registers or small work-groups.
    TileConfig(32, 32, 8, 4, 4): 0.45,
    TileConfig(16, 32, 8, 4, 4): 0.36,
    TileConfig(16, 16, 8, 2, 2): 0.30,
}
ROWS_SPACE = (
    RowsConfig(1, 64, 8, 2), RowsConfig(1, 128, 1, 2), RowsConfig(1, 64, 2, 2), RowsConfig(1, 32, 8, 2), RowsConfig(1, 64, 4, 1),
    RowsConfig(1, 128, 1, 1),
)  # fmt: skip
COLUMNS_SPACE = (
    ColumnsConfig(1, 8, 128), ColumnsConfig(1, 8, 64), ColumnsConfig(1, 8, 32), ColumnsConfig(1, 8, 8), ColumnsConfig(1, 16, 64),
    ColumnsConfig(1, 16, 32), ColumnsConfig(1, 16, 16), ColumnsConfig(1, 32, 32), ColumnsConfig(1, 32, 8),
)  # fmt: skip
PIECES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)

SMALL_COMPLEX, LARGE_COMPLEX = 1.13, 0.88  # efficiency of complex tiles up to 8 x 4, and above, against float32's
NARROW_TILE = 200  # products of a work-item for which an operand read by single floats doubles a tile's time
NARROW_RESULT = 1.1  # slowness of the largest tile if it stores single elements, or converts what it reads
LANES = 128  # multiply-adds that a compute unit starts per clock: NVIDIA's and AMD's 128, Intel's Xe cores 128
BYTES = 18  # bytes per clock and compute unit from global memory: an H200's 4.7 TB/s by 132 units of 1.98 GHz
REGISTER_FILE = 65536  # 32-bit registers of a compute unit
FULL_WARPS = 5.7  # warps of 8 x 16 tiles that keep a compute unit busy; smaller tiles need more of them
START = 4000  # cycles from one launch's end to the first instruction of the next
LAUNCH = 11000  # cycles that a launch in addition costs, with its own work's start and end
LATENCY = 3500  # cycles until a work-group has its first panel, and to write its tile
IN_FLIGHT = 5300  # bytes that a compute unit must have asked for to get its share of the memory's speed
SPLIT_LOSS = 1.06  # slowness of a product in pieces of K, adding them up aside
JOIN_BYTES = 22  # bytes per clock of other work-groups' sums that one work-group reads
PANEL_SHARE = 0.04  # of the time to read panels from that cache, what is not hidden behind arithmetic
MEMORY_SHARE = 0.5  # the same of the time to read and write each element once
CACHE_BYTES = 40  # bytes per clock and compute unit from the second-level cache
VECTOR_ITEMS = {True: 1000, False: 700}  # work-items of a compute unit that keep memory busy, along rows and columns
VECTOR_POWER = 0.4  # how much less is delivered if there are fewer
VECTOR_SHARE, VECTOR_IDLE = (
    0.3,
    0.06,
)  # of all units, those that draw all that memory delivers; what others lose by idling
VECTOR_SUMS = {
    True: 8,
    False: 16,
}  # sums of a work-item along rows, and words of them across: more leave no registers to
CROWDED = {True: 1.6, False: 2.2}  # read ahead, which takes so much longer
TEAM_LINE, SPREAD = (
    1024,
    1.04,
)  # bytes that a team reads side by side; with fewer, or of more rows at a time, it is slower
VECTOR_ISSUE = {True: 1.4, False: 2.2}  # instructions for a multiply-add of the gemv kernels
SCATTERED_ISSUE = 8.0  # the same if elements of B are read one by one
LAST_WAVE = 0.3  # part of the time in which the last work-groups leave others idle, that is lost
ADDING_UP = 300  # cycles to halve the number of sums


@dataclass(frozen=True)
class Candidate:
    """A kernel in one configuration, and its estimated cost in cycles."""

    kernel: Kernel
    cost: float


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Candidate, ...]:
    """Every kernel and configuration for a Gemm or StridedGemm, the cheapest first, whether or not the device can run it.

    Pure: it needs the device's facts alone. Buffers are taken to start on 16 bytes, as a device's allocations do.
    """
    call = call_of(problem)
    found = [Candidate(each, tile_cost(each, call, device)) for each in _tile_kernels(call, device)]
    for kernel, space in ((ROWS, ROWS_SPACE), (COLUMNS, COLUMNS_SPACE)):
        for config in _vector_configs(space, call, device):
            found.append(Candidate(_in_config(kernel, config), vector_cost(config, call, device)))
    return tuple(sorted(found, key=lambda each: each.cost))


def ranked_kernels(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The candidates' kernels, the cheapest first: `plan` takes the first that nothing speaks against, and says why the
    ones before it lost."""
    return tuple(each.kernel for each in candidates(problem, device))


def _in_config(kernel: Kernel, config: Config) -> Kernel:
    return replace(kernel, config=config)


def _tile_kernels(call: GemmCall, device: DeviceInfo) -> Iterator[Kernel]:
    """Every tile, with K in as many pieces as fill the device a few times, and with and without packing."""
    for config in TILE_SPACE:
        if "nvidia" not in device.features:
            config = replace(config, ZIGZAG=0)
        groups = max(1, config.tiles(call.row_major) * call.batch)
        for pieces in PIECES:
            if pieces > 1 and (groups * pieces > 10 * device.compute_units or call.k < 2 * pieces * config.BK):
                break
            cut = replace(config, split=pieces)
            packed = replace(cut, pack=True)
            for kernel in (TILES, JOINED) if pieces > 1 and "nvidia" in device.features else (TILES,):
                yield _in_config(kernel, cut)
                if packed.packed(call.row_major):
                    yield _in_config(kernel, packed)


def _vector_configs(space: tuple[VectorConfig, ...], call: GemmCall, device: DeviceInfo) -> Iterator[VectorConfig]:
    if call.tall.n > 8:
        return
    for config in space:
        groups = max(1, -(-call.tall.m // config.group_rows(call.tall)) * call.batch)
        for pieces in PIECES:
            if pieces > 1 and (groups * pieces > 32 * device.compute_units or call.k < 64 * pieces):
                break
            yield replace(config, split=pieces)


def _shape(tile: TileConfig) -> tuple[int, ...]:
    return tile.BM, tile.BN, tile.BK, tile.TM, tile.TN, tile.SLICES


EFFICIENCY = {_shape(tile): part for tile, part in TILE_SPACE.items()}


def efficiency(config: TileConfig, dtype: str) -> float:
    """The part of the multiply-adds in what this tile's work-items issue.

    Of complex numbers a tile has four for each product; large ones leave the compiler no registers to read ahead.
    """
    products, reads = config.TM * config.TN, config.TM + config.TN
    part = EFFICIENCY.get(_shape(config), products / (products + 2 * reads))
    if dtype.startswith("complex"):
        return part * (SMALL_COMPLEX if products <= 32 else LARGE_COMPLEX)
    return part


def slowness(dtype: str) -> float:
    """How many times longer one element's multiply-add takes than float32's."""
    if dtype in ("int32", "int8"):
        return 1.5
    complex_factor = 4.0 if dtype.startswith("complex") else 1.0
    return complex_factor * (2.0 if dtype in DOUBLES else 1.0)


def tile_cost(kernel: Kernel, problem: Problem, device: DeviceInfo) -> float:
    """Cycles that a tile's kernel would take: arithmetic of the busiest compute unit, then memory, which it hides only
    partly, then adding up the pieces."""
    config = kernel.config
    assert isinstance(config, TileConfig)
    plain, call = config.orientation(problem), config.oriented(problem)
    pieces, depth = _pieces(config, call)
    each = -(-config.tiles(call) * pieces * call.batch // device.compute_units)
    together = min(each, _resident(config, call, device))
    warps = together * config.items / 32
    busy = sqrt(min(1.0, warps / FULL_WARPS * sqrt(config.TM * config.TN / 128)))
    products = config.BM * config.BN * (depth + config.BK) * slowness(call.dtype)
    arithmetic = products / (LANES * efficiency(config, call.dtype)) * narrowness(config, call) / busy
    panels = (config.BM + config.BN) * element_type(call.dtype).itemsize
    asked = min(1.0, together * panels * config.BK / IN_FLIGHT)
    packing = 2 * sum(operand_bytes(plain, name) for name in config.packed(plain)) / (BYTES * device.compute_units)
    packing += LAUNCH * launches(plain, config.packed(plain))
    computing = (SPLIT_LOSS if pieces > 1 else 1) * each * (arithmetic + PANEL_SHARE * panels * depth / CACHE_BYTES)
    memory = _memory(call, device)
    exposed = memory * (1 / asked - 1) * min(1.0, memory / max(computing, 1.0))  # much arithmetic hides slow memory
    adding = _adding_up(config.BM * config.BN if kernel.source == JOINED.source else 0, pieces, call, device)
    return START + computing + MEMORY_SHARE * memory + exposed + LATENCY * -(-each // together) + adding + packing


def _resident(config: TileConfig, call: GemmCall, device: DeviceInfo) -> int:
    """Work-groups that a compute unit holds at a time."""
    local = max(device.static_local_bytes, 2 * device.local_bytes)
    return max(
        1,
        min(
            REGISTER_FILE // (config.registers(call) * config.items),
            2048 // config.items,
            local // max(1, config.local_bytes(call)),
        ),
    )


def _adding_up(joined: int, pieces: int, call: GemmCall, device: DeviceInfo) -> float:
    """Cycles to add up the pieces of K: in a tile's last work-group, if it `joined` so many elements, or by a launch."""
    if pieces == 1:
        return 0.0
    kind = elements(call.dtype)
    size = pieces * kind.parts * kind.component_bytes
    if joined:
        return LATENCY + joined * size / JOIN_BYTES
    return LAUNCH + 2 * call.batch * call.m * call.n * size / (CACHE_BYTES * device.compute_units)


def _pieces(config: TileConfig | VectorConfig, call: GemmCall) -> tuple[int, int]:
    """In how many pieces K is cut, and how deep each is."""
    depth = config.chunk(call) or call.k
    return (-(-call.k // depth) if depth else 1), depth


def narrowness(config: TileConfig, call: GemmCall) -> float:
    """How much longer a tile takes whose operands are read, or whose result is stored, by single elements."""
    itemsize = element_type(call.dtype).itemsize
    narrow = sum(log2(16 / min(16, how.width * max(4, itemsize))) / 2 for how in config.readings(call))
    scattered = config.TM * config.TN > 64 and result_width(call, elements(call.dtype).fragment) == 1
    crowded = NARROW_RESULT if scattered or (itemsize < 4 and config.TM * config.TN > 64) else 1
    return (1 + narrow * config.TM * config.TN / NARROW_TILE) * crowded


def vector_cost(config: VectorConfig, problem: Problem, device: DeviceInfo) -> float:
    """Cycles that the gemv kernels would take: A's bytes through as much of the memory's speed as the items ask for, or
    B's, read again for each ROWS of A, through the cache's; then the arithmetic."""
    call, rows = config.oriented(problem), isinstance(config, RowsConfig)
    pieces, _ = _pieces(config, call)
    share = -(-call.m // config.group_rows(call)) * pieces * call.batch / device.compute_units
    share = max(share, 1e-3)
    idle = (
        max(1 + VECTOR_IDLE * (1 - share), VECTOR_SHARE / share)
        if share < 1
        else 1 + LAST_WAVE * (ceil(share) / share - 1)
    )
    asking = min(1.0, min(ceil(share) * config.items, 2048) / VECTOR_ITEMS[rows]) ** VECTOR_POWER
    itemsize = element_type(call.dtype).itemsize
    how = reading(call, "A")
    straight = (how.order == "PANEL_ALONG_K") == rows
    waste = (1.0 if how.width * itemsize >= 8 else 1.3) if straight else 8.0
    memory = waste * _memory(call, device) * idle / asking * _unsteady(config, call, how.width * itemsize)
    products = call.batch * call.m * call.k * call.n * slowness(call.dtype) / device.compute_units
    again = 0.35 * products * itemsize / config.ROWS / CACHE_BYTES if isinstance(config, RowsConfig) else 0.0
    scattered = rows and reading(call, "B").order != "PANEL_ALONG_K"
    issue = SCATTERED_ISSUE if scattered else VECTOR_ISSUE[rows]
    arithmetic = idle * issue * products / LANES if call.n > 1 else 0.0
    halvings = log2(config.sharing)
    adding = ADDING_UP * halvings + _adding_up(0, pieces, call, device)
    cycles: float = START + LATENCY + max(memory, again) + arithmetic + adding
    return cycles


def _unsteady(config: VectorConfig, call: GemmCall, load_bytes: int) -> float:
    """How much longer work-items wait for memory that they ask for too late, or here and there."""
    if not isinstance(config, RowsConfig):
        words = config.partials(call) * elements(call.dtype).component_bytes // 4
        return CROWDED[False] if words > VECTOR_SUMS[False] else 1.0
    crowded = CROWDED[True] if config.partials(call) > VECTOR_SUMS[True] else 1.0
    narrow = SPREAD if config.TEAM * load_bytes < TEAM_LINE else 1.0
    return crowded * narrow * (SPREAD if call.n == 1 and config.ROWS > 1 else 1.0)


def _memory(call: GemmCall, device: DeviceInfo) -> float:
    """Cycles to read the operands once and write the result."""
    result = call.batch * call.m * call.n * element_type(call.result).itemsize
    return (operand_bytes(call, "A") + operand_bytes(call, "B") + result) / (BYTES * device.compute_units)


def operand_bytes(call: GemmCall, name: str) -> int:
    """Bytes of operand "A" or "B", a broadcast one counted once."""
    view, side = (call.a, call.m) if name == "A" else (call.b, call.n)
    return (1 if view.batch == 0 else call.batch) * side * call.k * element_type(call.dtype).itemsize
