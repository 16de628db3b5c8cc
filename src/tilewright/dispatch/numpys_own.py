"""Which products of NumPy arrays on a CPU are NumPy's own: those that take less time there than an OpenCL launch is worth.

An enqueue costs 3 to 10 us with Intel's runtime and 30 to 60 us with PoCL, however little there is to do, and NumPy multiplies
16 x 16 matrices in 1 us. From some amount of work on, kernels win. That amount is measured on each machine
(`library/numpy_limits.py`) and handed in here, because it depends on the driver, the cores, and NumPy's BLAS.

The model has one number a product, its amount, and one limit for each kind of product:

- "product": one product by a BLAS. Its amount is m n k + 4 (m k + k n + m n): a BLAS on one core of a Zen 5 takes as long for an
  element of a matrix-vector product as for 4 to 5 multiply-adds of a square one (1024 x 1024 elements in 25 to 42 us, against
  170^3 multiply-adds in 30 us), so that one limit is right for thick and thin matrices.
- "vector": the same with one row or column. A BLAS uses its threads from other sizes on: OpenBLAS 0.3.31 from 100^3
  multiply-adds of float32 matrices, and from 1024 x 1024 elements times a vector.
- "stack": several products by a BLAS, one after the other on one core or with all cores for each. Amounts are added up.
- "each": of a stack with any number of products, the amount of one. Below it NumPy's loop over products (20 to 40 ns for
  each) is faster than our work-groups, however many products there are.
- "thin": the same with at most 4 rows or columns. Kernels multiply whole vectors, of which such products use little: 203 of
  154 x 2 x 102 took NumPy a third to a seventh of our time, of 154 x 16 x 102 up to three times ours.
- "loops": what NumPy multiplies without a BLAS, in simple loops: integers, bools, float16, outer products (k = 1), and other
  operands with gaps before NumPy 2.3. Its amount is m n k, whatever it reads: a loop takes 0.2 to 10 ns for each step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

BLAS_TYPES = ("float32", "float64", "complex64", "complex128")
LOOPED = ("float16", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TYPES = (*BLAS_TYPES, *LOOPED)
# Amounts that are NumPy's own on every machine, so that nothing is measured for them: 16 x 16 x 16 by a BLAS, 6 x 6 x 6 without
# one. They take 1 us, where the cheapest enqueue takes 3.
ALWAYS = {"product": 16**3 + 4 * 3 * 16**2, "vector": 5 * 32**2, "stack": 16**3, "loops": 6**3}
THIN = 4  # rows or columns
ELEMENT = 4  # multiply-adds that take as long as an element that is read or written: see above


class Asked(NamedTuple):
    """What a product needs of NumPy. `products` of them of m x n x k, which are `ours` for a kernel: one, if NumPy's stack is
    one matrix with more rows. `gaps` means that a BLAS cannot read an operand where it lies."""

    products: int
    m: int
    n: int
    k: int
    read: str  # types of operands and result
    result: str
    ours: int = 1
    gaps: bool = False

    @property
    def by_blas(self) -> bool:
        """Whether NumPy multiplies it by a BLAS: `@` of its two-dimensional arrays leaves k = 1 to loops."""
        return self.result in BLAS_TYPES and not self.gaps and (self.k > 1 or 1 in (self.m, self.n))


@dataclass(frozen=True)
class Limit:
    """The largest amount that NumPy is called for, and the product that was measured with it."""

    amount: float
    like: str


LimitOf = Callable[[str], Limit]  # the limit for a kind of product


def amounts(asked: Asked) -> dict[str, float]:
    """The amounts by kinds. The product is NumPy's own if one of them is within its limit."""
    steps = asked.m * asked.n * asked.k
    found: dict[str, float]
    if asked.by_blas:
        one = steps + ELEMENT * (asked.m * asked.k + asked.k * asked.n + asked.m * asked.n)
        single = "vector" if 1 in (asked.m, asked.n) else "product"
        found = {single: one} if asked.products == 1 else {"stack": asked.products * one}
    else:
        one = steps
        found = {"loops": asked.products * one}
    if asked.ours > 1:
        found["thin" if asked.by_blas and min(asked.m, asked.n) <= THIN else "each"] = one
    return found


def numpys_own(asked: Asked, limit_of: LimitOf) -> str:
    """Why the product is NumPy's own: a sentence; "" if it is for kernels. `limit_of` is called only if the answer needs it."""
    if asked.read not in TYPES or asked.result not in TYPES or 0 in (asked.products, asked.m, asked.n, asked.k):
        return ""
    found = amounts(asked)
    if any(amount <= ALWAYS.get(kind, 0) for kind, amount in found.items()):
        return "it takes 1 us, and the enqueue of a kernel more"
    for kind, amount in found.items():
        limit = limit_of(kind)
        if amount <= limit.amount:
            return (
                f"an amount of {amount:,.0f}, and up to {limit.amount:,.0f} (about {limit.like}) "
                f"NumPy was faster in {WORDS[kind]} when this machine was measured"
            )
    return ""


WORDS = {
    "product": "products by its BLAS",
    "vector": "products with one row or column by its BLAS",
    "stack": "whole stacks by its BLAS",
    "each": "each product of a long stack",
    "thin": "each thin product of a long stack",
    "loops": "products without a BLAS",
}
