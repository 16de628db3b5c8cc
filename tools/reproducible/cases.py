"""Random products, each of one integer: sizes, types, numbers of all kinds, epilogues."""

from dataclasses import dataclass

import numpy as np

from tilewright.core.types import numpy_dtype

DTYPES = ("float32", "float64", "float32", "float64", "float16", "bfloat16")
MOST_WORK = 2.0**26  # multiply-adds of a case
EDGES = (0, 1, 2, 7, 12, 15, 16, 17, 31, 32, 33, 64, 65, 128, 255, 256, 257, 511, 512, 513, 1024, 4097)


@dataclass(frozen=True)
class Case:
    """gemm(a, b, c, alpha, beta, bias, activation) of matrices without gaps. `c` is not read if beta is 0."""

    seed: int
    dtype: str
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    alpha: float
    beta: float
    bias: np.ndarray | None
    activation: str | None

    @property
    def m(self) -> int:
        return len(self.a)

    @property
    def n(self) -> int:
        return int(self.b.shape[1])

    @property
    def k(self) -> int:
        return int(self.a.shape[1])

    def __str__(self) -> str:
        more = f" alpha={self.alpha} beta={self.beta}{' bias' if self.bias is not None else ''} {self.activation or ''}"
        return f"case {self.seed}: {self.m}x{self.n}x{self.k} {self.dtype}{more}".rstrip()


def make_case(seed: int) -> Case:
    random = np.random.default_rng(seed)
    dtype = str(random.choice(DTYPES))
    m, n, k = _sizes(random)
    a, b, c, bias = (_numbers(random, shape, dtype) for shape in ((m, k), (k, n), (m, n), (n,)))
    alpha, beta = (float(random.choice(choices)) for choices in ((1, 1, -1, 0.7), (0, 0, 1, -1.3)))
    relu = random.random() < 0.1
    return Case(seed, dtype, a, b, c, alpha, beta, bias if random.random() < 0.2 else None, "relu" if relu else None)


def _sizes(random: np.random.Generator) -> tuple[int, int, int]:
    """m, n from 1 on and k from 0 on, some of them at edges of tiles and blocks."""
    sizes = [
        int(random.choice(EDGES)) if random.random() < 0.4 else int(2 ** random.uniform(0, most))
        for most in (10, 10, 13)
    ]
    m, n, k = max(sizes[0], 1), max(sizes[1], 1), sizes[2]
    while m * n * k > MOST_WORK:
        m, n, k = max(1, m // 2), max(1, n // 2), k - k // 4
    return m, n, k


def _numbers(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Mostly normal numbers; some matrices of many magnitudes, with zeros of both signs, subnormals, infinities and NaNs."""
    values = random.normal(size=shape)
    form = random.random()
    with np.errstate(over="ignore", under="ignore"):
        if form < 0.2:
            values *= 2.0 ** random.integers(-30, 30, size=shape)
        if form < 0.1:
            values[random.random(shape) < 0.3] = 0.0
            values[random.random(shape) < 0.1] *= -0.0
        if form < 0.04:
            values[random.random(shape) < 0.2] *= 2.0**-1060 if dtype == "float64" else 2.0**-130
        if form < 0.02:
            values[random.random(shape) < 0.001] = np.inf
            values[random.random(shape) < 0.001] = np.nan
        return values.astype(numpy_dtype(dtype))
