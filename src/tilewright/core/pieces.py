"""One dimension of two operands that are cut into chunks at different places."""

from itertools import accumulate, pairwise
from typing import NamedTuple

Chunks = tuple[int, ...]  # the lengths of the chunks of one dimension


class Piece(NamedTuple):
    """A run of a dimension that lies in one chunk of each operand: the chunks' numbers, and where it lies in them."""

    length: int
    a: int
    in_a: slice
    b: int
    in_b: slice


def pieces(a: Chunks, b: Chunks) -> tuple[Piece, ...]:
    """A dimension of both operands, cut where a chunk of either ends. Of length 1, it is repeated for the other's."""
    whole = slice(0, 1)
    if sum(a) == 1 and sum(b) != 1:
        return tuple(Piece(length, a.index(1), whole, place, slice(0, length)) for place, length in enumerate(b))
    if sum(b) == 1 and sum(a) != 1:
        return tuple(Piece(length, place, slice(0, length), b.index(1), whole) for place, length in enumerate(a))
    ends_a, ends_b = list(accumulate(a)), list(accumulate(b))
    cuts = sorted({0, *ends_a, *ends_b})
    found = []
    for begin, end in pairwise(cuts):
        in_a, in_b = (next(place for place, last in enumerate(ends) if last >= end) for ends in (ends_a, ends_b))
        from_a, from_b = ends_a[in_a] - a[in_a], ends_b[in_b] - b[in_b]
        run_a, run_b = slice(begin - from_a, end - from_a), slice(begin - from_b, end - from_b)
        found.append(Piece(end - begin, in_a, run_a, in_b, run_b))
    return tuple(found)
