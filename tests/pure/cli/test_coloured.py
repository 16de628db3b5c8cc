"""How marked lines reach a terminal: broken between words with a hanging indent, and coloured unless that is unwanted."""

import io

import pytest
from rich.console import Console

from tilewright.analysis.inspect.printing import marked_inspection
from tilewright.analysis.marked_lines import Mark, MarkedLine
from tilewright.cli import coloured, live_table
from tilewright.cli.coloured import hanging, print_lines
from tilewright.cli.step_progress import Progress

WORDS = "  - " + " ".join(f"word{number}" for number in range(60))
LINES = [MarkedLine("- a race", Mark.FAULT), MarkedLine("   1   int x;", Mark.CODE), MarkedLine(WORDS, Mark.COST)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_long_lines_are_broken_between_words_and_indented(width: int) -> None:
    parts = hanging(WORDS, width)
    assert all(len(part) <= width for part in parts)
    assert " ".join(part.strip() for part in parts) == WORDS.strip()
    assert {len(part) - len(part.lstrip()) for part in parts[1:]} == {4}


def test_a_short_line_stays_as_it_is() -> None:
    assert hanging("     > load  global A   1 req", 80) == ["     > load  global A   1 req"]


def printed(monkeypatch: pytest.MonkeyPatch, terminal: bool, **settings: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", **settings}.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setattr(live_table, "console", Console(file=stream, width=60))
    print_lines(LINES)
    return stream.getvalue()


def test_a_pipe_gets_plain_lines_at_full_width(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(monkeypatch, terminal=False) == "".join(f"{line.text}\n" for line in LINES)


def test_a_terminal_gets_a_fault_in_red_and_no_colour_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[31m- a race" in printed(monkeypatch, terminal=True)
    assert "\x1b[3" not in printed(monkeypatch, terminal=True, NO_COLOR="1")


def test_every_mark_has_a_style() -> None:
    assert set(coloured.STYLES) == set(Mark)


def test_changes_of_an_inspection_are_marked() -> None:
    lines = [
        "  registers      40      36            -4",
        "  stack, bytes    0      16          +16",
        "note: a remark",
        "  x  3  3",
    ]
    assert [line.mark for line in marked_inspection(lines)] == [Mark.LESS, Mark.MORE, Mark.NOTE, Mark.PLAIN]


def test_progress_ends_a_run_at_its_time_limit_and_is_silent_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("explaining", 100, 3600.0) as patient, Progress("explaining", 100, 0.0) as hasty:
        assert not patient.watch(1, 1)
        assert hasty.watch(1, 1)
    assert capsys.readouterr().err == ""


def test_progress_is_shown_on_a_terminal_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("tilewright.cli.step_progress.QUIET_S", 0.0)
    monkeypatch.setattr("tilewright.cli.step_progress.PAUSE_S", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with Progress("explaining mine", 5000, 3600.0) as progress:
        progress.watch(1234, 7)
        assert "explaining mine: 1,234 of at most 5,000 steps, 7 work-groups" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
