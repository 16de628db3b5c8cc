"""How the CPU kernel cuts a product: the register tile of a machine, and the blocks of one problem."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

LINE_BYTES = 64

# Registers that are left for sums once B's vectors and the broadcast element of A have theirs: 24 of 32 where vectors
# are 64 bytes wide, 12 of 16 elsewhere. Two chains of multiply-adds, each four or five cycles long, want at least 10.
# (rows, vectors) of the tile by (vector bytes, is complex); a complex sum takes two registers.
REGISTER_TILES = {
    (64, False): (12, 2),
    (64, True): (6, 2),
    (32, False): (6, 2),
    (32, True): (6, 1),
    (16, False): (6, 2),
    (16, True): (6, 1),
}

# Depth of a block, in elements of K. 256 steps cost a micro-kernel some 3000 cycles, against 100 to 200 for C and the
# calls. A panel of B (32 KiB) and the rows of A (13 KiB) then just fit a level-1 cache of 48 KiB. 192 to 384 measured
# within 2 % of each other.
DEPTH = 256
DEPTH_STEP = 16

# Bytes of B that a work-item keeps packed: half of a level-2 cache of 1 MiB, so that A, C and what is prefetched have
# the other half. A quarter costs 2 to 5 % (A is packed more often), all of it 2 %.
PACKED_BYTES = 512 * 1024

# C is written around the caches if it is larger than this and written once: what is that large is not found in a
# level-3 cache when it is read again, and a store that misses reads the line first.
STREAM_BYTES = 24 * 2**20

# Cycles, measured as the difference that leaving a part out made. Only their ratios matter.
PACK_A = 6.0  # for each vector of A that is packed
PACK_B = 2.0  # for each vector of B: it comes from further away, but with arithmetic to hide behind
UPDATE_C = 4.0  # for each vector of C and block of K
CALL = 60.0  # for each micro-kernel
GROUP = 500.0  # for each work-group
WAKE = 10000.0  # to have another core take part, once: 3 us
UNEVENNESS = 0.1  # share of the time lost with one work-group per core, if a core is busy or slow; halves with two


@dataclass(frozen=True)
class Tile:
    """What is compiled: the micro-kernel's shape and the sizes of its buffers, in elements."""

    rows: int  # MR
    vectors: int  # NV
    width: int  # VW, elements of a vector
    depth: int  # KC, the most steps of K in a block
    columns: int  # NB, the most columns of B in a block of that depth

    @property
    def panel(self) -> int:
        """Columns of a panel of B."""
        return self.vectors * self.width

    @property
    def capacity(self) -> int:
        """Elements of B that fit into the packed block."""
        return self.depth * self.columns


@dataclass(frozen=True)
class Blocking:
    """The blocks of one problem: a work-group owns mb x nb elements of C and takes kb steps of K at a time."""

    mb: int
    nb: int
    kb: int
    groups_m: int
    groups_n: int
    stream: bool

    @property
    def groups(self) -> int:
        return self.groups_m * self.groups_n


def register_tile(vector_bytes: int, component_bytes: int, is_complex: bool) -> Tile:
    """The tile for a machine's vectors (16, 32 or 64 bytes) and components (real numbers) of 4 or 8 bytes."""
    rows, vectors = REGISTER_TILES[vector_bytes, is_complex]
    width = vector_bytes // component_bytes
    row_bytes = DEPTH * component_bytes * (2 if is_complex else 1)
    panel = vectors * width
    return Tile(rows, vectors, width, DEPTH, PACKED_BYTES // row_bytes // panel * panel)


@cache
def blocking(m: int, n: int, k: int, batch: int, tile: Tile, units: int, c_bytes: int) -> Blocking:
    """The blocks for C (m x n) = A B over k, `batch` times, on `units` cores; an element of C has `c_bytes`.

    Enumerates grids of work-groups and takes the one that the cost model in `cycles` likes best.
    """
    blocks = max(1, -(-k // tile.depth))
    kb = max(DEPTH_STEP, -(-k // blocks // DEPTH_STEP) * DEPTH_STEP)
    stream = blocks == 1 and batch * m * n * c_bytes > STREAM_BYTES

    def cost(grid: tuple[int, int]) -> float:
        mb, nb = grid
        groups = batch * -(-m // mb) * -(-n // nb)
        if groups == 1:
            return cycles(mb, nb, k, kb, tile)
        waves = -(-groups // units)
        return WAKE + waves * cycles(mb, nb, k, kb, tile) * (1 + UNEVENNESS * units / groups)

    mb, nb = min(_grids(m, n, kb, tile, -(-units // batch)), key=cost)
    return Blocking(mb, nb, kb, -(-m // mb), -(-n // nb), stream)


def cycles(mb: int, nb: int, k: int, kb: int, tile: Tile) -> float:
    """Cycles that one work-group takes, with two multiply-adds of a vector per cycle."""
    low = max(1, tile.rows // 3)  # the heights of the micro-kernels are thirds of the tile
    rows = mb // tile.rows * tile.rows + -(-(mb % tile.rows) // low) * low
    vectors = -(-nb // tile.panel) * tile.vectors
    calls = -(-mb // tile.rows) * -(-nb // tile.panel)
    passes = -(-k // kb)
    packing = (PACK_A * mb + PACK_B * nb) * k / tile.width
    return rows * vectors * (k / 2 + UPDATE_C * passes) + packing + CALL * calls * passes + GROUP


def _grids(m: int, n: int, kb: int, tile: Tile, units: int) -> Iterator[tuple[int, int]]:
    """Sizes (mb, nb) of the work-groups' blocks worth trying: multiples of the tile that fit its packed block."""
    widest = max(tile.panel, tile.capacity // kb // tile.panel * tile.panel)
    fewest = -(-n // widest)
    for parts_n in sorted({fewest, *(fewest + extra for extra in (1, 2, 3)), 2 * fewest, units, 2 * units, 4 * units}):
        if parts_n < fewest:
            continue
        nb = _even(n, parts_n, tile.panel)
        columns = -(-n // nb)
        for wanted in (1, units, 2 * units, 3 * units, 4 * units, 8 * units, 16 * units):
            yield _even(m, -(-wanted // columns), tile.rows), nb


def _even(size: int, parts: int, multiple: int) -> int:
    """The size of `parts` nearly equal parts, rounded up to a multiple."""
    part = -(-size // parts)
    return -(-part // multiple) * multiple
