"""The same product, or parts of it, computed in ways that cut and place it differently."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .cases import Case

WHOLE = "the whole"
Gemm = Callable[..., Any]  # tilewright.gemm on some device
# The way, what was computed, and which rows and columns of the whole it is.
Piece = tuple[str, np.ndarray, tuple[Any, Any]]


def pieces(case: Case, gemm: Gemm) -> Iterator[Piece]:
    """What each way computes."""
    random = np.random.default_rng(case.seed + 1)
    whole = (slice(None), slice(None))
    yield WHOLE, _part(case, gemm, *whole), whole
    for way, parts in (
        ("some rows", (_slice(random, case.m), whole[1])),
        ("some columns", (whole[0], _slice(random, case.n))),
        ("one row", (_one(random, case.m), whole[1])),
        ("one column", (whole[0], _one(random, case.n))),
        ("rows and columns in another order", (random.permutation(case.m), random.permutation(case.n))),
    ):
        yield way, _part(case, gemm, *parts), parts
    yield "operands by columns", _called(case, gemm, *map(np.asfortranarray, (case.a, case.b, case.c))), whole
    spread = tuple(_spread(random, each) for each in (case.a, case.b, case.c))
    yield "operands with gaps", _called(case, gemm, *spread), whole
    yield "the transpose", _transpose(case, gemm), whole
    yield "in a stack", _stacked(case, gemm, random), whole


def _slice(random: np.random.Generator, size: int) -> slice:
    first, last = sorted(random.integers(0, size + 1, 2).tolist())
    return slice(first, max(last, first + 1)) if first < size else slice(0, size)


def _one(random: np.random.Generator, size: int) -> slice:
    place = int(random.integers(size))
    return slice(place, place + 1)


def _part(case: Case, gemm: Gemm, rows: Any, columns: Any) -> np.ndarray:
    bias = None if case.bias is None else case.bias[columns]
    return _called(case, gemm, case.a[rows], case.b[:, columns], case.c[rows][:, columns], bias)


def _called(
    case: Case, gemm: Gemm, a: np.ndarray, b: np.ndarray, c: np.ndarray, bias: np.ndarray | None = None, **more: Any
) -> np.ndarray:
    bias = case.bias if bias is None else bias
    result: np.ndarray = gemm(
        a, b, c if case.beta else None, alpha=case.alpha, beta=case.beta, bias=bias, activation=case.activation,
        precision="reproducible", **more,
    )  # fmt: skip
    return result


def _spread(random: np.random.Generator, matrix: np.ndarray) -> np.ndarray:
    """The matrix as a view with gaps, an offset, and perhaps backwards."""
    steps = [int(random.choice((1, 2, 3, -1))) for _ in matrix.shape]
    room = np.full([abs(step) * side + 5 for step, side in zip(steps, matrix.shape, strict=True)], np.nan, matrix.dtype)
    view = room[3:, 1:][:: abs(steps[0]), :: abs(steps[1])][: matrix.shape[0], : matrix.shape[1]]
    view = view[:: steps[0] // abs(steps[0]), :: steps[1] // abs(steps[1])]
    view[...] = matrix
    return view


def _transpose(case: Case, gemm: Gemm) -> np.ndarray:
    """By B' A' = (A B)'. A bias of columns is one of rows then."""
    bias = None if case.bias is None else case.bias[:, None]
    return _called(case, gemm, case.b.T, case.a.T, case.c.T, bias).T


def _stacked(case: Case, gemm: Gemm, random: np.random.Generator) -> np.ndarray:
    """As one of a stack of products with the same B, or with others."""
    count, place = int(random.integers(2, 5)), int(random.integers(2))
    others = random.random() < 0.5
    stack = [np.stack([each if i == place else each[::-1] for i in range(count)]) for each in (case.a, case.b, case.c)]
    results = _called(case, gemm, stack[0], stack[1] if others else case.b, stack[2])
    found: np.ndarray = results[place]
    return found
