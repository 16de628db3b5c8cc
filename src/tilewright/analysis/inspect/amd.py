"""Gets AMD's machine code without AMD's driver: clang compiles the kernel and prints code and resources."""

import re

from ...core.install import install_extra
from ...core.kernel import PRELUDE
from ...core.source import read_source
from ...errors import BuildFailed, Unsupported
from .counts import Resources
from .find_tools import Program, find_clang, run_tool
from .gcn import metadata, parse_gcn
from .machine_code import calls
from .toolchain_output import Compiled, remembered

SHIM = PRELUDE / "bare_clang.h"
FORM = "ISA"
MISSING = (
    "clang 19 or later would compile the kernel for {arch} and show its code: "
    f"{install_extra('inspect-amd')}, or install clang"
)
# The options of ROCm's OpenCL compiler, without its library of built-in functions.
OPTIONS = (
    "-x",
    "cl",
    "-cl-std=CL1.2",
    "-cl-no-stdinc",
    "-nogpulib",
    "-O3",
    "-mllvm",
    "-amdgpu-early-inline-all=true",
    "-gline-tables-only",
    "-w",
    "-S",
    "-o",
    "-",
    "-",
)


def compile_for_amd(source: str, entry: str, arch: str, options: tuple[str, ...] = ()) -> Compiled:
    """The code of the kernel `entry` in OpenCL C `source` for `arch` ("gfx90a").

    BuildFailed with clang's log; Unsupported if a call is left in the code, since its instructions would not be counted.
    """
    clang = find_clang()
    if clang is None:
        return Compiled("", entry, missing=(MISSING.format(arch=arch),))
    text = read_source(SHIM) + '\n#line 1 "rendered.cl"\n' + source
    command = (*clang.command, "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", *options, *OPTIONS)
    key = (text, entry, arch, clang.name, *command[len(clang.command) :])
    return remembered(lambda: _compile(text, entry, arch, clang, command), *key)


def _compile(text: str, entry: str, arch: str, clang: Program, command: tuple[str, ...]) -> Compiled:
    status, assembly, log = run_tool(command, "clang", text)
    if status != 0:
        raise BuildFailed(entry, f"{arch} ({clang.name})", explained(log))
    hidden = calls(parse_gcn(assembly, entry))
    if hidden:
        raise Unsupported(
            f"{entry} calls {len(hidden)} functions of the vendor's library ({clang.name} left {hidden[0]!r}): registers and "
            f"counts would be wrong; use built-in functions that {SHIM.name} has"
        )
    return Compiled(f"{clang.name}, without AMD's driver and its library", entry, {FORM: _kernel_only(assembly, entry)},
                    _resources(metadata(assembly)))  # fmt: skip


def explained(log: str) -> str:
    """The log, with a note on functions that are missing because the vendor's library is missing."""
    unknown = re.search(r"use of undeclared identifier '(\w+)'", log)
    if unknown is None:
        return log
    return f"{log.rstrip()}\n({SHIM.name} stands in for the driver's library, and has no built-in function {unknown[1]!r}.)"


def _kernel_only(assembly: str, entry: str) -> str:
    """The kernel's part of the assembly, without debugging information and without other functions."""
    lines = assembly.splitlines()
    begin = next(index for index, line in enumerate(lines) if line.startswith(f"{entry}:"))
    end = next((index for index in range(begin, len(lines)) if lines[index].startswith(".Lfunc_end")), len(lines))
    return "\n".join(line for line in lines[begin:end] if not line.startswith((".Ltmp", "\t.cfi", "\t.file")))


def _resources(values: dict[str, str]) -> Resources:
    return Resources(
        registers=int(values["vgpr_count"]),
        local_bytes=int(values["group_segment_fixed_size"]),
        stack_bytes=int(values["private_segment_fixed_size"]),
        scalar_registers=int(values["sgpr_count"]),
        spilled={
            "vector registers": int(values["vgpr_spill_count"]),
            "scalar registers": int(values["sgpr_spill_count"]),
        },
    )
