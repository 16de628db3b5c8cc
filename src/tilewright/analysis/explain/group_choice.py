"""Chooses the work-groups to run: all if that takes little time, else corners, neighbours, the middle and some others."""

from collections.abc import Sequence
from itertools import product
from math import prod
from random import Random

from .simt.launch import LANES_AT_ONCE, all_groups
from .simt.machine_state import Group

_ALL_LANES = 2048  # up to which all groups are run, whatever they cost
_FEWEST, _MOST = 8, 16  # groups of a choice
_SEED = 1  # the choice is the same each time
# The most that all groups may cost: about half a second. A batch of LANES_AT_ONCE lanes takes about as long as _BATCH loop
# steps. A step took 0.4 ms when this was measured (2 cores, 2026).
_BATCH, _AFFORDABLE = 15, 1000


def count_groups(global_size: Sequence[int], local_size: Sequence[int]) -> Group:
    counts = [-(-size // own) for size, own in zip(global_size, local_size, strict=True)] + [1, 1]
    return counts[0], counts[1], counts[2]


def last_group(global_size: Sequence[int], local_size: Sequence[int]) -> Group:
    """The group at the end in all dimensions."""
    counts = count_groups(global_size, local_size)
    return counts[0] - 1, counts[1] - 1, counts[2] - 1


def choose_groups(global_size: Sequence[int], local_size: Sequence[int]) -> list[Group]:
    """All groups of a small NDRange. Of a large one: the first, its neighbours in each dimension (they show races between
    groups), the middle, the last ones in each dimension (they show incomplete tiles), and some at random."""
    counts = count_groups(global_size, local_size)
    items, last = prod(local_size), [count - 1 for count in counts]
    limit = max(_FEWEST, min(_MOST, LANES_AT_ONCE // items))
    if prod(counts) * items <= _ALL_LANES or prod(counts) <= limit:
        return all_groups(global_size, local_size)
    wanted: list[Group] = [(0, 0, 0), (last[0], last[1], last[2]), (last[0] // 2, last[1] // 2, last[2] // 2)]
    wanted += [
        group for group in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) if all(a <= b for a, b in zip(group, last, strict=True))
    ]
    wanted += product(*({0, at} for at in last))  # type: ignore[arg-type]
    chosen = list(dict.fromkeys(wanted))[:limit]
    chance = Random(_SEED)
    while len(chosen) < limit:
        group = chance.randrange(counts[0]), chance.randrange(counts[1]), chance.randrange(counts[2])
        if group not in chosen:
            chosen.append(group)
    return sorted(chosen, key=lambda group: group[::-1])


def all_are_affordable(global_size: Sequence[int], local_size: Sequence[int], chosen: int, steps: int) -> bool:
    """Whether all groups may be run, given that `chosen` groups took `steps` loop steps."""
    together = max(1, LANES_AT_ONCE // prod(local_size))
    batches = -(-prod(count_groups(global_size, local_size)) // together)
    steps_of_a_batch = steps / -(-chosen // together)
    return batches * (_BATCH + steps_of_a_batch) <= _AFFORDABLE
