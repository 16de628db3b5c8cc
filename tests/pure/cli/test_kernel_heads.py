"""Options in the first comment lines of a kernel's file: every command reads them, and the command line wins."""

from pathlib import Path

import pytest
from paths import ROOT
from says import says

from tilewright.cli.inspect import inspect_one
from tilewright.cli.kernel_arguments import kernel_of
from tilewright.cli.main import main, make_parser
from tilewright.core.kernel import Kernel
from tilewright.core.problem import Gemm
from tilewright.errors import InvalidInput

CODE = "__kernel void mine(__global REAL* C) { C[get_global_id(0)] = TS; }\n"


def kernel(path: Path, head: str, *arguments: str, command: str = "run") -> Kernel:
    path.write_text(head + CODE)
    return kernel_of(make_parser().parse_args([command, str(path), *arguments]))


@pytest.mark.parametrize("command", ["run", "explain", "inspect", "roofline"])
@pytest.mark.parametrize(
    "head",
    [
        "// tilewright: --global N,M --local 16,8 -D TS=4 --order ccr\n",
        "// A lesson.\n// tilewright: --global N,M --local 16,8\n//tilewright:  -D TS=4 --order ccr\n",
        "\n/* tilewright: --global N,M --local 16,8 -D TS=4 --order ccr */\n",
        "/*\n * tilewright: --global N,M --local 16,8 -D TS=4 --order ccr\n */\n",
    ],
)
def test_a_head_gives_the_options(head: str, command: str, tmp_path: Path) -> None:
    made = kernel(tmp_path / "mine.cl", head, command=command)
    assert made.config.macros(Gemm(1, 1, 1)) == {"TS": "4"}
    assert made.config.ndrange(Gemm(8, 32, 1)).global_size == (32, 8)
    assert made.orders == ("column", "column", "row")


def test_the_command_line_wins(tmp_path: Path) -> None:
    head = "// tilewright: --global N,M --local 16,8 -D TS=4 -D OTHER=1 --order row\n"
    made = kernel(tmp_path / "mine.cl", head, "-D", "TS=2", "--local", "4,4", "--order", "column")
    assert made.config.macros(Gemm(1, 1, 1)) == {"TS": "2", "OTHER": "1"}
    assert made.config.ndrange(Gemm(8, 32, 1)).local_size == (4, 4)
    assert made.orders == ("column",) * 3


@pytest.mark.parametrize("text", ["--globl N", "--size 4", "N,M", "-D", '--local "4'])
def test_what_is_no_option_is_refused_with_file_and_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    with pytest.raises(InvalidInput) as caught:
        kernel(path, f"// A lesson.\n// tilewright: {text}\n")
    assert str(caught.value).startswith(f"{path}:2: ")


def test_only_comments_at_the_start_are_a_head(tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    made = kernel(path, "#define X 1\n// tilewright: --global N,M --local 16,8\n\n")
    assert (made.config.global_size, made.config.local_size) == ((), ())  # type: ignore[attr-defined]


def test_a_comment_right_above_the_kernel_is_read_too(tmp_path: Path) -> None:
    made = kernel(tmp_path / "mine.cl", "#define X 1\n// tilewright: --global N,M --local 16,8\n")
    assert made.config.global_size == ("N", "M")  # type: ignore[attr-defined]


def test_a_head_is_no_lesson(tmp_path: Path) -> None:
    made = kernel(tmp_path / "mine.cl", "// tilewright: --global N --local 1\n// The lesson.\n")
    assert made.lesson == "The lesson."


def test_inspect_takes_macros_from_a_head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.cl"
    path.write_text(f"// tilewright: --local 16,8 --global N,M -D TS=4\n{CODE}")
    seen: list[Kernel] = []

    def stop(made: Kernel, *arguments: object, **named: object) -> None:
        seen.append(made)
        raise InvalidInput("far enough")

    monkeypatch.setattr("tilewright.analysis.inspect.inspect", stop)
    options = make_parser().parse_args(["inspect", str(path)])
    with pytest.raises(InvalidInput, match="far enough"):
        inspect_one(str(path), "sm_90", {}, options)
    assert seen[0].config.macros(Gemm(1, 1, 1)) == {"TS": "4"}
    assert seen[0].config.ndrange(Gemm(8, 32, 1)).local_size == (16, 8)


def test_the_examples_need_no_options(capsys: pytest.CaptureFixture[str]) -> None:
    for path in sorted((ROOT / "examples").glob("*.cl")):
        assert main(["explain", str(path), "--size", "32"]) == 0
        assert says(capsys.readouterr().out, path.stem)
