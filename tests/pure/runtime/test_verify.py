"""The verdict on a result: what passes, what fails, and what the reason tells. No device is needed."""

import numpy as np
import pytest
from says import says

from tilewright.core.language import Sentence, shown, use_language
from tilewright.core.problem import Copy, Gemm, Problem, Transpose, random_arrays
from tilewright.measurement.own_check import with_count
from tilewright.runtime.verify import Reference, Verdict


def judge(problem: Problem, output: np.ndarray, arrays: dict[str, np.ndarray] | None = None) -> Verdict:
    return Reference(problem, arrays or random_arrays(problem)).judge(output)


def right(problem: Problem, arrays: dict[str, np.ndarray] | None = None) -> np.ndarray:
    """The right result, rounded once to the element type."""
    return problem.reference(arrays or random_arrays(problem)).astype(problem.dtype).copy()


PROBLEM = Gemm(6, 5, 40)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int8", "complex64"])
def test_the_right_result_passes(dtype: str) -> None:
    problem = Gemm(6, 5, 40, dtype)
    verdict = judge(problem, right(problem))
    assert verdict.passed, verdict
    assert verdict.elements == 30
    assert verdict.worst_ratio <= 1.0
    assert str(verdict).startswith("right: 30 elements")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, 1e30])
def test_one_wrong_element_is_found_and_named(value: float) -> None:
    output = right(PROBLEM)
    output[4, 3] = value
    verdict = judge(PROBLEM, output)
    assert not verdict.passed
    assert verdict.worst is not None
    assert verdict.worst.index == (4, 3)
    assert verdict.reason.startswith("1 of 30 elements; the worst is [4, 3] = ")
    assert f"host {verdict.worst.expected!r}; the bound is {verdict.bound:.3g}" in verdict.reason


def test_nan_everywhere_fails() -> None:
    assert not judge(PROBLEM, np.full((6, 5), np.nan, np.float32)).passed


def test_an_error_just_beyond_the_bound_fails_and_one_within_passes() -> None:
    reference = Reference(PROBLEM, random_arrays(PROBLEM))
    bound = np.asarray(reference.bound)
    assert reference.judge((reference.expected + 0.9 * bound).astype(np.float32)).passed
    assert not reference.judge((reference.expected + 1.1 * bound).astype(np.float32)).passed


def test_half_precision_sums_are_not_good_enough_for_float32() -> None:
    verdict = judge(PROBLEM, right(PROBLEM).astype(np.float16).astype(np.float32))
    assert not verdict.passed
    assert np.isfinite(verdict.worst_ratio)


def test_the_norm_of_the_error_is_told() -> None:
    reference = Reference(PROBLEM, random_arrays(PROBLEM))
    output = reference.expected.astype(np.float32)
    verdict = reference.judge(output)
    wanted = np.linalg.norm(output - reference.expected) / np.linalg.norm(reference.expected)
    assert verdict.norm == pytest.approx(wanted)
    assert "L2" in str(verdict)
    whole = Gemm(4, 4, 4, "int32")
    exact = Reference(whole, random_arrays(whole))
    assert exact.judge(exact.expected).norm is None


def test_integers_must_be_equal() -> None:
    problem = Gemm(6, 5, 40, "int32")
    output = right(problem)
    output[0, 1] += 1
    verdict = judge(problem, output)
    assert not verdict.passed
    assert "[0, 1]" in verdict.reason


@pytest.mark.parametrize("kind", [Copy, Transpose])
def test_a_copy_must_be_equal_bit_by_bit(kind: type[Transpose]) -> None:
    problem = kind(3, 4, "float32")
    arrays = random_arrays(problem)
    arrays["input"][1, 2] = -0.0
    arrays["input"][0, 0] = np.nan
    output = problem.reference(arrays).copy()
    assert judge(problem, output, arrays).passed
    output[output == 0.0] = 0.0
    assert not judge(problem, output, arrays).passed, "a lost sign of zero is not a copy"


def test_shape_and_dtype_must_be_those_of_the_problem() -> None:
    for output in (right(PROBLEM).T, right(PROBLEM).astype(np.float64)):
        verdict = judge(PROBLEM, output)
        assert not verdict.passed
        assert says(verdict.reason, "(6, 5) float32")


def test_infinities_and_nan_pass_where_ieee_arithmetic_gives_them() -> None:
    problem = Gemm(3, 3, 3)
    arrays = random_arrays(problem)
    arrays["A"][0, 0], arrays["A"][1, 1] = np.inf, np.nan
    expected = problem.reference(arrays)
    assert np.isinf(expected[0]).all()
    assert np.isnan(expected[1]).all()
    output = expected.astype(np.float32)
    assert judge(problem, output, arrays).passed
    for place, value in (((0, 0), 1.0), ((0, 0), np.nan), ((0, 0), -expected[0, 0]), ((1, 2), 0.0), ((2, 2), np.nan)):
        wrong = output.copy()
        wrong[place] = value
        assert not judge(problem, wrong, arrays).passed, f"{value} at {place} passed"


def test_a_sum_beyond_the_types_range_may_be_infinite() -> None:
    problem = Gemm(1, 1, 2)
    arrays = {"A": np.full((1, 2), 1e30, np.float32), "B": np.full((2, 1), 1e30, np.float32)}
    assert judge(problem, np.array([[np.inf]], np.float32), arrays).passed
    assert not judge(problem, np.array([[3e38]], np.float32), arrays).passed


def test_a_sum_of_nothing_is_zero() -> None:
    problem = Gemm(2, 3, 0)
    assert judge(problem, np.zeros((2, 3), np.float32)).passed
    assert not judge(problem, np.full((2, 3), 1e-30, np.float32)).passed


def test_an_empty_result_passes() -> None:
    assert judge(Gemm(0, 3, 2), np.zeros((0, 3), np.float32)).passed


def test_ten_elements_are_shown_beside_the_hosts() -> None:
    output = right(PROBLEM)
    verdict = judge(PROBLEM, output)
    assert len(verdict.sample) == 10
    for element in verdict.sample:
        assert element.value == output[element.index]
        assert f"host {element.expected!r}" in str(element)


def test_a_constant_matrix_hides_a_transposed_operand_and_random_ones_do_not() -> None:
    problem = Gemm(8, 8, 8)
    constant = {name: np.full((8, 8), 0.5, np.float32) for name in "AB"}
    for arrays, hidden in ((constant, True), (random_arrays(problem), False)):
        mistaken = (arrays["A"].astype(float) @ arrays["B"].T.astype(float)).astype(np.float32)
        assert Reference(problem, arrays).judge(mistaken).passed is hidden


@pytest.mark.parametrize(
    ("language", "words"), [("ru", "верно: элементов 30,"), ("zh", "正确：30 个元素"), ("en", "right: 30 elements")]
)
def test_a_good_verdict_is_said_in_the_chosen_language(language: str, words: str) -> None:
    verdict = judge(PROBLEM, right(PROBLEM))
    use_language(language)
    assert str(verdict).startswith(words)
    assert "{" not in str(verdict)
    assert "host" in str(verdict.sample[0])  # records have reasons that are made of it
    assert ("host" in shown(verdict.sample[0].sentence)) == (language == "en")


@pytest.mark.parametrize(("language", "words"), [("ru", "проверено"), ("zh", "已对照"), ("en", "checked against")])
def test_words_of_a_kernel_of_ones_own_are_said_in_the_chosen_language(language: str, words: str) -> None:
    counted = with_count(with_count(None, 64, "x"), 1024, "y")
    sentence = Sentence("checked against {source}: {counted}", source=Sentence("the given results"), counted=counted)
    assert sentence == "checked against the given results: 64 elements of x, 1,024 elements of y"
    use_language(language)
    text = str(Verdict(True, 1088, 0.0, None, 0.0, words=sentence))
    assert text.startswith(words)
    assert says(text, 64, "1,024", "x", "y")
    assert (language == "en") == ("elements" in text)
