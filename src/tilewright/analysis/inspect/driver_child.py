"""The child's program: builds one kernel with a device's driver, launches it if necessary, and prints its code."""

import base64
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from ...core.kernel import Step, render
from ...core.plan import Plan
from ...errors import BuildFailed
from ...runtime.children import received, tell
from ...runtime.opencl.device import open_device
from ...runtime.run import Execution


@dataclass(frozen=True)
class Request:
    """What to build: `step` of `plan` on the named device. `runs` if the driver compiles only at the launch."""

    device: str
    plan: Plan
    step: Step
    options: tuple[str, ...]
    runs: bool


@dataclass(frozen=True)
class DriverCode:
    """The program's binary and the compiler's log, or the build error."""

    binary: bytes
    log: str
    error: str = ""


def build(request: Request) -> DriverCode:
    """The code of the request's step."""
    device = open_device(request.device)
    kernel, step = request.step.kernel, request.step
    if request.runs:
        Execution(request.plan, device).launch()
    source = render(kernel, step.config, step.problem)
    options = kernel.options if request.runs else request.options
    try:
        program = device.build(source, kernel.name, kernel.signature, step.problem.dtype, options, kernel.target)
    except BuildFailed as failure:
        return DriverCode(b"", "", failure.log or str(failure))
    binary = pocl_library(kernel.signature.entry, step) if request.runs else program.binary()
    return DriverCode(binary, program.log)


def pocl_library(entry: str, step: Step) -> bytes:
    """The shared library that PoCL made for the launched size of work-groups; empty if there is none."""
    sizes = "-".join(map(str, (*step.config.ndrange(step.problem).local_size, 1, 1)[:3]))
    for library in sorted(Path(os.environ["POCL_CACHE_DIR"]).rglob("*.so")):
        if library.parent.name.split("-goffs")[0] == sizes and library.parent.parent.name == entry:
            return library.read_bytes()
    return b""


if __name__ == "__main__":
    made = build(received(sys.argv[1]))
    tell("code", binary=base64.b64encode(made.binary).decode(), log=made.log, error=made.error)
