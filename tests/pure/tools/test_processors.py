"""Tables of one kind of processor: which goals its records reach, and that other processors' records are refused."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from example_records import RECORD

from tilewright.core.records import Record, Role, Row, Samples, save_record
from tilewright.errors import RecordError
from tools.pages.processors import kind, processor_tables

OURS, NUMPY, MKL = (0.010, 0.011, 0.012), (0.020, 0.022, 0.024), (0.005, 0.0055, 0.006)


def record_of(*problems: str) -> Record:
    """Ours is twice as fast as NumPy and half as fast as MKL, with the sizes of these titles."""
    rows = []
    for title in problems:
        size = tuple(map(int, title.split()[1].split("x")))
        for name, times, role in (
            ("NumPy", NUMPY, Role.BASELINE),
            ("tilewright", OURS, Role.KERNEL),
            ("MKL", MKL, Role.BASELINE),
        ):
            rows.append(Row(name, name, title, size, 10**6, 0, samples=Samples(times), role=role))
    return replace(RECORD, title="benchmark sizes", rows=tuple(rows))


def test_goals_count_the_problems_that_they_are_for(tmp_path: Path) -> None:
    save_record(
        record_of("gemm 64x64x64 float32", "gemm 512x512x512 float32", "gemm 512x512x512 int64"), tmp_path / "one.json"
    )
    text = processor_tables([".", "one.json"], tmp_path)
    assert "| squares below 128, of NumPy | 0.95 | 1 of 1 | 2.00: gemm 64x64x64 float32 |" in text
    assert "| squares of 512 and more, of the best library | 0.98 | 0 of 1 | 0.50: gemm 512x512x512 float32 |" in text
    assert "| int64, times NumPy | 20 | 0 of 1 | 2.00: gemm 512x512x512 int64 |" in text
    assert "thin" not in text
    assert kind(RECORD.environment) in text


def test_copies_and_symmetric_products_are_no_squares_of_gemm(tmp_path: Path) -> None:
    save_record(record_of("copy 512x512 float32"), tmp_path / "one.json")
    row = {"rows": 300, "columns": 300, "dtype": "float32", "us": 100.0, "spread_us": [90.0, 120.0], "ratio": 1.25}
    record = {"numpy": "2.4", "environment": msgspec.to_builtins(RECORD.environment), "rounds": 3, "rows": [row]}
    (tmp_path / "cpu-symmetric.json").write_text(json.dumps(record))
    text = processor_tables([".", "one.json", "cpu-symmetric.json"], tmp_path)
    assert "copy 512x512 float32" in text
    assert "squares" not in text


def test_symmetric_products_are_rows_beside_numpy(tmp_path: Path) -> None:
    row = {"rows": 300, "columns": 200, "dtype": "float32", "us": 100.0, "spread_us": [90.0, 120.0], "ratio": 1.25}
    record = {"numpy": "2.4", "environment": msgspec.to_builtins(RECORD.environment), "rounds": 3, "rows": [row]}
    (tmp_path / "cpu-symmetric.json").write_text(json.dumps(record))
    text = processor_tables([".", "cpu-symmetric.json"], tmp_path)
    assert "| a @ a.T, a of 300x200 float32 | 180 GFLOP/s | ±15% | 1.25 | 1.25 |" in text
    assert "syrk | 1 | 1 of 1 | 1.25: a @ a.T, a of 300x200 float32 |" in text


def test_records_of_two_processors_are_refused(tmp_path: Path) -> None:
    one = record_of("gemm 64x64x64 float32")
    device = replace(one.environment.device, native_widths={**one.environment.device.native_widths, "float32": 1})
    save_record(one, tmp_path / "one.json")
    save_record(replace(one, environment=replace(one.environment, device=device)), tmp_path / "two.json")
    with pytest.raises(RecordError, match=r"several kinds of processors: .* bits; .* bits"):
        processor_tables([".", "one.json", "two.json"], tmp_path)
    with pytest.raises(RecordError, match="takes a folder and at least one record"):
        processor_tables(["."], tmp_path)
