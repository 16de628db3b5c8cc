"""Records that somebody else wrote: whatever their strings and numbers are, pages, plots and comparisons keep their shape."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from example_records import DEVICE, ENVIRONMENT, PEAKS, RECORD, ROWS, row
from hypothesis import given
from hypothesis import strategies as st

from tilewright import load_record
from tilewright.analysis.explain.models import NVIDIA
from tilewright.core.device import Peaks
from tilewright.core.markdown import cell, fenced, harmless, plain
from tilewright.core.records import Record, Row, Samples, save_record
from tilewright.errors import RecordError, Unsupported
from tilewright.measurement.accuracy import AccuracyRecord, ErrorRow
from tilewright.measurement.roofline import Roofline, Traffic
from tilewright.reports.benchmark_table import by_problem, summary
from tilewright.reports.cold_start import TITLE
from tilewright.reports.compare import compare
from tilewright.reports.plot import plot
from tilewright.reports.roofline import draw_roofline
from tools.pages.refresh import refresh

EVIL = (
    "<script>alert(1)</script> [click](http://evil.example) ![x](y) <!-- end record -->\n# head\n| a | b |\n"
    "<!-- record: x.json -->\n`code` &lt;b&gt; \\| www.evil.example me@evil.example [x]: y\u2028```\r<!-- end roofline -->"
)
HOSTILE_ROWS = tuple(
    replace(each, name=each.name + EVIL, lesson=EVIL, notes=(EVIL,), problem=EVIL, reason=each.reason and EVIL)
    for each in ROWS
)
ENVIRONMENT_OF_EVIL = replace(
    ENVIRONMENT, processor=EVIL, date=EVIL, versions={EVIL: EVIL}, device=replace(DEVICE, name=EVIL, driver=EVIL)
)
HOSTILE = Record(EVIL, EVIL, ENVIRONMENT_OF_EVIL, Peaks({EVIL: 2.0}, 10.0, 40.0), HOSTILE_ROWS, absent=(EVIL,))
ACCURACY = AccuracyRecord((1, 2, 3), ENVIRONMENT_OF_EVIL, (ErrorRow(EVIL, EVIL, EVIL, 1.0, 2.0, EVIL),), EVIL)
ROOFLINE = Roofline(
    EVIL,
    EVIL,
    EVIL,
    replace(DEVICE, name=EVIL),
    "float32",
    1000,
    100,
    PEAKS,
    ROWS[2],
    Traffic(10, 10, EVIL, True),
    EVIL,
)


@pytest.mark.parametrize(
    ("record", "form"),
    [
        (HOSTILE, ""),
        (HOSTILE, " beside"),
        (replace(HOSTILE, title=f"benchmark {EVIL}"), ""),
        (replace(HOSTILE, title=TITLE), ""),
        (ACCURACY, " accuracy"),
    ],
)
def test_strings_of_records_are_text_and_nothing_else(record: object, form: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    save_record(record, tmp_path / "r.json")
    page.write_text(f"before\n<!-- record: r.json{form} -->\n<!-- end record -->\nafter\n")
    assert refresh(page) == 1
    once = page.read_bytes()
    assert refresh(page) == 1
    assert page.read_bytes() == once, "the page is the same however often it is made"
    text = once.decode()
    inner = text.split("-->\n", 1)[1].rsplit("<!-- end", 1)[0]
    for evil in ("<", "](", "`", "www.e", "://", "me@e"):
        assert evil not in inner, evil
    assert not re.search(r"^(#|\| a \||\[x\]:)", inner, re.M)
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in inner.splitlines() if line.startswith("|")}
    assert len(widths) == 1, "every line of the table has as many cells"


def test_a_roofline_stays_inside_its_fence(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    save_record(ROOFLINE, tmp_path / "r.json")
    page.write_text("<!-- roofline: r.json -->\n<!-- end roofline -->\nafter\n")
    assert refresh(page) == 1
    once = page.read_bytes()
    refresh(page)
    assert page.read_bytes() == once
    assert (once.count(b"```"), once.count(b"<!--")) == (2, 2)


@given(st.text(max_size=40), st.text(max_size=10))
def test_no_text_means_anything(text: str, other: str) -> None:
    made = plain(text)
    assert not re.search(r"[\x00-\x1f\u2028\u2029<>`\\]|\]\(", made)
    assert len(re.findall(r"(?<!\\)\|", f"| {cell(made)} | {cell(plain(other))} |")) == 3
    assert fenced(text + other).count("```") == 2


@pytest.mark.parametrize(
    "text",
    ["rows/00_sequential[r-k-c]", "tile[32][33]", "K=5 is not a multiple of 4", "C = A * B + C", "AT&T", "a_b_c"],
)
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


def test_harmless_keeps_numbers_and_shape() -> None:
    benign = replace(RECORD, rows=ROWS[:4])
    assert harmless(benign) == benign
    assert harmless(HOSTILE).rows[0].samples == HOSTILE.rows[0].samples


def test_times_of_zero_are_not_compared() -> None:
    still = replace(RECORD, rows=(row("l/01_a", 0.0),))
    with pytest.raises(RecordError, match="ladder l"):
        compare(still, still)
    moving = replace(RECORD, rows=(row("l/01_a", 0.5),))
    with pytest.raises(RecordError, match="ladder l"):
        compare(moving, still)
    assert [each.name for each in compare(moving, moving)] == ["l/01_a"]


def test_a_benchmark_with_times_of_zero_has_a_table(tmp_path: Path) -> None:
    rows = (row("NumPy", 0.0), row("tilewright", 0.5), row("NumPy", 0.5), row("tilewright", 0.0))
    save_record(replace(RECORD, title="benchmark", rows=rows), tmp_path / "r.json")
    page = tmp_path / "page.md"
    page.write_text("<!-- record: r.json -->\n<!-- end record -->\n")
    assert refresh(page) == 1
    assert page.read_text().count("a time of 0 s") == 2
    assert summary([rows[:2]]) == "nothing was measured" or "baseline" in summary([rows[:2]])


def test_first_calls_without_times_have_a_table(tmp_path: Path) -> None:
    save_record(replace(RECORD, title=TITLE, rows=(Row("import", "", "", (), 0, 0),)), tmp_path / "r.json")
    page = tmp_path / "page.md"
    page.write_text("<!-- record: r.json -->\n<!-- end record -->\n")
    assert refresh(page) == 1


@pytest.mark.parametrize(
    "peaks", [Peaks({}, 10.0, 40.0), Peaks({"float32": 0.0}, 10.0, 40.0), Peaks({"float32": 1.0}, 0.0, 0.0)]
)
def test_a_roofline_without_peaks_is_told_in_words(peaks: Peaks) -> None:
    found = replace(ROOFLINE, peaks=peaks, kernel="k", traffic=Traffic(10, 10, NVIDIA.name, True))
    assert "measured" in str(found)
    with pytest.raises(Unsupported, match=r"\b0\b"):
        draw_roofline(found)


def test_names_are_no_formulas_of_a_plot(tmp_path: Path) -> None:
    record = replace(RECORD, title="$\\frac$", rows=(row("$\\frac$", 0.5), row("b", 0.5, size=20)))
    plot(record, tmp_path / "a.svg")
    plot(replace(record, rows=record.rows[:1]), tmp_path / "b.svg")
    assert (tmp_path / "a.svg").stat().st_size
    assert (tmp_path / "b.svg").stat().st_size


def test_a_sweep_without_sizes_is_plotted_without_them(tmp_path: Path) -> None:
    rows = (row("a", 0.5), replace(row("b", 0.5), size=()))
    plot(replace(RECORD, rows=rows), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size


def test_a_plot_has_a_limit(tmp_path: Path) -> None:
    rows = tuple(replace(row("a", 0.5), name=f"a{index}", samples=Samples((0.5,))) for index in range(501))
    with pytest.raises(Unsupported, match=r"\b501\b"):
        plot(replace(RECORD, rows=rows), tmp_path / "a.svg")


@pytest.mark.parametrize("problem", ["", "gemm"])
def test_a_problem_of_other_words(problem: str, tmp_path: Path) -> None:
    """A benchmark's row without one of another library is told, a ladder's is shown."""
    odd = replace(ROWS[0], problem=problem, lesson="x\ny")
    path = tmp_path / "odd.json"
    save_record(replace(RECORD, rows=(odd, *ROWS[1:]), title="a\nb"), path)
    assert odd.name in str(load_record(path))
    with pytest.raises(RecordError, match="has none of another library beside it"):
        by_problem(replace(RECORD, rows=(odd,)))
