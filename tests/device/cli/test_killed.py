"""SIGKILL in the middle of a sweep: what was measured is in the file, and was printed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tilewright import load_record

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
BENCH = ["bench", "--sets", "quick", "--seconds", "0.2"]
SWEEP = ["ladder", "rows", "--sizes", "32:1024", "--rung", "rows/1", "--rung", "rows/2", "--seconds", "0.2"]


@pytest.mark.parametrize(("arguments", "printed", "least"), [(BENCH, "gemm ", 4), (SWEEP, "rows/", 4)])
def test_a_sweep_that_is_killed_keeps_what_it_printed(
    arguments: list[str], printed: str, least: int, device_number: str, tmp_path: Path
) -> None:
    file = tmp_path / "record.json"
    command = [sys.executable, "-m", "tilewright", *arguments, "--device", device_number, "--json", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    seen = 0
    for line in process.stdout:
        seen += line.startswith(printed)
        if seen == (2 if arguments is BENCH else 3):  # in the second problem, in the second size
            break
    process.kill()
    process.wait(timeout=30)
    assert seen >= 2
    record = load_record(file)
    assert record.title.endswith("ended early")
    assert len(record.rows) >= least
