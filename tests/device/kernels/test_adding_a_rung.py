"""A rung is added in two places, its `.cl` and its entry in LADDER, between two others as well: everything else finds it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

import tilewright

PACKAGE = Path(tilewright.__file__).parent
ENTRY = '        _rung("07_wide_loads.cl", WIDE_LOADS, transpose_first),\n'

CODE = """
import json, sys
from pathlib import Path

from tilewright.cli.main import main
from tilewright.kernels import find_kernel, find_ladder
from tilewright.measurement.ladders import run_ladder
from tools.counters.cases import ladder_cases
from tools.counters.record import edited, uncounted
record = json.loads((Path(sys.argv[2]) / "benchmarks" / "h200-counters.json").read_text())
cases = [case for case in ladder_cases() if case.name.startswith("tiles/07")]
rows = run_ladder("tiles", sys.argv[1], [(64,)], rungs=("7", "7a", "8"), seconds=0.1, baselines=False).rows
facts = {
    "order": [each.name for each in find_ladder("tiles").kernels],
    "found": [find_kernel(name).name for name in ("tiles/7a", "tiles/07a", "between", "tiles/7")],
    "rows": {row.name: row.status for row in rows},
    "uncounted": uncounted(cases, record),
    "edited": edited(cases, record),
}
print(json.dumps(facts))
main(["list", "tiles"])
main(["explain", "tiles/7a", "--size", "64"])
main(["show", "tiles/7a", "--diff"])
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The package with a rung more: rung 7's text under another lesson, right behind it."""
    folder = tmp_path / "tilewright"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    tiles = folder / "kernels" / "ladders" / "tiles"
    lines = (tiles / "07_wide_loads.cl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tiles / "07a_between.cl").write_text("".join(["// A lesson between two others.\n", *lines[1:]]), encoding="utf-8")
    ladder = (tiles / "__init__.py").read_text(encoding="utf-8")
    assert ladder.count(ENTRY) == 1
    entry = ENTRY.replace("07_wide_loads", "07a_between")
    (tiles / "__init__.py").write_text(ladder.replace(ENTRY, ENTRY + entry), encoding="utf-8")
    return tmp_path


def test_a_new_rung_is_run_listed_explained_and_not_counted_yet(copied: Path, device_number: str) -> None:
    # The copy comes first. All that this process finds, the child finds, too: packages may lie on PYTHONPATH alone.
    paths = {"PYTHONPATH": os.pathsep.join([str(copied), str(ROOT), *filter(None, sys.path)])}
    command = [sys.executable, "-c", CODE, device_number, str(ROOT)]
    done = subprocess.run(command, env={**os.environ, **paths}, cwd=copied, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    facts = json.loads(first)
    place = facts["order"].index("tiles/07a_between")
    assert facts["order"][place - 1] == "tiles/07_wide_loads"
    assert facts["order"][place + 1] == "tiles/08_shuffles"
    assert facts["found"] == [*["tiles/07a_between"] * 3, "tiles/07_wide_loads"]
    assert facts["rows"]["tiles/07a_between"] == facts["rows"]["tiles/07_wide_loads"] == "ok"
    assert list(facts["rows"])[1] == "tiles/07a_between"
    assert facts["uncounted"]
    assert all(name.startswith("tiles/07a_between") for name in facts["uncounted"])
    assert not any("between" in name for name in facts["edited"])
    text = "\n".join(rest)
    assert "tiles/07a_between" in text
    assert "A lesson between two others." in text
    assert "+// A lesson between" in text, "the rung before is what it is shown against"
