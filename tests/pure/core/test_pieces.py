"""Dimensions of two operands, cut at different places."""

import numpy as np
import pytest

from tilewright.core.pieces import Piece, pieces


def test_pieces_end_where_a_chunk_of_either_ends() -> None:
    found = pieces((4, 6), (3, 0, 3, 4))
    assert [(each.length, each.a, each.b) for each in found] == [(3, 0, 0), (1, 0, 2), (2, 1, 2), (4, 1, 3)]
    assert found[2] == Piece(2, 1, slice(0, 2), 2, slice(1, 3))
    assert pieces((1,), (2, 3))[1] == Piece(3, 0, slice(0, 1), 1, slice(0, 3))
    assert pieces((0,), (0, 0)) == ()


@pytest.mark.parametrize("seed", range(20))
def test_pieces_cover_every_index_once(seed: int) -> None:
    generator = np.random.default_rng(seed)
    total = int(generator.integers(1, 40))
    a, b = (np.diff([0, *sorted(generator.integers(0, total + 1, 4)), total]).tolist() for _ in "ab")
    places_a, places_b = ([(chunk, at) for chunk, length in enumerate(each) for at in range(length)] for each in (a, b))
    found = pieces(tuple(a), tuple(b))
    assert [(each.a, at) for each in found for at in range(each.in_a.start, each.in_a.stop)] == places_a
    assert [(each.b, at) for each in found for at in range(each.in_b.start, each.in_b.stop)] == places_b
    assert sum(each.length for each in found) == total
