"""The doctor's last lines: each command once; and what is optional is no fault."""

import pytest
from says import says

from tilewright.health import devices, tools
from tilewright.health.findings import Examination, Finding, Status
from tilewright.runtime.children import SmokeResult

FAULTS = (
    Finding(Status.OK, "python", "here"),
    Finding(Status.FAIL, "device", "none", "install it"),
    Finding(Status.FAIL, "call", "fails", "install it"),
    Finding(Status.WARN, "driver", "none", "install it"),
    Finding(Status.WARN, "machine", "busy", "wait"),
    Finding(Status.ABSENT, "optional", "a tool would add it", "get it"),
)
GPU = {"name": "Card", "platform": "P", "version": "1", "kind": "gpu"}
CPU = {"name": "Chip", "platform": "Q", "version": "1", "kind": "cpu"}


def test_each_command_stands_once_at_the_end() -> None:
    lines = Examination(FAULTS, "").lines()
    assert (lines[-3], lines[-1]) == ("  install it", "  wait")
    assert sum("install it" in line for line in lines) == 1
    assert says(lines[-4], "Do this:")


def test_what_is_optional_is_neither_well_nor_a_fault() -> None:
    examination = Examination(FAULTS[-1:], "")
    head, below, verdict = examination.lines()
    assert head.startswith("- ")
    assert below.endswith("-> get it")
    assert examination.healthy
    assert verdict == "healthy"


def test_tools_that_are_not_here_are_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.Tool, "where", lambda self, places: "")
    found = tools.examine_tools()
    assert {each.status for each in found} == {Status.ABSENT}
    assert all(each.fix for each in found)


@pytest.mark.parametrize(
    ("wanted", "status", "chosen"),
    [
        ("", Status.OK, "Card (P)"),
        ("cpu", Status.OK, "Chip (Q)"),
        ("1", Status.OK, "Chip (Q)"),
        ("zz", Status.FAIL, ""),
    ],
)
def test_the_choice_obeys_the_variable(
    wanted: str, status: Status, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_DEVICE", wanted)
    finding, label = devices.examine_choice([GPU, CPU], [SmokeResult("P", 0, True, "")] * 2, "the fix")
    assert (finding.status, label) == (status, chosen)
    if status is Status.FAIL:
        assert says(finding.text, "TILEWRIGHT_DEVICE=zz")
        assert says(finding.fix, "TILEWRIGHT_DEVICE")
