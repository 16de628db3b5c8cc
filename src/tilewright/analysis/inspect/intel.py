"""Gets the code of Intel's GPUs without a GPU: the offline compiler ocloc compiles, and its compiler dumps the assembly."""

import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path

from ...core.files import write_named
from ...errors import BuildFailed
from .bare_clang import language
from .counts import Resources
from .find_tools import Program, find_ocloc, run_tool
from .intel_binary import IntelKernel, read_kernel
from .toolchain_output import Compiled, remembered

FORM = "Xe"
MISSING = (
    "Intel's offline compiler ocloc would compile the kernel for {arch}: install the package intel-ocloc (Ubuntu, Fedora, new "
    "Debian) or intel-opencl-icd (older Debian), which bring it"
)
TOO_OLD = "{tool} does not know {arch}: install a newer ocloc; versions for the newest GPUs are on Intel's GitHub pages"
NO_LISTING = (
    "{tool} dumped no assembly of {entry}, so its instructions are not counted: this needs a graphics compiler that heeds "
    "IGC_ShaderDumpEnable, as those of Debian, Ubuntu and Intel do"
)
# Messages of these GPUs to private arrays look like those to global memory.
ALIKE = ("tgllp", "dg1", "dg2")
IN_MEMORY = (
    "{number:,} bytes of private arrays of each work-item lie in memory: global loads and stores count theirs, too"
)
LINES = "-gline-tables-only"  # source lines; it changes no instruction
_UNKNOWN = re.compile(r"(Cannot get HW Info for|Could not determine) device")


def compile_for_intel(source: str, entry: str, arch: str, options: tuple[str, ...] = ()) -> Compiled:
    """The code of the kernel `entry` in OpenCL C `source` for `arch`, one of ocloc's names of devices ("dg2").

    BuildFailed with the compiler's log. A compiler that is missing, or does not know the device, is named in `missing`.
    """
    tool = find_ocloc()
    if tool is None:
        return Compiled("", entry, missing=(MISSING.format(arch=arch),))
    given = (language(source, options), LINES, *(each for each in options if not each.strip().startswith("-cl-std=")))
    return remembered(lambda: _compile(source, entry, arch, tool, given), source, entry, arch, tool.name, *given)


def _compile(source: str, entry: str, arch: str, tool: Program, options: tuple[str, ...]) -> Compiled:
    with tempfile.TemporaryDirectory() as name:
        folder, dumps = Path(name), Path(name) / "dumps"
        dumps.mkdir()
        write_named(folder / "kernel.cl", source.encode())
        command = (
            *tool.command, "compile", "-file", "kernel.cl", "-device", arch, "-output", "kernel", "-out_dir", "out", "-options",
            " ".join(options),
        )  # fmt: skip
        settings = {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": f"{dumps}{os.sep}"}
        status, output, log = run_tool(command, "ocloc", folder=folder, settings=settings)
        if _UNKNOWN.search(output + log):
            return Compiled("", entry, missing=(TOO_OLD.format(tool=tool.name, arch=arch),))
        binaries = sorted((folder / "out").glob("*.bin"))
        if status != 0 or not binaries:
            raise BuildFailed(entry, f"{arch} ({tool.name})", errors_of(output + log))
        kernel = read_kernel(binaries[0].read_bytes(), entry)
        listing = _listing(dumps, kernel).replace(f"{folder.resolve()}{os.sep}", "")
    kernel = completed(kernel, listing)
    missing = () if listing else (NO_LISTING.format(tool=tool.name, entry=entry),)
    texts = {FORM: shortened(listing)} if listing else {}
    notes = (IN_MEMORY.format(number=kernel.private_bytes),) if arch in ALIKE and kernel.private_bytes else ()
    return Compiled(f"{tool.name}, without a GPU", entry, texts, resources_of(kernel), notes, missing)


def errors_of(log: str) -> str:
    """The compiler's log without ocloc's own words around it."""
    lines = (line for line in log.splitlines() if not line.startswith(("Command was:", "Build failed with error code")))
    return "\n".join(lines).strip()


def _listing(dumps: Path, kernel: IntelKernel) -> str:
    """The assembly of the code in the binary: the compiler tries several widths of sub-groups, and dumps each with its code."""
    for dump in sorted(dumps.glob("*.dat")):
        code = dump.read_bytes()
        assembly = dump.with_suffix(".asm")
        if code and kernel.code.startswith(code) and assembly.is_file():
            return assembly.read_text(encoding="utf-8", errors="replace")
    return ""


def shortened(listing: str) -> str:
    """The assembly without its declarations and statistics, which are several times as long as the code."""
    heads = ("//.kernel", "//.platform", "//.thread_config", "//.spill size", "//.private memory size")
    lines = (line.rstrip() for line in listing.splitlines() if not line.startswith("//.") or line.startswith(heads))
    kept = (line for line in lines if not line.startswith(("// |", "// +", "// .inputs")))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip() + "\n"


def completed(kernel: IntelKernel, listing: str) -> IntelKernel:
    """The kernel with what old versions state only in the assembly: spills, and private arrays in scratch memory."""
    if not listing:
        return kernel
    spilled = kernel.spill_bytes if kernel.spill_bytes >= 0 else _stated(listing, "spill size")
    private = kernel.private_bytes or -(-_stated(listing, "private memory size") // kernel.simd)
    return replace(kernel, spill_bytes=spilled, private_bytes=private)


def _stated(listing: str, name: str) -> int:
    found = re.search(rf"^//\.{name} (\d+)", listing, re.M)
    return int(found[1]) if found else 0


def resources_of(kernel: IntelKernel) -> Resources:
    """The resources as records have them: `stack_bytes` are a work-item's private arrays and its part of the thread's spills.
    Spills that nobody stated are left out."""
    spilled = max(kernel.spill_bytes, 0)
    return Resources(
        registers=kernel.registers,
        local_bytes=kernel.local_bytes,
        stack_bytes=kernel.private_bytes + -(-spilled // kernel.simd),
        spilled={"bytes of a hardware thread": spilled} if kernel.spill_bytes >= 0 else {},
        sub_group=kernel.simd,
    )
