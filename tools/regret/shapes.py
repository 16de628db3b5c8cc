"""Random products: of each number there is one, whatever other numbers are measured."""

import random
from collections.abc import Callable, Iterator
from itertools import count

from tilewright.core.problem import Gemm, compulsory_bytes
from tilewright.measurement.sets import LAYOUTS, product

MOST_BYTES = 2**29  # of operands and result
# The most flops of one product: it takes some 10 ms, so that twenty rounds of all libraries take seconds.
MOST_FLOPS = {"cpu": 2**31, "gpu": 2**42}
LONGEST = {"cpu": 4096, "gpu": 16384}  # sides
Sides = tuple[int, int, int, int]  # m, n, k, batch
Draw = Callable[[random.Random, int], Sides]


def between(chance: random.Random, least: int, most: int) -> int:
    """A number whose logarithm is uniform."""
    return min(most, int(least * ((most + 1) / least) ** chance.random()))


def log_uniform(chance: random.Random, longest: int) -> Sides:
    """Three sides of any size."""
    m, n, k = (between(chance, 1, longest) for _ in "mnk")
    return m, n, k, 1


def thin(chance: random.Random, longest: int) -> Sides:
    """One side of 1 to 32, in any place; the others from 64 on."""
    sides = [between(chance, 1, 32), *(between(chance, 64, longest) for _ in range(2))]
    chance.shuffle(sides)
    m, n, k = sides
    return m, n, k, 1


def ragged(chance: random.Random, longest: int) -> Sides:
    """Sides a little beside multiples of 64, which are most kernels' tiles."""
    m, n, k = (64 * between(chance, 1, longest // 64) + chance.choice((-1, 1, 3, 7)) for _ in "mnk")
    return m, n, k, 1


def stacks(chance: random.Random, longest: int) -> Sides:
    """Many products of sides up to 256."""
    m, n, k = (between(chance, 2, 256) for _ in "mnk")
    return m, n, k, between(chance, 2, 1024)


DRAWS: dict[str, Draw] = {"log-uniform": log_uniform, "thin": thin, "ragged": ragged, "stacks": stacks}


def drawn(dtype: str, device_kind: str, seed: int) -> Iterator[tuple[str, Gemm]]:
    """Products without end, of the kinds in turn, each with its kind."""
    where = "cpu" if device_kind == "cpu" else "gpu"
    for number in count():
        kind = list(DRAWS)[number % len(DRAWS)]
        chance = random.Random(f"{seed} {dtype} {where} {number}")
        while True:
            m, n, k, batch = DRAWS[kind](chance, LONGEST[where])
            found = product(m, n, k, dtype, chance.choice(list(LAYOUTS)), batch)
            if found.flops <= MOST_FLOPS[where] and compulsory_bytes(found) <= MOST_BYTES:
                yield kind, found
                break
