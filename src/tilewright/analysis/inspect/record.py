"""The record of an inspection: resources, occupancy and counted instructions. It goes to JSON and back."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...core.records import load
from ...core.shown import Shown
from ...core.sizes import FilePath
from .counts import Loop, Mix, Resources
from .occupancy import Occupancy
from .printing import count_table, registers_line


@dataclass(frozen=True, repr=False)
class Inspection(Shown):
    """What a compiler made of a kernel for one architecture.

    `form` names what was counted ("SASS", "PTX", "ISA", "Xe", "x86"), or "" if no tool was there to make any; `loop` is the one
    that does the work, of `loops`. `missing` says what an absent tool would add. `texts` hold the listings.
    """

    kernel: str
    config: str
    dtype: str
    arch: str
    title: str
    group_items: int
    origin: str
    form: str
    resources: Resources | None = None
    occupancy: Occupancy | None = None
    mix: Mix | None = None
    loop: Loop | None = None
    loops: int = 0
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    entry: str = ""  # the kernel's name in them

    @property
    def name(self) -> str:
        return f"{self.kernel} ({self.config}) for {self.arch}"

    def __str__(self) -> str:
        return "\n".join(report(self))

    def one_line(self) -> str:
        registers = f"{self.resources.registers} registers" if self.resources is not None else "registers unknown"
        counted = f"{self.mix.instructions:,} instructions" if self.mix is not None else "instructions unknown"
        return f"{self.name}, {self.dtype}: {registers}, {counted}"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each kind of instruction: how many the kernel has, and how many of them its main loop has."""
        loop = self.loop.mix.effects if self.loop is not None else {}
        effects = self.mix.effects if self.mix is not None else {}
        return [
            {"kernel": self.kernel, "arch": self.arch, "form": self.form, "instructions": kind, "kernel_count": count,
             "loop_count": loop.get(kind, 0)}
            for kind, count in effects.items()
        ]  # fmt: skip


def report(inspection: Inspection) -> list[str]:
    """The lines of an inspection."""
    lines = [f"{inspection.kernel} ({inspection.config}), {inspection.dtype}", *_facts(inspection)]
    if inspection.mix is not None:
        lines += ["", *count_table(inspection.form, inspection.mix, inspection.loop)]
    lines += [f"note: {note}" for note in inspection.notes]
    lines += [f"missing: {sentence}" for sentence in inspection.missing]
    return lines


def _facts(inspection: Inspection) -> Iterator[str]:
    yield f"  for           {inspection.arch}: {inspection.title}"
    if inspection.origin:
        yield f"  by            {inspection.origin}"
    yield f"  work-group    {inspection.group_items} work-items"
    if inspection.resources is not None:
        yield f"  registers     {registers_line(inspection.resources, inspection.form)}"
        yield f"  local memory  {inspection.resources.local_bytes:,} bytes of a work-group"
        yield f"  stack         {inspection.resources.stack_bytes:,} bytes"
    if inspection.occupancy is not None:
        limits = ", ".join(f"{name} {groups}" for name, groups in inspection.occupancy.limits.items())
        yield f"  occupancy     {inspection.occupancy} (work-groups by {limits})"


def load_inspection(path: FilePath) -> Inspection:
    """Read one back from JSON; RecordError says what is wrong with the file."""
    return load(path, Inspection, "an inspection")
