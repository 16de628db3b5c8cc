"""The findings of an examination, and the commands that fix faults."""

import json
import platform
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ..core.shown import Shown

OWN_FOLDER = "mkdir -m 700 FOLDER; export XDG_CACHE_HOME=FOLDER, one with room that only you can write to"


class Status(StrEnum):
    """FAIL: tilewright cannot work, or not with the user's settings. WARN: it works, but something is worth a look."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


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

    def lines(self) -> list[str]:
        """Plain text, with one or two lines for each finding."""
        text = []
        for finding in self.findings:
            text.append(f"{finding.status:<4}  {finding.topic:<11}  {finding.text}")
            if finding.fix:
                text.append(f"{'':<19}-> {finding.fix}")
        return [*text, "healthy" if self.healthy else "not healthy: fix the lines that begin with FAIL"]

    def to_json(self) -> str:
        """JSON with healthy, chosen and findings."""
        findings = [asdict(finding) for finding in self.findings]
        return json.dumps({"healthy": self.healthy, "chosen": self.chosen, "findings": findings}, indent=2)


def pip_install(*packages: str) -> str:
    """The command that installs packages from PyPI."""
    return f"pip install {' '.join(packages)}   (or: uv pip install {' '.join(packages)})"


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
