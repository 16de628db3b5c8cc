"""The options of a user's kernel: on the command line and in its head, and no word that ends in a traceback."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from says import says

from tilewright.cli.main import main

ADD = """__kernel void add(__global const float* a, __global float* b, uint n, float4 v)
{ size_t i = get_global_id(0); if (i < n) b[i] += a[i] + v.x; }
"""
OPTIONS = (
    "--arg",
    "--bind",
    "--init",
    "--expect",
    "--entry",
    "--global",
    "--local",
    "--global-offset",
    "-I",
    "-D",
    "--size",
)
WORDS = st.one_of(
    st.text(alphabet="abnv@+-*/%()[]{}=,.:0189xf32localu \"'\\\u00e9", max_size=16),
    st.sampled_from(["a=f32[64]", "n=64", "a=@b", "b=@a+4", "v=(1,2,3,4)", "b=0", "64", "n", "auto", "a=A", "add", "-1"]),
)  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("launch") / "add.cl"
    made.write_text(ADD)
    return made


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(OPTIONS), WORDS), min_size=1, max_size=4))
def test_no_options_end_in_a_traceback(
    path: Path, capsys: pytest.CaptureFixture[str], pairs: list[tuple[str, str]]
) -> None:
    given_options = [f"{name}={word}" if name.startswith("--") else name + word for name, word in pairs]
    try:
        status = main(["explain", str(path), "--steps", "200", *given_options])
    except SystemExit as refused:  # by argparse
        status = int(refused.code or 0)
    printed = capsys.readouterr()
    assert status in (0, 1, 2)
    assert "Traceback" not in printed.err
    assert (status != 2) or printed.err.strip()


def test_the_head_has_them_and_the_command_line_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "add.cl"
    path.write_text("// Adds.\n// tilewright: --arg n=100 --arg a=f32[n] --init b=0 --global n --local auto\n" + ADD)
    assert main(["explain", str(path)]) == 0
    assert "add, 100 by 100 work-items" in capsys.readouterr().out
    assert main(["explain", str(path), "--arg", "n=50"]) == 0
    assert says(capsys.readouterr().out, "add, 50 by 50 work-items", "assumed", "--arg 'v=(1,1,1,1)' --arg b=f32[50]")


def test_a_rung_has_its_arguments_already(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tiles/2", "--arg", "A=f32[4]", "--entry", "x"]) == 2
    assert says(capsys.readouterr().err, "--arg A=f32[4] --entry x", "is a rung")


def test_a_misspelt_option_of_a_product_names_the_way_out(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(path), "--global", "M,N", "--local", "8,8"]) == 2
    assert says(capsys.readouterr().err, "'M'", "--size", "--bind")


@pytest.mark.parametrize(
    ("option", "first", "second"),
    [("--arg", "n=64", "n=65"), ("--init", "b=0", "b=1"), ("--bind", "a=A", "a=B"), ("--expect", "b=x.npy", "b=y.npy")],
)
def test_two_values_of_one_name_are_refused(
    option: str, first: str, second: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(path), option, first, option, second]) == 2
    assert says(capsys.readouterr().err, f"{option} {first} and {option} {second}", "one value")


def test_two_values_in_one_comment_are_refused_with_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "add.cl"
    path.write_text("// tilewright: --arg n=64\n// tilewright: --arg n=65 --global 64 --local 32\n" + ADD)
    assert main(["explain", str(path)]) == 2
    assert says(capsys.readouterr().err, f"{path}: --arg n=64 and --arg n=65")


def test_the_same_value_twice_is_one_value(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given_options = ["--arg", "n=64", "--arg", "n=64", "--global", "64", "--local", "32"]
    assert main(["explain", str(path), *given_options]) == 0
    assert "Traceback" not in capsys.readouterr().err
