"""Asks a device's OpenCL driver for its code, in a child process with separate caches and settings."""

import base64
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...core.device import DeviceInfo
from ...core.kernel import Step, render
from ...core.plan import Plan
from ...errors import BuildFailed, ProcessFailed, Unsupported
from ...runtime.children import run_child, sent
from ...runtime.processors import code_facts
from . import instruction_kinds as kinds
from . import x86_code
from .counts import Resources
from .driver_child import DriverCode, Request
from .elf import Function, read_functions, read_sections
from .nvidia import VERBOSE, from_driver
from .toolchain_output import Compiled, remembered

SECONDS = 120.0
FORM = "x86"
# Names of the x86-64 levels in Intel's CPU runtime: the first processors that had them.
INTEL_LEVELS = {"x86-64-v2": "corei7", "x86-64-v3": "core-avx2", "x86-64-v4": "skx"}
INTEL = "Intel(R) OpenCL"
_VARIANT = re.compile(r"_ZGV\w(?P<state>[NM])(?P<width>\d+)")


@dataclass(frozen=True)
class Chosen:
    """The function in a program's binary that runs a work-group, a sentence about it, and the functions that it may call."""

    function: Function
    note: str
    called: tuple[Function, ...] = ()


def code_from_driver(plan: Plan, step: Step, info: DeviceInfo, level: str = "") -> Compiled:
    """What the driver of the device `info` makes of `step`; `level` asks Intel's CPU runtime for another x86-64 level.

    Unsupported if the driver gives code in a form that is not read here, BuildFailed with its log if it does not compile.
    """
    source = render(step.kernel, step.config, step.problem)
    options = (*step.kernel.options, *((VERBOSE,) if "nvidia" in info.features else ()))
    runs = info.platform.startswith("Portable")  # PoCL compiles for a work-group's size when that is launched
    names = (info.platform, info.version, info.driver, info.name)
    key = (source, *options, step.kernel.target, *names, code_facts(info.kind), level, str(plan))
    label = info.label if not level else INTEL

    def make() -> Compiled:
        code = ask(
            Request(label, plan, step, options, runs), {"CL_CONFIG_CPU_TARGET_ARCH": INTEL_LEVELS.get(level, "")}
        )
        return read_code(code, step, info, level)

    return remembered(make, *key, sys.platform)


def ask(request: Request, settings: Mapping[str, str]) -> DriverCode:
    """Build the program in a child process. It leaves nothing in any cache."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"XDG_CACHE_HOME": folder, "LOCALAPPDATA": folder, "POCL_CACHE_DIR": folder, "POCL_KERNEL_CACHE": "1"}
        environment = own | {name: value for name, value in settings.items() if value}
        command = [sys.executable, "-m", "tilewright.analysis.inspect.driver_child", sent(request, Path(folder))]
        try:
            child = run_child(command, SECONDS, environment)
        except OSError as error:
            raise ProcessFailed(f"asking {request.device} for its code: {error}") from error
    answer = child.stages().get("code")
    if answer is None:
        raise ProcessFailed(
            f"{request.device} gave no code ({child.ending or 'it ended without an answer'}): {child.telling_line()}"
        )
    if answer["error"]:
        raise BuildFailed(request.step.kernel.name, request.device, answer["error"])
    return DriverCode(base64.b64decode(answer["binary"]), answer["log"])


def read_code(code: DriverCode, step: Step, info: DeviceInfo, level: str = "") -> Compiled:
    """The driver's code by its form: NVIDIA's PTX, or an ELF file of a CPU driver."""
    entry = step.kernel.signature.entry
    if b".version" in code.binary[:4096] and b".target" in code.binary[:4096]:
        ptx = code.binary.rstrip(b"\0").decode(errors="replace")
        target = re.search(r"^\.target (\w+)", ptx, re.M)
        return from_driver(ptx, entry, target[1] if target else "", code.log, info.place)
    chosen = find_function(code.binary, entry, code.log)
    if chosen is None or info.kind != "cpu":
        head = code.binary[:8]
        raise Unsupported(
            f"the driver of {info.label} gives its code in an unknown form (it begins with {head!r}); name an "
            "architecture by --arch instead"
        )
    listing = x86_code.disassembly(chosen.function, *chosen.called)
    notes = (chosen.note, *_remarks(code.log))
    resources = Resources(
        x86_code.vector_registers(listing), step.config.local_bytes(step.problem), x86_code.frame_bytes(listing)
    )
    origin = (
        f"the driver's own code: {info.platform} {info.driver}" if not level else f"Intel's CPU runtime for {level}"
    )
    return Compiled(origin, entry, {FORM: listing}, resources, notes)


def find_function(binary: bytes, entry: str, log: str = "") -> Chosen | None:
    """The code of a work-group in Intel's program binary or in PoCL's library; None if it is neither."""
    if not binary.startswith(b"\x7fELF"):
        return None
    functions = read_functions(binary)
    inner = next((each.data for each in read_sections(binary) if each.name == ".ocl.obj"), b"")
    if not inner:
        pocl = [each for each in functions if each.name.startswith(f"_pocl_kernel_{entry}")]
        return (
            _with_called(pocl[0], functions, entry, "PoCL's code for a whole work-group of this size") if pocl else None
        )
    functions = read_functions(inner)
    wide = [(int(match["width"]), each) for each in functions if (match := _VARIANT.match(each.name))]
    own = [(width, each) for width, each in wide if each.name.endswith(f"_{entry}")]
    if own:
        width, function = max(own, key=lambda pair: pair[0])
        note = f"of the driver's variants, the one that runs {width} work-items in a vector's lanes"
        return _with_called(function, functions, entry, note)
    plain = [each for each in functions if each.name == entry]
    vectorised = re.search(rf'Kernel "{entry}" was successfully vectorized \((\d+)\)', log)
    lanes = f"{vectorised[1]} work-items in a vector's lanes, those left over" if vectorised else "its work-items"
    note = f"the driver made one variant, which runs {lanes} one after another"
    return _with_called(plain[0], functions, entry, note) if plain else None


def _with_called(function: Function, functions: tuple[Function, ...], entry: str, note: str) -> Chosen:
    """The function with the program's other functions that it may call: those that are neither its variants nor the linker's."""
    calls = any(each.flow == kinds.CALL for each in x86_code.parse_x86(x86_code.disassembly(function)).instructions)
    others = tuple(each for each in functions if not each.name.endswith(entry) and not each.name.startswith("_"))
    return Chosen(function, note, others if calls else ())


def _remarks(log: str) -> tuple[str, ...]:
    """The driver's messages about vectors, each once, with the commas that the driver leaves out."""
    lines = (line.partition("0:0: ")[2] or line for line in log.splitlines() if "vectorized" in line)
    spaced = (re.sub(r"(?<=[a-z])(\d+ (?:gathers|scatters))", r", \1", line.strip()) for line in lines)
    return tuple(f"the driver says: {line}" for line in dict.fromkeys(spaced))
