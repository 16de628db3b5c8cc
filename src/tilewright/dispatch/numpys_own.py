"""Which products of NumPy arrays on a CPU are NumPy's own: those that take less time there than an OpenCL launch is worth.

An enqueue costs 3 to 10 us with Intel's runtime and 30 to 60 us with PoCL, however little there is to do, and NumPy multiplies
16 x 16 matrices in 1 us. With more work, kernels win. What both take is measured on each machine (`library/numpy_limits.py`) and
handed in here, because it depends on the driver, the cores, and NumPy's BLAS.

A product with one row or column, an outer product, and a product that NumPy computes in loops have one number, their amount, and
each kind of them one limit:

- "vector": one row or column by a BLAS. Its amount is m n k + 4 (m k + k n + m n): an element costs a BLAS on one core of a Zen 5
  as much as 4 to 5 multiply-adds of a square product (1024 x 1024 elements in 25 to 42 us, against 170^3 multiply-adds in 30 us).
- "large vector": the same with a matrix that no cache holds. Both ways read it nearly at memory's speed, and one measurement with
  such matrices decides for all of them: 4096 x 4096 of float32 times a vector took NumPy 0.85 to 0.90 of the kernel's time on a
  Zen 5, and more than the kernel's on a Zen 4.
- "outer": one column times one row (k = 1), by `numpy.dot`, as other products with a small C are (`Asked.by_dot`). Its amount
  is m n. `@` leaves such products to a loop. In a trial on a Zen 5 132 x 318 elements of float32 took 41 us by `@`, 4 by `dot`,
  which calls a BLAS, and 10 by a kernel.
- "loops": what NumPy multiplies without a BLAS, in simple loops: integers, bools, float16, and operands with gaps before
  NumPy 2.3. Its amount is m n k, whatever it reads: a loop takes 0.2 to 10 ns for each step.

Other products have no such number. A kernel takes whole vectors of each row and loses on short ones. NumPy loses on each product
of a stack that it begins, and its BLAS multiplies small matrices by other code than large ones and wakes other threads from some
size on: OpenBLAS 0.3.31 from 64^3 to 100^3 multiply-adds on. For them a time is expected for both, as a sum of amounts times
what each was measured to cost (`Costs`): for the call, and for each product, each multiply-add, each element of C, and each of
A and B, where NumPy wakes no threads and where it does, and for each element of a product or stack that no cache holds. Kernels
pay for rows of C in whole vectors, for panels of B, and more for an operand that lies transposed: for each element, and once in
a call. Kinds are
"product" and, with 2 to 16 steps of k, "shallow"; "stack" and "shallows" of them; "vectors" (stacks with one row or column each),
"outers" (k = 1) and "looped" (no BLAS).

On two cores of a Zen 3, of 2,400 random products of float32 and float64 (half with k of 1 to 8, stacks of up to 1,000, sides
to 256) a kernel was taken for 2 % where NumPy was over a tenth faster, with both measured one after the other on a shared
machine; limits on the amounts of a stack and of each of its products had made it 22 % of the stacks. That was before the
waking of the driver's threads counted for kernels. On two cores of a Zen 5 it counted 19 to 24 us, and of 1,102 random stacks of
12 us and more NumPy was over a tenth faster for 2 % in the place of 7 % in calls one after the other, and for 5 % in the place
of 14 % in calls 20 ms apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import mul
from typing import NamedTuple

from ..core.types import element_type

BLAS_TYPES = ("float32", "float64", "complex64", "complex128")
LOOPED = ("float16", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TYPES = (*BLAS_TYPES, *LOOPED)
# Amounts that are NumPy's own on every machine, so that nothing is measured for them: 16 x 16 x 16 and 16 x 1 x 16 by a BLAS,
# 6 x 6 x 6 without one. They take 1 us, where the cheapest enqueue takes 3.
ONE_US = 16**3 + 4 * 3 * 16**2
ALWAYS = {
    "product": ONE_US,
    "shallow": ONE_US,
    "stack": ONE_US,
    "shallows": ONE_US,
    "vector": 5 * 32**2,
    "outer": 16**2,
    "outers": 6**3,
    "loops": 6**3,
}
ELEMENT = 4  # multiply-adds that take as long as an element that is read or written: see above
CALL = 1000.0  # an amount of about a call's time in ns, so that all costs have like sizes
VECTOR_BYTES = 64  # of a row of C that a kernel computes together, with vectors of 64 bytes or two of 32
# Of C, up to which `numpy.dot` is called: it takes 0.3 us less than `@`, and calls the same routines of the BLAS, but fills C
# with zeros first. 16 x 16 x 16 of float32 took 0.42 us in the place of 0.72 on a Zen 5, 64 x 64 x 64 of float64 (32 KiB) 4.6 of
# 4.8, and 96 x 96 x 96 (72 KiB) 14.7 of 14.6.
DOT_BYTES = 32 * 2**10
LARGEST = 256**3  # multiply-adds of each product; larger ones are for kernels
SHALLOW = 16  # steps of k, with which C counts more than multiply-adds
LARGE_BYTES = 24 * 2**20  # of a matrix times a vector, or of all matrices of a stack, that no cache holds
GAIN = 0.9  # a kernel is taken if it is expected to take less than this part of NumPy's time


class Asked(NamedTuple):
    """What a product needs of NumPy. `products` of them of m x n x k, which are `ours` for a kernel: one, if NumPy's stack is
    one matrix with more rows. `gaps` means that a BLAS cannot read an operand where it lies, `across` whether A, and B, lie
    transposed, `pieces` that an operand lies in several pieces, which `@` reads where they lie, and `numpy.dot` copies."""

    products: int
    m: int
    n: int
    k: int
    read: str  # types of operands and result
    result: str
    ours: int = 1
    gaps: bool = False
    across: tuple[bool, bool] = (False, False)
    pieces: bool = False

    @property
    def elements(self) -> int:
        """Elements of A, B and C of one of the products."""
        return self.m * self.k + self.k * self.n + self.m * self.n

    @property
    def by_blas(self) -> bool:
        """Whether `@` multiplies it by a BLAS: it leaves k = 1 of two-dimensional arrays to loops."""
        return self.result in BLAS_TYPES and not self.gaps and (self.k > 1 or 1 in (self.m, self.n))

    @property
    def by_dot(self) -> bool:
        """Whether `numpy.dot` multiplies it in less time than `@`, with the same result.

        Not a row or column by a single element: to `dot` that is a number, and 0 times NaN or infinity becomes 0.
        """
        if self.products > 1 or self.result not in BLAS_TYPES:
            return False
        if self.k == 1:
            return 1 not in (self.m, self.n)
        small = self.m * self.n * element_type(self.result).itemsize <= DOT_BYTES
        return small and not self.gaps and not self.pieces

    def wakes(self, alone: float) -> bool:
        """Whether the BLAS wakes other threads for each product, if it multiplies matrices up to `alone` without."""
        return self.by_blas and 1 not in (self.m, self.n) and self.m * self.n * self.k > alone


@dataclass(frozen=True)
class Limit:
    """The largest amount that NumPy is called for, which may be infinity, and the product that was measured with it."""

    amount: float
    like: str

    def reason(self, kind: str, asked: Asked) -> str:
        """Why the product is NumPy's own; "" if it is not."""
        amount = amount_of(asked)
        if amount > self.amount:
            return ""
        if self.amount == float("inf"):
            return f"NumPy was faster in {WORDS[kind]} (at {self.like}) when this machine was measured"
        return (
            f"an amount of {amount:,.0f}, and up to {self.amount:,.0f} (about {self.like}) "
            f"NumPy was faster in {WORDS[kind]} when this machine was measured"
        )


@dataclass(frozen=True)
class Costs:
    """What each of `numpys_amounts` and of `kernels_amounts` takes, in ns."""

    numpys: tuple[float, ...]
    kernels: tuple[float, ...]
    alone: float  # the most multiply-adds of a product for which NumPy wakes no threads
    waking: float  # what a kernel takes more after a pause, which counts where NumPy wakes none

    def expected(self, asked: Asked) -> tuple[float, float]:
        """The times of NumPy and of a kernel, in ns."""
        woken = asked.wakes(self.alone)
        numpys = sum(map(mul, self.numpys, numpys_amounts(asked, woken)))
        return numpys, sum(map(mul, self.kernels, kernels_amounts(asked))) + (0 if woken else self.waking)

    def reason(self, kind: str, asked: Asked) -> str:
        """Why the product is NumPy's own; "" if it is not."""
        numpys, kernels = self.expected(asked)
        # Kernels divide a stack among the cores. NumPy divides each product, and its threads wait for each other at each.
        largest = {"product": LARGEST, "stack": min(self.alone, LARGEST)}.get(kind)
        too_large = largest is not None and asked.m * asked.n * asked.k > largest
        if too_large or kernels < GAIN * numpys:
            return ""
        return (
            f"NumPy is expected to take {numpys / 1e3:,.0f} us, and a kernel {kernels / 1e3:,.0f}, from what this machine "
            f"was measured to do in {WORDS[kind]}"
        )


Measured = Callable[[str], Limit | Costs]  # what was measured for a kind of product


def kind_of(asked: Asked) -> str:
    """The kind of the product: a word of WORDS."""
    by_blas, vector, stack = asked.result in BLAS_TYPES, 1 in (asked.m, asked.n), asked.products > 1
    if by_blas and asked.k == 1 and (stack or not vector):
        return "outers" if stack else "outer"
    if not asked.by_blas:
        return "loops" if by_blas or not stack else "looped"
    if vector and not stack:
        nbytes = asked.m * asked.n * asked.k * element_type(asked.read).itemsize
        return "large vector" if nbytes > LARGE_BYTES else "vector"
    if vector:
        return "vectors"
    if asked.k <= SHALLOW:
        return "shallows" if stack else "shallow"
    return "stack" if stack else "product"


def amount_of(asked: Asked) -> float:
    """How much work the product is for NumPy: multiply-adds by a BLAS, or steps of a loop."""
    steps = asked.m * asked.n * asked.k
    if not asked.by_blas:
        return asked.products * steps
    return asked.products * (steps + ELEMENT * asked.elements)


def elements_from_memory(asked: Asked) -> float:
    """The elements that no cache keeps from call to call: none of up to half of LARGE_BYTES, all from LARGE_BYTES on.

    In a stack of 893 float64 products of 13 x 151 x 27 (45 MB), one core of a Zen 5 passed 9 GB/s by NumPy, and two cores 16 by
    a kernel (benchmarks/regret-cpu-zen5-float64.json).
    """
    elements = asked.products * asked.elements
    part = 2 * elements * element_type(asked.read).itemsize / LARGE_BYTES - 1
    return min(1.0, max(0.0, part)) * elements


def numpys_amounts(asked: Asked, woken: bool) -> tuple[float, ...]:
    """What NumPy's time is made of: the call; products, multiply-adds, elements of C, and elements of A and B without other
    threads; the same with them; elements from memory."""
    count, m, n, k = asked[:4]
    work, none = (count, count * m * n * k, count * m * n, count * (m * k + k * n)), (0, 0, 0, 0)
    return CALL, *(none if woken else work), *(work if woken else none), elements_from_memory(asked)


def kernels_amounts(asked: Asked) -> tuple[float, ...]:
    """The same for a kernel: with rows of C in whole vectors. Elements of B in whole panels, as they are packed, elements that
    lie transposed, and a call for A and one for B where it does, stand before the elements from memory."""
    count, n, k = asked.ours, asked.n, asked.k
    m = asked.m * asked.products // asked.ours
    line = max(1, VECTOR_BYTES // element_type(asked.result).itemsize)
    width = -(-n // line) * line
    across = m * k * asked.across[0] + k * n * asked.across[1]
    work = (count, count * m * width * k, count * m * width, count * (m * k + k * n))
    calls = (CALL * asked.across[0], CALL * asked.across[1])
    packed = count * k * -(-n // (2 * line)) * 2 * line
    return CALL, *work, packed, count * across, *calls, elements_from_memory(asked)


def numpys_own(asked: Asked, measured: Measured) -> str:
    """Why the product is NumPy's own: a sentence; "" if it is for kernels. `measured` is called only if the answer needs it."""
    if asked.read not in TYPES or asked.result not in TYPES or 0 in (asked.products, asked.m, asked.n, asked.k):
        return ""
    kind = kind_of(asked)
    if amount_of(asked) <= ALWAYS.get(kind, 0):
        return "it takes 1 us, and the enqueue of a kernel more"
    return measured(kind).reason(kind, asked)


WORDS = {
    "product": "products by its BLAS",
    "vector": "products with one row or column by its BLAS",
    "large vector": f"products of one row or column and a matrix of over {LARGE_BYTES >> 20} MiB by its BLAS",
    "loops": "products without a BLAS",
    "stack": "stacks of products",
    "vectors": "stacks of products with one row or column",
    "shallow": f"products of {SHALLOW} steps or fewer",
    "shallows": f"stacks of products of {SHALLOW} steps or fewer",
    "outer": "outer products",
    "outers": "stacks of outer products",
    "looped": "stacks of products without a BLAS",
}
