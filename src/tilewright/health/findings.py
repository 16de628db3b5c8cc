"""The findings of an examination, and the commands that fix faults."""

import json
import platform
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ..core.install import pip_install
from ..core.shown import Shown

OWN_FOLDER = "mkdir -m 700 FOLDER; export XDG_CACHE_HOME=FOLDER, one with room that only you can write to"


class Status(StrEnum):
    """FAIL: tilewright cannot work, or not with the user's settings. WARN: it works, but something is worth a look.

    ABSENT: something optional is not here.
    """

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"
    ABSENT = "-"


@dataclass(frozen=True)
class Finding:
    """One finding. `fix` is a command or a setting that helps."""

    status: Status
    topic: str
    text: str
    fix: str = ""


@dataclass(frozen=True, repr=False)
class Examination(Shown):
    """All findings, and the label of the default device ("" if there is none)."""

    findings: tuple[Finding, ...]
    chosen: str

    @property
    def healthy(self) -> bool:
        """Whether no finding is a FAIL."""
        return all(finding.status is not Status.FAIL for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def one_line(self) -> str:
        faults = sum(finding.status is Status.FAIL for finding in self.findings)
        return f"{len(self.findings)} findings, {faults} faults; the default device is {self.chosen or 'missing'}"

    def to_rows(self) -> list[dict[str, Any]]:
        return [{**asdict(finding), "status": str(finding.status)} for finding in self.findings]

    def entries(self) -> list[tuple[Status, str, str]]:
        """The status, the head and the text of each line about a finding. What installs an option stands below it."""
        found = []
        for finding in self.findings:
            found.append((finding.status, f"{finding.status:<4}  {finding.topic:<11}  ", finding.text))
            if finding.fix and finding.status in (Status.OK, Status.ABSENT):
                found.append((finding.status, f"{'':<19}-> ", finding.fix))
        return found

    def advice(self) -> list[str]:
        """The last lines: whether all is well, and what to do about faults and warnings, each command once."""
        faults, warnings = self._fixes(Status.FAIL), self._fixes(Status.WARN)
        lines = ["healthy"] if self.healthy else ["not healthy. Do this:", *faults]
        others = [fix for fix in warnings if fix not in faults]
        return (
            [*lines, "For the warnings:" if self.healthy else "Then, for the warnings:", *others] if others else lines
        )

    def _fixes(self, status: Status) -> list[str]:
        fixes = dict.fromkeys(each.fix for each in self.findings if each.status is status and each.fix)
        return [f"  {fix}" for fix in fixes]

    def lines(self) -> list[str]:
        """Plain text: the findings, and then what to do."""
        return [*(head + text for _, head, text in self.entries()), *self.advice()]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: healthy, chosen and findings."""
        findings = [asdict(finding) for finding in self.findings]
        return {"healthy": self.healthy, "chosen": self.chosen, "findings": findings}

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2)


def cpu_driver_install() -> str:
    """The command that installs a CPU driver on this kind of machine."""
    if sys.platform == "darwin":
        return "brew install pocl"
    wheel = pip_install("intel-opencl-rt", "intel-cmplr-lib-rt")
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "sudo apt-get install pocl-opencl-icd"
    return wheel if sys.platform == "win32" else f"{wheel}; or as root: apt-get install pocl-opencl-icd"


def unset(variable: str) -> str:
    """The command that removes a variable from the environment."""
    return f"set {variable}=" if sys.platform == "win32" else f"unset {variable}"


def reinstall(path: str) -> str:
    """The command that reinstalls the Debian package that a file belongs to."""
    return f"sudo apt-get install --reinstall $(dpkg -S {path} | cut -d: -f1)"
