"""The order of tiles in a strip: each tile once, in a first corner as soon as there are panels, and no panel twice."""

import random as chance

import pytest

from tilewright.library.streamed.orders import arrivals, corner, strip_of


def test_a_corner_grows_by_both_operands() -> None:
    assert corner(range(3), range(3), 1.0) == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1), (0, 2), (1, 2), (2, 2)]
    assert arrivals(4, 2, 1.0) == [True, False, True, False, True, True]
    assert arrivals(4, 2, 3.0) == [
        True,
        False,
        False,
        True,
        True,
        True,
    ]  # a panel that stays is as large as three others
    assert arrivals(0, 2, 1.0) == [False, False]


@pytest.mark.parametrize("fresh", [False, True])
def test_each_tile_once(fresh: bool) -> None:
    draw = chance.Random(7)
    for _ in range(300):
        staying = range(draw.randint(0, 5), draw.randint(6, 12))
        count = draw.randint(1, 14)
        passing = draw.choice((range(count), range(count - 1, -1, -1)))
        pairs = strip_of(staying, passing, draw.randint(1, 6), draw.uniform(0.1, 9), fresh)
        assert len(pairs) == len(set(pairs)) == len(staying) * count
        assert set(pairs) == {(own, other) for own in staying for other in passing}


def test_panels_that_stay_go_one_by_one_at_the_end() -> None:
    """So that the panel of the next group comes in its place, while the others are multiplied."""
    pairs = strip_of(range(3), range(8), 2, 1.0, True)
    assert pairs[-6:] == [(0, 6), (0, 7), (1, 6), (1, 7), (2, 6), (2, 7)]
    following = strip_of(range(3, 6), range(7, -1, -1), 2, 1.0, False)
    assert following[:4] == [(3, 7), (3, 6), (4, 7), (4, 6)]
