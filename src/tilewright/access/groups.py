"""Chooses the work-groups to run: the first and its neighbours, one in the middle, the last."""

from collections.abc import Sequence

from .simt.launch import LANES_AT_ONCE, all_groups
from .simt.machine import Group

_ALL_LANES = 2048


def choose_groups(global_size: Sequence[int], local_size: Sequence[int]) -> list[Group]:
    """All groups of a small NDRange. Of a large one: the first, its neighbours in each dimension (races between groups
    show there), the middle and the last (ragged edges show there), as many as run at once."""
    counts = [size // own for size, own in zip(global_size, local_size, strict=True)] + [1, 1]
    total, items = counts[0] * counts[1] * counts[2], 1
    for own in local_size:
        items *= own
    if total * items <= _ALL_LANES:
        return all_groups(global_size, local_size)
    last = (counts[0] - 1, counts[1] - 1, counts[2] - 1)
    wanted: list[Group] = [(0, 0, 0), last, (last[0] // 2, last[1] // 2, last[2] // 2)]
    wanted += [
        group for group in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) if all(a <= b for a, b in zip(group, last, strict=True))
    ]
    limit = max(3, LANES_AT_ONCE // items)
    return sorted(dict.fromkeys(wanted[:limit]), key=lambda group: group[::-1])
