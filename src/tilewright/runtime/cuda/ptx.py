"""Changes PTX of NVIDIA's OpenCL compiler so that CUDA's driver can load and launch it.

OpenCL's launch sets registers that CUDA's leaves alone, and allows a kernel more static shared memory than CUDA's 48 KiB.
Measured on an H200 with driver 580; PTX ISA, "Special Registers: %envreg" and "State Spaces: .shared".
"""

import re
from dataclasses import dataclass

from ...errors import Unsupported

# OpenCL's: the first work-group's numbers, the global offset, and the number of work-groups. Kernels have no offset here.
REGISTERS = {
    **dict.fromkeys((f"%envreg{place}" for place in range(6)), "0"),
    **{f"%envreg{6 + place}": f"%nctaid.{axis}" for place, axis in enumerate("xyz")},
}
MOST_STATIC = 48 * 1024  # bytes of static shared memory of a kernel that CUDA loads
DYNAMIC = "dynamic_shared_memory"
_REGISTER = re.compile(r"%envreg\d+\b")
_SHARED = re.compile(r"^[ \t]*\.shared\s+\.align\s+(\d+)\s+\.[bsuf](\d+)\s+([\w$]+)(?:\[(\d+)\])?;[ \t]*\n?", re.M)
ENTRY = re.compile(r"^[ \t]*(?:\.(?:visible|weak)[ \t]+)?\.entry\b", re.M)
VERSION = re.compile(r"^\.version (\d+)\.(\d+)", re.M)


@dataclass(frozen=True)
class LoadablePtx:
    """PTX that CUDA's driver loads, and the bytes of dynamic shared memory that each launch must ask for."""

    text: str
    dynamic_bytes: int


def for_cuda(ptx: str) -> LoadablePtx:
    """The PTX of one kernel as CUDA loads it. Unsupported names a register of OpenCL's that has no counterpart.

    If the static variables of shared memory are larger than CUDA allows, all of them become parts of one dynamic array. It begins
    where shared memory does, at a multiple of 1024.
    """
    text = _REGISTER.sub(_counterpart, ptx)
    found = [(int(each[1]), each[3], int(each[2]) // 8 * int(each[4] or 1)) for each in _SHARED.finditer(text)]
    variables = sorted(found, key=lambda variable: -variable[0])
    if sum(size for _, _, size in variables) <= MOST_STATIC:
        return LoadablePtx(text, 0)
    entry = ENTRY.search(text)
    if entry is None:
        raise Unsupported("the PTX has no kernel (.entry)")
    places, end = {}, 0
    for alignment, name, size in variables:
        places[name] = -(-end // alignment) * alignment
        end = places[name] + size
    declared = f".extern .shared .align {variables[0][0]} .b8 {DYNAMIC}[];\n"
    text = _SHARED.sub("", text[: entry.start()]) + declared + _SHARED.sub("", text[entry.start() :])
    names = "|".join(map(re.escape, places))
    part = re.compile(rf"(?<![\w$])({names})(?![\w$])(?:\+(\d+))?")
    return LoadablePtx(part.sub(lambda found: f"{DYNAMIC}+{places[found[1]] + int(found[2] or 0)}", text), end)


def _counterpart(match: re.Match[str]) -> str:
    register = match[0]
    if register not in REGISTERS:
        raise Unsupported(f"the PTX reads {register}, which CUDA's launch does not set: use --backend opencl")
    return REGISTERS[register]
