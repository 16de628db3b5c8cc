"""Ranks devices for the default choice, and mends the one build of PoCL that cannot compile on newer processors.

Nothing here loads a driver or imports PyOpenCL.
"""

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyopencl

# On a processor newer than its LLVM, the PoCL of the wheel pocl-binary-distribution 3.0 compiles for the
# processor "generic", which that LLVM refuses. `_cl_device_id.llvm_cpu`, a pointer to the name, lies 640
# bytes into this build's device (read from the object in memory). Before 5.0 PoCL has no variable for it.
POCL_WHEEL_VERSION = "OpenCL 3.0 PoCL 3.0-rc2  Linux, Release, RELOC, LLVM 14.0.6, SLEEF, DISTRO, POCL_DEBUG"
POCL_WHEEL_CPU_OFFSET = 640


def mend_pocl_wheel(device: "pyopencl.Device") -> bool:
    """Give PoCL 3.0-rc2 the name of a processor that its compiler knows, before the first build.

    Returns True if the name was replaced. The device is touched only if the platform's version is that of the
    wheel to the letter, and the text at the fixed place is exactly "generic". At most 15 bytes are written
    into a block of malloc(8), which holds 24 in 64-bit glibc.
    """
    if device.platform.version != POCL_WHEEL_VERSION or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    address = ctypes.c_void_p.from_address(device.int_ptr + POCL_WHEEL_CPU_OFFSET).value
    if address is None or ctypes.string_at(address, 8) != b"generic\0":
        return False
    name = llvm_cpu_name(Path("/proc/cpuinfo").read_text(encoding="utf-8")).encode() + b"\0"
    ctypes.memmove(address, name, len(name))
    return True


def llvm_cpu_name(cpuinfo: str) -> str:
    """The richest of three x86-64 processors known to LLVM 14 whose instructions /proc/cpuinfo promises."""
    flags = set(next((line for line in cpuinfo.splitlines() if line.startswith("flags")), "").split())
    if flags >= {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}:
        return "skylake-avx512"
    return "haswell" if flags >= {"avx2", "fma", "bmi1", "bmi2", "f16c"} else "x86-64"


NEVER_BY_DEFAULT = 100


@dataclass(frozen=True)
class Standing:
    """Where a device stands in the order of preference: the lowest `rank` is taken; `reason` is a clause."""

    rank: int
    reason: str


def standing(platform_name: str, platform_version: str, device_kind: str) -> Standing:
    """Rank of a device by its platform's name and version and its kind: "gpu", "cpu" or "accelerator".

    Among CPU drivers Intel's is first: kernels with barriers ran about ten times as fast as with PoCL 3.1.
    """
    pocl = "Portable Computing Language" in platform_name
    version = re.search(r"PoCL (\d+)\.", platform_version)
    if "Oclgrind" in platform_name:
        return Standing(NEVER_BY_DEFAULT, "Oclgrind interprets kernels: only for finding races")
    if "FPGA" in platform_name:
        return Standing(NEVER_BY_DEFAULT + 1, "an emulated FPGA says nothing about speed")
    if device_kind == "gpu":
        return Standing(1, "a GPU behind PoCL") if pocl else Standing(0, "a GPU comes before a CPU")
    if device_kind == "cpu" and "Intel" in platform_name:
        return Standing(10, "Intel's runtime is the first choice among CPU drivers")
    if platform_version == POCL_WHEEL_VERSION:
        return Standing(13, "the PoCL wheel is the last choice among the known CPU drivers")
    if pocl and version is not None:
        return Standing(11, "PoCL 5 or later") if int(version[1]) >= 5 else Standing(12, "PoCL before 5")
    return Standing(20, "an unknown CPU driver or accelerator")


def preference(platform_name: str, platform_version: str, device_kind: str) -> int:
    """The rank of `standing`, as a sort key; from NEVER_BY_DEFAULT on, a device must be asked for."""
    return standing(platform_name, platform_version, device_kind).rank
