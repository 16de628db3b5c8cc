"""What a newcomer waits for, measured once: every part has its time, and caches are what they are said to be."""

from pathlib import Path

from tilewright.backend.opencl import Device
from tilewright.first_calls import PARTS, TITLE, lines, run_first_calls
from tilewright.records import load_record, save_record
from tilewright.report.pages import refresh


def test_every_part_is_measured_and_reported(one_device: Device, tmp_path: Path) -> None:
    record = run_first_calls(one_device, rounds=1)
    times = {row.name: row.samples.median for row in record.rows}
    assert list(times) == list(PARTS)
    assert times["second call"] < times["disk cache"] < times["new machine"]  # or some cache was not empty, or not used
    assert len(lines(record)) == len(PARTS)
    save_record(record, tmp_path / "first.json")
    assert load_record(tmp_path / "first.json").title == TITLE
    page = tmp_path / "page.md"
    page.write_text("<!-- record: first.json -->\n<!-- end record -->\n")
    assert refresh(page) == 1
    assert "| new machine |" in page.read_text()
