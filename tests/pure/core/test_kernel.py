"""Kernels as data: signatures read from source text, rendering, configurations."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.core.kernel import Config, Kernel, NDRange, render, round_up
from tilewright.core.problem import Gemm, Problem
from tilewright.core.source import Parameter, name_lines, parse_signature, shown_path
from tilewright.core.types import ELEMENT_TYPES
from tilewright.errors import InvalidInput
from tilewright.kernels.sizes import size

A = Parameter("A", "float", "global", True)
C = Parameter("C", "float", "global", False)


@pytest.mark.parametrize(
    "text",
    [
        "__kernel void f(const __global float* A, __global float* C, const int M) {}",
        "kernel void f(global const float *A, global float *C, int M)\n{\n}",
        "__kernel __attribute__((reqd_work_group_size(8, 8, 1)))\nvoid f(const __global float* restrict A,\n"
        "                 __global float * restrict C,   // the result\n                 const int M)\n{ }",
        "/* __kernel void old(__global int* X) { } */\n// __kernel void older(int Y) {\n"
        "__kernel void f(__global const float* A, /* in, out: */ __global volatile float* C, int M){}",
        "float helper(float x) { return x; }\n"
        "__kernel void f(__constant float* A, __global float*C, int M) { if (M) { C[0] = helper(A[0]); } }",
    ],
)
def test_signatures_are_read_past_comments_qualifiers_and_attributes(text: str) -> None:
    signature = parse_signature(text, "f.cl")
    assert signature.entry == "f"
    assert signature.parameters == (A, C, Parameter("M", "int"))


def test_local_pointers_and_vector_types_are_told_apart() -> None:
    signature = parse_signature("__kernel void f(__local float4* tile, __global REAL* C, float alpha) {}", "f.cl")
    assert signature.parameters == (
        Parameter("tile", "float4", "local"),
        Parameter("C", "REAL", "global"),
        Parameter("alpha", "float"),
    )


def test_argument_types_of_two_words_are_kept_whole() -> None:
    signature = parse_signature("__kernel void f(const unsigned int M, unsigned long n) {}", "f.cl")
    assert [each.ctype for each in signature.parameters] == ["unsigned int", "unsigned long"]


@pytest.mark.parametrize("arguments", ["", "void", "  "])
def test_a_kernel_may_have_no_arguments(arguments: str) -> None:
    assert parse_signature(f"__kernel void f({arguments}) {{}}", "f.cl").parameters == ()


def test_several_kernels_need_a_word_which() -> None:
    text = "__kernel void one(int M) {}\n__kernel void two(int N) {}"
    assert parse_signature(text, "f.cl", "two").parameters == (Parameter("N", "int"),)
    with pytest.raises(InvalidInput, match=r"f\.cl.*\b2\b.*one, two"):
        parse_signature(text, "f.cl")
    with pytest.raises(InvalidInput, match=r"f\.cl.*'three'.*one, two"):
        parse_signature(text, "f.cl", "three")


@pytest.mark.parametrize("text", ["", "void f(int M) {}", "// __kernel void f(int M) {}", "__kernel void f(int M);"])
def test_a_file_without_a_kernel_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"f\.cl.*__kernel"):
        parse_signature(text, "f.cl")


IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: name not in {"const", "local", "global", "restrict", "volatile", "constant", "void", "kernel"}
)


@given(st.lists(IDENTIFIERS, unique=True, max_size=6), st.sampled_from([" ", "  ", "\n    ", " /* , */ "]))
def test_any_list_of_scalars_is_read_in_order(names: list[str], gap: str) -> None:
    arguments = ",".join(f"{gap}const int{gap}{name}" for name in names)
    signature = parse_signature(f"__kernel void f({arguments}) {{ }}", "f.cl")
    assert [each.name for each in signature.parameters] == names


@dataclass(frozen=True)
class Squares(Config):
    TILE: int
    label: str = "small letters make no macro"

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((round_up(size(problem, "M"), self.TILE),), (self.TILE,))


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    source = tmp_path / "05_squares.cl"
    source.write_text("// What it changes: nothing.\n__kernel void f(__global REAL* C) { C[TILE] = 0; }\n")
    return Kernel(source, Squares(4), variant="plain")


def test_name_and_lesson_come_from_the_file(kernel: Kernel, tmp_path: Path) -> None:
    assert kernel.name == f"{tmp_path.name}/05_squares[plain]"
    assert kernel.lesson == "What it changes: nothing."
    assert kernel.signature.parameters == (Parameter("C", "REAL", "global"),)


@pytest.mark.parametrize(
    ("text", "lesson"),
    [
        ("#define TS 16\n// A tile.\n__kernel void f() { }\n", ""),
        ("// tilewright: --global 4\n__kernel void f() { }\n", ""),
        ("// tilewright: --global 4\n//\n// A tile.\n__kernel void f() { }\n", "A tile."),
        ("/**\n * A tile.\n * @param x the input\n */\n__kernel void f() { }\n", "A tile."),
        ("/* A tile. */ __kernel void f() { }\n", "A tile."),
    ],
)
def test_only_a_comment_is_a_lesson(kernel: Kernel, text: str, lesson: str) -> None:
    kernel.source.write_text(text)
    assert kernel.lesson == lesson


def test_capital_fields_become_macros_and_others_do_not(kernel: Kernel) -> None:
    text = render(kernel, kernel.config, Gemm(3, 3, 3))
    assert "#define TILE 4\n" in text
    assert "label" not in text


def test_rendering_keeps_the_files_own_name_and_lines(kernel: Kernel, tmp_path: Path) -> None:
    head, _, tail = render(kernel, kernel.config, Gemm(3, 3, 3)).partition(f'#line 1 "{tmp_path.name}/05_squares.cl"\n')
    assert head
    assert tail.startswith(kernel.text)


def test_a_file_that_was_edited_is_read_again(kernel: Kernel) -> None:
    assert kernel.lesson == "What it changes: nothing."
    kernel.source.write_text(kernel.text.replace("nothing", "everything"))
    assert kernel.lesson == "What it changes: everything."


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_the_element_type_is_a_macro(kernel: Kernel, dtype: str) -> None:
    text = render(kernel, kernel.config, Gemm(3, 3, 3, dtype))
    assert f"#define REAL {ELEMENT_TYPES[dtype].real}\n" in text
    assert f"#define REAL_IS_INTEGER {int(ELEMENT_TYPES[dtype].exact)}\n" in text
    assert f"#define REAL_IS_DOUBLE {int(dtype in ('float64', 'complex128'))}\n" in text


def test_an_ndrange_knows_its_group_and_whether_it_is_empty() -> None:
    assert NDRange((64, 32), (8, 4)).group_items == 32
    assert str(NDRange((64, 32), (8, 4))) == "64x32 by 8x4"
    assert NDRange((0, 32), (8, 4)).empty
    assert not NDRange((8, 4), (8, 4)).empty


def test_a_configuration_prints_its_fields() -> None:
    assert str(Squares(8, "x")) == "TILE=8 label=x"


@given(st.integers(0, 10**9), st.integers(1, 10**4))
def test_rounding_up_gives_the_next_multiple(length: int, multiple: int) -> None:
    rounded = round_up(length, multiple)
    assert rounded % multiple == 0
    assert 0 <= rounded - length < multiple


def test_a_log_that_counts_all_lines_gets_real_names() -> None:
    source = '#define A\n#define B\n#line 1 "x/one.cl"\nint a;\nint b;\n#line 7 "x/two.cl"\nint c;\n'
    log = name_lines("<kernel>:5:3: error: b\n<kernel>:7:1: error: c\n<kernel>:1:1: warning", source)
    assert log == "x/one.cl:2:3: error: b\nx/two.cl:7:1: error: c\n<kernel>:1:1: warning"


def test_bytes_of_a_files_name_that_are_no_text_become_question_marks() -> None:
    """Such as a name in Latin-1 where file names are UTF-8: compilers, records and pages take text."""
    assert shown_path(Path("folder") / "k\udce9rnel.cl") == "folder/k?rnel.cl"
