"""A user's own kernel: expressions for its geometry, and what is refused."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.core.custom import custom_kernel, evaluate
from tilewright.core.kernel import NDRange
from tilewright.core.problem import Gemm, Transpose
from tilewright.errors import InvalidInput, TilewrightError, UnknownName

NAMES = {"M": 100, "N": 60, "K": 7, "TS": 32}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("M", 100),
        (" 16 ", 16),
        ("M/TS", 4),  # rounds up: a count of tiles
        ("M//TS", 3),
        ("M/TS*16", 64),
        ("(M + N) % TS", 0),
        ("M-N*2", -20),
        ("2*(N-K)", 106),
    ],
)
def test_expressions_are_computed(expression: str, value: int) -> None:
    assert evaluate(expression, NAMES) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "M+",
        "M/0",
        "M//0",
        "M%0",
        "1.5",
        "M**2",
        "True",
        "f(M)",
        "M if N else K",
        "'M'",
        "-M",
        "\0",
        "(" * 300,
        "M+" * 10**5 + "M",
    ],
)
def test_what_is_no_such_expression_is_refused(expression: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate(expression, NAMES)
    assert str(caught.value).startswith((repr(expression)[:20], repr(expression.replace("**", " ** "))))


def test_an_unknown_name_gives_the_near_ones() -> None:
    with pytest.raises(UnknownName, match=r"'TSM'.*\bTS\b"):
        evaluate("M/TSM", NAMES)


@given(st.text(max_size=20))
def test_no_text_breaks_out(expression: str) -> None:
    with suppress(TilewrightError):
        value = evaluate(expression, NAMES)
        assert type(value) is int


@given(st.integers(0, 10**6), st.integers(1, 10**4))
def test_division_counts_tiles(size: int, tile: int) -> None:
    assert (evaluate("M/TS", {"M": size, "TS": tile}) - 1) * tile < max(size, 1)
    assert evaluate("M/TS", {"M": size, "TS": tile}) * tile >= size


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cl"
    path.write_text("// Mine.\n__kernel void mine(__global REAL* C) { }\n")
    return path


def test_the_global_size_is_rounded_up_to_whole_groups(file: Path) -> None:
    kernel = custom_kernel(file, ("M", "N/WPT"), ("TS", "8"), {"TS": 32, "WPT": 4, "TYPE": "float"})
    assert kernel.config.ndrange(Gemm(100, 60, 7)) == NDRange((128, 16), (32, 8))
    assert kernel.config.macros(Gemm(1, 1, 1)) == {"TS": "32", "WPT": "4", "TYPE": "float"}
    assert str(kernel.config) == "global=M,N/WPT local=TS,8 TS=32 WPT=4 TYPE=float"


def test_a_transpose_has_sizes_of_its_own(file: Path) -> None:
    kernel = custom_kernel(file, ("COLUMNS-OFFSET", "ROWS"), ("16", "16"), operation="transpose")
    assert kernel.config.ndrange(Transpose(10, 40, offset=3)) == NDRange((48, 16), (16, 16))


@pytest.mark.parametrize(
    ("global_size", "local_size"),
    [(("M",), ("8", "8")), (("M", "N"), ("8",)), (("M",) * 4, ("1",) * 4), (("M",), ("0",)), ((), ())],
)
def test_geometry_that_cannot_be_is_refused(
    file: Path, global_size: tuple[str, ...], local_size: tuple[str, ...]
) -> None:
    kernel = custom_kernel(file, global_size, local_size)
    with pytest.raises(InvalidInput, match=r"\b1\b.*\b3\b"):
        kernel.config.ndrange(Gemm(4, 4, 4))


def test_an_empty_problem_launches_nothing(file: Path) -> None:
    assert custom_kernel(file, ("M", "N"), ("8", "8")).config.ndrange(Gemm(0, 4, 4)).empty


def test_orders_are_letters(file: Path) -> None:
    assert custom_kernel(file, ("M",), ("8",), orders="rcr").orders == ("row", "column", "row")
    for wrong in ("rr", "rrx", "rrrr", ""):
        with pytest.raises(InvalidInput, match=re.escape(repr(wrong))):
            custom_kernel(file, ("M",), ("8",), orders=wrong)


def test_a_missing_file_and_an_unknown_problem_are_named(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"absent\.cl"):
        custom_kernel(tmp_path / "absent.cl", ("M",), ("8",))
    with pytest.raises(UnknownName, match=r"\btranspose\b"):
        custom_kernel(file, ("M",), ("8",), operation="tranpose")
