"""The records of an examination, and the commands that fix what it finds."""

import json
import platform
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum

OWN_FOLDER = "mkdir -m 700 FOLDER; export XDG_CACHE_HOME=FOLDER, one with room that only you can write to"


class Status(StrEnum):
    """FAIL: tilewright cannot work, or not as the user's settings ask. WARN: it works, but look at this."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Finding:
    """One line of the examination; `fix` is a command, or a setting, that cures it."""

    status: Status
    topic: str
    text: str
    fix: str = ""


@dataclass(frozen=True)
class Examination:
    """All findings, and the label of the device that is used when none is named ("" if none can be)."""

    findings: tuple[Finding, ...]
    chosen: str

    @property
    def healthy(self) -> bool:
        """No finding is a FAIL."""
        return all(finding.status is not Status.FAIL for finding in self.findings)

    def lines(self) -> list[str]:
        """The examination as plain text, one or two lines a finding."""
        text = []
        for finding in self.findings:
            text.append(f"{finding.status:<4}  {finding.topic:<11}  {finding.text}")
            if finding.fix:
                text.append(f"{'':<19}-> {finding.fix}")
        return [*text, "healthy" if self.healthy else "not healthy: fix the lines that begin with FAIL"]

    def to_json(self) -> str:
        """The examination as JSON: healthy, chosen, findings."""
        findings = [asdict(finding) for finding in self.findings]
        return json.dumps({"healthy": self.healthy, "chosen": self.chosen, "findings": findings}, indent=2)


def pip_install(*packages: str) -> str:
    """The command that installs packages from PyPI."""
    return f"pip install {' '.join(packages)}   (or: uv pip install {' '.join(packages)})"


def cpu_driver_install() -> str:
    """The command that gives this kind of machine a CPU driver."""
    if sys.platform == "darwin":
        return "brew install pocl"
    wheel = pip_install("intel-opencl-rt", "intel-cmplr-lib-rt")
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "sudo apt-get install pocl-opencl-icd"
    return wheel if sys.platform == "win32" else f"{wheel}; or as root: apt-get install pocl-opencl-icd"


def unset(variable: str) -> str:
    """The command that takes a variable out of the environment."""
    return f"set {variable}=" if sys.platform == "win32" else f"unset {variable}"


def reinstall(path: str) -> str:
    """The command that installs again the Debian package that a file belongs to."""
    return f"sudo apt-get install --reinstall $(dpkg -S {path} | cut -d: -f1)"
