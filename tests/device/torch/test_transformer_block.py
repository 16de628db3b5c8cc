"""The example `examples/transformer_block.py` at a small size on the CPU: its table, its record, and its errors."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.usefixtures("one_device")
SCRIPT = str(ROOT / "examples" / "transformer_block.py")
SMALL = ("--device", "cpu", "--batch", "2", "--sequence", "24", "--width", "32", "--heads", "4", "--rounds", "2")


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False)


def test_all_ways_are_measured_and_right(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    found = ran(*SMALL, "--record", str(path))
    assert found.returncode == 0, found.stderr
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["block"] == {"batch": 2, "sequence": 24, "width": 32, "heads": 4, "seed": 0}
    assert len({(row["way"], row["attention"]) for row in record["rows"]}) == 6
    for row in record["rows"]:
        assert len(row["forward_ms"]) == len(row["backward_ms"]) == 2
        assert row["output_error"] < 1e-6
        assert len(row["gradient_errors"]) == 13
        assert max(row["gradient_errors"].values()) < 1e-5
        assert any(line.startswith(f"{row['way']:24} {row['attention']:9}") for line in found.stdout.splitlines())


def test_wrong_options_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    for words, named in ((("--heads", "5"), "--heads 5"), (("--record", str(tmp_path / "none" / "x.json")), "none")):
        found = ran(*SMALL, *words)
        assert found.returncode == 2
        assert named in found.stderr
