"""The fuzzer without a device: it finds what is wrong, passes what is right, and every case comes from its seed again."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz_calls
import numpy as np
import pytest
from fuzz_calls import desk

from tilewright.errors import Unsupported
from tools.fuzz.cases import Case, Given, Lie, Out, decode, encode
from tools.fuzz.check import FAILED, REFUSED_WELL, RIGHT, check
from tools.fuzz.child import Task, palette_of
from tools.fuzz.draw import Palette, draw
from tools.fuzz.judging import judge_move
from tools.fuzz.memory import PAGE, geometry, guarded
from tools.fuzz.oracle import EITHER, REFUSED, WORKS, expect
from tools.fuzz.record import Failure, Record, load_fuzz
from tools.fuzz.references import classified_product
from tools.fuzz.run import Loop, outcome_of
from tools.fuzz.shapes import Pool, changes_along
from tools.fuzz.shrink import shrunk

POOL = Pool(((300, 300, 513, 1), (5, 7, 40, 2), (1, 257, 30, 1)), (16, 32, 513))
PALETTE = Palette(lambda dtype, moves: POOL)
SMALL = Case(m=5, n=4, k=7)
TO_OUT = SMALL.but(out=Out("own"))
EVERY_SECOND = SMALL.but(out=Out("own", Given(lie=Lie(steps=(2,)))))
ADDED = SMALL.but(call="gemm", beta="2", c=Given())


def test_right_calls_are_right() -> None:
    for case in (
        SMALL,
        TO_OUT,
        EVERY_SECOND,
        ADDED,
        SMALL.but(m=0),
        Case(call="transpose", shape=(3, 4)),
        Case(call="copy"),
    ):
        assert check(case, desk()).verdict == RIGHT, check(case, desk()).reason


@pytest.mark.parametrize(
    ("case", "broken", "told"),
    [
        (TO_OUT, fuzz_calls.writes_behind_out, "byte -1 of the memory of out changed"),
        (EVERY_SECOND, fuzz_calls.writes_a_gap, "byte 4 of the memory of out changed"),
        (SMALL, fuzz_calls.spoils_a, "byte . of the memory of a changed"),
        (SMALL, fuzz_calls.turned, r"shape \(4, 5\) instead of \(5, 4\)"),
        (SMALL.but(n=5), fuzz_calls.turned, "of 25 elements are wrong"),
        (SMALL, fuzz_calls.off_by_one_bit, "1 of 20 elements are wrong"),
        (SMALL, fuzz_calls.raises, "raised KeyError"),
        (SMALL, fuzz_calls.refuses, "refused: InvalidInput: not today"),
        (SMALL.but(fault="k differs"), fuzz_calls.spoils_and_refuses, "refused by InvalidInput, but byte"),
        (SMALL.but(m=2, n=2, fault="k differs"), fuzz_calls.never_refuses, r"not refused \(k differs\)"),
        (TO_OUT, fuzz_calls.lends_an_operand, "came back instead of out"),
        (SMALL.but(n=7, k=7), fuzz_calls.lends_an_operand, "shares memory with an operand"),
    ],
)  # fmt: skip
def test_a_broken_matmul_is_found(case: Case, broken: Callable[..., Any], told: str) -> None:
    outcome = check(case, desk(matmul=broken))
    assert outcome.verdict == FAILED
    assert re.search(told, outcome.reason), outcome.reason


def test_a_gemm_without_beta_is_found() -> None:
    assert check(ADDED, desk(gemm=fuzz_calls.forgets_beta)).verdict == FAILED


def test_a_turned_copy_is_found() -> None:
    case = Case(call="copy", shape=(3, 3), a=Given("int16"))
    assert check(case, desk()).verdict == RIGHT
    assert "elements are wrong" in check(case, desk(copy=fuzz_calls.transpose)).reason


def test_what_must_be_refused_is() -> None:
    for fault in ("k differs", "out shape", "out read-only"):
        assert check(TO_OUT.but(fault=fault), desk()).verdict == REFUSED_WELL
    assert check(SMALL.but(a=Given("longdouble"), b=Given("longdouble")), desk()).verdict == REFUSED_WELL


def test_a_read_behind_an_operand_ends_a_child_and_is_a_failure() -> None:
    done = outcome_of(SMALL, Task("", calls="tests.fuzz_calls:reading_bench"))
    assert done.verdict == FAILED
    assert "SIGSEGV" in done.reason
    assert "reads_behind_a" in done.reason


def test_the_loop_goes_on_behind_a_case_that_ends_its_process_and_resumes(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    task = Task("", kinds=("host",), calls="tests.fuzz_calls:ending_bench")
    empty = Record(17, 17)
    palette = palette_of(task, fuzz_calls.ending_bench())
    cases = {seed: draw(seed, palette) for seed in range(17, 23)}
    assert all(case.place == "host" for case in cases.values())
    ended = {seed for seed, case in cases.items() if case.call == "matmul"}
    assert ended
    Loop(empty, task, 2, path).run(3, None, batch=2)
    halfway = load_fuzz(path)
    assert halfway.next_seed == 20
    record = Loop(halfway, task, 1, path).run(3, None)
    assert record == load_fuzz(path)
    assert (record.next_seed, record.cases, record.ahead) == (23, 6, ())
    assert {each.seed for each in record.failures if "status 7" in each.reason} == ended
    assert "matmul" in record.table()


def test_every_case_comes_from_its_seed_prints_itself_and_goes_to_json_and_back() -> None:
    names = {each.__name__: each for each in (Case, Given, Lie, Out)}
    outcomes = []
    for seed in range(1500):
        case = draw(seed, PALETTE)
        assert case == draw(seed, PALETTE)
        assert decode(encode(case)) == case
        assert eval(repr(case), names) == case
        if not case.in_tiles:  # of some limits nobody says whether they suffice
            outcomes.append(expect(case, desk().info).outcome)
    shares = {each: outcomes.count(each) / len(outcomes) for each in (WORKS, REFUSED, EITHER)}
    assert shares[WORKS] > 0.7
    assert shares[REFUSED] > 0.05
    assert shares[EITHER] < 0.02


def test_geometry_is_what_numpy_makes_of_the_same_memory() -> None:
    chance = random.Random(0)
    for _ in range(300):
        shape = tuple(chance.choice((1, 2, 3, 5)) for _ in range(chance.randrange(5)))
        lie = Lie(
            chance.choice(("rows", "columns", "swapped", "first")), tuple(chance.choice((1, 2, -1, -3)) for _ in shape)
        )
        place = geometry(shape, np.dtype(np.int16), lie)
        block = np.zeros(place.span, np.uint8)
        view = place.view(block, 0)
        view[...] = 0x0101
        assert view.shape == shape
        assert block.sum() == 2 * view.size  # every element has bytes of its own
        assert block[[0, 1, -1]].all()


def test_a_byte_outside_of_guarded_memory_is_no_longer_the_process_s() -> None:
    inner = guarded(PAGE + 1, 0xFF)
    assert inner.nbytes == 2 * PAGE
    assert (inner == 0xFF).all()
    lines = Path("/proc/self/maps").read_text().splitlines()
    address = inner.ctypes.data
    bounds = {tuple(int(part, 16) for part in line.split()[0].split("-")): line.split()[1] for line in lines}
    closed = [span for span, rights in bounds.items() if rights.startswith("---")]
    assert any(begin <= address - 1 < end for begin, end in closed)
    assert any(begin <= address + inner.nbytes < end for begin, end in closed)


def test_infinities_and_nan_are_classified_as_ieee_754_has_them() -> None:
    inf, nan = np.inf, np.nan
    a = np.array([[1, inf], [inf, 1], [-inf, 1], [nan, 0], [0, 1], [inf, -inf]])
    b = np.array([[2.0, inf, 0], [3.0, 1, 1]])
    with np.errstate(invalid="ignore"):
        expected = (a[:, :, None] * b[None, :, :]).sum(axis=1)
    assert np.array_equal(classified_product(a, b), expected, equal_nan=True)


def test_a_limited_pool_has_few_sizes_and_always_the_same() -> None:
    pool = POOL.limited(2, 5)
    assert pool == POOL.limited(2, 5)
    chance = random.Random(1)
    assert {pool.length(chance) for _ in range(200)} == set(pool.fixed)
    assert len(pool.changes) == 2


def test_changes_of_plan_are_found_to_the_element() -> None:
    def look(sizes: tuple[int, int, int, int]) -> tuple[object, ...]:
        return (sizes[2] > 137, sizes[2] >= 9000)

    assert list(changes_along((3, 4, 0, 1), look)) == [(3, 4, 138, 1), (3, 4, 9000, 1)]


def test_the_smallest_failing_case_keeps_only_what_matters() -> None:
    large = draw(3, PALETTE).but(
        call="matmul", m=77, n=130, k=60, lead_a=(3,), vector_a=False, vector_b=False, fault=""
    )
    small = shrunk(large, lambda case: case.m >= 20 and case.k > 3 and case.a.dtype == large.a.dtype, 400)
    assert (small.m, small.n, small.k, small.lead_a, small.out.where) == (20, 1, 4, (), "")


def test_moves_are_compared_bit_by_bit() -> None:
    one = np.array([0.0, np.nan, 1.0], np.float32)
    other = np.array([-0.0, np.nan, 1.0], np.float32)
    assert judge_move(one, one.copy()) == ""
    assert "the first, [0]" in judge_move(other, one)


def test_damaged_records_and_those_of_other_devices_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"first_seed": "x"}')
    with pytest.raises(ValueError, match=r"bad\.json"):
        load_fuzz(path)
    with pytest.raises(ValueError, match="another"):
        Record().on_device("one", "1", "").on_device("another", "1", "")
    assert issubclass(Unsupported, Exception)
    assert Failure(1, "3 of 20 elements are wrong", SMALL).kind == Failure(2, "4 of 9 elements are wrong", SMALL).kind
