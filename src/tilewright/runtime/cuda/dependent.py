"""Lets a kernel begin before the one in front of it on a stream has ended: programmatic dependent launch, since sm_90.

A kernel that is launched so may be placed on SMs while its predecessor runs. `griddepcontrol.wait` ends when the predecessor is
complete and what it wrote is seen, so no global memory may be touched before it. `griddepcontrol.launch_dependents` says that the
successor may be placed as soon as all work-groups got there. It comes after the wait: one successor waits at a time, and because
a kernel cannot end before its own wait, a successor's wait covers all kernels before. Without such a launch both do nothing.
(PTX ISA, "Parallel Synchronization and Communication Instructions: griddepcontrol".)

The instructions are written into the PTX: the kernels' source stays the same for OpenCL, which has no such launches.
"""

import re

from .ptx import ENTRY, VERSION

WAIT, LAUNCH = "griddepcontrol.wait;", "griddepcontrol.launch_dependents;"
FIRST_ARCHITECTURE, FIRST_VERSION = 90, (7, 8)

_TARGET = re.compile(r"^\.target sm_(\d+)", re.M)
_BODY = re.compile(ENTRY.pattern + r"[^{;]*\{[ \t]*\n", re.M)


def dependent(ptx: str) -> str | None:
    """The PTX with both instructions at the start of each of its kernels; None if its target has none."""
    target, version = _TARGET.search(ptx), VERSION.search(ptx)
    if target is None or version is None or int(target[1]) < FIRST_ARCHITECTURE:
        return None
    if (int(version[1]), int(version[2])) < FIRST_VERSION:
        return None
    waiting, count = _BODY.subn(lambda head: f"{head[0]}\t{WAIT}\n\t{LAUNCH}\n", ptx)
    return waiting if count == len(ENTRY.findall(ptx)) > 0 else None
