"""The fuzzer's pairs, limits, files and promised bits, without a device."""

import random
import re
from fractions import Fraction
from typing import Any

import fuzz_calls
import numpy as np
from fuzz_calls import desk

from tools.fuzz.bits import Part, asymmetry, fused
from tools.fuzz.cases import Case, Given, Lie, Out
from tools.fuzz.check import FAILED, REFUSED_WELL, RIGHT, check
from tools.fuzz.draw import Palette, draw
from tools.fuzz.operands import lay
from tools.fuzz.oracle import EITHER, REFUSED, WORKS, expect
from tools.fuzz.pairs import PAIRS, is_symmetric, tied
from tools.fuzz.shapes import Pool
from tools.fuzz.shrink import simplifications

POOL = Pool(((300, 300, 513, 1), (5, 7, 40, 2), (1, 257, 30, 1)), (16, 32, 513))
SQUARE = Case(m=6, n=6, k=4, pair="turned")
CHAINED = Case(call="gemm", m=9, n=8, k=30, precision="reproducible")
IN_FILES = Case(
    m=5, n=4, k=7, a=Given(form="file", lie=Lie(offset=3)), out=Out("own", Given(form="file", lie=Lie(steps=(2,))))
)


def drawn(*kinds: str) -> list[Case]:
    palette = Palette(lambda dtype, moves: POOL, kinds)
    return [draw(seed, palette) for seed in range(3000)]


# --- Pairs ---


def test_a_pair_of_bytes_and_numbers_lies_as_it_is() -> None:
    """Which a call refuses."""
    laid = lay(Case(call="gemm", a=Given(dtype="V4"), b=Given(dtype="int32"), pair="copy"), False)
    assert [laid[name].view.dtype for name in "ab"] == [np.dtype("V4"), np.dtype("int32")]


def test_pairs_lie_in_one_memory_as_their_kind_says() -> None:
    for kind in PAIRS:
        for turns in ("NN", "NT", "TN", "TC"):
            case = tied(
                Case(
                    call="gemm",
                    m=5,
                    n=5,
                    k=3,
                    pair=kind,
                    trans_a=turns[0],
                    trans_b=turns[1],
                    a=Given(values="integers"),
                )
            )
            laid = lay(case, False)
            a, b = (laid[name].view if how == "N" else laid[name].view.T for name, how in zip("ab", turns, strict=True))
            begins = [each.__array_interface__["data"][0] for each in (a, b)]
            swapped = a.strides == b.strides[::-1]
            assert b.shape == (3, case.n)
            assert (begins[0] == begins[1] and swapped and a.shape == b.shape[::-1]) == (kind == "turned"), (
                kind,
                turns,
            )
            if kind in ("turned", "copy"):
                assert np.array_equal(a, b.T)
            if kind == "later":
                assert np.array_equal(a[1:], b.T[:-1])
            if kind == "reversed":
                assert np.array_equal(a[::-1], b.T)
            assert np.shares_memory(a, b) == (kind != "copy")


def test_an_asymmetric_product_is_found_where_symmetry_is_promised() -> None:
    assert check(SQUARE, desk()).verdict == RIGHT
    outcome = check(SQUARE, desk(matmul=fuzz_calls.nudges_one_side))
    assert outcome.verdict == FAILED
    assert "differ from their mirror images" in outcome.reason
    for other in ("later", "reversed", "copy"):
        assert check(SQUARE.but(pair=other), desk(matmul=fuzz_calls.nudges_one_side)).verdict == RIGHT


def test_where_symmetry_is_promised() -> None:
    promised = Case(call="gemm", m=4, n=4, k=3, pair="turned")
    assert is_symmetric(promised, "float32")
    assert is_symmetric(promised.but(alpha="0.5", activation="relu", c=Given(), beta="0"), "float32")
    for change in (
        {"beta": "1", "c": Given()},
        {"bias": Given()},
        {"pair": "copy"},
        {"device_bytes": 1},
        {"device": "all"},
        {"m": 1},
    ):
        assert not is_symmetric(promised.but(**change), "float32"), change
    complex_pair = promised.but(a=Given("complex64"), b=Given("complex64"), trans_b="C")
    assert not is_symmetric(complex_pair, "complex64")
    assert is_symmetric(complex_pair.but(trans_b="T"), "complex64")
    assert is_symmetric(promised, "float64")  # what is converted is converted once
    assert not is_symmetric(promised.but(place="device"), "float64")  # but device arrays each by itself
    assert not is_symmetric(promised.but(b=Given("int32")), "float32")


def test_nan_of_different_bits_is_symmetric_and_zeros_of_different_signs_are_not() -> None:
    nan = np.array([[1, 0], [0, 1]], np.uint32).view(np.float32)
    nan.view(np.uint32)[0, 1], nan.view(np.uint32)[1, 0] = 0x7FC00000, 0xFFC00001
    assert asymmetry(nan) == ""
    assert asymmetry(np.array([[1, 0.0], [-0.0, 1]])) != ""


# --- The bits of reproducible products ---


def test_reproducible_products_are_compared_with_their_parts_and_with_the_chain() -> None:
    good, free = desk(gemm=fuzz_calls.chained), desk(gemm=fuzz_calls.free_sums)
    for case in (CHAINED, CHAINED.but(alpha="0.5", beta="-1.75", c=Given(), bias=Given(), activation="relu")):
        assert check(case, good).verdict == RIGHT, check(case, good).reason
    outcomes = [check(CHAINED.but(seed=seed), free) for seed in range(20)]
    assert any("have other bits than in a product of rows" in each.reason for each in outcomes)
    reversed_sums = [check(CHAINED.but(seed=seed), desk(gemm=fuzz_calls.chained_backwards)) for seed in range(20)]
    assert any("its chain of fused multiply-adds" in each.reason for each in reversed_sums)


def test_parts_have_the_rows_and_columns_of_broadcast_stacks_and_vectors() -> None:
    for case in (
        CHAINED.but(lead_a=(3, 1), lead_b=(2,)), CHAINED.but(vector_a=True, m=1), CHAINED.but(vector_b=True, n=1),
        CHAINED.but(trans_a="T", trans_b="C", bias=Given(), bias_side="column"),
        CHAINED.but(vector_a=True, vector_b=True, m=1, n=1),
    ):  # fmt: skip
        for seed in range(5):
            outcome = check(case.but(seed=seed), desk(gemm=fuzz_calls.chained))
            assert outcome.verdict == RIGHT, (case, outcome.reason)


def test_fused_multiply_adds_round_once() -> None:
    chance = random.Random(0)
    for _ in range(300):
        one, other, added = (np.float32(chance.uniform(-2, 2) * 2.0 ** chance.randrange(-30, 30)) for _ in range(3))
        found = fused(one, other, added)
        exact = Fraction(float(one)) * Fraction(float(other)) + Fraction(float(added))
        neighbours = [np.nextafter(found, np.float32(side)) for side in (-np.inf, np.inf)]
        assert all(abs(exact - Fraction(float(found))) <= abs(exact - Fraction(float(each))) for each in neighbours)
    # float64 rounds this sum to the middle of two float32, and then to the even one: the wrong one.
    one, other, added = np.float32(1 + 2.0**-12), np.float32(2.0**-12), np.float32(1 + 2.0**-23)
    small = np.float32(2.0**-60)
    assert fused(small, small, np.float32(1)) == 1
    assert fused(np.float32(np.inf), np.float32(1), np.float32(0)) == np.inf
    assert np.isfinite(fused(one, other, added))


def test_a_double_rounding_is_avoided() -> None:
    middle = Fraction(1) + Fraction(1, 2**24)  # between 1 and the next float32
    one, other = np.float32(1 + 2.0**-12), np.float32(1 - 2.0**-12)  # their product is 1 - 2**-24
    found = fused(one, other, np.float32(2.0**-23))
    assert Fraction(float(one)) * Fraction(float(other)) + Fraction(1, 2**23) == middle
    assert found == 1  # ties to even
    above = fused(np.float32(2.0**-40), np.float32(2.0**-40), np.float32(1))
    assert above == 1


# --- Files and limits ---


def test_what_is_written_beside_an_array_in_a_file_is_found() -> None:
    assert check(IN_FILES, desk()).verdict == RIGHT, check(IN_FILES, desk()).reason
    for case, broken, told in (
        (IN_FILES, fuzz_calls.writes_a_gap, "byte 4 of the memory of out changed"),
        (IN_FILES.but(out=Out()), fuzz_calls.spoils_a, "of the memory of a changed"),
        (IN_FILES, fuzz_calls.leaves_a_file, r"the call left [01]\.bin\.journal beside its files"),
    ):
        outcome = check(case, desk(matmul=broken))
        assert outcome.verdict == FAILED
        assert re.search(told, outcome.reason), outcome.reason


def test_limits_reach_the_call_and_decide_what_must_be_refused() -> None:
    seen: dict[str, Any] = {}

    def noting(a: Any, b: Any, **given: Any) -> Any:
        seen.update(given)
        return fuzz_calls.matmul(a, b)

    case = Case(m=5, n=4, k=7, device="list", device_bytes=2_000_000, host_bytes=2**28)
    assert check(case, desk(matmul=noting)).verdict == RIGHT
    assert seen == {"device": [0, 1], "max_device_bytes": 2_000_000, "max_host_bytes": 2**28}
    tiny = case.but(device_bytes=7, host_bytes=0)
    assert "not refused (7 bytes do not hold" in check(tiny, desk(matmul=noting)).reason
    assert check(tiny, desk(matmul=fuzz_calls.refuses)).verdict == REFUSED_WELL
    info = desk().info
    over = case.but(out=Out("a"))
    assert expect(over, info).outcome == REFUSED
    assert expect(over.but(out=Out("a", distance=3)), info).outcome == EITHER
    assert expect(case.but(device_bytes=100_000), info).outcome == EITHER
    moved = Case(call="transpose", shape=(3, 4, 5), device="index", device_bytes=2_000_000)
    assert [expect(each, info).outcome for each in (moved, moved.but(call="matrix_transpose"))] == [REFUSED, WORKS]


def test_calls_that_are_warm_are_made_before() -> None:
    count = []

    def counting(a: Any, b: Any, **given: Any) -> Any:
        count.append(1)
        return fuzz_calls.matmul(a, b)

    assert check(Case(m=2, n=2, k=2, warm=3), desk(matmul=counting)).verdict == RIGHT
    assert len(count) == 4


def test_every_door_is_drawn_and_often_enough() -> None:
    cases = drawn("host", "device")
    products = [case for case in cases if case.is_product]
    tiled = [case for case in cases if case.in_tiles]
    wanted = [expect(case, desk().info).outcome for case in tiled]
    assert len([case for case in products if case.pair == "turned"]) > 70
    assert {case.pair for case in products} == {"", *PAIRS}
    assert len([case for case in products if case.precision == "reproducible"]) > 100
    assert len([case for case in products if case.device == "default" and max(case.m, case.n, case.k) < 34]) > 120
    assert wanted.count(WORKS) > 60
    assert wanted.count(REFUSED) > 10
    assert {case.device for case in tiled} == {"default", "index", "label", "all", "list"}
    assert any(case.out.given.form == "file" and case.in_tiles for case in cases)
    faults = {case.fault for case in cases}
    assert {"limit of text", "queue beside limits", "same device twice"} <= faults


def test_simpler_cases_keep_what_a_pair_needs() -> None:
    for case in drawn("host", "cuda"):
        if case.pair:
            for other in simplifications(case):
                assert other == tied(other)
                lay(other, False)
            break


def test_the_part_of_a_case_is_always_the_same() -> None:
    held = {"a": np.ones((9, 30), np.float32), "b": np.ones((30, 8), np.float32)}
    first, second = Part(CHAINED, held), Part(CHAINED, held)
    assert (first.rows, first.columns) == (second.rows, second.columns)
