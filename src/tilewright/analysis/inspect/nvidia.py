"""Gets NVIDIA's machine code: from NVRTC without a GPU, or from the PTX of the OpenCL driver."""

import re
import tempfile
from pathlib import Path

from ...core.files import write_named
from ...core.install import install_extra
from ...errors import BuildFailed, Unsupported
from ...runtime.cuda.nvrtc import Nvrtc, find_nvrtc
from ...runtime.opencl.retarget import retarget
from .bare_clang import DECLARE, explained, for_clang, language, plain_name
from .counts import Resources
from .cuda_linker import link_ptx
from .find_tools import Program, find_clang, find_libdevice, find_nvidia_tool, find_ptxas, run_tool
from .toolchain_output import Compiled, remembered

SASS, PTX = "SASS", "PTX"
NO_COMPILER = "NVRTC would compile for {arch} and report registers, spills and PTX: " + install_extra("inspect-nv")
NO_DISASSEMBLER = f"nvdisasm would show the machine code, so only PTX is counted: {install_extra('inspect-nv')}"
OPTIONS = ("-lineinfo", "--ptxas-options=-v")  # neither changes the code
# Clang puts a kernel's body into a function that is never inlined: first its own code, with that word removed, then PTX.
FRONT_OPTIONS = (
    "-x", "cl", "-cl-no-stdinc", "-nogpulib", "-O3", "-gline-directives-only", "-w", "-Xclang",
    "-disable-llvm-passes", "-emit-llvm", "-S", "-o", "-", "-",
)  # fmt: skip
BACK_OPTIONS = ("-x", "ir", "-O3", "-mllvm", "-inline-threshold=1000000", "-w", "-S", "-o", "-", "-")
# OpenCL's division and square root may be wrong in the last digits unless the program asks otherwise.
CORRECTLY_ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
ROUNDING = ("-mllvm", "-nvptx-prec-divf32=1", "-mllvm", "-nvptx-prec-sqrtf32=0")
NO_COUNTERPART = (
    "this kernel has no CUDA counterpart for NVRTC; clang and ptxas would compile its OpenCL C for {arch}: "
    f"{install_extra('inspect-amd')}, {install_extra('inspect-nv')}"
)
VERBOSE = "-cl-nv-verbose"  # makes the OpenCL driver log registers and spills
_FILE = re.compile(r'(\.file\s+\d+ )"([^"]*)" "([^"]*)"')
_EXTERN = re.compile(r"^\.extern \.func\s*(?:\([^)]*\)\s*)?(\w+)", re.M)
_ENTRY = re.compile(r"Compiling entry function '(?P<entry>\w+)'")
_USED = re.compile(r"Used (?P<registers>\d+) registers(?P<rest>[^\n]*)")
_SHARED = re.compile(r"(?P<bytes>\d+)(?:\+0)? bytes smem")
_FRAME = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)


def compile_for_nvidia(source: str, entry: str, arch: str, options: tuple[str, ...] = ()) -> Compiled:
    """PTX, machine code and resources of the kernel `entry` in CUDA C++ `source` for `arch` ("sm_90").

    BuildFailed with NVRTC's log. OpenCL's own options are left out.
    """
    nvrtc = find_nvrtc(arch)
    if nvrtc is None:
        return Compiled("", entry, missing=(NO_COMPILER.format(arch=arch),))
    words = (*OPTIONS, *options)
    disassembler = find_nvidia_tool("nvdisasm")
    key = (source, entry, nvrtc.version, disassembler.name if disassembler else "", arch, *words)
    return remembered(lambda: _compile(nvrtc, source, entry, arch, words), *key)


def _compile(nvrtc: Nvrtc, source: str, entry: str, arch: str, words: tuple[str, ...]) -> Compiled:
    result = nvrtc.compile(source, entry, arch, words)
    sass, tool, problem = disassemble(result.cubin)
    notes = (
        "NVRTC compiled the kernel's CUDA counterpart; the compiler in NVIDIA's OpenCL driver may choose otherwise",
    )
    return Compiled(
        f"{nvrtc.version}{tool and sass and ' and ' + tool}, without a GPU",
        entry,
        {SASS: sass, PTX: result.ptx} if sass else {PTX: result.ptx},
        read_report(result.log, entry),
        (*notes, f"{problem}, so PTX is counted") if problem else notes,
        () if tool else (NO_DISASSEMBLER,),
    )


def compile_opencl_for_nvidia(
    source: str, entry: str, arch: str, target: str, group: tuple[int, ...], options: tuple[str, ...] = ()
) -> Compiled:
    """The same for kernels without a CUDA counterpart: clang compiles their OpenCL C to PTX, and ptxas makes machine code.

    A PTX `target` ("sm_90a", or "") uncovers the instructions that only it has, as the OpenCL backend does. `group` is
    the size of work-groups, which goes into PTX if the source states it.
    """
    clang, ptxas, library = find_clang(), find_ptxas(arch), find_libdevice()
    if clang is None or ptxas is None or library is None:
        return Compiled("", entry, missing=(NO_COUNTERPART.format(arch=arch),))
    text = for_clang(source)
    front = (
        language(source, options),
        *DECLARE,
        "-Xclang",
        "-mlink-builtin-bitcode",
        "-Xclang",
        str(library),
        *options,
    )
    disassembler = find_nvidia_tool("nvdisasm")
    tools = (clang.name, ptxas.name, disassembler.name if disassembler else "")
    key = (text, entry, arch, target, str(group), *tools, *FRONT_OPTIONS, *BACK_OPTIONS, *front)

    def make() -> Compiled:
        ptx = ptx_of_opencl(clang, text, entry, arch, front)
        unknown = _EXTERN.findall(ptx)
        if unknown:
            names = ", ".join(dict.fromkeys(plain_name(each) for each in unknown))
            raise Unsupported(
                f"{entry} calls {names}, which only NVIDIA's driver has: without a GPU nothing can be said about it"
            )
        if "reqd_work_group_size" in source:
            ptx = re.sub(rf"(\.entry {entry}\([^)]*\))", rf"\1\n.reqntid {', '.join(map(str, group))}", ptx, count=1)
        return _assembled(retarget(ptx, target) if target else ptx, entry, target or arch, clang, ptxas)

    return remembered(make, *key)


def ptx_of_opencl(clang: Program, text: str, entry: str, arch: str, own: tuple[str, ...] = ()) -> str:
    """PTX by clang; BuildFailed with its log."""
    common = ("--target=nvptx64-nvidia-nvcl", f"-march={arch}")
    rounding = () if CORRECTLY_ROUNDED in own else ROUNDING
    for options in ((*FRONT_OPTIONS, *own), (*rounding, *BACK_OPTIONS)):
        status, output, log = run_tool((*clang.command, *common, *options), "clang", text)
        if status != 0:
            raise BuildFailed(entry, f"{arch} ({clang.name})", explained(log))
        text = re.sub(r"\bnoinline ", "", output)
    return _FILE.sub(r'\1"\2/\3"', text)  # ptxas takes no folder apart from the name


def _assembled(ptx: str, entry: str, arch: str, clang: Program, ptxas: Program) -> Compiled:
    cubin, report = assemble_ptx(ptxas, ptx, arch)
    if not cubin:
        raise BuildFailed(entry, f"{arch} ({ptxas.name})", report)
    sass, tool, problem = disassemble(cubin)
    notes = ("clang made the PTX; the compiler in NVIDIA's OpenCL driver may choose otherwise",)
    return Compiled(
        ", ".join(filter(None, (clang.name, ptxas.name, tool if sass else "", "without a GPU"))),
        entry,
        {SASS: sass, PTX: ptx} if sass else {PTX: ptx},
        read_report(report, entry),
        (*notes, f"{problem}, so PTX is counted") if problem else notes,
        () if tool else (NO_DISASSEMBLER,),
    )


def from_driver(ptx: str, entry: str, arch: str, log: str, ordinal: int = 0) -> Compiled:
    """The output of NVIDIA's OpenCL driver: its PTX, its report of resources, and the machine code that the driver or ptxas
    makes of the PTX."""
    cubin, report, maker, notes = _assemble(ptx, arch, ordinal)
    sass, tool, problem = disassemble(cubin) if cubin else ("", "", "")
    resources = read_report(log, entry) or read_report(report, entry)
    missing = () if tool or not cubin else (NO_DISASSEMBLER,)
    notes = (*notes, f"{problem}, so PTX is counted") if problem else notes
    origin = ", ".join(filter(None, ("PTX from the OpenCL driver", maker, tool)))
    return Compiled(origin, entry, {SASS: sass, PTX: ptx} if sass else {PTX: ptx}, resources, notes, missing)


def _assemble(ptx: str, arch: str, ordinal: int) -> tuple[bytes, str, str, tuple[str, ...]]:
    """Machine code of PTX, the report on it, the tool that made it, and the errors of the tools that did not."""
    linked = link_ptx(ptx, ordinal)
    if linked.cubin:
        return linked.cubin, linked.log, "machine code from the driver", ()
    ptxas = find_nvidia_tool("ptxas")
    if ptxas is None:
        return b"", "", "", (f"{linked.log}; ptxas of the CUDA toolkit would make machine code of the PTX",)
    cubin, log = assemble_ptx(ptxas, ptx, arch)
    if not cubin:
        return b"", "", "", (f"{ptxas.name} refused the driver's PTX: {log.strip().splitlines()[-1]}",)
    return cubin, log, f"machine code from {ptxas.name}", ()


def assemble_ptx(ptxas: Program, ptx: str, arch: str) -> tuple[bytes, str]:
    """Machine code of PTX by ptxas, empty if it refuses, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        write_named(source, ptx.encode())
        command = (*ptxas.command, "-v", "-lineinfo", f"-arch={arch}", "-o", str(target), str(source))
        status, output, complaints = run_tool(command, "ptxas")
        return target.read_bytes() if status == 0 else b"", output + complaints


def disassemble(cubin: bytes) -> tuple[str, str, str]:
    """The machine code as text, the tool that read it, and its errors if it could not."""
    problem = ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        write_named(path, cubin)
        for name, options in (("nvdisasm", ("-gi", "-c")), ("cuobjdump", ("-sass",))):
            tool = find_nvidia_tool(name)
            if tool is None:
                continue
            status, text, complaints = run_tool((*tool.command, *options, str(path)), name)
            if status == 0 and text.strip():
                return text.replace(f'"{Path.cwd()}/', '"'), tool.name, ""  # NVRTC makes the names of files absolute
            problem = (
                problem
                or f"{tool.name} refuses this code ({complaints.strip().splitlines()[-1].partition(':')[2].strip()})"
            )
    return "", "a disassembler" if problem else "", problem


def read_report(log: str, entry: str) -> Resources | None:
    """Registers, spills and shared memory from ptxas' report (`-v`); None if the log does not name this kernel."""
    parts = re.split(r"(?=Compiling entry function)", log)
    named = [part for part in parts if (match := _ENTRY.search(part)) and match["entry"] == entry]
    part = named[0] if named else log
    used, frame = _USED.search(part), _FRAME.search(part)
    if used is None:
        return None
    shared = _SHARED.search(used["rest"])
    return Resources(
        registers=int(used["registers"]),
        local_bytes=int(shared["bytes"]) if shared else 0,
        stack_bytes=int(frame["stack"]) if frame else 0,
        spilled={"bytes stored": int(frame["stores"]), "bytes loaded": int(frame["loads"])} if frame else {},
    )
