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
_REGISTER = re.compile(r"%envreg\d+\b")
_ARRAY = re.compile(r"^[ \t]*\.shared\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d+)\];[ \t]*\n?", re.M)
_VARIABLE = re.compile(r"^[ \t]*\.shared\s+\.align\s+\d+\s+\.[bufs](8|16|32|64)\s+[\w$]+;", re.M)
_ENTRY = re.compile(r"^[ \t]*(?:\.(?:visible|weak)[ \t]+)?\.entry\b", re.M)


@dataclass(frozen=True)
class LoadablePtx:
    """PTX that CUDA's driver loads, and the bytes of dynamic shared memory that each launch must ask for."""

    text: str
    dynamic_bytes: int


def for_cuda(ptx: str) -> LoadablePtx:
    """The PTX of one kernel as CUDA loads it. Unsupported names a register of OpenCL's that has no counterpart.

    If what is static in shared memory is more than CUDA allows, the largest array becomes dynamic.
    """
    text = _REGISTER.sub(_counterpart, ptx)
    arrays = list(_ARRAY.finditer(text))
    variables = sum(int(bits) // 8 for bits in _VARIABLE.findall(text))
    if sum(int(array[3]) for array in arrays) + variables <= MOST_STATIC:
        return LoadablePtx(text, 0)
    largest = max(arrays, key=lambda array: int(array[3]))
    alignment, name, size = largest.groups()
    text = text[: largest.start()] + text[largest.end() :]
    declared = f".extern .shared .align {alignment} .b8 {name}[];\n"
    entry = _ENTRY.search(text)
    if entry is None:
        raise Unsupported("the PTX has no kernel (.entry)")
    return LoadablePtx(text[: entry.start()] + declared + text[entry.start() :], int(size))


def _counterpart(match: re.Match[str]) -> str:
    register = match[0]
    if register not in REGISTERS:
        raise Unsupported(f"the PTX reads {register}, which CUDA's launch does not set: use --backend opencl")
    return REGISTERS[register]
