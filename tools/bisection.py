"""Finds by bisection the sizes at which an answer changes."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise


def changes(sizes: Sequence[int], look: Callable[[int], object]) -> Iterator[tuple[int, int]]:
    """The neighbouring sizes, low and low + 1, for which `look` gives different answers. Two of `sizes` that agree are taken
    to agree in between; where two differ, one change between them is found."""
    for low, high in pairwise(sizes):
        if look(low) == look(high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if look(middle) == look(low) else (low, middle)
        yield low, high
