"""Options and budgets in the comments of a kernel's file: of its head, and of the comment right above a kernel."""

from pathlib import Path
from typing import Any

import pytest

from tilewright.core.heads import read_heads
from tilewright.core.kernel_options import with_head
from tilewright.errors import InvalidInput

TWO = """// Two kernels.
// tilewright: -D STEP=2

#define TWICE(x) (2 * (x))

// The first one.
// tilewright: --local 32
// tilewright: no race
__kernel void first(__global float *x) { x[get_global_id(0)] = STEP; }

/* The second one.
 * tilewright: --local 16 --arg x=f32[64] */
kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void second(__global float *x) { x[get_global_id(0)] = TWICE(1); }
// tilewright: no faults

__kernel void third(__global float *x) { }
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def made(text: str) -> Path:
        path = tmp_path / "two.cl"
        path.write_text(text)
        return path

    return made


def test_lines_right_above_a_kernel_are_its_own(write: Any) -> None:
    heads = read_heads(write(TWO))
    assert heads.kernels == ("first", "second", "third")
    assert heads.shared == ((2, "-D STEP=2"),)
    assert heads.own == {
        "first": ((7, "--local 32"), (8, "no race")),
        "second": ((12, "--local 16 --arg x=f32[64]"),),
    }


@pytest.mark.parametrize("gap", ["", "\n"])
def test_the_head_of_a_file_is_for_all_kernels(write: Any, gap: str) -> None:
    text = f"// tilewright: --local 8\n{gap}__kernel void a() {{ }}\n\n// Words alone.\n__kernel void b() {{ }}\n"
    heads = read_heads(write(text))
    assert heads.shared == ((1, "--local 8"),)
    assert heads.own == {}


def test_a_head_right_above_the_first_kernel_is_its_own_if_others_have_their_own(write: Any) -> None:
    text = "// tilewright: --local 8\n__kernel void a() { }\n// tilewright: --local 4\n__kernel void b() { }\n"
    heads = read_heads(write(text))
    assert heads.shared == ()
    assert heads.own == {"a": ((1, "--local 8"),), "b": ((3, "--local 4"),)}
    spaced = read_heads(write(text.replace("8\n", "8\n\n")))
    assert spaced.shared == ((1, "--local 8"),)
    assert list(spaced.own) == ["b"]


def test_words_in_strings_comments_and_prototypes_are_no_kernels(write: Any) -> None:
    text = "// __kernel void not_me(\n\nkernel void a(int n);\n\n// tilewright: --local 4\nkernel void a(int n) { }\n"
    heads = read_heads(write(text))
    assert heads.kernels == ("a",)
    assert heads.of(None) == ((5, "--local 4"),)


def test_the_entry_decides_whose_options_are_taken(write: Any) -> None:
    path = write(TWO)
    assert (with_head(path).local_size, with_head(path).define) == (None, ["STEP=2"])
    assert with_head(path, entry="first").local_size == "32"
    second = with_head(path, entry="second")
    assert (second.local_size, second.arg, second.define) == ("16", ["x=f32[64]"], ["STEP=2"])
    named = write(TWO.replace("-D STEP=2", "-D STEP=2 --entry first --local 8"))
    assert with_head(named).local_size == "32"  # what stands right above the kernel wins
    assert with_head(named, entry="third").local_size == "8"


def test_the_only_kernel_of_a_file_needs_no_name(write: Any) -> None:
    path = write("#define N 4\n// tilewright: --local 8\n__kernel void a() { }\n")
    assert with_head(path).local_size == "8"


def test_an_entry_above_a_kernel_is_refused(write: Any) -> None:
    path = write(TWO.replace("--local 32", "--local 32 --entry second"))
    with pytest.raises(InvalidInput, match="--entry stands in the comment above a kernel"):
        with_head(path, entry="first")


def test_what_is_no_option_is_told_with_its_line(write: Any) -> None:
    path = write(TWO.replace("--local 32", "--locale 32"))
    with pytest.raises(InvalidInput, match=r"two\.cl:7: unrecognized arguments: --locale 32"):
        with_head(path, entry="first")
