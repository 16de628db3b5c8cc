"""Which products are NumPy's own, for given limits; and how a limit is found."""

import hashlib
import threading
from collections.abc import Callable
from time import perf_counter, sleep

import numpy as np
import pytest

from tilewright.dispatch.numpys_own import (
    ALWAYS,
    CALL,
    LARGE_BYTES,
    SHALLOW,
    TYPES,
    WORDS,
    Asked,
    Costs,
    Limit,
    amount_of,
    elements_from_memory,
    kernels_amounts,
    kind_of,
    numpys_amounts,
    numpys_own,
)
from tilewright.library import numpy_limits, numpy_times
from tilewright.library.numpy_limits import GAIN, GROUP, bisected, costs_of, fitted, large_limit
from tilewright.library.numpy_samples import MOST, SAMPLES, UNCACHED_KINDS, large_vectors, samples_of, sizes_of
from tilewright.library.numpy_times import PAUSE_S, least_times, wakes_threads, waking_s


def asked(
    products: int = 1, m: int = 100, n: int = 100, k: int = 100, dtype: str = "float32", **named: object
) -> Asked:
    return Asked(products, m, n, k, dtype, dtype, **{"ours": products, **named})  # type: ignore[arg-type]


def never(kind: str) -> Limit:
    raise AssertionError(f"{kind} was measured without need")


def test_the_kinds_of_products() -> None:
    assert kind_of(asked()) == "product"
    assert kind_of(asked(m=1, k=1)) == kind_of(asked(n=1)) == "vector"
    assert kind_of(asked(m=1, n=3000, k=3000)) == kind_of(asked(m=1700, n=1, k=1900, dtype="float64")) == "large vector"
    assert kind_of(asked(m=1, n=2500, k=2500)) == "vector"
    assert kind_of(asked(m=1, n=3000, k=3000, gaps=True)) == "loops"
    assert kind_of(asked(7)) == kind_of(asked(7, ours=1)) == kind_of(asked(7, k=SHALLOW + 1)) == "stack"
    assert kind_of(asked(7, k=SHALLOW)) == "shallows"
    assert kind_of(asked(k=2)) == "shallow"
    assert kind_of(asked(7, n=1)) == kind_of(asked(7, m=1, k=3)) == "vectors"
    assert kind_of(asked(k=1)) == "outer"
    assert kind_of(asked(9, k=1)) == kind_of(asked(9, m=1, k=1)) == "outers"
    assert kind_of(asked(dtype="int32")) == kind_of(asked(gaps=True)) == kind_of(asked(7, gaps=True)) == "loops"
    assert kind_of(asked(7, dtype="bool")) == kind_of(asked(7, k=1, dtype="int8")) == "looped"


def test_a_limit_is_for_amounts() -> None:
    row = asked(m=1)
    assert "50,800" in numpys_own(row, lambda kind: Limit(amount_of(row), "that"))
    assert not numpys_own(row, lambda kind: Limit(amount_of(row) - 1, "that"))


def test_large_matrices_times_a_vector_are_all_numpys_or_none() -> None:
    times = {1: (0.90e-3, 0.95e-3), 3547: (1.0e-3, 1.04e-3)}  # by rows of A
    samples = large_vectors("float32", "float32")
    assert [kind_of(each) for each in samples] == ["large vector"] * 2
    assert large_limit(samples, lambda each: times[each.m]).amount == 0
    times[3547] = (1.0e-3, 1.06e-3)
    found = large_limit(samples, lambda each: times[each.m])
    reason = numpys_own(asked(m=1, n=10**5, k=10**5), lambda kind: found)
    assert WORDS["large vector"] in reason
    assert "1x3547x3547" in reason


def costs(numpys: float, kernels: float, alone: float = float("inf"), waking: float = 0.0) -> Costs:
    """What each product takes; the same with other threads."""
    return Costs((0, numpys, 0, 0, 0, numpys, 0, 0, 0, 0), (0, kernels, 0, 0, 0, 0, 0, 0, 0), alone, waking)


@pytest.mark.parametrize("sample", [asked(), asked(9), asked(k=5), asked(9, k=5)], ids=kind_of)
def test_a_product_is_for_a_kernel_that_is_expected_to_take_a_tenth_less(sample: Asked) -> None:
    assert not numpys_own(sample, lambda kind: costs(1000.0, 890.0))
    reason = numpys_own(sample, lambda kind: costs(1000.0, 950.0))
    assert f"{sample.products} us" in reason
    assert WORDS[kind_of(sample)] in reason


def test_waking_counts_for_kernels_where_numpy_wakes_no_threads() -> None:
    sample = asked()
    assert numpys_own(sample, lambda kind: costs(1000.0, 800.0, waking=200.0))
    assert not numpys_own(sample, lambda kind: costs(1000.0, 800.0, alone=999_999, waking=200.0))
    assert not numpys_own(
        asked(k=200), lambda kind: Costs((0, *[0.0] * 4, 9.0, 0, 0, 0, 0), (0, 8.0, *[0.0] * 7), 1e6, 0)
    )
    assert numpys_own(asked(k=90), lambda kind: Costs((0, *[0.0] * 4, 9.0, 0, 0, 0, 0), (0, 8.0, *[0.0] * 7), 1e6, 0))
    assert not asked(1, 1, 4000, 4000).wakes(1e6), "this BLAS function has other limits"
    assert not asked(dtype="int32").wakes(1e3)


def test_large_products_are_for_kernels() -> None:
    free = costs(0.0, 1.0)
    assert numpys_own(asked(m=250, n=250, k=250), lambda kind: free)
    assert not numpys_own(asked(m=260, n=260, k=260), lambda kind: free), "beyond what was measured"
    assert numpys_own(asked(9, m=250, n=250, k=250), lambda kind: free)
    assert not numpys_own(asked(9, m=260, n=260, k=260), lambda kind: free), "beyond what was measured"
    assert not numpys_own(asked(9), lambda kind: costs(0.0, 1.0, alone=999_999)), "NumPy's threads wait for each other"
    assert numpys_own(asked(9, m=5000, n=5000, k=2), lambda kind: free), "C counts here"


def test_amounts_of_a_kernel() -> None:
    one = asked(10, m=3, n=17, k=5, across=(True, False))
    assert kernels_amounts(one)[1:] == (
        10,
        10 * 3 * 32 * 5,
        10 * 3 * 32,
        10 * (15 + 85),
        10 * 32 * 5,
        10 * 15,
        CALL,
        0,
        0,
    )
    work = (10, 10 * 3 * 17 * 5, 10 * 3 * 17, 10 * (15 + 85))
    assert numpys_amounts(one, False)[1:] == (*work, 0, 0, 0, 0, 0)
    assert numpys_amounts(one, True)[1:] == (0, 0, 0, 0, *work, 0)
    folded = asked(10, m=3, n=17, k=5, ours=1)  # one matrix with ten times the rows
    assert kernels_amounts(folded)[1:] == (1, 30 * 32 * 5, 30 * 32, 150 + 85, 32 * 5, 0, 0, 0, 0)


def test_elements_that_no_cache_holds() -> None:
    """From half of LARGE_BYTES on more and more of them, and then all."""
    elements = 3 * 100**2
    half, whole = (amount // (elements * 4) for amount in (LARGE_BYTES // 2, LARGE_BYTES))
    assert elements_from_memory(asked(half)) == 0
    between = elements_from_memory(asked(half + whole >> 1))
    assert between == pytest.approx(0.5 * (half + whole >> 1) * elements, rel=0.05)
    for amounts in (kernels_amounts, lambda each: numpys_amounts(each, False), lambda each: numpys_amounts(each, True)):
        assert amounts(asked(whole + 1))[-1] == (whole + 1) * elements


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
    monkeypatch.setattr(numpy_limits, "ways", lambda device, each: each)
    monkeypatch.setattr(numpy_limits, "_alone", lambda *given: 1e6)
    tried: list[Asked] = []

    def times(group: list[Asked], rest: float) -> list[tuple[float, float]]:
        assert bool(rest) == any(each.wakes(1e6) for each in group)
        tried.extend(group)
        return [(1e-6, 2e-6)] * len(group)

    monkeypatch.setattr(numpy_limits, "least_times", times)
    found = numpy_limits._costs(None, samples_of("stack", "float32", "float32"), 0.1, 0.0)  # type: ignore[arg-type]
    assert len(tried) == GROUP < SAMPLES
    assert found.reason("stack", asked(3))


@pytest.mark.parametrize("kind", MOST)
def test_samples_of_costs(kind: str) -> None:
    """They are of their kind, and give back costs that decide alike for other sizes."""
    dtype = "int32" if kind == "looped" else "float32"
    samples = samples_of(kind, dtype, dtype)
    assert len(samples) == SAMPLES
    assert {kind_of(each) for each in samples} == {kind}
    assert len({each.across for each in samples}) == (1 if kind == "outers" else 4)
    assert len(set(samples)) > 0.9 * SAMPLES
    assert (max(map(elements_from_memory, samples)) > 0) == (kind in UNCACHED_KINDS)
    uncached = 0.3 if kind in UNCACHED_KINDS else 0.0
    numpys = (5.0, 60.0, 0.03, 0.4, 0.3, 9000.0, 0.02, 0.3, 0.2, uncached)
    real = Costs(numpys, (20.0, 200.0, 0.02, 0.2, 0.1, 0.5, 4.0, 3.0, uncached), 1e6, 20e3)

    def times(each: Asked) -> tuple[float, float]:
        numpys, kernels = real.expected(each)
        return numpys / 1e9, (kernels - (0 if each.wakes(real.alone) else real.waking)) / 1e9

    found = costs_of(samples, [times(each) for each in samples], real.alone, real.waking / 1e9)
    generator = np.random.default_rng(5)
    single = kind in ("product", "shallow")
    for count, m, n, k in np.exp(generator.random((50, 4)) * np.log((1000, 100, 100, 100))).astype(int).tolist():
        depth = {"outers": 1, "shallow": max(2, k % 17), "shallows": max(2, k % 17)}.get(kind, k + 17)
        other = asked(1 if single else max(2, count), m + 1, n + 1, depth, dtype)
        assert found.expected(other) == pytest.approx(real.expected(other), rel=0.05, abs=5000 if single else 0)


def test_the_squares_that_wake_threads_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_limits, "ways", lambda device, each: (each.m, None))
    for last, expected in ((64, 64), (100, 100), (111, 100), (256, 256), (1000, float("inf")), (0, 64)):
        monkeypatch.setattr(numpy_limits, "wakes_threads", lambda side, rest, last=last: side > last)
        found = numpy_limits._alone.__wrapped__(None, "float32", "float32", 0.1)
        assert found == expected**3
    assert numpy_limits._alone.__wrapped__(None, "int32", "int32", 0.1) == float("inf")


def test_pairs_of_ways_take_turns_and_kernels_wait_for_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(numpy_times, "let_threads_rest", lambda rest: seen.append("rest"))
    monkeypatch.setattr(numpy_times, "BLOCK_S", 0.0)

    def way(name: str) -> Callable[[], None]:
        def call() -> None:
            if seen[-1:] != [name]:
                seen.append(name)
            sleep(0.003 if name == "kernel 2" else 0.0)

        return call

    pairs = [(way(f"numpy {number}"), way(f"kernel {number}")) for number in (1, 2)]
    times = numpy_times.least_times(pairs, 0.1)
    turn = ["rest", "numpy 1", "numpy 2", "rest", "kernel 1", "kernel 2"]
    assert seen == turn * numpy_times.TURNS_WITH_RESTS
    assert [ours >= 3e-3 for _, ours in times] == [False, True]
    seen.clear()
    numpy_times.least_times(pairs, 0.0)
    assert "rest" not in seen


def test_nothing_is_measured_for_the_least_products_nor_for_types_that_numpy_lacks() -> None:
    assert numpys_own(asked(m=16, n=16, k=16), never)
    assert numpys_own(asked(dtype="int64", m=6, n=6, k=6), never)
    assert not numpys_own(asked(dtype="bfloat16"), never)
    assert not numpys_own(asked(dtype="float8_e5m2"), never)
    for empty in ({"m": 0}, {"n": 0}, {"k": 0}, {"products": 0}):
        assert not numpys_own(asked(**empty), never)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ["vector", "outer", "loops"])
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

    pair = (lambda: work("one", 2000), lambda: work("other", 20000))
    ((one, other),) = least_times([pair], 0.0)
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
