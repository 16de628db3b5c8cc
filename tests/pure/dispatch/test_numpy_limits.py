"""Which products are NumPy's own, for given limits; and how a limit is found."""

import hashlib
import threading

import pytest

from tilewright.dispatch.numpys_own import ALWAYS, TYPES, Asked, Limit, amounts, numpys_own
from tilewright.library.numpy_limits import GAIN, bisected, compared, sizes_of, wakes_threads


def asked(
    products: int = 1, m: int = 100, n: int = 100, k: int = 100, dtype: str = "float32", **named: object
) -> Asked:
    return Asked(products, m, n, k, dtype, dtype, **{"ours": products, **named})  # type: ignore[arg-type]


def limits(**amounts_: float) -> object:
    return lambda kind: Limit(amounts_.get(kind, 0.0), "that")


def never(kind: str) -> Limit:
    raise AssertionError(f"{kind} was measured without need")


def test_the_kinds_of_products() -> None:
    assert set(amounts(asked())) == {"product"}
    assert set(amounts(asked(7))) == {"stack", "each"}
    assert set(amounts(asked(7, n=4))) == set(amounts(asked(7, m=1))) == {"stack", "thin"}
    assert set(amounts(asked(7, ours=1))) == {"stack"}, "one matrix for kernels, so they have no work-groups to lose"
    assert set(amounts(asked(k=1))) == {"loops"}
    assert set(amounts(asked(m=1, k=1))) == set(amounts(asked(n=1))) == {"vector"}
    assert set(amounts(asked(dtype="int32"))) == set(amounts(asked(gaps=True))) == {"loops"}
    assert set(amounts(asked(7, dtype="bool"))) == {"loops", "each"}


def test_one_limit_is_for_one_kind() -> None:
    amount = amounts(asked())["product"]
    assert "1,120,000" in numpys_own(asked(), limits(product=amount))  # type: ignore[arg-type]
    assert not numpys_own(asked(), limits(product=amount - 1, stack=1e18, each=1e18, loops=1e18))  # type: ignore[arg-type]
    assert numpys_own(asked(9), limits(each=amount))  # type: ignore[arg-type]
    assert numpys_own(asked(9), limits(stack=9 * amount))  # type: ignore[arg-type]
    assert not numpys_own(asked(9), limits(stack=9 * amount - 1, each=amount - 1))  # type: ignore[arg-type]


def test_nothing_is_measured_for_the_least_products_nor_for_types_that_numpy_lacks() -> None:
    assert numpys_own(asked(m=16, n=16, k=16), never)
    assert numpys_own(asked(dtype="int64", m=6, n=6, k=6), never)
    assert not numpys_own(asked(dtype="bfloat16"), never)
    assert not numpys_own(asked(dtype="float8_e5m2"), never)
    for empty in ({"m": 0}, {"n": 0}, {"k": 0}, {"products": 0}):
        assert not numpys_own(asked(**empty), never)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ["product", "vector", "stack", "loops", "each", "thin"])
def test_limits_lie_between_two_sizes(dtype: str, kind: str) -> None:
    blas = dtype in ("float32", "float64", "complex64", "complex128")
    if not blas and kind in ("product", "vector", "stack", "thin"):
        return
    sizes = sizes_of(kind, dtype, dtype)
    steps = [amounts(each)[kind] for each in sizes]
    assert steps == sorted(steps)
    for last in range(-1, len(sizes)):
        tried: list[Asked] = []

        def wins(each: Asked, last: int = last, tried: list[Asked] = tried) -> bool:
            tried.append(each)
            return sizes.index(each) <= last

        limit = bisected(kind, dtype, dtype, wins)
        assert len(tried) <= 5
        for place, each in enumerate(sizes):
            assert (amounts(each)[kind] <= limit.amount) == (place <= last)
    assert min(steps) >= 1
    assert set(ALWAYS) == {"product", "vector", "stack", "loops"}, "stacks of any length are always measured"


def test_a_comparison_takes_the_least_times() -> None:
    counts = {"one": 0, "other": 0}

    def work(name: str, steps: int) -> None:
        counts[name] += 1
        sum(range(steps * (100 if counts[name] % 3 == 0 else 1)))  # disturbed at each third call

    assert compared(lambda: work("one", 2000), lambda: work("other", 20000)) < GAIN


def test_threads_of_the_process_are_seen() -> None:
    """A thread that spins, as a BLAS's does, while the caller works."""
    ended = threading.Event()

    def spin() -> None:
        block = b"x" * 2**22
        while not ended.is_set():
            hashlib.sha256(block)  # without the interpreter's lock

    def work() -> None:
        hashlib.sha256(b"x" * 2**16)

    assert not wakes_threads(work)
    spinning = threading.Thread(target=spin)
    spinning.start()
    try:
        assert wakes_threads(work)
    finally:
        ended.set()
        spinning.join()
