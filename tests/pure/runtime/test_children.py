"""What the parent of a child reports that fails, hangs or answers wrongly; and how the trial judges a product."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from says import says

from tilewright.core.problem import Gemm
from tilewright.measurement import trial
from tilewright.runtime import children
from tilewright.runtime.opencl import smoke

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals and /proc are Linux's")


def probe(code: str, time_limit: float = 20.0) -> children.SmokeResult:
    return children.probe_device("P", 0, time_limit=time_limit, command=[sys.executable, "-c", code])


GOOD = (
    "import json; print('a word of the driver'); print(json.dumps(dict(stage='gemm', build_seconds=1.0, "
    "gflops=2.0, max_error=1e-6, error_over_bound={})), flush=True);"
    "print(json.dumps(dict(stage='loop', rounds=131072, expected=131072)), flush=True);"
)


def test_a_child_that_answers_passes() -> None:
    result = probe(GOOD.format(0.1) + "print(json.dumps(dict(stage='fp64', answer='works')))")
    assert (result.passed, result.reason, result.fp64, result.fp16) == (True, "", "works", "not reached")


def test_a_child_that_aborts_is_reported_by_its_signal() -> None:
    result = probe("import os, sys; print('LLVM ERROR: Cannot select', file=sys.stderr, flush=True); os.abort()")
    assert not result.passed
    assert result.reason == "killed by SIGABRT: LLVM ERROR: Cannot select"


def test_a_child_that_fails_is_reported_by_its_exit_code() -> None:
    assert probe("import sys; sys.exit(3)").reason == "exit code 3"
    assert probe("pass").reason == "it ended without an answer"


def test_a_child_that_hangs_is_stopped_with_its_own_children(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)"
    )
    result = probe(code, time_limit=2.0)
    assert not result.passed
    assert result.reason == "timed out after 2 s"
    status = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    deadline = time.monotonic() + 10  # a killed process may still have to be told so by a busy scheduler
    while time.monotonic() < deadline and status.exists() and status.read_text().split()[2] != "Z":
        time.sleep(0.05)
    assert not status.exists() or status.read_text().split()[2] == "Z"


@pytest.mark.parametrize("ratio", ["1.5", "float('nan')", "float('inf')"])
def test_a_child_that_answers_wrongly_fails(ratio: str) -> None:
    result = probe(GOOD.format(ratio))
    assert not result.passed
    assert result.reason.startswith("wrong result")


def test_a_device_whose_long_loops_end_early_fails() -> None:
    result = probe(GOOD.format(0.1).replace("rounds=131072", "rounds=65535"))
    assert not result.passed
    assert says(result.reason, "131,072", "65,535")


def test_a_crash_after_the_product_spares_its_answer() -> None:
    result = probe(GOOD.format(0.1) + "import os; os.abort()")
    assert result.passed
    assert result.fp64 == result.fp16 == "killed by SIGABRT"


def test_the_error_sees_one_wrong_element_and_a_nan() -> None:
    random = np.random.default_rng(0)
    left, right = (random.uniform(-1, 1, (64, 64)).astype(np.float32) for _ in range(2))
    output = left @ right
    assert smoke.errors(left, right, output)["error_over_bound"] < 1
    output[3, 5] += np.float32(1e-3)
    assert smoke.errors(left, right, output)["error_over_bound"] > 1
    output[3, 5] = np.nan
    assert np.isnan(smoke.errors(left, right, output)["error_over_bound"])


@pytest.mark.parametrize(("ending", "faulted"), [("SIGSEGV", True), ("SIGABRT", True), ("SIGKILL", False)])
def test_a_fault_of_its_own_is_told_from_a_killing(ending: str, faulted: bool) -> None:
    code = f"import os, signal; os.kill(os.getpid(), signal.{ending})"
    run = children.run_child([sys.executable, "-c", code], 20)
    assert (run.ending, run.faulted) == (f"killed by {ending}", faulted)
    assert not children.ChildRun("", "", "timed out after 60 s").faulted
    assert not children.ChildRun("", "", "").faulted


def test_exit_codes_of_windows_are_faults_too() -> None:
    words = children.ending_of(0xC0000005)
    assert words == "killed by an access violation"
    assert children.ChildRun("", "", words).faulted
    row = trial.read(children.ChildRun("", "", words), Gemm(8, 8, 8), 60.0)
    assert row is not None
    assert says(row[1], "access violation", "tilewright explain")


def test_an_interrupt_ends_the_child_too(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(__import__('os').getpid())); import time; time.sleep(600)"
    waiting = (
        "import signal, sys\nfrom tilewright.runtime.children import run_child\n"
        "signal.signal(signal.SIGTERM, signal.default_int_handler)\nprint(flush=True)\n"
        f"run_child([sys.executable, '-c', {code!r}], 600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", waiting], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()):
        time.sleep(0.05)
    parent.terminate()
    assert b"KeyboardInterrupt" in parent.communicate(timeout=30)[1]
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_a_child_needs_no_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    run = children.run_child([sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr)"], 20)
    assert run == children.ChildRun("out\n", "err\n", "")


def test_children_import_nothing_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file called numpy.py in a folder of somebody else's would run."""
    (tmp_path / "numpy.py").write_text("print('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    child = children.run_child([sys.executable, "-c", "import numpy; print(numpy.__name__)"], 60)
    assert child.stdout.strip() == "numpy"
    listed = children.list_devices()
    assert "current folder" not in listed.stdout + listed.stderr
