"""What the doctor says of caches that cannot be used, and of calls that die."""

import json
from pathlib import Path

import pytest
from says import says

from tilewright.health import devices, machine
from tilewright.health.findings import OWN_FOLDER, Finding, Status
from tilewright.runtime.children import ChildRun


def test_caches_of_ones_own_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = machine.examine_caches({})
    assert [finding.status for finding in found] == [Status.OK] * 3
    assert str(tmp_path.resolve() / "tilewright") in found[0].text


def test_a_home_that_is_not_fit_is_told_with_what_follows_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    (finding,) = machine.examine_caches({})
    assert (finding.status, finding.fix) == (Status.WARN, OWN_FOLDER)
    assert says(finding.text, "dev/null/tilewright", "Not a directory")
    assert "every process compiles again" in finding.text


def test_a_cache_that_cannot_be_written_is_told_by_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "pytools").write_text("in the way")
    found = {finding.text.split()[0]: finding for finding in machine.examine_caches({"POCL_CACHE_DIR": "/dev/null"})}
    assert {name: finding.status for name, finding in found.items()} == {
        "tilewright": Status.OK,
        "PyOpenCL": Status.WARN,
        "PoCL": Status.WARN,
    }
    assert says(found["PyOpenCL"].text, f"{tmp_path.resolve()}/pytools", "Not a directory")


def call(monkeypatch: pytest.MonkeyPatch, run: ChildRun) -> Finding:
    monkeypatch.setattr(devices, "run_child", lambda *arguments: run)
    return devices.examine_call({}, 1.0, "the fix")


def test_a_call_that_dies_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = call(monkeypatch, ChildRun("", "OSError: no room\n", "exit code 1"))
    assert (finding.status, finding.fix) == (Status.FAIL, "the fix")
    assert says(finding.text, 1, "OSError: no room")
    wrong = json.dumps({"stage": "call", "right": False, "seconds": 1.0})
    assert call(monkeypatch, ChildRun(wrong, "", "")).status is Status.FAIL
    right = json.dumps({"stage": "call", "right": True, "seconds": 1.25})
    assert call(monkeypatch, ChildRun(right, "", "")) == Finding(
        Status.OK, "call", "tilewright.matmul and transpose work, 1.2 s after the start of Python"
    )
    late = call(monkeypatch, ChildRun(right, "", "killed by SIGSEGV"))
    assert (late.status, "killed by SIGSEGV" in late.text) == (Status.WARN, True)
