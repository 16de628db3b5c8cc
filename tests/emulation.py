"""NVIDIA's kernels on every driver: hopper_emulated.cl stands before them, and EMULATED switches off who only fetches."""

import re
from collections.abc import Mapping

from paths import DATA

from tilewright.core.includes import with_includes
from tilewright.core.kernel import Kernel
from tilewright.core.source import read_source, without_comments

PRELUDE = DATA / "hopper_emulated.cl"
Edits = tuple[tuple[str, str], ...]
FMA, MMA, MMA_TMA, WGMMA = "EMULATED_FMA", "EMULATED_MMA", "EMULATED_MMA_TMA", "EMULATED_WGMMA"
MMA_ELEMENTS = "EMULATED_MMA_ELEMENTS"
# A tensor map is no argument where nobody fetches by it.
NO_MAPS: Edits = (("__global ulong* map_a, ", ""), ("__global ulong* map_b, ", ""))
_UNROLL = re.compile(r"^#pragma unroll.*$", re.M)  # barriers in unrolled loops take drivers minutes


def emulated_text(kernel: Kernel, family: str, edits: Edits = (), macros: Mapping[str, str] | None = None) -> str:
    """The kernel's code behind its emulation. `edits` pass it what instructions keep to themselves: comments are none of
    their business."""
    code = _UNROLL.sub("", without_comments(with_includes(read_source(kernel.source), kernel.source, macros or {})))
    return f"#define EMULATED 1\n#define {family} 1\n{read_source(PRELUDE)}\n{edited(code, edits)}"


def edited(code: str, edits: Edits) -> str:
    for old, new in edits:
        assert old in code, f"the code has changed: {old!r} is no longer there"
        code = code.replace(old, new)
    return code
