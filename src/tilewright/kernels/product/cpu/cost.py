"""How the CPU kernel cuts a product: the register tile of a machine, and the blocks of one problem."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

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

# Depth of a block, in elements of K, by the bytes of a component and whether there are two. 512 steps cost a micro-kernel
# some 6200 cycles, against 150 to 300 for C and the calls. The rows of A (24 KiB) then stay in a level-1 cache of 48 KiB,
# through which B streams. Against 384 steps of 4 bytes it measured 2 to 6 % more at n = 512, where C is then touched once,
# and 0 to 1 % more up to 4096. For two components 320 to 512 measured 1 % less than 256.
DEPTHS = {(4, False): 512, (4, True): 256, (8, False): 256, (8, True): 256}
DEPTH_STEP = 16

# Bytes of B that a work-item keeps packed: half of a level-2 cache of 1 MiB, so that A, C and what is prefetched have
# the other half. A quarter costs 2 to 5 % (A is packed more often), all of it 2 %.
PACKED_BYTES = 512 * 1024

# What cores with a level-2 cache of 2 MiB or more take instead: (rows, vectors) of the tile, packed bytes, and the steps of
# K for which the packed panel is asked ahead (AHEAD), by (vector bytes, bytes of a component). Complex numbers and pieces
# have not been measured there. The sums are as many, but with 6 x 4 a step of k, 12 cycles of multiply-adds, needs 10 loads
# and with 12 x 2 it needs 14; 4 x 3 needs 7 and 6 x 2 needs 8. A test loop loads 1.9 lines a cycle from level 1 on Zen 5 but
# 1.1 on an Emerald Rapids Xeon. There 6 x 4 measured 1.05 to 1.15 times 12 x 2, AHEAD 7 to 9 % more for float32. Zen 5
# gains nothing by any of it and loses 1 to 4 % in places. No system says how many loads a core can do; the size of this
# cache is known, and divides the two. docs/explanation/cpu-products.md has the figures.
LARGE_LEVEL2 = 2 * 2**20
LARGE_TILES = {
    (64, 4): ((6, 4), 1024 * 1024, 8),
    (64, 8): ((6, 4), 1024 * 1024, 8),
    (32, 4): ((4, 3), 512 * 1024, 0),
    (32, 8): ((4, 3), 512 * 1024, 0),
}

# What cores with a level-2 cache of 512 KiB or less take: packed bytes, most of which lie in level 3, and the row panels of A
# that use a panel of B in turn (TILES), by (vector bytes, bytes of a component). Half of such a cache would hold 16 columns
# of B for each 4 KiB: A would be packed as often as it is read. On Zen 3 (512 KiB, AVX2), one thread, it measured 1.05 to
# 1.15 times as fast as one row panel with 256 to 512 KiB at 512 and more in float32. Other vectors have not been measured.
SMALL_LEVEL2 = 512 * 1024
SMALL_TILES = {(32, 4): (2 * 2**20, 4), (32, 8): (2 * 2**20, 4)}

# Columns of a block of B for which a third depth is tried: A is packed half as often as with blocks of the full depth. At
# 4096 it measured 1.5 to 3 % faster.
WIDE_BLOCK = 512

# Bytes after which addresses fall on the same places of a level-1 cache, and how many rows may share them: half of 12.
PAGE_BYTES = 4096
CROWD = 6

# C is written around the caches if it is larger than this and written once: what is that large is not found in a
# level-3 cache when it is read again, and a store that misses reads the line first.
STREAM_BYTES = 24 * 2**20

# Cycles, measured as the difference that leaving a part out made. Only their ratios matter.
PACK_A = 14.0  # for each vector of A that is packed
FETCH_A = 3.0  # for each vector of A that is multiplied where it lies
PACK_B = 10.0  # for each vector of B: it comes from further away, one short piece of each row at a time
UPDATE_C = 4.0  # for each vector of C and block of K
ROW_C = 30.0  # for each row of a work-group's block of C, and block of K: where it begins no prefetcher foresees it
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
    ahead: int = (
        0  # AHEAD, steps of K for which the packed panel is asked before it is used; 0 to leave it to the hardware
    )
    tiles: int = 1  # TILES, row panels of A that use a panel of B in turn

    @property
    def panel(self) -> int:
        """Columns of a panel of B."""
        return self.vectors * self.width

    @property
    def capacity(self) -> int:
        """Elements of B that fit into the packed block."""
        return self.depth * self.columns

    @property
    def uncut_depth(self) -> int:
        """Steps of K that are one block whatever the other sizes: those of a block of WIDE_BLOCK columns."""
        return max(DEPTH_STEP, min(self.depth, self.capacity // WIDE_BLOCK))


@dataclass(frozen=True)
class Blocking:
    """The blocks of one problem: a work-group owns mb x nb elements of C and takes kb steps of K at a time."""

    mb: int
    nb: int
    kb: int
    groups_m: int
    groups_n: int
    stream: bool
    a_in_place: bool

    @property
    def groups(self) -> int:
        return self.groups_m * self.groups_n


def register_tile(
    vector_bytes: int,
    component_bytes: int,
    is_complex: bool,
    most_steps: int = 0,
    level2_bytes: int = 0,
    columns: int | None = None,
) -> Tile:
    """The tile for a machine's vectors (16, 32 or 64 bytes) and components (real numbers) of 4 or 8 bytes.

    A block has at most `most_steps` steps of K, unless that is 0. Where the level-2 cache is unknown, 0, it is taken as 1 MiB.
    `columns` are those of B, if they are known: the tile may be another one where they are few.
    """
    rows, vectors = REGISTER_TILES[vector_bytes, is_complex]
    packed_bytes, ahead, tiles = PACKED_BYTES, 0, 1
    key = vector_bytes, component_bytes
    if level2_bytes >= LARGE_LEVEL2 and not is_complex and key in LARGE_TILES:
        wide, packed_bytes, ahead = LARGE_TILES[key]
        # A panel as wide as the tile is computed whole, however few columns B has. With two vectors of columns 12 x 2 measured
        # 1.4 to 1.6 times 6 x 4 on a Granite Rapids Xeon, with three 1.1 to 1.2.
        if columns is None or columns > (wide[1] - 1) * vector_bytes // component_bytes:
            rows, vectors = wide
    elif 0 < level2_bytes <= SMALL_LEVEL2 and not is_complex and key in SMALL_TILES:
        packed_bytes, tiles = SMALL_TILES[key]
    width = vector_bytes // component_bytes
    depth = DEPTHS[component_bytes, is_complex]
    if most_steps:
        depth = min(depth, most_steps // DEPTH_STEP * DEPTH_STEP)
    row_bytes = depth * component_bytes * (2 if is_complex else 1)
    panel = vectors * width
    return Tile(rows, vectors, width, depth, packed_bytes // row_bytes // panel * panel, ahead, tiles)


@cache
def blocking(
    m: int, n: int, k: int, batch: int, tile: Tile, units: int, c_bytes: int, a_bytes: int, a_row: int | None
) -> Blocking:
    """The blocks for C (m x n) = A B over k, `batch` times, on `units` cores; elements have `a_bytes` and `c_bytes`.

    `a_row` is the stride of A's rows, in elements, if they could be multiplied where they lie; None if they must be packed.
    Enumerates depths of blocks and grids of work-groups, and takes the one that the cost model in `cycles` likes best.
    """
    if not m or not n:
        return Blocking(tile.rows, tile.panel, DEPTH_STEP, 0, 0, False, False)

    def cost(blocks: tuple[int, int, int]) -> float:
        mb, nb, kb = blocks
        groups = batch * -(-m // mb) * -(-n // nb)
        one = cycles(mb, nb, k, kb, tile, in_place(a_row, kb, a_bytes))
        if groups == 1:
            return one
        waves = -(-groups // units)
        return WAKE + waves * one * (1 + UNEVENNESS * units / groups)

    tried = ((mb, nb, kb) for kb in depths(k, tile) for mb, nb in grids(m, n, kb, tile, -(-units // batch)))
    mb, nb, kb = min(tried, key=cost)
    stream = kb >= k and batch * m * n * c_bytes > STREAM_BYTES
    return Blocking(mb, nb, kb, -(-m // mb), -(-n // nb), stream, in_place(a_row, kb, a_bytes))


def in_place(a_row: int | None, kb: int, a_bytes: int) -> bool:
    """Whether A's rows can be multiplied where they lie: not if too many of them compete for the same places in a
    level-1 cache, which rows do that lie nearly a page apart, or a multiple of it."""
    if a_row is None:
        return False
    past_page = a_row * a_bytes % PAGE_BYTES
    return CROWD * min(past_page, PAGE_BYTES - past_page) >= kb * a_bytes


def cycles(mb: int, nb: int, k: int, kb: int, tile: Tile, a_in_place: bool) -> float:
    """Cycles that one work-group takes, with two multiply-adds of a vector per cycle."""
    low = max(1, tile.rows // 3)  # the heights of the micro-kernels are thirds of the tile
    rows = mb // tile.rows * tile.rows + -(-(mb % tile.rows) // low) * low
    vectors = -(-nb // tile.panel) * tile.vectors
    calls = -(-mb // tile.rows) * -(-nb // tile.panel)
    passes = -(-k // kb)
    packing = ((FETCH_A if a_in_place else PACK_A) * mb + PACK_B * nb) * k / tile.width
    updates = (rows * vectors * UPDATE_C + rows * ROW_C + calls * CALL) * passes
    return rows * vectors * k / 2 + updates + packing + GROUP


def depths(k: int, tile: Tile) -> list[int]:
    """Depths of blocks worth trying."""
    fewest = max(1, -(-k // tile.depth))
    counts = {fewest, fewest + fewest // 2, max(fewest, -(-k // tile.uncut_depth))}
    return sorted({max(DEPTH_STEP, _even(k, count, DEPTH_STEP)) for count in counts})


def grids(m: int, n: int, kb: int, tile: Tile, units: int) -> Iterator[tuple[int, int]]:
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
