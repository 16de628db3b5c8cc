"""What a newcomer waits for, measured once: every part has its time, and caches are what they are said to be."""

from pathlib import Path

import pytest

from tilewright.core.records import load_record, save_record
from tilewright.reports.cold_start import TITLE
from tilewright.runtime.opencl.device import Device
from tools import cold_start
from tools.cold_start import PARTS, lines, run_cold_start
from tools.pages.refresh import refresh


def test_every_part_is_measured_and_reported(one_device: Device, tmp_path: Path) -> None:
    record = run_cold_start(one_device, rounds=1)
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


@pytest.mark.parametrize(
    "arguments", [["--rounds", "0"], ["--dtype", "nothing"], ["--json", "/nonexistent/a.json"], ["--device", "nothing"]]
)
def test_wrong_options_end_with_a_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cold_start.main(arguments)
    assert ended.value.code == 2
    assert arguments[1].strip("/").split("/")[0] in capsys.readouterr().err


def test_the_tool_writes_the_record(one_device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "first.json"
    assert cold_start.main(["--device", one_device.info.label, "--rounds", "1", "--json", str(path)]) == 0
    assert [row.name for row in load_record(path).rows] == list(PARTS)
    assert f"wrote {path}" in capsys.readouterr().out
