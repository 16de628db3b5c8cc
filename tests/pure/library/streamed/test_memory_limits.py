"""Limits as callers write them, and ledgers."""

from typing import Any

import pytest
from devices import CPU, GPU

from tilewright.errors import InvalidInput
from tilewright.library.streamed.budget import Ledger, as_bytes, budget_for


@pytest.mark.parametrize(
    ("written", "nbytes"),
    [
        ("8GB", 8 * 10**9), ("8 gb", 8 * 10**9), ("8GiB", 8 * 2**30), ("1.5MB", 1_500_000), ("500k", 500_000), ("12", 12),
        ("12B", 12), ("2TB", 2 * 10**12), (4096, 4096), (None, None), (" 3 MiB ", 3 * 2**20),
        ("9" * 400 + "GB", int("9" * 400) * 10**9),
    ],
)  # fmt: skip
def test_limits(written: Any, nbytes: int | None) -> None:
    assert as_bytes(written, "limit") == nbytes


@pytest.mark.parametrize(
    "wrong", ["8XB", "", "GB", "-1GB", "0", "0GB", "1e9", "8iB", "8GBs", 0, -1, 2.5, True, [8], "0.1", "9" * 5000]
)
def test_what_is_no_limit(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="max_device_bytes="):
        as_bytes(wrong, "max_device_bytes")


def test_a_budget_stays_within_the_smallest_device() -> None:
    assert budget_for((GPU,), "8GB", None).device_bytes == 8 * 10**9
    assert budget_for((GPU,), "80GB", None).device_bytes == GPU.global_bytes
    assert budget_for((GPU, CPU), None, "1GB").host_bytes == 10**9
    assert budget_for((GPU, CPU), None, None).device_bytes <= GPU.global_bytes


def test_a_ledger_refuses_what_exceeds_it() -> None:
    ledger = Ledger(100, "a GPU")
    ledger.take(60, "one thing")
    with pytest.raises(InvalidInput, match="another needs 50 bytes of a GPU, where 60 of 100 are taken"):
        ledger.take(50, "another")
    ledger.take(40, "another")
    assert ledger.used == 100
