"""Which products of NumPy arrays that fit a GPU are computed in tiles, of a GPU that is not here."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from devices import CPU, HOPPER

from tilewright.core.problem import Gemm
from tilewright.errors import InvalidInput
from tilewright.library.requests import Options
from tilewright.library.streamed import overlap
from tilewright.library.streamed.limits import plain_options
from tilewright.library.streamed.overlap import ends_sooner_in_tiles, note_on_copies
from tilewright.runtime.opencl.pinned import PinnedRanges

GPU = replace(HOPPER, compute_units=132, clock_mhz=1755, global_bytes=80 * 10**9)
PLAIN = plain_options("same_kind", None, None)
SIDE = 16_384


def matrix(rows: int, columns: int, dtype: Any = np.float32) -> np.ndarray:
    """Memory that nothing touches: only its shape, type and place count."""
    return np.empty((rows, columns), dtype)


@pytest.fixture(autouse=True)
def _many_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "THREADS", 12)


def chosen(*arrays: Any, out: Any = None, options: Options = PLAIN) -> bool:
    device: Any = SimpleNamespace(info=GPU, pinned=PinnedRanges())
    return ends_sooner_in_tiles(device, (*arrays, *(None,) * (6 - len(arrays))), out, options)


@pytest.mark.parametrize(
    ("m", "k", "n", "dtype", "wanted"),
    [
        (8192, 8192, 8192, "float32", True),
        (8192, 8192, 8192, "float16", False),  # 2 ms of products: nothing to hide copies behind
        (SIDE, SIDE, SIDE, "float16", True),
        (SIDE, SIDE, SIDE, "complex64", True),
        (SIDE, 256, SIDE, "float32", False),
        (6144, 6144, 6144, "float32", False),
    ],
)
def test_tiles_are_taken_where_copies_and_products_are_both_long(
    m: int, k: int, n: int, dtype: str, wanted: bool
) -> None:
    a, b = matrix(m, k, dtype), matrix(k, n, dtype)
    assert chosen(a, b) is wanted
    assert chosen(a, b, out=matrix(m, n, dtype)) is wanted
    assert bool(note_on_copies(Gemm(m, n, k, dtype), GPU)) is wanted


def test_transposed_operands_count_by_their_own_sides() -> None:
    a, b = matrix(SIDE, 12_288), matrix(9000, SIDE)
    assert chosen(a, b, options=PLAIN._replace(trans_a="T", trans_b="C"))
    assert not chosen(a, b), "the sides do not fit: the product in one piece says so"
    assert chosen(a.T, b.T)


def test_what_is_not_plain_stays_in_one_piece() -> None:
    a, b, whole = matrix(SIDE, SIDE), matrix(SIDE, SIDE), np.empty((2, SIDE, SIDE), np.float32)
    read_only = matrix(SIDE, SIDE)
    read_only.flags.writeable = False
    assert chosen(a, b, options=PLAIN._replace(dtype=np.float32))
    assert chosen(a, b, options=PLAIN._replace(precision="ieee"))
    for given, options in (
        ((a, a), PLAIN),
        ((a, a.T), PLAIN),
        ((whole[0], whole), PLAIN),
        ((a[:, ::2], b[::2]), PLAIN),
        ((a, b.view(">f4")), PLAIN),
        ((a, b.view(np.int32)), PLAIN),
        ((a.view(np.int32), b.view(np.int32)), PLAIN),
        ((a, b.view(np.matrix)), PLAIN),
        ((a, b, matrix(SIDE, SIDE)), PLAIN._replace(beta=1)),
        ((a, b), PLAIN._replace(precision="tf32")),
        ((a, b), PLAIN._replace(dtype=np.float64)),
        ((a, "no matrix"), PLAIN),
        ((a[:1], b), PLAIN),
    ):
        assert not chosen(*given, options=options), (given, options)
    for out in (a, b, b[::-1], read_only, matrix(SIDE, SIDE, np.float64), matrix(SIDE, 2 * SIDE)[:, ::2], "no array"):
        assert not chosen(a, b, out=out), out


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not a type"):
        chosen(matrix(SIDE, SIDE), matrix(SIDE, SIDE), options=PLAIN._replace(dtype="no type"))


def test_no_note_for_what_is_not_plain() -> None:
    assert not note_on_copies(Gemm(SIDE, SIDE, SIDE), CPU)
    assert not note_on_copies(Gemm(SIDE, SIDE, SIDE, precision="tf32"), GPU)
    assert not note_on_copies(Gemm(SIDE, SIDE, SIDE, "int32"), GPU)
    assert not note_on_copies(Gemm(2048, 2048, 2048, batch=64), GPU)


def test_pinned_arrays_need_no_threads_that_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "THREADS", 1)
    a, b, out = (matrix(SIDE, SIDE) for _ in range(3))
    everything: Any = SimpleNamespace(info=GPU, pinned=SimpleNamespace(holding=lambda array: True))
    assert ends_sooner_in_tiles(everything, (a, b, *[None] * 4), out, PLAIN)
    assert not ends_sooner_in_tiles(everything, (a, b, *[None] * 4), None, PLAIN), "threads copy a new result"
    assert not chosen(a, b, out=out)
    problem = Gemm(SIDE, SIDE, SIDE)
    assert note_on_copies(problem, GPU, True)
    assert not note_on_copies(problem, GPU)
