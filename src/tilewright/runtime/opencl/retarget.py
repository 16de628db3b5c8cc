"""Turns the PTX that NVIDIA's OpenCL compiler made for sm_90 into PTX for sm_90a, whose instructions it refuses.

Such instructions stand in the OpenCL source as PTX comments that begin with a mark; the driver's compiler keeps them with
their operands in registers. Only the driver's own PTX, edited so, is loaded again.
"""

import re

from ...errors import Unsupported

MARK = "//@"
REGISTERS = 65536  # 32-bit registers of a compute unit, of which setmaxnreg gives each warpgroup its share
_ITEMS = re.compile(r"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def retarget(ptx: str, target: str) -> str:
    """`ptx` for `target` ("sm_90a") with the marked instructions uncovered. Unsupported if it is for another device.

    A kernel with setmaxnreg must be compiled for a fixed number of registers: what all its work-items can have.
    """
    base = target.rstrip("af")
    if not re.search(rf"^\.target {base}\b[, ]?", ptx, re.M):
        found = re.search(r"^\.target .*$", ptx, re.M)
        raise Unsupported(f"the driver compiles for {found[0] if found else 'no PTX target'}, not for {base}")
    text = re.sub(rf"^\.target {base}\b", f".target {target}", ptx, count=1, flags=re.M).replace(MARK, "")
    if "setmaxnreg" in text:
        text = _ITEMS.sub(_with_register_limit, text)
    return text


def _with_register_limit(match: re.Match[str]) -> str:
    items = 1
    for side in match.groups():
        items *= int(side or 1)
    return f"{match[0]}\n.maxnreg {min(REGISTERS // items // 8 * 8, 255)}"
