"""Public records: they print their table, and take and give files by name."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from example_records import RECORD, row

import tilewright
from tilewright.api.measurements import Run
from tilewright.core import records
from tilewright.core.records import RowStatus
from tilewright.errors import InvalidInput, RecordError

SHOWN = tilewright.Record(**vars(RECORD))


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = str(tmp_path / "record.json")
    tilewright.save_record(RECORD, path)
    return path


def test_a_record_prints_its_table_and_no_samples() -> None:
    text = str(SHOWN)
    assert all(row.label in text for row in SHOWN.rows)
    assert "K=5 is not a multiple of 4" in text
    assert "0.0048" not in text
    assert len(text) < 2000


def test_repr_is_one_line() -> None:
    for each in (SHOWN, *SHOWN.rows, *(other.samples for other in SHOWN.rows)):
        assert "\n" not in repr(each), each
        assert len(repr(each)) < 160, each
    assert "5 of 6 rows passed" in repr(SHOWN)


def test_a_notebook_shows_a_table() -> None:
    assert SHOWN._repr_html_().count("<tr>") == 1 + len(SHOWN.rows)


def test_rows_are_data_with_units() -> None:
    first, *_, last = SHOWN.to_rows()
    assert first["rung"] == "NumPy"
    assert first["median_s"] == 0.0005
    assert last["unit"] == "GFLOP/s"
    assert last["rate"] == pytest.approx(1.0)
    assert SHOWN.to_csv().splitlines()[0].startswith("rung,problem,status,reason,median_s")


def test_a_file_is_named_by_a_text(saved: str) -> None:
    loaded = tilewright.load_record(saved)
    assert loaded == SHOWN
    assert str(loaded) == str(SHOWN)
    assert records.load_record(saved) == RECORD


def test_records_are_compared_by_their_files(saved: str) -> None:
    found = tilewright.compare(saved, RECORD)
    assert len(found.rows) == len(list(found)) == 5
    assert str(found).startswith(found.heading)
    assert saved in found.heading
    assert not found.broken
    assert "5 rows in common" in repr(found)


def test_a_record_is_drawn_from_its_file(saved: str, tmp_path: Path) -> None:
    assert tilewright.plot(saved, str(tmp_path / "rates.svg")) == tmp_path / "rates.svg"
    assert "<svg" in (tmp_path / "rates.svg").read_text()


@pytest.mark.parametrize("given", [Run(SHOWN, None), 7, None], ids=["run", "number", "None"])
def test_what_is_no_record_is_refused(given: Any, saved: str, tmp_path: Path) -> None:
    for call in (
        lambda: tilewright.compare(saved, given),
        lambda: tilewright.plot(given, tmp_path / "x.svg"),
        lambda: tilewright.report(given),
        lambda: tilewright.load_record(given),
    ):
        with pytest.raises(
            InvalidInput, match=f"a {type(given).__name__} is neither a record nor the name of its file"
        ):
            call()


def test_what_run_returns_and_explanations_are_not_saved(tmp_path: Path) -> None:
    target = tmp_path / "record.json"
    with pytest.raises(InvalidInput, match="a Run is no record; pass its `record`"):
        tilewright.save_record(Run(SHOWN, None), target)
    with pytest.raises(
        InvalidInput, match="this is no record, because it holds an object of type ndarray; its command's --json FILE"
    ):
        tilewright.save_record(tilewright.explain("tiles/02", 32), target)
    assert not target.exists()


def test_a_benchmark_prints_the_benchmarks_table() -> None:
    benchmark = tilewright.Record(
        **{**vars(RECORD), "title": "benchmark squares", "rows": (RECORD.rows[0], RECORD.rows[2])}
    )
    assert "median ratio" in str(benchmark)


def test_rates_are_compared_at_any_size_and_what_went_wrong_is_kept() -> None:
    ours, larger = row("k", 0.1, 64), row("k", 0.1, 128)
    wrong = row("w", 0.1, 64, status=RowStatus.WRONG, reason="r")
    first = replace(RECORD, rows=(ours, row("w", 0.1, 64)))
    second = replace(RECORD, rows=(larger, wrong))
    with pytest.raises(RecordError):
        tilewright.compare(first, second)
    found = tilewright.compare(first, second, any_size=True)
    assert found.rows[0].ratio == pytest.approx(8.0)
    assert found.broken == (wrong,)
    assert "8.00x" in str(found)
    assert found.to_rows()[0]["is_kernel"]
