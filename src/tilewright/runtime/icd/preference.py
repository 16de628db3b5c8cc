"""Ranks devices for the default choice.

Nothing here loads a driver or imports PyOpenCL.
"""

import re
from dataclasses import dataclass

from ...core.install import pip_install

# The only PoCL on PyPI, wheel pocl-binary-distribution 3.0. On processors newer than its LLVM every build of a kernel fails.
POCL_WHEEL_VERSION = "OpenCL 3.0 PoCL 3.0-rc2  Linux, Release, RELOC, LLVM 14.0.6, SLEEF, DISTRO, POCL_DEBUG"
POCL_WHEEL_REFUSAL = (
    "PoCL 3.0-rc2 of the wheel pocl-binary-distribution cannot compile on processors newer than its LLVM 14: "
    f"{pip_install('intel-opencl-rt', 'intel-cmplr-lib-rt')}, or apt-get install pocl-opencl-icd"
)
UNKNOWN_DRIVER = 20
NEVER_BY_DEFAULT = 100


@dataclass(frozen=True)
class Standing:
    """A device's place in the order of preference: the lowest `rank` is the default. `reason` is a clause."""

    rank: int
    reason: str


def standing(platform_name: str, platform_version: str, device_kind: str) -> Standing:
    """The standing of a device, by its platform's name and version and its kind: "gpu", "cpu" or "accelerator".

    Intel's CPU driver comes before PoCL: kernels with barriers ran about ten times as fast as with PoCL 3.1.
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
        return Standing(NEVER_BY_DEFAULT + 2, POCL_WHEEL_REFUSAL)
    if pocl and version is not None:
        return Standing(11, "PoCL 5 or later") if int(version[1]) >= 5 else Standing(12, "PoCL before 5")
    return Standing(UNKNOWN_DRIVER, "an unknown CPU driver or accelerator")


def preference(platform_name: str, platform_version: str, device_kind: str) -> int:
    """The rank of `standing`, as a sort key. A device of rank NEVER_BY_DEFAULT or more must be asked for."""
    return standing(platform_name, platform_version, device_kind).rank
