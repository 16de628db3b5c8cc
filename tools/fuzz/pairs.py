"""Products of a matrix with its own transpose, and near misses: b lies in the memory of a.

The library computes half of such a product, if it sees that b begins where a does and has a's strides swapped. So b may also
begin elsewhere, or have other strides, and then nothing may be halved.
"""

import random
from dataclasses import replace

import numpy as np

from .cases import NUMBERS, Case, Given
from .memory import Geometry
from .types import MULTIPLIED, dtype_of

# op(b) is op(a) transposed: "turned". "later" begins a row later, "wider" has every second row of the memory, "fewer" lacks
# the last column, "reversed" runs from the last row back, "copy" has equal elements in memory of its own.
PAIRS = ("turned", "later", "wider", "fewer", "reversed", "copy")
SHARED = PAIRS[:-1]
UNCOPIED = ("plain", "readonly", "file", "subclass", "dlpack")  # forms that the library reads where they lie


def paired(chance: random.Random, case: Case) -> Case:
    """The product with a `b` that lies in the memory of `a`."""
    if case.vector_a or case.vector_b:
        return case
    kind = chance.choices(PAIRS, (6, 1, 1, 1, 1, 1))[0]
    dtype = case.a.dtype
    if chance.random() < 0.06:
        size = dtype_of(dtype).itemsize
        alike = [name for name in MULTIPLIED if name != "bool" and dtype_of(name).itemsize == size]
        dtype = chance.choice(alike or [dtype])
    return tied(case.but(pair=kind, b=replace(case.a, dtype=dtype)))


def tied(case: Case) -> Case:
    """The case with the sizes that its pair has: n follows m."""
    if not case.pair:
        return case
    less = int(case.pair == "fewer")
    side = min(case.m, case.n + less)
    given = replace(case.b, form=case.a.form, sub=case.a.sub)
    return case.but(m=side, n=max(0, side - less), lead_b=case.lead_a, b=given)


def placed(case: Case, a: Geometry) -> tuple[Geometry, int]:
    """Where b lies, and how many bytes behind the beginning of a's span its own begins."""
    shape, dtype = case.shape_of("b"), dtype_of(case.b.dtype)
    row, column = a.strides[-2:] if case.trans_a == "N" else a.strides[:-3:-1]
    delta = 0
    if case.pair == "later":
        delta = row or dtype.itemsize
    elif case.pair == "wider":
        row *= 2
    elif case.pair == "reversed":
        delta, row = (case.m - 1) * row, -row
    sides = (column, row) if case.trans_b == "N" else (row, column)
    strides = (*a.strides[:-2], *sides)
    if 0 in shape:
        return Geometry(shape, dtype, strides, 0, 0), 0
    ends = [(side - 1) * stride for side, stride in zip(shape, strides, strict=True)]
    low = sum(min(end, 0) for end in ends)
    made = Geometry(shape, dtype, strides, low, sum(map(abs, ends)) + dtype.itemsize)
    return made, delta + low - a.low


def copied(case: Case, a: np.ndarray) -> np.ndarray:
    """What b holds where it is a copy: a's elements, transposed."""
    return a if (case.trans_a == "N") != (case.trans_b == "N") else np.swapaxes(a, -1, -2)


def is_symmetric(case: Case, read: str) -> bool:
    """Whether the pages promise a result that equals its transpose bit by bit; `read` is the type that is multiplied."""
    if case.pair != "turned" or case.m < 2 or case.in_tiles or not _plain_epilogue(case):
        return False
    if case.a.dtype != case.b.dtype or read.startswith("float8") or case.a.sub or case.b.sub:
        return False
    if case.a.dtype != read and case.place != "host":  # device arrays are converted each by itself
        return False
    if {case.a.form, case.b.form} - set(UNCOPIED) and case.place == "host":
        return False
    one_conjugate = (case.trans_a == "C") != (case.trans_b == "C")
    return not (one_conjugate and read.startswith("complex"))


def _plain_epilogue(case: Case) -> bool:
    given: tuple[Given | None, ...] = (case.bias, case.scale_a, case.scale_b)
    return given == (None, None, None) and (case.c is None or NUMBERS[case.beta] == 0) and case.alpha != "nan"
