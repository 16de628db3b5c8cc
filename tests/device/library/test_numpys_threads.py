"""Comparisons of NumPy with kernels: kernels wait until NumPy's threads rest, or their own have to wake, which counts."""

from typing import Any

import pytest

from tilewright.dispatch.numpys_own import Asked
from tilewright.library import engine, numpy_limits


def wake(monkeypatch: pytest.MonkeyPatch, woken: bool) -> None:
    monkeypatch.setattr(numpy_limits, "wakes_threads", lambda call, rest: woken)


def test_products_that_wake_threads_are_compared_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    device, small, large = engine.default_device(), *(Asked(1, n, n, n, "float32", "float32") for n in (16, 96))
    rests: list[float] = []

    def times(pairs: list[Any], rest: float) -> list[tuple[float, float]]:
        rests.append(rest)
        return [(1.0, 1.05)] * len(pairs)

    monkeypatch.setattr(numpy_limits, "least_times", times)
    for woken in (False, True):
        wake(monkeypatch, woken)
        assert not numpy_limits._wins(device, small, 0.25, 0.0)
        assert not numpy_limits._wins(device, large, 0.25, 0.0)
    assert rests == [0.0] * 6 + [0.25] * 2, "two comparisons of each, and no BLAS wakes threads for 16 x 16 x 16"


def test_waking_counts_for_kernels_where_numpy_wakes_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    device, loops = engine.default_device(), Asked(1, 96, 96, 96, "int32", "int32")
    monkeypatch.setattr(numpy_limits, "least_times", lambda pairs, rest: [(2.0, 1.0)] * len(pairs))
    for woken in (False, True):
        wake(monkeypatch, woken)
        assert numpy_limits._wins(device, loops, 0.0, 10.0) == (not woken), "a kernel that wakes for 10 s"
