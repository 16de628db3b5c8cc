"""The sizes of products that NumPy and kernels are compared at."""

from math import exp, isqrt, log

from ..core.types import element_type
from ..dispatch.numpys_own import BLAS_TYPES, LARGE_BYTES, SHALLOW, Asked, amount_of

LARGE_VECTOR_BYTES = 2 * LARGE_BYTES  # of the matrices that large products with a vector are measured with
VECTOR_SIDES = (32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024, 1536, 2048)  # of matrices times a vector
OUTER_SIDES = (16, 32, 64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024)  # of outer products
LOOP_SIDES = (6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 96)  # of squares without a BLAS
SAMPLES = 64  # products that costs are fitted to
# The least and the most products, rows, columns and depth of the samples of a kind; "vectors" have one row, or one column.
LEAST = {
    "product": (1, 2, 2, SHALLOW + 1),
    "shallow": (1, 2, 2, 2),
    "stack": (2, 2, 2, SHALLOW + 1),
    "shallows": (2, 2, 2, 2),
    "vectors": (2, 1, 1, 2),
    "outers": (2, 1, 1, 1),
    "looped": (2, 2, 2, 2),
}
MOST = {
    "product": (1, 512, 512, 512),
    "shallow": (1, 2048, 2048, SHALLOW),
    "stack": (1000, 256, 256, 256),
    "shallows": (1000, 1024, 1024, SHALLOW),
    "vectors": (1000, 512, 512, 256),
    "outers": (1000, 1000, 1000, 1),
    "looped": (1000, 64, 64, 64),
}
LEAST_AMOUNT = {"product": 2**18, "shallow": 2**18}  # of one sample: an enqueue takes longer than smaller ones
MOST_AMOUNT = {"product": 2**24, "shallow": 2**24, "outers": 2**18, "looped": 2**17}  # of one sample: 0.1 to 1 ms
MOST_BY_BLAS = 2**23
# In these kinds every UNCACHED_EVERY-th sample is a stack of UNCACHED_BYTES, more than any cache holds.
UNCACHED_KINDS, UNCACHED_EVERY, UNCACHED_BYTES = ("stack", "shallows", "vectors"), 8, 3 * LARGE_BYTES // 2
GOLDEN = 1.1673039782614187  # x^5 = x + 1: the golden ratio of four dimensions


def sizes_of(kind: str, read: str, result: str) -> list[Asked]:
    """What is compared for a limit, from little work to much."""
    if kind == "vector":
        return [Asked(1, 1, side, side, read, result) for side in VECTOR_SIDES]
    if kind == "outer":
        return [Asked(1, side, side, 1, read, result) for side in OUTER_SIDES]
    gaps = result in BLAS_TYPES
    return [Asked(1, side, side, side, read, result, gaps=gaps) for side in LOOP_SIDES]


def large_vectors(read: str, result: str) -> list[Asked]:
    """A row times a matrix, which is read along its columns, and a matrix times a column."""
    side = isqrt(LARGE_VECTOR_BYTES // element_type(read).itemsize)
    return [Asked(1, 1, side, side, read, result), Asked(1, side, 1, side, read, result)]


def samples_of(kind: str, read: str, result: str) -> list[Asked]:
    """What costs are fitted to: sizes that spread evenly over the logarithms, with every layout."""
    samples: list[Asked] = []
    number = 0
    while len(samples) < SAMPLES:
        sample = _sample(number, kind, read, result)
        number += 1
        if not LEAST_AMOUNT.get(kind, 0) <= amount_of(sample) <= MOST_AMOUNT.get(kind, MOST_BY_BLAS):
            continue
        if kind in UNCACHED_KINDS and len(samples) % UNCACHED_EVERY == UNCACHED_EVERY - 1:
            sample = _uncached(sample)
        samples.append(sample)
    return samples


def _sample(number: int, kind: str, read: str, result: str) -> Asked:
    """The sample of that number: a stack is cut to the most that fits, so that only a single product may be too large."""
    most, least = MOST[kind], LEAST[kind]
    count, m, n, k = map(logarithmic, spread(number), least, most)
    if kind == "vectors":
        m, n = (1, n) if number % 2 else (n, 1)
    across = (number // 2 % 2 == 1, number // 4 % 2 == 1) if kind != "outers" else (False, False)
    one = Asked(1, m, n, k, read, result, across=across)
    if most[0] == 1:  # a single product
        return one
    fitting = max(2, min(count, int(MOST_AMOUNT.get(kind, MOST_BY_BLAS) / amount_of(one))))
    return one._replace(products=fitting, ours=fitting)


def _uncached(sample: Asked) -> Asked:
    """A stack of as many such products as take UNCACHED_BYTES."""
    count = -(-UNCACHED_BYTES // (sample.elements * element_type(sample.read).itemsize))
    return sample._replace(products=count, ours=count)


def spread(number: int) -> list[float]:
    """The point of that number of a sequence that fills the four-dimensional unit cube evenly (M. Roberts' R sequence)."""
    return [(0.5 + number * GOLDEN**-place) % 1 for place in (1, 2, 3, 4)]


def logarithmic(part: float, least: int, most: int) -> int:
    """A size from `least` to `most`: at half of the part their geometric mean."""
    return round(least * exp(part * log(most / least)))
