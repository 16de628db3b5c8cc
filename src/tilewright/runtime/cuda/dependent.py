"""Lets a kernel begin before the one in front of it on a stream has ended: programmatic dependent launch, since sm_90.

A kernel that is launched so may be placed on SMs while its predecessor runs. `griddepcontrol.wait` ends when the predecessor is
complete and what it wrote is seen, so no global memory may be touched before it. `griddepcontrol.launch_dependents` says that the
successor may be placed as soon as all work-groups got there. It comes after the wait: one successor waits at a time, and because
a kernel cannot end before its own wait, a successor's wait covers all kernels before. Without such a launch both do nothing.
(PTX ISA, "Parallel Synchronization and Communication Instructions: griddepcontrol".)

The instructions are written into the PTX: the kernels' source stays the same for OpenCL, which has no such launches.
"""

import re

WAIT, LAUNCH = "griddepcontrol.wait;", "griddepcontrol.launch_dependents;"
FIRST_ARCHITECTURE, FIRST_VERSION = 90, (7, 8)
MARKED = f"//{WAIT}"  # where a kernel wants the wait
# Where both stand: at the start; where the kernel has the mark, if it has one. Or the wait alone, so that the successor is placed
# at this kernel's end; the other one first, so that many successors may wait; or, to see tests fail, no wait.
PLACES = ("start", "marked", "end", "ahead", "unsafe")

_TARGET = re.compile(r"^\.target sm_(\d+)", re.M)
_VERSION = re.compile(r"^\.version (\d+)\.(\d+)", re.M)
_BODY = re.compile(r"^[ \t]*(?:\.(?:visible|weak)[ \t]+)?\.entry\b[^{]*\{[ \t]*\n", re.M)


def dependent(ptx: str, place: str) -> str | None:
    """The PTX of a kernel with both instructions; None if its target has none."""
    target, version, body = _TARGET.search(ptx), _VERSION.search(ptx), _BODY.search(ptx)
    if target is None or version is None or body is None or int(target[1]) < FIRST_ARCHITECTURE:
        return None
    if (int(version[1]), int(version[2])) < FIRST_VERSION:
        return None
    words = {"end": (WAIT,), "ahead": (LAUNCH, WAIT), "unsafe": (LAUNCH,)}.get(place, (WAIT, LAUNCH))
    both = "".join(f"\t{word}\n" for word in words)
    if place == "marked" and MARKED in ptx:
        return ptx.replace(MARKED, both)
    return ptx[: body.end()] + both + ptx[body.end() :]
