"""How products are cut on CPUs: blocks cover C, fit their buffers, and A is multiplied in place where caches allow it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.kernels.product.cpu.cost import (
    DEPTH_STEP,
    LARGE_LEVEL2,
    LARGE_TILES,
    REGISTER_TILES,
    SMALL_LEVEL2,
    SMALL_TILES,
    Tile,
    blocking,
    in_place,
    register_tile,
)

SIDES = st.integers(1, 5000)


@given(
    SIDES, SIDES, st.integers(0, 5000), st.integers(1, 40), st.integers(1, 64), st.sampled_from(sorted(REGISTER_TILES)),
    st.sampled_from((4, 8)), st.booleans(), st.sampled_from((0, 2**19, 2**20, 2**21)),
)  # fmt: skip
def test_blocks_cover_c_and_fit_their_buffers(
    m: int,
    n: int,
    k: int,
    batch: int,
    units: int,
    vectors: tuple[int, bool],
    component: int,
    by_rows: bool,
    level2: int,
) -> None:
    tile = register_tile(vectors[0], component, vectors[1], level2_bytes=level2)
    blocks = blocking(m, n, k, batch, tile, units, component, component, k if by_rows else None)
    assert blocks.mb * blocks.groups_m >= m
    assert blocks.nb * blocks.groups_n >= n
    assert blocks.mb % tile.rows == 0
    assert blocks.nb % tile.panel == 0
    assert blocks.kb <= tile.depth
    assert blocks.kb % DEPTH_STEP == 0
    assert blocks.kb * blocks.nb <= max(tile.capacity, blocks.kb * tile.panel)
    assert (blocks.kb + 1) * blocks.nb <= tile.capacity * (1 + 1 / DEPTH_STEP)  # with a row more, as bytes have it
    assert by_rows or not blocks.a_in_place


@pytest.mark.parametrize(
    ("a_row", "kb", "fits"),
    [
        (1001, 128, True),  # 92 bytes less than a page: six rows end where the first began
        (1001, 336, False),
        (1024, 16, False),  # all rows at the same place
        (2048, 256, False),
        (1024 + 512, 256, True),  # half a page on: every second row
        (37, 48, True),  # short rows lie one after the other
        (None, 256, False),
    ],
)
def test_rows_that_crowd_one_place_of_the_cache_are_packed(a_row: int | None, kb: int, fits: bool) -> None:
    assert in_place(a_row, kb, 4) == fits


def test_a_thin_product_keeps_the_rows_of_c_whole() -> None:
    """With few steps of K all that counts is C: pieces of its rows cost more than packing B again."""
    tile = register_tile(64, 4, False)
    assert blocking(1320, 1307, 24, 1, tile, 2, 4, 4, 24).groups_n == 1


@pytest.mark.parametrize("component", [4, 8])
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_only_a_large_level_2_cache_changes_the_tile(vector_bytes: int, component: int) -> None:
    usual = register_tile(vector_bytes, component, False)
    assert usual == register_tile(vector_bytes, component, False, level2_bytes=LARGE_LEVEL2 - 1)
    large = register_tile(vector_bytes, component, False, level2_bytes=LARGE_LEVEL2)
    assert (large != usual) == ((vector_bytes, component) in LARGE_TILES)
    assert large.rows * large.vectors == usual.rows * usual.vectors  # registers for sums
    assert large.rows + large.vectors <= usual.rows + usual.vectors  # loads of a step
    assert large.capacity * component <= LARGE_LEVEL2 // 2


@pytest.mark.parametrize("component", [4, 8])
@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_a_small_level_2_cache_leaves_packed_panels_to_level_3(vector_bytes: int, component: int) -> None:
    usual, small = (register_tile(vector_bytes, component, False, level2_bytes=each) for each in (0, SMALL_LEVEL2))
    assert (small != usual) == ((vector_bytes, component) in SMALL_TILES)
    assert (small.rows, small.vectors, small.depth) == (usual.rows, usual.vectors, usual.depth)
    assert (small.tiles > 1) == (
        small.capacity * component > SMALL_LEVEL2
    )  # a panel from level 3 is worth several tiles
    assert small.uncut_depth <= small.depth
    assert usual == register_tile(vector_bytes, component, False, level2_bytes=SMALL_LEVEL2 + 1)


@pytest.mark.parametrize(("vector_bytes", "component"), list(LARGE_TILES))
def test_few_columns_take_a_tile_that_they_fill(vector_bytes: int, component: int) -> None:
    """And keep the depth up to which rows of a product have the same bits."""
    width = vector_bytes // component

    def tile(columns: int | None) -> Tile:
        return register_tile(vector_bytes, component, False, level2_bytes=LARGE_LEVEL2, columns=columns)

    wide, usual = tile(None), register_tile(vector_bytes, component, False)
    narrow = tile((wide.vectors - 1) * width)
    assert (narrow.rows, narrow.vectors) == (usual.rows, usual.vectors)
    assert narrow.uncut_depth >= wide.uncut_depth
    assert tile(narrow.panel) == narrow
    assert tile((wide.vectors - 1) * width + 1) == wide


def test_complex_tiles_are_those_of_any_cache() -> None:
    for component in (4, 8):
        for cache in (SMALL_LEVEL2, LARGE_LEVEL2):
            assert register_tile(64, component, True) == register_tile(64, component, True, level2_bytes=cache)
