"""The sets of benchmark problems, and judging very large products by some rows and columns."""

import math

import numpy as np
import pytest
from devices import GPU

from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.plan import plan_kernel
from tilewright.core.problem import Copy, Gemm, Transpose, output_of, random_arrays
from tilewright.errors import InvalidInput, UnknownName, Unsupported
from tilewright.kernels import all_kernels
from tilewright.measurement import sets
from tilewright.measurement.sets import SETS, benchmark_set, problems_of
from tilewright.runtime.verify import Reference, SampledReference, reference_for


@pytest.mark.parametrize("name", SETS)
def test_no_problem_comes_twice_in_a_set(name: str) -> None:
    found = list(problems_of(name, "float32"))
    assert 0 < len(set(found)) == len(found)
    for problem in found:
        assert math.prod(output_of(problem).shape) > 0, problem.title


def test_there_are_enough_thin_and_batched_ones() -> None:
    assert sum(1 for name in ("llm-decode", "batched") for _ in problems_of(name, "float32")) >= 30


def test_sets_take_any_type() -> None:
    for dtype in ("float16", "int8", "float64", "complex64"):
        for name in SETS:
            found, usual = list(problems_of(name, dtype)), list(problems_of(name, "float32"))
            own = [each.dtype for each in usual] != ["float32"] * len(usual)  # a set of several types has its own
            assert own or {each.dtype for each in found} == {dtype}, f"{name} of {dtype}"
            assert own or len(found) == len(usual), f"{name} of {dtype}"
    outputs = {each.out_dtype for each in problems_of("squares", "int8") if isinstance(each, Gemm)}
    assert outputs == {"int32"}


def test_an_unknown_set_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="squares"):
        problems_of("square", "float32")


def test_a_set_is_its_function_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "SETS", dict(SETS))
    benchmark_set("tiny")(lambda dtype: iter([Gemm(2, 3, 4, dtype)]))
    assert list(problems_of("tiny", "float64")) == [Gemm(2, 3, 4, "float64")]
    with pytest.raises(InvalidInput, match="tiny"):
        benchmark_set("tiny")(lambda dtype: iter(()))


def test_titles_say_how_many() -> None:
    assert Gemm(2, 3, 4, batch=5).title == "gemm 5 of 2x3x4 float32"
    assert Transpose(2, 3, batch=4).title == "stacked transpose 4 of 2x3 float32"
    assert InPlaceTranspose(9, "int8", 2).title == "in-place transpose 2 of 9x9 int8"


def test_stacks_know_their_reference() -> None:
    turned, kept = Transpose(2, 3, "float32", 1, 4), Copy(2, 3, "float32", 1, 4)
    for problem, shape in ((turned, (4, 2, 2)), (kept, (4, 2, 2))):
        arrays = random_arrays(problem)
        assert arrays["input"].shape == (4, 2, 3)
        assert problem.operands[1].shape == shape
        wanted = arrays["input"][:, :, 1:]
        wanted = np.swapaxes(wanted, 1, 2) if problem is turned else wanted
        assert np.array_equal(problem.reference(arrays), wanted)


@pytest.fixture
def sampled() -> SampledReference:
    problem = Gemm(130, 100, 20)
    reference = reference_for(problem, random_arrays(problem), whole_flops=1000)
    assert isinstance(reference, SampledReference)
    return reference


def right(reference: SampledReference) -> np.ndarray:
    product: np.ndarray = reference.arrays["A"].astype(np.float64) @ reference.arrays["B"]
    return product.astype(np.float32)


def test_a_right_product_passes(sampled: SampledReference) -> None:
    verdict = sampled.judge(right(sampled))
    assert verdict.passed
    assert 0 < verdict.worst_ratio < 1


@pytest.mark.parametrize("row", range(0, 129, 32))
@pytest.mark.parametrize("column", range(0, 96, 32))
def test_no_wrong_tile_goes_unseen(sampled: SampledReference, row: int, column: int) -> None:
    output = right(sampled)
    output[row : row + 32, column : column + 32] += 0.01
    assert not sampled.judge(output).passed


def test_what_was_not_written_is_seen_anywhere(sampled: SampledReference) -> None:
    for place in ((0, 0), (77, 50), (129, 99)):
        output = right(sampled)
        output[place] = np.nan
        assert "not written" in sampled.judge(output).reason


def test_a_wrong_shape_is_told(sampled: SampledReference) -> None:
    assert "instead of" in sampled.judge(np.zeros((3, 3), np.float32)).reason


def test_small_products_and_others_are_judged_whole() -> None:
    for problem in (Gemm(4, 4, 4), InPlaceTranspose(5)):
        reference = reference_for(problem, random_arrays(problem))
        assert type(reference) is Reference
        assert reference.expected.shape == output_of(problem).shape


def test_a_batch_of_one_is_a_plain_problem_and_rungs_refuse_others() -> None:
    rung = next(each for each in all_kernels().values() if each.operation == "transpose")
    one, three = Transpose(64, 64), Transpose(64, 64, batch=3)
    assert (one.operation, one.operands[0].shape) == ("transpose", (64, 64))
    assert (three.operation, three.operands[1].shape) == ("stacked transpose", (3, 64, 64))
    assert plan_kernel(rung, one, GPU).problem == one
    with pytest.raises(Unsupported, match="stacked transpose"):
        plan_kernel(rung, three, GPU)
    with pytest.raises(InvalidInput, match="batch=-1"):
        Copy(2, 2, batch=-1)
