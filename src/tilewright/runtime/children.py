"""Runs child processes that list devices or try one, because a driver can abort, crash or hang its process."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from weakref import WeakKeyDictionary

# Signals by which a process ends through its own fault. SIGKILL and SIGTERM come from outside, as when memory runs out.
FAULTS = tuple(
    getattr(signal, name)
    for name in ("SIGILL", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGTRAP", "SIGSYS")
    if hasattr(signal, name)
)
# The exit codes of Windows for the same. abort() ends a process by a check of the stack.
WINDOWS_FAULTS = {
    0xC0000005: "an access violation",
    0xC00000FD: "a stack overflow",
    0xC000001D: "an illegal instruction",
    0xC0000094: "a division by zero",
    0xC0000409: "an abort",
}
_started: "WeakKeyDictionary[subprocess.Popen[Any], str]" = WeakKeyDictionary()  # with the folder of each


@dataclass(frozen=True)
class ChildRun:
    """The output of a child process, and its `ending`: "" for exit code 0, or a clause such as "killed by SIGABRT"."""

    stdout: str
    stderr: str
    ending: str

    def stages(self) -> dict[str, dict[str, Any]]:
        """The JSON lines of its output by their "stage", except devices. Lines that drivers print are skipped."""
        return {str(each["stage"]): each for each in self.records() if each["stage"] != "device"}

    def records(self) -> list[dict[str, Any]]:
        """All JSON lines with a "stage"."""
        found = []
        for line in self.stdout.splitlines():
            try:
                value = json.loads(line)
            except json.JSONDecodeError:
                continue  # a message of a driver
            if isinstance(value, dict) and "stage" in value:
                found.append(value)
        return found

    @property
    def faulted(self) -> bool:
        """Whether it died by its own fault, as the next one would, and was not killed from outside or at the time limit."""
        own = {_killed_by(number) for number in FAULTS} | {f"killed by {name}" for name in WINDOWS_FAULTS.values()}
        return self.ending in own

    def telling_line(self) -> str:
        """The line of stderr that most likely says what went wrong, or ""."""
        lines = [line.strip() for line in self.stderr.splitlines() if line.strip()]
        return next((line for line in lines if "error:" in line.lower()), lines[-1] if lines else "")


@dataclass(frozen=True)
class SmokeResult:
    """The result of a device's trial. It is built without caches; `gflops` at 64^3 only shows that the device works.

    `fp64` and `fp16` are "works", "wrong", "refused" (an OpenCL error) or how the child ended while trying.
    """

    platform: str
    device: int
    passed: bool
    reason: str
    build_seconds: float | None = None
    gflops: float | None = None
    max_error: float | None = None
    fp64: str = "not reached"
    fp16: str = "not reached"


def probe_device(
    platform: str,
    device: int,
    *,
    version: str = "",
    time_limit: float = 60.0,
    command: Sequence[str] | None = None,
) -> SmokeResult:
    """Try device number `device` of the platform called `platform` in a child, for `time_limit` seconds.

    `version` distinguishes platforms of the same name. `command` replaces the child's command line. A driver that crashes,
    hangs or computes wrong results gives a failed result here, not an exception.
    """
    own = ["--platform", platform, "--device", str(device), "--version", version]
    child = run_child(command or [sys.executable, "-m", "tilewright.runtime.opencl.smoke", *own], time_limit)
    return _judge(platform, device, child)


def list_devices(time_limit: float = 60.0) -> ChildRun:
    """List all devices in a child: a record for each, with the fields of DeviceInfo and the OpenCL C version."""
    return run_child([sys.executable, "-m", "tilewright.runtime.opencl.smoke", "--list"], time_limit)


def loops_that_end_early(rounds: int, expected: int) -> str:
    """What is wrong with a device whose loop ran `rounds` of `expected` rounds; "" if nothing is."""
    if rounds == expected:
        return ""
    return f"a loop of {expected:,} rounds ended after {rounds:,}: sums over a long K would be wrong"


def _judge(platform: str, device: int, child: ChildRun) -> SmokeResult:
    stages = child.stages()
    if not {"gemm", "loop"} <= stages.keys():
        reason = child.ending or "it ended without an answer"
        line = child.telling_line()
        return SmokeResult(platform, device, False, f"{reason}: {line}" if line else reason)
    gemm = stages["gemm"]
    wrong = ""
    if not gemm["error_over_bound"] <= 1.0:  # so that NaN is wrong, too
        wrong = f"wrong result: the error is {gemm['error_over_bound']:.3g} times what rounding allows"
    wrong = wrong or loops_that_end_early(stages["loop"]["rounds"], stages["loop"]["expected"])
    silent = child.ending or "not reached"
    return SmokeResult(
        platform,
        device,
        passed=not wrong,
        reason=wrong,
        build_seconds=gemm["build_seconds"],
        gflops=gemm["gflops"],
        max_error=gemm["max_error"],
        fp64=stages.get("fp64", {}).get("answer", silent),
        fp16=stages.get("fp16", {}).get("answer", silent),
    )


def sent(request: object, folder: Path) -> str:
    """Write an object to a file in a temporary `folder`: its path is a word of a child's command line. `received` is the inverse.
    A command line itself is too short for arrays."""
    path = folder / "request.pickle"
    path.write_bytes(pickle.dumps(request))
    return str(path)


def received(path: str) -> Any:
    """The object that the parent wrote with `sent`."""
    return pickle.loads(Path(path).read_bytes())


def tell(stage: str, **facts: object) -> None:
    """Print a stage line for the parent of this process."""
    print(json.dumps({"stage": stage, **facts}, default=str), flush=True)


def run_child(command: Sequence[str], time_limit: float, settings: Mapping[str, str] | None = None) -> ChildRun:
    """Run a command without kernel caches. At the time limit, kill it and all processes that it started.

    `settings` are further environment variables, which may enable caches again. Output goes to files, not pipes, because
    a grandchild that keeps running would keep a pipe open.
    """
    root = str(Path(__file__).resolve().parents[2])
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH", "")]))
    environment["PYTHONSAFEPATH"] = "1"  # nothing is imported from the current folder
    environment |= {"PYOPENCL_NO_CACHE": "1", "POCL_KERNEL_CACHE": "0", "CUDA_CACHE_DISABLE": "1"}
    environment |= settings or {}
    with _output_file() as out, _output_file() as err:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, start_new_session=True
        )
        started(child)
        try:
            ending = ending_of(child.wait(time_limit))
        except subprocess.TimeoutExpired:
            ending = f"timed out after {time_limit:g} s"
        finally:  # also if a signal ends the wait: the child has its own session, so the terminal's signals miss it
            if child.returncode is None:
                _kill(child)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return ChildRun(texts[0], texts[1], ending)


def _output_file() -> IO[bytes]:
    """A file without a name, on disk. If no temporary folder can be written to, in memory."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        if sys.platform != "linux":
            raise
        return os.fdopen(os.memfd_create("tilewright"), "w+b")


def ending_of(code: int) -> str:
    """The meaning of an exit code: "exit code 3", "killed by SIGABRT", "killed by an access violation", or "" for 0."""
    if code in WINDOWS_FAULTS:
        return f"killed by {WINDOWS_FAULTS[code]}"
    if code >= 0:
        return f"exit code {code}" if code else ""
    return _killed_by(-code)


def started(child: "subprocess.Popen[Any]", folder: str = "") -> None:
    """Register a child for `kill_all`, with a folder that was made for it."""
    _started[child] = folder


def kill_all() -> None:
    """Kill every registered child, and remove its folder: this process is about to end without cleaning up."""
    for child, folder in list(_started.items()):
        child.kill()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _killed_by(number: int) -> str:
    known = {each.value: each.name for each in signal.Signals}
    return f"killed by {known.get(number, f'signal {number}')}"


def _kill(child: "subprocess.Popen[bytes]") -> None:
    if sys.platform == "win32":
        child.kill()
    else:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
