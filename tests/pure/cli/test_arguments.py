"""The command line's own words: sizes, sweeps, kernels, and what is refused. Nothing here runs on a device."""

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.cli.kernel_arguments import kernel_of
from tilewright.cli.main import main, make_parser
from tilewright.cli.sizes import sizes_of
from tilewright.core.custom import Geometry
from tilewright.core.problem import Gemm
from tilewright.core.sizes import parse_size
from tilewright.errors import InvalidInput
from tilewright.kernels import LADDERS, rung_before


def parsed(*arguments: str) -> argparse.Namespace:
    return make_parser().parse_args(arguments)


@pytest.mark.parametrize(
    ("text", "size"), [("512", (512,)), ("512x256", (512, 256)), ("3X4x5", (3, 4, 5)), ("0x1x2", (0, 1, 2))]
)
def test_a_size_is_numbers_with_x_between(text: str, size: tuple[int, ...]) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "big", "5x", "x5", "5*5", "5.0", "5,5"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="512x256x128"):
        parse_size(text)


@pytest.mark.parametrize(
    ("sweep", "sizes"),
    [
        ("128:1024", [128, 256, 512, 1024]),
        ("100:1000", [100, 200, 400, 800]),
        ("7:7", [7]),
        ("1:3", [1, 2]),
        ("3:5", [3]),
    ],
)
def test_a_sweep_doubles_from_its_start(sweep: str, sizes: list[int]) -> None:
    assert sizes_of(parsed("ladder", "--sizes", sweep)) == [(size,) for size in sizes]


@pytest.mark.parametrize("sweep", ["128", "128:", ":128", "a:b", "0:8", "8:4", "1:2:3", "-1:4"])
def test_what_is_no_sweep_is_refused(sweep: str) -> None:
    with pytest.raises(InvalidInput, match="MIN:MAX"):
        sizes_of(parsed("ladder", f"--sizes={sweep}"))


def test_size_and_sizes_exclude_each_other() -> None:
    assert sizes_of(parsed("ladder")) == []
    assert sizes_of(parsed("ladder", "--size", "5x6x7")) == [(5, 6, 7)]
    with pytest.raises(InvalidInput, match=r"(?=.*--sizes).*--size "):
        sizes_of(parsed("ladder", "--size", "5", "--sizes", "5:6"))


def test_a_users_kernel_is_made_of_the_arguments(tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    path.write_text("// Mine.\n__kernel void mine(__global REAL* C) { }\n")
    options = parsed(
        "run", str(path), "--global", "M/TS,N", "--local", "4,2", "-D", "TS=16", "-D", "FAST", "--order", "ccc"
    )
    kernel = kernel_of(options)
    assert kernel.orders == ("column", "column", "column")
    assert kernel.config.macros(Gemm(1, 1, 1)) == {"TS": "16", "FAST": "1"}
    assert kernel.config.ndrange(Gemm(100, 30, 1)).global_size == (8, 30)


def test_sizes_that_were_not_given_are_left_open(tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    path.write_text("__kernel void mine() { }\n")
    config = kernel_of(parsed("run", str(path), "--global", "M,N")).config
    assert isinstance(config, Geometry)
    assert (config.global_size, config.local_size) == (("M", "N"), ())


def test_a_rung_is_found_by_part_of_its_name() -> None:
    assert kernel_of(parsed("run", "tiles/2")).name == "tiles/02_tiled"


def test_settings_of_a_rung_change_its_geometry_and_its_name() -> None:
    kernel = kernel_of(parsed("explain", "tiles/2", "-D", "BM=16", "-D", "BN=16", "-D", "BK=16"))
    assert kernel.name == "tiles/02_tiled[BM=16 BN=16 BK=16]"
    assert kernel.config.ndrange(Gemm(20, 40, 8)).global_size == (32, 48)
    assert kernel.config.macros(Gemm(1, 1, 1))["BM"] == 16
    assert kernel.smaller == (), "what was asked for is not cut"


def test_compiler_options_are_a_rungs_too() -> None:
    assert kernel_of(parsed("run", "tiles/2", "--build-option=-cl-mad-enable")).options == ("-cl-mad-enable",)


def test_macros_among_a_files_compiler_options_are_macros(tmp_path: Path) -> None:
    path = tmp_path / "mine.cl"
    path.write_text("__kernel void mine(__global REAL* C) { }\n")
    given = ["--global", "M", "--local", "TS", "--build-option=-DTS=16", "--build-option=-w", "-D", "B=2"]
    kernel = kernel_of(parsed("run", str(path), *given))
    assert kernel.config.macros(Gemm(1, 1, 1)) == {"TS": "16", "B": "2"}
    assert kernel.options == ("-w",)
    assert kernel.config.ndrange(Gemm(20, 1, 1)).local_size == (16,)


def test_a_sweep_of_a_files_macro_changes_its_geometry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.cl"
    path.write_text("__kernel void mine(__global REAL* C) { if (get_local_size(0) == TS) C[get_global_id(0)] = 0; }\n")
    given = ["--global", "M", "--local", "TS", "-D", "TS=8", "--size", "16", "--sweep", "TS=2,4"]
    assert main(["explain", str(path), *given]) == 0
    stores = [line.split()[2] for line in capsys.readouterr().out.splitlines()[1:]]
    assert stores == ["8", "4"], "a request of each group, all of whose stores happen"


@pytest.mark.parametrize("arguments", [["ladder", "--nonsense"], ["dance"], ["ladder", "--seconds", "soon"]])
def test_unusable_arguments_end_with_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["list", "tile"], 2, "no ladder is called 'tile'; did you mean tiles"),
        (["show", "tiles/02_tield"], 2, "no rung is called 'tiles/02_tield'; did you mean tiles/02_tiled"),
        (["show", "tiles/01_naive", "--diff"], 2, "tiles/01_naive has no rung before it"),
        (["compare", "absent.json", "absent.json"], 1, "absent.json cannot be read"),
        (["plot", "absent.json", "picture.svg"], 1, "absent.json cannot be read"),
    ],
)
def test_what_cannot_be_done_is_told(
    arguments: list[str], status: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert captured.err.startswith(f"error: {complaint}")
    assert captured.out == ""


def test_list_names_every_rung_with_its_lesson(capsys: pytest.CaptureFixture[str], wide_terminal: None) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for ladder in LADDERS.values():
        assert f"{ladder.name}  {ladder.title}" in lines
        listed = {tuple(line.split(maxsplit=1)) for line in lines if line.startswith("  ") and "[" not in line}
        for kernel in ladder.with_originals:
            if kernel.variant:
                assert any(line.startswith(f"  {kernel.name} ") and line.endswith(kernel.lesson) for line in lines)
            else:
                assert (kernel.name, kernel.lesson) in listed


def test_list_of_one_ladder_is_only_that(capsys: pytest.CaptureFixture[str], wide_terminal: None) -> None:
    assert main(["list", "rows"]) == 0
    output = capsys.readouterr().out
    assert "rows/01_naive" in output
    assert "tiles/" not in output


def test_show_prints_the_source_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "tiles/2"]) == 0
    kernel = next(each for each in LADDERS["tiles"].kernels if each.name == "tiles/02_tiled")
    assert capsys.readouterr().out == kernel.source.read_text(encoding="utf-8")


def test_show_diff_of_a_published_kernel_is_from_its_rung(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "tiles/7[published]", "--diff"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("--- tiles/07_wide_loads.cl")
    assert lines[1].startswith("+++ published/07_wide_loads.cl")
    assert main(["show", "tiles/4[VEC=8]", "--diff"]) == 0
    assert "VEC=8" in capsys.readouterr().out


def test_show_diff_prints_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "rows/3", "--diff"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("--- 02_coalesced.cl")
    assert lines[1].startswith("+++ 03_private_sum.cl")
    assert any(line.startswith("+") and "sum +=" in line for line in lines)
    assert any(line.startswith("-") and "C[row * N + column] +=" in line for line in lines)


def test_help_is_there_for_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("ladder", "run", "list", "show", "devices", "doctor", "compare", "report", "plot"):
        with pytest.raises(SystemExit) as caught:
            main([command, "--help"])
        assert caught.value.code == 0
        assert "usage:" in capsys.readouterr().out


def test_a_rung_before_that_cannot_be_explained_hides_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rung_before(kernel_of(parsed("explain", "transpose/5")))
    assert before is not None
    monkeypatch.setattr("tilewright.kernels.rung_before", lambda kernel: replace(before, dtypes=("float64",)))
    assert main(["explain", "transpose/5", "--size", "16", "-D", "PAD=1"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"not compared with {before.name}, ")
    assert "float32" in last


def test_a_rung_before_of_another_usual_size_is_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "rows/1"]) == 0
    assert (
        capsys.readouterr().out.splitlines()[-1].startswith("not compared with rows/00_sequential[k-c-r], whose size")
    )
    assert main(["explain", "rows/1", "--size", "8"]) == 0
    assert "against rows/00_sequential[k-c-r], in the only work-group:" in capsys.readouterr().out
