"""Known-wrong kernels: the obvious cause of each is named, and what is right or wrong in another way gets none."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from faulty import STORE
from says import says
from shapes import NAIVE

from tilewright.analysis.causes import likely_cause
from tilewright.analysis.diagnosis import diagnosed
from tilewright.analysis.explanations import ANY_DEVICE
from tilewright.core.custom import custom_kernel
from tilewright.core.kernel import Kernel
from tilewright.core.problem import Copy, Gemm, Problem, Transpose, random_arrays
from tilewright.core.records import Row, RowStatus

ROW = Row("product", "", "", (), 0, 0, status=RowStatus.WRONG, reason="made up")
SUM = "sum += A[row * K + k] * B[k * N + column];"
MakeOwn = Callable[..., Kernel]


@pytest.fixture
def wrong(tmp_path: Path) -> MakeOwn:
    """A product with parts of the right one replaced."""

    def make(*changes: tuple[str, str], local: str = "8,8") -> Kernel:
        text = NAIVE
        for right, other in changes:
            assert right in text
            text = text.replace(right, other, 1)
        path = tmp_path / "product.cl"
        path.write_text(text)
        return custom_kernel(path, ["M", "N"], local.split(","))

    return make


def explained(kernel: Kernel, problem: Problem) -> str:
    return diagnosed(ROW, kernel, problem, ANY_DEVICE).explained


def cause(kernel: Kernel, problem: Problem) -> str:
    """The sentence about the likely cause, "" if there is none."""
    return next((line for line in explained(kernel, problem).split("\n") if line.startswith("likely cause")), "")


@pytest.mark.parametrize("problem", [Gemm(24, 24, 24), Gemm(24, 40, 17), Gemm(8, 16, 24, "int32")])
@pytest.mark.parametrize(
    ("right", "fault", "order", "buffer"),
    [
        ("A[row * K + k]", "A[k * M + row]", "crr", "A"),
        ("B[k * N + column]", "B[column * K + k]", "rcr", "B"),
        ("C[row * N + column]", "C[column * M + row]", "rrc", "C"),
    ],
)
def test_another_memory_order_is_named_with_its_option(
    right: str, fault: str, order: str, buffer: str, problem: Gemm, wrong: MakeOwn
) -> None:
    sentence = cause(wrong((right, fault)), problem)
    assert says(sentence, "--order", order, buffer)


def test_all_orders_at_once_are_named(wrong: MakeOwn) -> None:
    changes = [
        ("A[row * K + k]", "A[k * M + row]"),
        ("B[k * N + column]", "B[column * K + k]"),
        ("C[row * N + column]", "C[column * M + row]"),
    ]
    assert says(cause(wrong(*changes), Gemm(24, 40, 17)), "ccc")


def test_a_sum_in_memory_that_holds_no_zeros_is_named(wrong: MakeOwn) -> None:
    kernel = wrong((STORE, STORE.replace("=", "+=")))
    sentence = cause(kernel, Gemm(24, 16, 8))
    assert says(sentence, "C", "zeros")
    assert "uninitialised read" in {each.kind for each in diagnosed(ROW, kernel, Gemm(24, 16, 8), ANY_DEVICE).faults}


@pytest.mark.parametrize(
    ("right", "fault"),
    [
        ("REAL sum", "int sum"),
        (SUM, SUM.replace("A[", "(int)(A[").replace("];", "]);")),
        (SUM, SUM.replace("A[", "(int)A[").replace("B[", "(int)B[")),
        (STORE, STORE.replace("sum", "(int)sum")),
    ],
)
def test_an_int_for_a_float_is_named(right: str, fault: str, wrong: MakeOwn) -> None:
    assert says(cause(wrong((right, fault)), Gemm(24, 16, 12)), "integer")


@pytest.mark.parametrize(
    ("right", "fault", "values"),
    [
        ("k < K;", "k < K - 1;", ("first", 23, 24)),
        ("k < K;", "k < K / 16 * 16;", ("first", 16, 24)),
        ("k = 0; k < K;", "k = 4; k < K;", ("last", 20, 24)),
        ("sum +=", "sum =", ("last", 24, "+=")),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_a_part_of_k_is_named(right: str, fault: str, values: tuple[object, ...], dtype: str, wrong: MakeOwn) -> None:
    sentence = cause(wrong((right, fault)), Gemm(24, 16, 24, dtype))
    assert all(str(value) in sentence for value in values)


@pytest.mark.parametrize(("fault", "factor"), [("2 * sum", "2"), ("-sum", "-1"), ("0 * sum", "0")])
def test_a_factor_is_named(fault: str, factor: str, wrong: MakeOwn) -> None:
    assert says(cause(wrong((STORE, STORE.replace("sum", fault))), Gemm(24, 16, 8)), factor)


def test_exchanged_operands_are_named(wrong: MakeOwn) -> None:
    kernel = wrong((SUM, "sum += B[row * K + k] * A[k * N + column];"))
    assert says(cause(kernel, Gemm(24, 24, 24)), "B A", "ccc"), "the two cannot be told apart in square matrices"


@pytest.mark.parametrize(
    ("used", "named"), [((3.0, 0.0), "alpha=3"), ((1.0, 2.0), "beta=2"), ((3.0, 2.0), "alpha=3 and beta=2")]
)
def test_ignored_scalars_are_named(used: tuple[float, float], named: str) -> None:
    problem = Gemm(8, 6, 5, alpha=used[0], beta=used[1])
    arrays = {**random_arrays(problem), "C": np.ones((8, 6), np.float32)}
    plain = replace(problem, alpha=1.0, beta=0.0).reference(arrays).astype(np.float32)
    assert named in likely_cause(problem, arrays, plain)


def test_a_transpose_that_copies_and_a_copy_that_transposes_are_named() -> None:
    for problem, word in ((Transpose(6, 10), "does not transpose"), (Copy(6, 10), "transposes")):
        (arrays,) = [random_arrays(problem)]
        flat = (
            arrays["input"] if isinstance(problem, Transpose) and not isinstance(problem, Copy) else arrays["input"].T
        )
        output = np.ascontiguousarray(flat).reshape(problem.operands[1].shape)
        assert word in likely_cause(problem, arrays, output)


def test_an_ignored_offset_is_named() -> None:
    problem = Copy(6, 10, offset=3)
    arrays = random_arrays(problem)
    assert "OFFSET=3" in likely_cause(problem, arrays, arrays["input"][:, :7])


def test_what_has_no_obvious_cause_gets_none(wrong: MakeOwn) -> None:
    assert cause(wrong((STORE, "C[row * N + column] = sum + row;")), Gemm(24, 16, 8)) == ""
    assert cause(wrong(), Gemm(24, 16, 8)) == "", "a right kernel has no cause"


def test_a_global_size_that_was_rounded_up_is_the_cause_of_what_lies_outside(wrong: MakeOwn) -> None:
    kernel = wrong(("if (row >= M || column >= N)", "if (row < 0)"), local="16,16")
    sentence = cause(kernel, Gemm(20, 20, 8))
    assert says(sentence, "20x20", "32x32", "16x16", "M", "N")
    assert cause(kernel, Gemm(32, 16, 8)) == ""
