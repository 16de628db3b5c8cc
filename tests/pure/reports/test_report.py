"""Tables, comparisons, pages and plots, made from a record alone."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from example_records import PEAKS, RECORD, REFUSED, ROWS, row

from tilewright.core.records import Row, Samples
from tilewright.errors import RecordError, Unsupported
from tilewright.reports.compare import compare
from tilewright.reports.plot import plot
from tilewright.reports.table import (
    cells,
    derive,
    header,
    heading,
    markdown,
    notes,
    peaks_line,
    to_csv,
)


def test_speed_ups_are_over_the_first_and_the_previous_measured_rung() -> None:
    lines = {line.row.name: line for line in derive(ROWS, PEAKS)}
    assert lines["l/01_a"].over_first is None
    assert lines["l/02_b"].over_first == pytest.approx(2.5)
    assert lines["l/02_b"].over_previous == pytest.approx(2.5)
    assert lines["l/04_d"].over_first == pytest.approx(5.0)
    assert lines["l/04_d"].over_previous == pytest.approx(2.0), "a refused rung is not compared with"
    assert lines["l/04_d"].over_baseline == pytest.approx(0.25)
    assert lines["l/04_d"].of_peak == pytest.approx(2e6 / 0.002 * 1e-9 / 2.0)


def test_refused_rows_and_baselines_are_not_compared() -> None:
    lines = {line.row.name: line for line in derive(ROWS, PEAKS)}
    for name in ("NumPy", "host program", "l/03_c"):
        line = lines[name]
        assert (line.of_peak, line.over_first, line.over_previous, line.over_baseline) == (None, None, None, None), name


def test_each_size_starts_afresh() -> None:
    rows = [row("l/01_a", 0.01, 100), row("l/02_b", 0.005, 100), row("l/01_a", 0.08, 200), row("l/02_b", 0.02, 200)]
    lines = derive(rows, None)
    assert [line.over_first for line in lines] == [None, pytest.approx(2.0), None, pytest.approx(4.0)]
    assert all(line.of_peak is None for line in lines)


def test_copies_are_compared_with_the_copy_bandwidth() -> None:
    copy = Row("t/01_copy", "", "copy 10x10 float32", (10, 10), 0, 8 * 10**8, samples=Samples((0.2,)))
    assert derive([copy], PEAKS)[0].of_peak == pytest.approx(0.4)


def test_every_row_has_a_cell_for_each_column() -> None:
    for line in derive((*ROWS, row("l/05_e", 1.0, samples=Samples())), PEAKS):
        assert len(cells(line)) == len(header(ROWS))
    refused = next(line for line in derive(ROWS, PEAKS) if line.row is REFUSED)
    assert cells(refused)[-1] == "refused: K=5 is not a multiple of 4"


def test_heading_notes_and_peaks_are_lines() -> None:
    assert heading(RECORD) == "ladder l · gemm 100x100x100 · float32 · Device (Platform) · driver 1.2"
    assert notes(ROWS) == ["l/02_b: cut from 16 to 8"]
    assert "float32 2 GFLOP/s" in peaks_line(PEAKS)
    assert "copy 10 GB/s" in peaks_line(PEAKS)
    assert peaks_line(None) == "peaks not measured"


def test_csv_has_every_row_with_its_times() -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(RECORD))))
    assert [line["rung"] for line in lines] == [each.name for each in ROWS]
    assert float(lines[2]["median_s"]) == 0.01
    assert float(lines[2]["wall_median_s"]) == 0.02
    assert int(lines[2]["runs"]) == 3
    assert float(lines[2]["rate"]) == pytest.approx(0.2)
    assert lines[4]["status"] == "refused"
    assert lines[4]["reason"] == REFUSED.reason
    assert lines[4]["median_s"] == lines[4]["rate"] == ""


def test_markdown_is_a_table_with_heading_and_notes() -> None:
    text = markdown(RECORD)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(ROWS)
    assert len({line.count("|") for line in table}) == 1
    assert heading(RECORD) in text
    assert "Processor, 2 cores" in text
    assert "- l/02_b: cut from 16 to 8" in text


def test_comparing_gives_ratios_and_whether_they_are_beyond_the_spread() -> None:
    faster = replace(RECORD, rows=(row("l/01_a", 0.005), row("l/02_b", 0.0041), row("l/09_new", 1.0), REFUSED))
    comparisons = {each.name: each for each in compare(RECORD, faster)}
    assert list(comparisons) == ["l/01_a", "l/02_b"]
    assert comparisons["l/01_a"].ratio == pytest.approx(2.0)
    assert comparisons["l/01_a"].low == pytest.approx(2.0 * 0.9 / 1.2)
    assert comparisons["l/01_a"].high == pytest.approx(2.0 * 1.2 / 0.9)
    assert comparisons["l/01_a"].distinct
    assert not comparisons["l/02_b"].distinct
    assert "(within the spread)" in str(comparisons["l/02_b"])
    assert "2.00x" in str(comparisons["l/01_a"])


def test_records_without_a_common_row_cannot_be_compared() -> None:
    with pytest.raises(RecordError, match="ladder l"):
        compare(RECORD, replace(RECORD, rows=(row("other", 1.0), REFUSED)))


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_a_plot_is_drawn_by_rung(tmp_path: Path, suffix: str) -> None:
    picture = tmp_path / f"rungs{suffix}"
    plot(RECORD, picture)
    assert picture.stat().st_size > 1000


def test_a_plot_of_a_sweep_is_drawn_by_size_and_the_same_each_time(tmp_path: Path) -> None:
    sweep = replace(RECORD, rows=tuple(row(name, 0.001, size) for size in (64, 128) for name in ("NumPy", "l/01_a")))
    for name in ("first.svg", "second.svg"):
        plot(sweep, tmp_path / name)
    first = (tmp_path / "first.svg").read_bytes()
    assert first == (tmp_path / "second.svg").read_bytes()
    assert b"first dimension" in first or b"<svg" in first


def test_nothing_measured_cannot_be_plotted(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="ladder l"):
        plot(replace(RECORD, rows=(REFUSED,)), tmp_path / "empty.svg")
