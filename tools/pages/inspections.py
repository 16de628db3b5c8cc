"""Writes inspections into Markdown pages, between marks that name kernel and architecture. This needs no GPU.

<!-- inspect: tiles/06 sm_90 -->               one kernel
<!-- inspect: tiles/06 sm_90 gfx90a -->        one kernel for two architectures, side by side
<!-- inspect: ladder tiles sm_90 gfx1100 -->   a table for each architecture
<!-- inspect: record FILE tiles/06 sm_90 -->   a saved inspection of a device, against one made here
<!-- end inspect -->                           ends each of them
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tilewright.analysis.inspect.compare import compare
from tilewright.analysis.inspect.compile_and_count import find_target, inspect
from tilewright.analysis.inspect.counts import Mix
from tilewright.analysis.inspect.instruction_kinds import GLOBAL_LOAD, LOAD
from tilewright.analysis.inspect.record import Inspection, load_inspection
from tilewright.core.markdown import cell, fenced
from tilewright.errors import TilewrightError
from tilewright.kernels import find_ladder

HEADS = (
    "rung", "registers", "spilled", "local memory", "occupancy", "limited by", "loop: instructions", "multiply-adds",
    "local loads each", "integer each", "widest load",
)  # fmt: skip


def inspected(words: Sequence[str], folder: Path) -> str:
    """The text between the marks with these words, on a page in `folder`."""
    if words[0] == "ladder":
        return "\n\n".join(ladder_table(words[1], arch) for arch in words[2:])
    if words[0] == "record":
        found = [load_inspection(folder / words[1]), inspect(words[2], words[3])]
    else:
        found = [inspect(words[0], arch) for arch in words[1:]]
    lines = "\n".join(compare(*found)) if len(found) == 2 else "\n\n".join(map(str, found))
    return fenced(lines)


def ladder_table(name: str, arch: str) -> str:
    """A Markdown table of a ladder's rungs for one architecture. A refused rung shows the reason instead."""
    rule = "| --- " + "| ---: " * (len(HEADS) - 1) + "|"
    lines = [f"**{arch}** ({find_target(arch).title})", "", "| " + " | ".join(HEADS) + " |", rule]
    for kernel in find_ladder(name).kernels:
        try:
            cells = list(_cells(inspect(kernel, arch)))
        except TilewrightError as refusal:
            cells = [kernel.name, str(refusal).splitlines()[0], *[""] * (len(HEADS) - 2)]
        lines.append("| " + " | ".join(map(cell, cells)) + " |")
    return "\n".join(lines)


def _cells(found: Inspection) -> Iterator[str]:
    yield found.kernel
    resources, occupancy = found.resources, found.occupancy
    yield str(resources.registers) if resources else "-"
    yield "yes" if resources and resources.spills else "no"
    yield f"{resources.local_bytes:,}" if resources else "-"
    yield f"{occupancy.part:.0%}" if occupancy else "-"
    yield occupancy.limiter if occupancy else "-"
    if found.loop is None:
        yield from ["-"] * 5
        return
    mix = found.loop.mix
    yield str(mix.instructions)
    yield str(mix.multiply_adds)
    for ratio in (mix.local_loads_per_fma, mix.integer_per_fma):
        yield "-" if ratio is None else f"{ratio:.2g}"
    yield widest_load(found.mix or mix)


def widest_load(mix: Mix) -> str:
    """The widest load from global memory, in bits; "-" if there is none."""
    widths = [int(name.split()[-1]) for name in mix.effects if re.fullmatch(rf"({GLOBAL_LOAD}|{LOAD}) \d+", name)]
    return str(max(widths)) if widths else "-"
