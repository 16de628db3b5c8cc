"""The ladder's table on terminals of any width, and piped."""

import io
from dataclasses import replace

import pytest
from example_records import DEVICE, ENVIRONMENT, RECORD, REFUSED, ROWS, row
from rich.console import Console
from says import says

from tilewright.cli.fitting import BAR_WIDTH, Column, Line, bar, fitting
from tilewright.cli.live_table import LiveTable
from tilewright.core.records import Record, Role, RowStatus, Samples
from tilewright.measurement.progress import Phase
from tilewright.reports.table import derive, sizes_of

LONG_NAMES = tuple(replace(each, name=f"tiles/0{place}_more_work_per_item") for place, each in enumerate(ROWS[2:]))


class FakeDevice:
    info = DEVICE


def printed(record: Record, width: int, terminal: bool = False) -> str:
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=terminal, color_system=None, legacy_windows=False)
    with LiveTable(console, "A ladder", FakeDevice(), "float32") as table:  # type: ignore[arg-type]
        table.finish(record)
    return text.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_columns_are_left_out_but_names_statuses_and_rates_stay(width: int) -> None:
    lines = printed(replace(RECORD, rows=(*ROWS[:2], *LONG_NAMES)), width).splitlines()
    assert max(map(len, lines)) <= width
    head = next(line for line in lines if line.startswith("rung"))
    assert {"rung", "status", "GFLOP/s"} <= set(head.split())
    for each in LONG_NAMES:
        assert any(line.startswith(each.name) for line in lines)
    assert not any("…" in line for line in lines)


def test_what_is_piped_has_every_column_and_sentence_in_its_row() -> None:
    lines = printed(RECORD, 10_000).splitlines()
    assert says(
        next(line for line in lines if line.startswith("rung")), "± %", "% peak", "x first", "x prev", "x NumPy"
    )
    assert says(next(line for line in lines if line.startswith("l/02_b")), "What l/02_b changes.")


def test_the_title_has_the_size_and_below_is_a_legend() -> None:
    lines = printed(RECORD, 200).splitlines()
    assert says(lines[0], "100x100x100", "float32", "Device")
    assert any(says(line, "percentile", "times as fast as NumPy") for line in lines)


def test_every_row_has_a_status_and_one_is_the_best() -> None:
    absent = row("l/05_e", 1.0, status=RowStatus.NOT_HERE, reason="no tensor cores", samples=Samples())
    waiting = row("l/06_f", 1.0, samples=Samples())
    statuses = {line.row.name: line.status for line in derive((*ROWS, absent, waiting), None)}
    assert statuses == {
        "NumPy": "ok", "host program": "ok", "l/01_a": "ok", "l/02_b": "ok", REFUSED.name: "refused", "l/04_d": "best",
        "l/05_e": "not here", "l/06_f": "waiting",
    }  # fmt: skip
    assert not absent.failed
    assert not any(line.best for line in derive(ROWS[:3], None)), "one rung alone is not the best"


def test_the_same_sentence_stands_once() -> None:
    refused = [replace(REFUSED, name=f"l/1{place}_x") for place in range(4)]
    narrow = " ".join(printed(replace(RECORD, rows=(*ROWS[:3], *refused)), 80).split())
    assert narrow.count("multiple of 4") == 1
    assert says(narrow, "l/10_x .. l/13_x")
    wide = printed(replace(RECORD, rows=(*ROWS[:3], *refused)), 300)
    assert wide.count("multiple of 4") == 1
    assert wide.count("as above") == 3


def test_a_warning_stands_above_and_below() -> None:
    text = printed(replace(RECORD, environment=replace(ENVIRONMENT, others=1.9)), 300)
    assert text.count("busy machine") == 2
    assert "x NumPy" not in text.split("rung", 1)[1].split("\n", 1)[0]


def test_bars_are_for_terminals() -> None:
    assert "█" in printed(RECORD, 200, terminal=True)
    assert "█" not in printed(RECORD, 200)
    assert bar(1.0) == "█" * BAR_WIDTH
    assert (bar(0.0), bar(0.5)) == ("", "█" * (BAR_WIDTH // 2))


def test_what_goes_on_is_said_with_the_time_left() -> None:
    assert says(str(Phase("building and verifying", 2, 11, 75.0)), "3 of 11", "1 min 15 s")
    assert str(Phase("measuring")) == "measuring"
    text = io.StringIO()
    console = Console(file=text, width=100, force_terminal=True, color_system=None)
    with LiveTable(console, "A ladder", FakeDevice(), "float32") as table:  # type: ignore[arg-type]
        table.announce(Phase("measuring", seconds_left=9.0))
        assert "measuring, about 9 s left" in text.getvalue()
        table.finish(RECORD)


def test_the_heaviest_column_goes_first_and_the_empty_one_always() -> None:
    columns = [Column("name", False), Column("a", weight=1), Column("b", weight=2), Column("c", weight=3)]
    lines = [Line(("rung", "1", "2", ""))]
    assert fitting(columns, lines, 100) == [0, 1, 2]
    assert fitting(columns, lines, 7) == [0, 1]
    assert fitting(columns, lines, 1) == [0]


def test_sizes_in_the_title() -> None:
    assert sizes_of(ROWS) == "100x100x100"
    assert sizes_of([row("a", 1.0, size) for size in (64, 128, 256, 512)]) == "64x64x64 to 512x512x512"
    host = row("host program", 1.0, 7, role=Role.SEQUENTIAL)
    assert sizes_of([host, row("a", 1.0, 64)]) == "64x64x64"
