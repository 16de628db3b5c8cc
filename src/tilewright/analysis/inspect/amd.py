"""Gets AMD's machine code without AMD's driver: clang compiles the kernel and prints code and resources."""

import re

from ...core.install import install_extra
from ...errors import BuildFailed
from .bare_clang import DECLARE, explained, for_clang, language, plain_name, stand_ins
from .counts import Resources
from .find_tools import Program, find_clang, run_tool
from .gcn import metadata, parse_gcn
from .machine_code import calls
from .toolchain_output import Compiled, remembered

FORM = "ISA"
MISSING = (
    "clang 19 or later would compile the kernel for {arch} and show its code: "
    f"{install_extra('inspect-amd')}, or install clang"
)
# The options of ROCm's OpenCL compiler, without its library of built-in functions.
OPTIONS = (
    "-x",
    "cl",
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

    BuildFailed with clang's log. Calls that are left in the code are named in a note: registers are not known then.
    """
    clang = find_clang()
    if clang is None:
        return Compiled("", entry, missing=(MISSING.format(arch=arch),))
    text = for_clang(source)
    standard = language(source, options)
    command = (*clang.command, "--target=amdgcn-amd-amdhsa", f"-mcpu={arch}", standard, *options, *DECLARE, *OPTIONS)
    key = (text, entry, arch, clang.name, *command[len(clang.command) :])
    return remembered(lambda: _compile(text, entry, arch, clang, command, stand_ins(source)), *key)


def _compile(
    text: str, entry: str, arch: str, clang: Program, command: tuple[str, ...], replaced: tuple[str, ...]
) -> Compiled:
    status, assembly, log = run_tool(command, "clang", text)
    if status != 0:
        raise BuildFailed(entry, f"{arch} ({clang.name})", explained(log))
    hidden = called_names(assembly) if calls(parse_gcn(assembly, entry)) else ()
    notes = []
    if hidden:
        notes.append(
            f"the code calls functions of AMD's library that are not here ({', '.join(hidden)}): their "
            "instructions are not counted, and registers and occupancy are not known"
        )
    if replaced:
        notes.append(f"for {', '.join(replaced)} AMD's library has more instructions than what stands for them here")
    origin = f"{clang.name}, without AMD's driver and its library"
    resources = None if hidden else _resources(metadata(assembly))
    return Compiled(origin, entry, {FORM: _kernel_only(assembly, entry)}, resources, tuple(notes))


def called_names(assembly: str) -> tuple[str, ...]:
    """The functions whose addresses the code takes from elsewhere."""
    named = re.findall(r"\b(\w+)@(?:rel32|gotpcrel32)@lo", assembly)
    return tuple(dict.fromkeys(plain_name(each) for each in named if f"\n{each}:" not in assembly)) or ("by pointer",)


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
