"""Tries a user's kernel in a child process with a time limit, before this process launches it.

A kernel that never ends cannot be stopped, and a wild pointer kills its process. The child takes both risks.
`python -m tilewright.measurement.trial TASK` is the child. It prints its stages and the kernel's row as JSON lines.
"""

import signal
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..core.defaults import TRIAL_S
from ..core.device import DeviceInfo
from ..core.kernel import Kernel
from ..core.problem import Problem
from ..core.records import RowStatus
from ..errors import NoDevice, TilewrightError
from ..kernels import LADDERS
from ..runtime.children import WINDOWS_FAULTS, ChildRun, received, run_child, sent, tell
from ..runtime.cuda.opening import open_device as open_cuda_device
from ..runtime.device import Device
from ..runtime.opencl.device import list_devices, open_device
from ..runtime.verify import Element, Verdict
from .cases import Case, CaseBuilder, new_row

GRACE_S = 5.0  # after the time budget a child ends by itself, if its parent is gone
FENCE_BYTES = 2**20  # about 60 rows of 4096 floats: a launch that was rounded up writes less far
OUTSIDE = ("killed by SIGSEGV", "killed by SIGBUS", f"killed by {WINDOWS_FAULTS[0xC0000005]}")
OWN = __package__.partition(".")[0] + "."


@dataclass(frozen=True)
class Task:
    """What a child tries, by which runtime and on which device."""

    kernel: Kernel
    problem: Problem
    dtype: str
    backend: str
    device: DeviceInfo
    time_budget: float
    fill: tuple[float, ...] = ()


def tried_case(
    builder: CaseBuilder, kernel: Kernel, problem: Problem, device: Device, time_budget: float = TRIAL_S
) -> Case:
    """`builder.kernel_case`, which a user's kernel reaches only if it ran in a child process before.

    Otherwise the row says how the child ended or what it found, and nothing is launched here. A Config class of the
    caller's own cannot be sent to a child: such a kernel is not tried.
    """
    if comes_with_us(kernel) or not can_be_sent(kernel):
        return builder.kernel_case(kernel, problem, device)
    with TemporaryDirectory(prefix="tilewright-") as folder:
        task = Task(sendable(kernel), problem, builder.dtype, device.backend, device.info, time_budget, builder.fill)
        command = [sys.executable, "-m", "tilewright.measurement.trial", sent(task, Path(folder))]
        tried = read(run_child(command, time_budget), problem, time_budget)
    if tried is None:
        return builder.kernel_case(kernel, problem, device)
    row = replace(new_row(kernel.name, kernel.lesson, problem, kernel.published), backend=device.backend)
    status, reason, verdict = tried
    return Case(replace(row, status=status, reason=reason), None, verdict)


def comes_with_us(kernel: Kernel) -> bool:
    """Whether it is an unchanged rung or one of its variants, which the tests cover."""
    return any(kernel == each for ladder in LADDERS.values() for each in ladder.with_originals)


def can_be_sent(kernel: Kernel) -> bool:
    """Whether a child process can import all that the kernel is made of."""
    return all(part.__module__.startswith(OWN) for part in (type(kernel.config), kernel.steps))


def sendable(kernel: Kernel) -> Kernel:
    """The kernel without the user's words, which may be objects of any kind: its Binding has what they mean."""
    if kernel.binding is None or kernel.launch is None:
        return kernel
    return replace(kernel, launch=replace(kernel.launch, arguments=(), init=(), expect=()))


def read(child: ChildRun, problem: Problem, time_budget: float) -> tuple[RowStatus, str, Verdict | None] | None:
    """Status, reason and verdict of a kernel that must not be launched here. None if it was right or was never launched.

    Whatever refused it before a launch refuses it here, too, with its own reason.
    """
    stages = child.stages()
    if "raised" in stages:
        return None
    row = stages.get("row")
    if row is not None:
        verdict = read_verdict(row["verdict"]) if row["verdict"] else None
        status = RowStatus(row["status"])
        return None if status is RowStatus.OK else (status, row["reason"], verdict)
    words = child.ending or "ended without an answer"
    where = "its trial in a child process" + ("" if "trying" in stages else ", before the kernel was launched,")
    if words.startswith("timed out"):
        cause = f"it does not end, or needs longer for {problem.title}; `tilewright run --time-budget SECONDS` gives it more time"
        return RowStatus.LAUNCH_FAILED, f"{where} was ended after {time_budget:g} s: {cause}", None
    cause = child.telling_line()
    if words in OUTSIDE:  # its last lines are the driver's
        cause = "most likely the kernel reads or writes far outside its buffers; `tilewright explain` finds where"
    return RowStatus.LAUNCH_FAILED, f"{where} was {words}" + (f": {cause}" if cause else ""), None


def read_verdict(fields: dict[str, Any]) -> Verdict:
    """A verdict from what `asdict` made of it."""
    elements = [
        Element(tuple(each["index"]), each["value"], each["expected"])
        for each in (*fields["sample"], fields["worst"])
        if each is not None
    ]
    parts = {"sample": tuple(elements[: len(fields["sample"])]), "worst": elements[-1] if fields["worst"] else None}
    return Verdict(**(fields | parts))


def opened(task: Task) -> Device:
    """The parent's device, opened in this process. NoDevice if it is missing."""
    wanted = task.device
    if task.backend == "cuda":
        return open_cuda_device(str(wanted.place))
    same = [
        (info.place != wanted.place, number)  # the same place first; a device that the caller opened has none
        for number, info in enumerate(list_devices())
        if (info.platform, info.version, info.name) == (wanted.platform, wanted.version, wanted.name)
    ]
    if not same:
        raise NoDevice(f"no device here is {wanted.label}")
    return open_device(str(min(same)[1]))


def main(path: str) -> None:
    """The child's entry."""
    task: Task = received(path)
    if hasattr(signal, "setitimer"):
        signal.setitimer(
            signal.ITIMER_REAL, task.time_budget + GRACE_S
        )  # SIGALRM ends even a process that is in a driver
    try:
        builder = CaseBuilder(opened(task), task.dtype, fence_bytes=FENCE_BYTES, fill=task.fill)
        tell("trying")
        tried = builder.kernel_case(task.kernel, task.problem)
    except TilewrightError as error:
        tell("raised", reason=str(error))
        return
    verdict = asdict(tried.verdict) if tried.verdict is not None else None
    tell("row", status=tried.row.status, reason=tried.row.reason, verdict=verdict)


if __name__ == "__main__":
    main(sys.argv[1])
