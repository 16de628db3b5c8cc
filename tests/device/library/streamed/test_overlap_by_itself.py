"""Products of NumPy arrays that are computed in tiles though nobody asked for that, since their copies are long."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiled_calls
from separate import close

from tilewright import gemm, matmul
from tilewright.library.streamed import calls, limits, overlap
from tilewright.runtime.opencl.device import Device

pytestmark = pytest.mark.usefixtures("limits")
random = tiled_calls.random


@pytest.fixture
def tiled(device: Device, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was computed in tiles, with all plain products of a device that pretends to have memory of its own being long."""
    found: list[str] = []
    run = calls.run_in_tiles

    def noted(operation: Any, devices: Any, given: Any, result: Any, out: Any, what: str) -> None:
        found.append(f"{operation.m}x{operation.n}x{operation.k}")
        run(operation, devices, given, result, out, what)

    tiled_calls.pretend("separate", monkeypatch)
    monkeypatch.setattr(limits, "OVERLAPPED_BYTES", 0)
    monkeypatch.setattr(overlap, "hides_copies", lambda *given: True)
    monkeypatch.setattr(calls, "run_in_tiles", noted)
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_the_same_call_gives_the_product(dtype: str, tiled: list[str]) -> None:
    a, b = random(300, 200, dtype=dtype), random(200, 170, dtype=dtype)
    for _ in range(2):
        assert close(matmul(a, b), a, b)
    out = np.full((300, 170), np.nan, dtype)
    assert matmul(a, b, out) is out
    assert close(out, a, b)
    assert matmul(a, b, (out,)) is out
    assert len(tiled) == 4


@pytest.mark.parametrize(("trans_a", "trans_b"), ["NN", "NT", "TN", "CC"])
def test_gemm_with_an_epilogue(trans_a: Any, trans_b: Any, tiled: list[str]) -> None:
    a, b, bias = random(150, 90), random(90, 130), random(130)
    left, right = (np.ascontiguousarray(each.T) if way != "N" else each for each, way in ((a, trans_a), (b, trans_b)))
    found = gemm(left, right, alpha=2, trans_a=trans_a, trans_b=trans_b, bias=bias, activation="relu")
    assert np.allclose(found, np.maximum(2 * (a @ b) + bias, 0), 1e-4, 1e-3)
    assert np.array_equal(gemm(left, right, trans_a=trans_a, trans_b=trans_b, alpha=0), np.zeros((150, 130)))
    assert tiled == ["150x130x90", "150x130x0"]


SQUARE = random(120, 120)
IN_ONE_PIECE: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "its own transpose": lambda: (matmul(SQUARE, SQUARE.T), SQUARE @ SQUARE.T),
    "a stack": lambda: (matmul(SQUARE[None], SQUARE[None]), (SQUARE @ SQUARE)[None]),
    "a vector": lambda: (matmul(SQUARE, SQUARE[0].copy()), SQUARE @ SQUARE[0]),
    "other types": lambda: (matmul(SQUARE, random(120, 120, dtype="int32") * 0), SQUARE * 0),
    "an added matrix": lambda: (gemm(SQUARE, SQUARE.copy(), SQUARE, beta=1), SQUARE @ SQUARE + SQUARE),
    "axes": lambda: (matmul(SQUARE, SQUARE.copy(), axes=[(1, 0), (0, 1), (0, 1)]), SQUARE.T @ SQUARE),
}


@pytest.mark.parametrize("name", IN_ONE_PIECE)
def test_what_is_computed_in_one_piece(name: str, tiled: list[str]) -> None:
    found, wanted = IN_ONE_PIECE[name]()
    assert np.allclose(found, wanted, 1e-4, 1e-3)
    assert not tiled


def test_an_out_that_is_an_operand_is_computed_in_one_piece(tiled: list[str]) -> None:
    a, b = SQUARE.copy(), random(120, 120)
    wanted = a @ b
    assert matmul(a, b, a) is a
    assert np.allclose(a, wanted, 1e-4, 1e-3)
    assert not tiled


def test_wrong_sides_are_told_as_ever(tiled: list[str]) -> None:
    with pytest.raises(ValueError, match="120"):
        matmul(SQUARE, random(119, 120))
    assert not tiled
