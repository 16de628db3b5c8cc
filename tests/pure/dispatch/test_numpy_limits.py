"""Which products are NumPy's own, for given limits; and how a limit is found."""

import hashlib
import threading
from time import perf_counter, sleep

import numpy as np
import pytest

from tilewright.dispatch.numpys_own import (
    ALWAYS,
    SHALLOW,
    TYPES,
    WORDS,
    Asked,
    Costs,
    Limit,
    amount_of,
    kernels_amounts,
    kind_of,
    numpys_amounts,
    numpys_own,
)
from tilewright.library import numpy_limits
from tilewright.library.numpy_limits import (
    FEWEST,
    GAIN,
    MOST,
    PAUSE_S,
    SAMPLES,
    bisected,
    compared,
    costs_of,
    fitted,
    samples_of,
    sizes_of,
    wakes_threads,
    waking_s,
)


def asked(
    products: int = 1, m: int = 100, n: int = 100, k: int = 100, dtype: str = "float32", **named: object
) -> Asked:
    return Asked(products, m, n, k, dtype, dtype, **{"ours": products, **named})  # type: ignore[arg-type]


def never(kind: str) -> Limit:
    raise AssertionError(f"{kind} was measured without need")


def test_the_kinds_of_products() -> None:
    assert kind_of(asked()) == "product"
    assert kind_of(asked(m=1, k=1)) == kind_of(asked(n=1)) == "vector"
    assert kind_of(asked(7)) == kind_of(asked(7, ours=1)) == kind_of(asked(7, k=SHALLOW + 1)) == "stack"
    assert kind_of(asked(7, k=SHALLOW)) == kind_of(asked(k=2)) == "shallow"
    assert kind_of(asked(7, n=1)) == kind_of(asked(7, m=1, k=3)) == "vectors"
    assert kind_of(asked(k=1)) == "outer"
    assert kind_of(asked(9, k=1)) == kind_of(asked(9, m=1, k=1)) == "outers"
    assert kind_of(asked(dtype="int32")) == kind_of(asked(gaps=True)) == kind_of(asked(7, gaps=True)) == "loops"
    assert kind_of(asked(7, dtype="bool")) == kind_of(asked(7, k=1, dtype="int8")) == "looped"


def test_a_limit_is_for_amounts() -> None:
    assert "1,120,000" in numpys_own(asked(), lambda kind: Limit(amount_of(asked()), "that"))
    assert not numpys_own(asked(), lambda kind: Limit(amount_of(asked()) - 1, "that"))


def test_a_stack_is_for_a_kernel_that_is_expected_to_take_a_tenth_less() -> None:
    stack = asked(9)
    numpys = Costs((0, 1000.0, 0, 0, 0), (0, 1, 0, 0, 0, 0))
    assert not numpys_own(stack, lambda kind: numpys)
    reason = numpys_own(stack, lambda kind: Costs((0, 1000.0, 0, 0, 0), (0, 950.0, 0, 0, 0, 0)))
    assert "9 us" in reason
    assert WORDS["stack"] in reason
    free = Costs((0, 0, 0, 0, 0), (1, 1, 1, 1, 1, 1))
    assert numpys_own(asked(9, m=250, n=250, k=250), lambda kind: free)
    assert not numpys_own(asked(9, m=260, n=260, k=260), lambda kind: free), "beyond what was measured"
    assert numpys_own(asked(9, m=5000, n=5000, k=2), lambda kind: free), "C counts here"


def test_amounts_of_a_kernel() -> None:
    one = asked(10, m=3, n=17, k=5, across=(True, False))
    assert kernels_amounts(one)[1:] == (10, 10 * 3 * 32 * 5, 10 * 3 * 32, 10 * (15 + 85), 10 * 15)
    assert numpys_amounts(one)[1:] == (10, 10 * 3 * 17 * 5, 10 * 3 * 17, 10 * (15 + 85))
    folded = asked(10, m=3, n=17, k=5, ours=1)  # one matrix with ten times the rows
    assert kernels_amounts(folded)[1:] == (1, 30 * 32 * 5, 30 * 32, 150 + 85, 0)


def test_costs_are_found_again() -> None:
    """Times that are sums of costs give the costs back; none is below 0, and errors are relative."""
    generator = np.random.default_rng(3)
    amounts = generator.random((30, 4)) * (1, 10, 1e6, 3)
    costs = np.array((3.0, 0.2, 0.0, 7.0))
    assert fitted(amounts, amounts @ costs) == pytest.approx(costs, rel=1e-3, abs=1e-6)
    assert min(fitted(amounts, amounts @ np.array((3.0, 0.2, -1e-7, 7.0)))) >= 0
    assert fitted([[1.0], [1.0]], np.array([1.0, 100.0])) == pytest.approx([(1 + 1 / 100) / (1 + 1 / 100**2)])


def test_a_slow_machine_measures_fewer_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_limits, "ENOUGH_S", 0.0)
    tried: list[Asked] = []

    def times(each: Asked) -> tuple[float, float]:
        tried.append(each)
        return 1e-6, 2e-6

    costs = costs_of(samples_of("stack", "float32", "float32"), times)
    assert len(tried) == FEWEST
    assert costs.reason("stack", asked(3))


@pytest.mark.parametrize("kind", MOST)
def test_samples_of_costs(kind: str) -> None:
    """They are of their kind, and give back costs that decide alike for other sizes."""
    dtype = "int32" if kind == "looped" else "float32"
    samples = samples_of(kind, dtype, dtype)
    assert len(samples) == SAMPLES
    assert {kind_of(each) for each in samples} == {kind}
    assert len({each.across for each in samples}) == (1 if kind == "outers" else 4)
    numpys, kernels = (5.0, 60.0, 0.03, 0.4, 0.3), (20.0, 200.0, 0.02, 0.2, 0.1, 0.5)

    def times(each: Asked) -> tuple[float, float]:
        return (
            sum(map(float.__mul__, numpys, map(float, numpys_amounts(each)))) / 1e9,
            sum(map(float.__mul__, kernels, map(float, kernels_amounts(each)))) / 1e9,
        )

    costs = costs_of(samples, times)
    generator = np.random.default_rng(5)
    for count, m, n, k in np.exp(generator.random((50, 4)) * np.log((1000, 100, 100, 100))).astype(int).tolist():
        other = asked(max(2, count), m, n, {"outers": 1, "shallow": max(2, k % 17)}.get(kind, k + 17), dtype)
        ours, theirs = (sum(map(float.__mul__, cost, map(float, amounts(other)))) for cost, amounts in (
            (costs.kernels, kernels_amounts), (costs.numpys, numpys_amounts)))  # fmt: skip
        assert (theirs, ours) == pytest.approx([each * 1e9 for each in times(other)], rel=0.05)


def test_nothing_is_measured_for_the_least_products_nor_for_types_that_numpy_lacks() -> None:
    assert numpys_own(asked(m=16, n=16, k=16), never)
    assert numpys_own(asked(dtype="int64", m=6, n=6, k=6), never)
    assert not numpys_own(asked(dtype="bfloat16"), never)
    assert not numpys_own(asked(dtype="float8_e5m2"), never)
    for empty in ({"m": 0}, {"n": 0}, {"k": 0}, {"products": 0}):
        assert not numpys_own(asked(**empty), never)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ["product", "vector", "outer", "loops"])
def test_limits_lie_between_two_sizes(dtype: str, kind: str) -> None:
    blas = dtype in ("float32", "float64", "complex64", "complex128")
    if not blas and kind != "loops":
        return
    sizes = sizes_of(kind, dtype, dtype)
    steps = [amount_of(each) for each in sizes]
    assert steps == sorted(steps)
    for last in range(-1, len(sizes)):
        tried: list[Asked] = []

        def wins(each: Asked, last: int = last, tried: list[Asked] = tried) -> bool:
            tried.append(each)
            return sizes.index(each) <= last

        limit = bisected(kind, dtype, dtype, wins)
        assert len(tried) <= 5
        for place, each in enumerate(sizes):
            assert (amount_of(each) <= limit.amount) == (place <= last)
    assert min(steps) >= 1
    assert set(ALWAYS) <= set(WORDS)


def test_a_comparison_takes_the_least_times() -> None:
    counts = {"one": 0, "other": 0}

    def work(name: str, steps: int) -> None:
        counts[name] += 1
        sum(range(steps * (100 if counts[name] % 3 == 0 else 1)))  # disturbed at each third call

    one, other = compared(lambda: work("one", 2000), lambda: work("other", 20000))
    assert one < GAIN * other


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


def test_what_threads_take_to_wake_is_what_a_call_takes_more_after_a_pause() -> None:
    last = 0.0

    def sleepy() -> None:
        nonlocal last
        if perf_counter() - last > PAUSE_S / 2:
            sleep(0.003)
        last = perf_counter()

    assert 3e-3 <= waking_s(sleepy) < 30e-3
    assert waking_s(lambda: None) < 0.3e-3
