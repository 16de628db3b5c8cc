"""Destructors and handlers of signals that multiply CUDA arrays in the middle of such a call, on a pretended GPU."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cuda_fixtures import PretendedPointers, host
from pretended_cuda import PretendedArray, PretendedArrays, PretendedDevice, PretendedKernel

from tilewright import gemm, matmul, prepare

RNG = np.random.default_rng(47)
SHAPES = [(7, 9, 5), (16, 16, 4096)]  # one launch, and several with scratch memory
Product = Callable[..., Any]


def integers(*shape: int) -> np.ndarray:
    return RNG.integers(-4, 5, shape).astype(np.float32)


@pytest.fixture
def between(
    framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> list[Callable[[], Any]]:
    """What runs once before the next launch, when that one's arguments are set already."""
    waiting: list[Callable[[], Any]] = []
    gpu.info = replace(gpu.info, kind="gpu", features=frozenset({"gpu"}), sub_group_width=32)  # sums are split
    lend = PretendedKernel.lend

    def disturbed(self: PretendedKernel) -> None:
        if waiting:
            waiting.pop()()
        lend(self)

    monkeypatch.setattr(PretendedKernel, "lend", disturbed)
    return waiting


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("into", [False, True])
@pytest.mark.parametrize("kind", ["matmul", "gemm", "prepared"])
def test_both_calls_are_right(
    kind: str, into: bool, shape: tuple[int, int, int], between: list[Callable[[], Any]], gpu: PretendedDevice
) -> None:
    m, n, k = shape
    first, second = ((integers(m, k), integers(k, n), integers(m, n)) for _ in range(2))
    lying = [tuple(map(gpu.own, each)) for each in (first, second)]
    outs = [gpu.own(np.empty((m, n), np.float32)) if into else None for _ in range(2)]
    made: Product = prepare(lying[0][0], lying[0][1], outs[0]) if kind == "prepared" else matmul

    def call(number: int) -> Any:
        a, b, c = lying[number]
        return gemm(a, b, c, beta=1, out=outs[number]) if kind == "gemm" else made(a, b, outs[number])

    def right(found: Any, number: int) -> bool:
        a, b, c = (first, second)[number]
        return np.array_equal(found.array, a @ b + (c if kind == "gemm" else 0))

    for _ in range(2):
        assert right(call(0), 0)
        assert right(call(1), 1)
    inner: list[Any] = []
    for launches in range(3):
        between[:] = [lambda: inner.append(call(1)), *[lambda: None] * launches]
        assert right(call(0), 0), launches
        between.clear()
        assert all(right(each, 1) for each in inner), launches
    assert inner


def test_the_end_of_an_array_that_was_kept_for_its_work_makes_a_call(
    gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays of packages without an allocator in the order of streams are kept until an event, and end in a later call."""

    class Multiplies(PretendedArray):
        def __del__(self) -> None:
            found.append(host(matmul(a, b)))

    found: list[np.ndarray] = []
    left, right = integers(7, 9), integers(9, 5)
    a, b = gpu.own(left), gpu.own(right)
    monkeypatch.setattr(PretendedPointers, "cuEventQuery", lambda self, event: 600)
    matmul(Multiplies(left), b)
    assert not found
    monkeypatch.setattr(PretendedPointers, "cuEventQuery", lambda self, event: 0)
    assert np.array_equal(host(matmul(a, b)), left @ right)
    assert len(found) == 1
    assert np.array_equal(found[0], left @ right)
