"""Changes PTX for sm_90 to PTX for sm_90a, whose instructions NVIDIA's OpenCL compiler refuses.

Such instructions stand in the source as PTX comments that begin with a mark. The compiler, NVRTC too, keeps them, with
their operands in registers. Only PTX that a compiler of NVIDIA's has just made is changed.
"""

import re

from ...errors import Unsupported

MARK = "//@"
REGISTERS = 65536  # 32-bit registers of an SM, which setmaxnreg distributes to the warpgroups
_ITEMS = re.compile(r"\.(?:req|max)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def retarget(ptx: str, target: str) -> str:
    """`ptx` for `target` ("sm_90a") with the marked instructions as code. Unsupported if it is for another family.

    A kernel with setmaxnreg must be compiled for a fixed number of registers: as many as fit for all its work-items.
    """
    base = target.rstrip("af")
    if not re.search(rf"^\.target {base}\b[, ]?", ptx, re.M):
        found = re.search(r"^\.target .*$", ptx, re.M)
        raise Unsupported(f"the compiler compiles for {found[0] if found else 'no PTX target'}, not for {base}")
    text = re.sub(rf"^\.target {base}\b", f".target {target}", ptx, count=1, flags=re.M).replace(MARK, "")
    if "setmaxnreg" in text:
        text = _ITEMS.sub(_with_register_limit, text)
    return text


def _with_register_limit(match: re.Match[str]) -> str:
    items = 1
    for side in match.groups():
        items *= int(side or 1)
    return f"{match[0]}\n.maxnreg {min(REGISTERS // items // 8 * 8, 255)}"
