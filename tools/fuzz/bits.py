"""What the pages promise of a result's bits: of `precision="reproducible"`, and of a matrix times its own transpose."""

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .cases import NUMBERS, Case
from .references import turned
from .types import dtype_of, plain_name

DEEPEST = 400  # of k, up to which a chain is computed in fractions: they take some microseconds each
Arrays = Mapping[str, np.ndarray]


def asymmetry(result: np.ndarray) -> str:
    """Where a result differs from its transpose; "" if it does not."""
    wrong = _unlike(result, np.swapaxes(result, -1, -2))
    if not wrong.any():
        return ""
    first = tuple(map(int, np.argwhere(wrong)[0]))
    mirrored = (*first[:-2], first[-1], first[-2])
    return (
        f"{int(wrong.sum())} elements of A times its own transpose differ from their mirror images; the first, {list(first)}, "
        f"is {result[first]!r}, the other {result[mirrored]!r}"
    )


def _unlike(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where bits differ; any NaN is as good as another."""
    size = one.dtype.itemsize
    raw = [np.ascontiguousarray(each).view(np.uint8).reshape(*one.shape, size) for each in (one, other)]
    with np.errstate(invalid="ignore"):
        nan = np.asarray((one != one) & (other != other))
    return np.asarray((raw[0] != raw[1]).any(axis=-1) & ~nan)


class Part:
    """Some rows and columns of one matrix of a product, with the operands that they depend on."""

    def __init__(self, case: Case, held: Arrays) -> None:
        chance = random.Random(case.seed)
        self.case = case
        self.index = tuple(chance.randrange(side) for side in case.lead)
        m, n = (1 if case.vector_a else case.m), (1 if case.vector_b else case.n)
        self.rows, self.columns = _some(chance, m), _some(chance, n)
        self.by_columns = chance.random() < 0.5
        self._whole = (*case.lead, m, n)
        a, b = turned(held["a"], case.trans_a), turned(held["b"], case.trans_b)
        a, b = (a[None, :] if case.vector_a else a), (b[:, None] if case.vector_b else b)
        a, b = np.broadcast_to(a, (*case.lead, *a.shape[-2:])), np.broadcast_to(b, (*case.lead, *b.shape[-2:]))
        self.a, self.b = a[self.index][self.rows], b[self.index][:, self.columns]
        self.c = self.of(held["c"]) if case.c is not None and NUMBERS[case.beta] != 0 else None
        self.bias = None
        if case.bias is not None:
            self.bias = held["bias"][self.columns if case.bias_side == "row" else self.rows]

    def of(self, whole: np.ndarray) -> np.ndarray:
        """The same rows and columns of an array of the result's shape."""
        part: np.ndarray = whole.reshape(self._whole)[self.index][self.rows, self.columns]
        return part

    def arguments(self, send: Callable[[np.ndarray], Any]) -> tuple[list[Any], dict[str, Any]]:
        """Those of a `gemm` that computes this part alone, of arrays that lie in another order than the whole's."""
        order: Any = "F" if self.by_columns else "C"
        positional = [send(np.array(each, order=order)) for each in (self.a, self.b)]
        keywords: dict[str, Any] = {"alpha": NUMBERS[self.case.alpha], "precision": self.case.precision}
        if self.c is not None:
            keywords |= {"c": send(np.array(self.c)), "beta": NUMBERS[self.case.beta]}
        if self.bias is not None:
            keywords["bias"] = send(np.array(self.bias))
        if self.case.activation:
            keywords["activation"] = self.case.activation
        if self.case.dtype:
            keywords["dtype"] = dtype_of(self.case.dtype)
        return positional, keywords

    def differs(self, whole: np.ndarray, alone: np.ndarray) -> str:
        """Why this part of a result has other bits than the part that was computed alone; "" if it has the same."""
        part = self.of(whole)
        if part.dtype != alone.dtype:  # out had another type
            return ""
        if part.shape != alone.shape:
            return f"a part of the product has the shape {alone.shape} instead of {part.shape}"
        wrong = _unlike(part, alone)
        if not wrong.any():
            return ""
        first = tuple(map(int, np.argwhere(wrong)[0]))
        return (
            f"{int(wrong.sum())} of {wrong.size} elements of a reproducible product have other bits than in a product of rows "
            f"{self.rows.start} to {self.rows.stop - 1} and columns {self.columns.start} to {self.columns.stop - 1} alone; "
            f"the first of these is {part[first]!r} instead of {alone[first]!r}"
        )

    def unchained(self, whole: np.ndarray, types: tuple[str, str]) -> str:
        """Why the part's first element is not what the promised chain gives; "" if it is, or if that was not computed."""
        case = self.case
        operands = [self.a, self.b, *(each for each in (self.c, self.bias) if each is not None)]
        finite = all(np.isfinite(each.astype(np.float64)).all() for each in operands)
        if case.activation not in ("", "relu") or len(self.b) > DEEPEST or not finite or case.alpha == "nan":
            return ""
        if case.beta == "nan" or plain_name(whole.dtype) != types[1]:
            return ""
        wanted = self._chain(
            np.float64 if types[0] == "float64" else np.float32, dtype_of(types[0]), dtype_of(types[1])
        )
        found = self.of(whole)[0, 0]
        if found == wanted or not np.isfinite(float(wanted)):
            return ""
        return f"an element of a reproducible product is {found!r}, and its chain of fused multiply-adds {wanted!r}"

    def _chain(self, wide: Any, read: np.dtype, written: np.dtype) -> Any:
        """The first element, each operation rounded once."""
        a, b = self.a[0].astype(read).astype(wide), self.b[:, 0].astype(read).astype(wide)
        alpha, beta = wide(NUMBERS[self.case.alpha]), wide(NUMBERS[self.case.beta])
        total = wide(0)
        for one, other in zip(a, b, strict=True) if alpha else ():
            total = fused(one, other, total)
        bias = wide(0) if self.bias is None else wide(self.bias.reshape(-1)[0].astype(written))
        value = fused(alpha, total, bias)
        if self.c is not None:
            value = fused(beta, wide(self.c[0, 0].astype(written)), value)
        return (max(value, wide(0)) if self.case.activation == "relu" else value).astype(written)


def _some(chance: random.Random, side: int) -> slice:
    first = chance.randrange(side)
    return slice(first, min(side, first + chance.choice((1, 1, 2, 3, 17, side))))


def fused(one: Any, other: Any, added: Any) -> Any:
    """one * other + added, rounded once to the type of `added`."""
    if not np.isfinite([one, other, added]).all():
        with np.errstate(all="ignore"):
            return one * other + added
    exact = Fraction(float(one)) * Fraction(float(other)) + Fraction(float(added))
    try:
        rounded = float(exact)
    except OverflowError:
        return type(added)(np.inf if exact > 0 else -np.inf)
    if type(added) is np.float32 and Fraction(rounded) != exact and not np.float64(rounded).view(np.uint64) & 1:
        # Rounded to odd, so that the second rounding sees on which side of the middle the sum was.
        rounded = float(np.nextafter(rounded, np.inf if exact > Fraction(rounded) else -np.inf))
    with np.errstate(over="ignore"):
        return type(added)(rounded)
