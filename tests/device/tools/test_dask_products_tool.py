"""The tool that measures products of Dask arrays, on small ones: its record is read, and its rows are right."""

from pathlib import Path

import pytest

pytest.importorskip("dask", reason="Dask is not installed")
pytest.importorskip("distributed", reason="Dask's distributed is not installed")

from tilewright.core.records import load_record
from tools import dask_products

pytestmark = [
    pytest.mark.usefixtures("one_device"),
    pytest.mark.filterwarnings("ignore"),  # what distributed leaves open is its own
    pytest.mark.skipif(
        not Path("/proc/self/clear_refs").exists(), reason="this system does not tell a process's memory"
    ),
]


def test_a_record_of_small_products(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "dask.json"
    words = ["--side", "96", "--chunk", "32", "--rounds", "1", "--json", str(path)]
    assert dask_products.main(words) == 0
    record = load_record(path)
    assert all(row.passed for row in record.rows)
    assert [row.is_baseline for row in record.rows] == [False, False, True, False, True]
    assert [row.measured for row in record.rows] == [True, False, True, True, True]
    assert all("bytes more" in row.notes[0] for row in record.rows[:3])
    assert "of its speed" in capsys.readouterr().out
