"""The kernels of this folder as Kernels, for a device's vectors. 06_production.cl is the last rung of the ladder `cpu`, too."""

from dataclasses import fields, replace
from pathlib import Path

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, Step, Steps
from ....core.precision import PRECISIONS, REPRODUCIBLE
from ....core.problem import Problem
from ....core.types import element_type
from ..config import ProductConfig
from . import config_outer
from .config import CpuConfig
from .config_bools import CpuBoolsConfig
from .config_few_columns import LARGE_LEVEL2_VECTORS, MAX_ROWS, MOST_COLUMNS, PACKED_BYTES, CpuFewColumnsConfig
from .config_few_columns_down import CROWDED_COLUMNS, RUN_BYTES, SUMS_BYTES, CpuFewColumnsDownConfig
from .config_few_columns_down import MOST_COLUMNS as MOST_COLUMNS_DOWN
from .config_gemv import LEVEL1_BYTES, CpuGemvConfig
from .config_outer import CpuOuterConfig
from .config_reproducible import ReproducibleConfig
from .config_symmetric import CpuSymmetricConfig
from .cost import LARGE_LEVEL2, register_tile
from .elements import DTYPES, exact_depth, sums_wait

HERE = Path(__file__).parent
MAIN_LOOP = HERE / "06_production.cl"
# AVX-512 VNNI has both instructions; a trial of one stands for both.
PIECES_NEED = {
    4: (("vpdpbusd", "the instruction that multiplies bytes four at a time; they are multiplied as float32 instead"),),
    2: (("vpdpbusd", "with vpdpwssd, which multiplies 16 bits two at a time; they are multiplied as 32 bits instead"),),
}

# (rows, columns) of the tile of few_columns.cl by the bytes of a vector: 16 sums in 32 registers of 64 bytes, 8 sums in 16
# shorter registers. Both are multiples of a vector's elements.
FEW_COLUMNS_TILES = {64: (4, 4), 32: (4, 2), 16: (4, 2)}

# (vectors, columns) of the tile of few_columns_down.cl by the bytes of a vector: 24 sums in 32 registers of 64 bytes, 12 in 16.
FEW_COLUMNS_DOWN_TILES = {64: (4, 6), 32: (2, 6), 16: (2, 6)}

# (rows, vectors) of bools.cl by the bytes of a vector: 16 sums in 32 registers, 8 in 16; and the steps of k in a block, whose B
# takes 64 or 128 KiB of a level-2 cache.
BOOLS_TILES = {64: (4, 4), 32: (2, 4), 16: (2, 4)}
BOOLS_DEPTH, BOOLS_ROWS = 512, 256

COMPONENT_BYTES = 4  # of what several pieces are


def product_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch; with a scratch matrix for the sums if they wait between blocks of K and C cannot hold them."""
    assert isinstance(config, CpuConfig)
    call = config.oriented(problem)
    waits = sums_wait(call) and config.blocks_of_k(call) > 1
    nbytes = call.batch * call.m * call.n * element_type(element_type(call.dtype).accumulator).itemsize
    names = (*call.buffers, ("partial", "sums" if waits else "C"))
    return (Step(kernel, config, call, names, (("sums", nbytes),) if waits else ()),)


def product_kernel(dtype: str, device: DeviceInfo, vector_bytes: int, columns: int | None = None) -> Kernel:
    """06_production.cl with the register tile for elements of a type, vectors of that size and, if known, columns of B."""
    kind = element_type(dtype)
    cache = device.level2_bytes
    tile = register_tile(vector_bytes, kind.component_bytes, kind.parts == 2, exact_depth(dtype), cache, columns)
    config = CpuConfig.of(tile, device.compute_units)
    return Kernel(MAIN_LOOP, config, dtypes=DTYPES, steps=product_steps)


def piece_kernels(dtype: str, device: DeviceInfo, vector_bytes: int) -> tuple[Kernel, ...]:
    """06_production.cl for exact types of 8 and 16 bits by instructions of x86 with vectors of 64 bytes; none for others."""
    kind = element_type(dtype)
    pieces = COMPONENT_BYTES // kind.itemsize
    if not kind.exact or pieces not in PIECES_NEED or vector_bytes != 64:
        return ()
    tile = register_tile(vector_bytes, COMPONENT_BYTES, False)
    config = CpuConfig.of(tile, device.compute_units, pieces)
    variant = "vpdpbusd" if pieces == 4 else "vpdpwssd"
    return (
        Kernel(MAIN_LOOP, config, dtypes=(dtype,), steps=product_steps, variant=variant, requires=PIECES_NEED[pieces]),
    )


def symmetric_kernel(kernel: Kernel) -> Kernel:
    """symmetric.cl in the place of 06_production.cl: half of a product of A and its own transpose, and the mirror image."""
    config = CpuSymmetricConfig(**{each.name: getattr(kernel.config, each.name) for each in fields(kernel.config)})
    return replace(kernel, source=HERE / "symmetric.cl", config=config)


def reproducible_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch, with scratch memory for the sums if they wait between blocks of K."""
    assert isinstance(config, ReproducibleConfig)
    call = config.oriented(problem)
    nbytes = config.sums_bytes(call)
    names = (*call.buffers, ("sums", "sums" if nbytes else "C"))
    return (Step(kernel, config, call, names, (("sums", nbytes),) if nbytes else ()),)


def one_step(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch."""
    assert isinstance(config, ProductConfig)
    call = config.oriented(problem)
    return (Step(kernel, config, call, call.buffers),)


def gemv_kernel(dtype: str, device: DeviceInfo, vector_bytes: int) -> Kernel:
    """gemv.cl for a device's vectors. Its sums are never split, so that it has none of the types with an exact depth."""
    kind = element_type(dtype)
    real_bytes = kind.component_bytes
    most = LEVEL1_BYTES // (real_bytes * kind.parts)
    config = CpuGemvConfig(vector_bytes // real_bytes, most, most, device.compute_units)
    dtypes = tuple(name for name in DTYPES if not exact_depth(name))
    return Kernel(HERE / "gemv.cl", config, dtypes=dtypes, steps=one_step)


def bools_kernel(device: DeviceInfo, vector_bytes: int) -> Kernel:
    """bools.cl for a device's vectors."""
    tile = BOOLS_TILES[vector_bytes]
    config = CpuBoolsConfig(vector_bytes // 8, *tile, BOOLS_DEPTH, BOOLS_ROWS, device.compute_units)
    return Kernel(HERE / "bools.cl", config, dtypes=("bool",), steps=one_step)


def outer_kernel(dtype: str, device: DeviceInfo, vector_bytes: int) -> Kernel:
    """outer.cl for a device's vectors; real numbers that are multiplied as they are summed."""
    real_bytes = element_type(dtype).component_bytes
    config = CpuOuterConfig(vector_bytes // real_bytes, config_outer.LEVEL1_BYTES // real_bytes, device.compute_units)
    dtypes = tuple(name for name in DTYPES if not exact_depth(name) and element_type(name).parts == 1)
    return Kernel(HERE / "outer.cl", config, dtypes=dtypes, steps=one_step)


def few_columns_kernel(dtype: str, device: DeviceInfo, vector_bytes: int) -> Kernel:
    """few_columns.cl for a device's vectors and registers. Its sums are never split, as those of gemv.cl; real numbers only."""
    real_bytes = element_type(dtype).component_bytes
    rows, columns = FEW_COLUMNS_TILES[vector_bytes]
    tile = register_tile(vector_bytes, real_bytes, False, level2_bytes=device.level2_bytes)
    packed = PACKED_BYTES // real_bytes
    config = CpuFewColumnsConfig(
        rows, columns, tile.width, MOST_COLUMNS, MAX_ROWS, packed, device.compute_units, tile.uncut_depth,
        LARGE_LEVEL2_VECTORS[real_bytes] if tile.vectors == 4 else 0,
    )  # fmt: skip
    dtypes = tuple(name for name in DTYPES if not exact_depth(name) and element_type(name).parts == 1)
    return Kernel(HERE / "few_columns.cl", config, dtypes=dtypes, steps=one_step)


def few_columns_down_kernel(dtype: str, device: DeviceInfo, vector_bytes: int) -> Kernel:
    """few_columns_down.cl for a device's vectors and registers, and the types of few_columns.cl."""
    real_bytes = element_type(dtype).component_bytes
    vectors, columns = FEW_COLUMNS_DOWN_TILES[vector_bytes]
    tile = register_tile(vector_bytes, real_bytes, False, level2_bytes=device.level2_bytes)
    config = CpuFewColumnsDownConfig(
        vectors, columns, vector_bytes // real_bytes, MOST_COLUMNS_DOWN, SUMS_BYTES // real_bytes,
        RUN_BYTES // (vectors * vector_bytes), device.compute_units, tile.panel, tile.uncut_depth,
        MOST_COLUMNS_DOWN if device.level2_bytes >= LARGE_LEVEL2 else CROWDED_COLUMNS,
    )  # fmt: skip
    dtypes = tuple(name for name in DTYPES if not exact_depth(name) and element_type(name).parts == 1)
    return Kernel(HERE / "few_columns_down.cl", config, dtypes=dtypes, steps=one_step)


def reproducible_kernels(dtype: str, device: DeviceInfo, vector_bytes: int) -> tuple[Kernel, ...]:
    """gemv_reproducible.cl and reproducible.cl, with the vectors and the register tile of the free kernels."""
    free = gemv_kernel(dtype, device, vector_bytes)
    tile = register_tile(vector_bytes, element_type(dtype).component_bytes, False)
    config = ReproducibleConfig(tile.rows, tile.vectors, tile.width, tile.depth, tile.columns, device.compute_units)
    own = Kernel(
        HERE / "reproducible.cl",
        config,
        dtypes=PRECISIONS[REPRODUCIBLE],
        steps=reproducible_steps,
        precision=REPRODUCIBLE,
    )
    return replace(own, source=HERE / "gemv_reproducible.cl", config=free.config, steps=one_step), own
