"""`compare`, `plan`, `list` and `run` on narrow terminals: nothing is wider, and further lines hang below a label's text."""

from dataclasses import replace

import pytest
from example_records import RECORD, ROWS, row

from tilewright import compare
from tilewright.cli.compare import show, tell_fallen
from tilewright.cli.main import main
from tilewright.cli.printing import say_hanging, say_lines
from tilewright.cli.run import print_verdict
from tilewright.core.records import Record
from tilewright.core.wide_text import width_of
from tilewright.kernels import find_kernel
from tilewright.runtime.verify import Verdict

NAME = "tiles/03_more_work_per_item"
PLAN = """\
gemm 1024x1024x1024 float32
  step 1: cpu/06_production (MR=12 NV=2 VW=16 KC=512 NB=256 units=2 DOT=0), 2x2x1 by 1x1x1, for gemm 1024x1024x1024 float32
  scratch BT: 4,194,304 bytes
  not taken: cpu/gemv (VW=16 MAX_ROWS=4096 MAX_DEPTH=4096 units=2): C is 1024x1024, not a single row or column"""


def record(*sizes: int) -> Record:
    """A kernel and a baseline at each size."""
    return replace(RECORD, rows=tuple(each for size in sizes for each in (row(NAME, 0.01, size), ROWS[0])))


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("sizes", [(100,), (100, 4096)])
def test_a_comparison_fits(
    width: int, sizes: tuple[int, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    found = compare(record(*sizes), record(*sizes))
    show(found)
    lines = shown(capsys)
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if line.startswith(NAME)]
    assert len(rows) == len(sizes)
    assert all("1.00x" in line and "(within the spread)" in line for line in rows)
    if len(sizes) > 1:
        assert sum("gemm 4096x4096x4096 float32" in line for line in lines if not line.startswith(" " * 8)) == 1
    assert all("[0" in line for line in rows) == (width >= 80)


def test_a_problem_that_does_not_fit_stands_below_its_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    show(compare(record(100), record(4096), any_size=True))
    lines = shown(capsys)
    place = next(place for place, line in enumerate(lines) if line.startswith(NAME))
    assert lines[place + 1 : place + 3] == ["  gemm 100x100x100 ->", "    4096x4096x4096 float32"]
    assert max(map(len, lines)) <= 60


def test_a_piped_comparison_is_its_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    found = compare(record(100), record(100))
    show(found)
    assert capsys.readouterr().out == f"{found}\n"


def test_small_ratios_keep_their_digits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    slow = replace(RECORD, rows=(row(NAME, 10.0),))
    found = compare(record(100), slow)
    assert "0.001x" in str(found)
    assert tell_fallen(0.95, found) == 1
    assert capsys.readouterr().out == f"below 0.95: {NAME} gemm 100x100x100 float32: 0.001x\n"


def test_lines_of_a_plan_hang_below_their_labels(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    say_lines(PLAN)
    lines = shown(capsys)
    assert max(map(len, lines)) <= 60
    assert lines[0] == "gemm 1024x1024x1024 float32"
    starts = [line.lstrip().split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert starts == ["step", "scratch", "not"]
    step = [line for line in lines[1 : lines.index("  scratch BT: 4,194,304 bytes")] if line[2] == " "]
    assert step
    assert all(line.startswith(" " * len("  step 1: ")) and line[len("  step 1: ")] != " " for line in step)
    assert lines[-1].startswith(" " * len("  not taken: "))
    monkeypatch.delenv("COLUMNS")
    say_lines(PLAN)
    assert capsys.readouterr().out == f"{PLAN}\n"


def test_a_word_wider_than_the_room_is_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    say_hanging("note: ", "word " + "x" * 50)
    assert shown(capsys) == ["note: word", "      " + "x" * 50]


@pytest.mark.parametrize("width", ["", "80"])
def test_a_terminal_obeys_no_characters_of_a_record(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if width:
        monkeypatch.setenv("COLUMNS", width)
    evil = replace(RECORD, rows=(replace(ROWS[0], name="l/01\x1b[2J\x9b1m"),), title="ladder \x1b]0;title\x07")
    show(compare(evil, evil))
    say_lines(str(evil))
    out = capsys.readouterr().out
    assert "l/01" in out
    assert not set(out) & set("\x1b\x9b\x07")


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_a_list_fits(language: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["list", "--lang", language]) == 0
    assert max(map(width_of, shown(capsys))) <= 60


def test_a_long_verdict_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    verdict = Verdict(True, 4096, 0.024, None, 1.0, norm=1.4e-07)
    print_verdict(RECORD, find_kernel("tiles/2"), verdict, with_samples=False)
    lines = shown(capsys)
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("right: 4,096 elements")
    assert lines[1].startswith(" " * len("right: "))
