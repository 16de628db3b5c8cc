"""Compiles for any x86-64 level: with Intel's CPU runtime, or with clang for single work-items."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...core.device import DeviceInfo
from ...core.install import install_extra
from ...core.kernel import Step, render
from ...core.plan import Plan
from ...errors import BuildFailed, Unsupported
from . import x86_code
from .bare_clang import DECLARE, explained, for_clang, language
from .counts import Resources
from .driver import FORM, INTEL, code_from_driver
from .elf import read_functions
from .find_tools import Program, find_clang, run_tool
from .toolchain_output import Compiled, remembered

NO_DISASSEMBLER = x86_code.CAPSTONE
NO_COMPILER = (
    "Intel's CPU runtime would compile the kernel for {level}: "
    + install_extra("cpu")
    + "; or clang 19 and later, for "
    f"kernels without barriers: {install_extra('inspect-amd')}"
)
BARRIERS = (
    "clang alone compiles one work-item, and this kernel's work-items wait for each other at barriers: only a CPU driver "
    f"shows code that runs it; {install_extra('cpu')}"
)
OPTIONS = (
    "-x",
    "cl",
    "-cl-no-stdinc",
    "-O3",
    "-w",
    "-fno-pic",
    "-fno-asynchronous-unwind-tables",
    "-c",
)


def compile_for_x86(plan: Plan, step: Step, level: str, devices: Sequence[DeviceInfo]) -> Compiled:
    """The code of a kernel for an x86-64 level ("x86-64-v4"): Intel's runtime makes what it would run there, several
    work-items in a vector; without it clang compiles a single work-item, which tells what the source alone makes of
    vectors."""
    intel = next((each for each in devices if each.platform.startswith(INTEL) and each.kind == "cpu"), None)
    if intel is not None:
        return code_from_driver(plan, step, intel, level)
    clang = find_clang()
    entry = step.kernel.signature.entry
    if clang is None:
        return Compiled("", entry, missing=(NO_COMPILER.format(level=level),))
    source = render(step.kernel, step.config, step.problem)
    if "barrier(" in source:
        return Compiled("", entry, missing=(BARRIERS,))
    text = for_clang(source)
    local_bytes = step.config.local_bytes(step.problem)
    own = step.kernel.options
    options = (language(source, own), *OPTIONS, *DECLARE, *own)
    return remembered(
        lambda: _single_item(text, entry, level, clang, options, local_bytes), text, entry, level, clang.name, *options
    )


def _single_item(
    text: str, entry: str, level: str, clang: Program, options: tuple[str, ...], local_bytes: int
) -> Compiled:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kernel.o"
        command = (
            *clang.command,
            "--target=x86_64-unknown-linux-gnu",
            f"-march={level}",
            *options,
            "-o",
            str(target),
            "-",
        )
        status, _, log = run_tool(command, "clang", text)
        if status != 0:
            raise BuildFailed(entry, f"{level} ({clang.name})", explained(log))
        functions = read_functions(target.read_bytes())
    own = [each for each in functions if each.name == entry]
    if not own:
        raise Unsupported(
            f"{clang.name} made no function {entry!r}; it made {', '.join(each.name for each in functions)}"
        )
    listing = x86_code.disassembly(own[0])
    note = "the code of a single work-item; a CPU driver runs several in the lanes of its vectors"
    resources = Resources(x86_code.vector_registers(listing), local_bytes, x86_code.frame_bytes(listing))
    return Compiled(f"{clang.name}, without a driver", entry, {FORM: listing}, resources, (note,))
