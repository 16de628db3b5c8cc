"""Counts of a kernel's machine code: resources, instructions by kind, and the main loop."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from . import instruction_kinds as kinds
from .loops import LoopCode
from .machine_code import Instruction, places


@dataclass(frozen=True)
class Mix:
    """Instructions counted: by what they do ("global load 128" moves 128 bits for each work-item), and by opcode.

    `multiply_adds` are scalar ones of one work-item, or those in all lanes of x86 vectors. An instruction that loads its
    operand and computes is counted under both, so `effects` may add up to more than `instructions`.
    """

    instructions: int
    effects: dict[str, int]
    multiply_adds: int
    opcodes: dict[str, int]

    def count(self, kind: str) -> int:
        """All of one kind, whatever their width."""
        return sum(number for name, number in self.effects.items() if re.fullmatch(rf"{kind}( \d+)?", name))

    @property
    def integer_per_fma(self) -> float | None:
        """Integer instructions for each multiply-add instruction; None where there are none."""
        return self.count(kinds.INTEGER) / self.count(kinds.FMA) if self.count(kinds.FMA) else None

    @property
    def local_loads_per_fma(self) -> float | None:
        """Loads from local memory for each multiply-add instruction; None where there are none."""
        return self.count(kinds.LOCAL_LOAD) / self.count(kinds.FMA) if self.count(kinds.FMA) else None

    @property
    def accesses(self) -> int:
        return sum(self.count(kind) for kind in kinds.MEMORY)


@dataclass(frozen=True)
class Loop:
    """A loop: its depth (1 is outermost), its number of inner loops, its instructions without those of inner loops, and its
    source lines by file."""

    depth: int
    inner: int
    mix: Mix
    lines: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Resources:
    """What a kernel occupies. `registers` are those of one work-item (vector registers on AMD, used ones on x86), on Intel's
    GPUs those of a hardware thread, which runs `sub_group` work-items. `spilled` counts spills in the toolchain's units
    ("bytes stored", "vector registers")."""

    registers: int
    local_bytes: int
    stack_bytes: int = 0
    scalar_registers: int = 0
    spilled: dict[str, int] = field(default_factory=dict)
    sub_group: int = 0

    @property
    def spills(self) -> bool:
        return any(self.spilled.values())


def mix_of(instructions: Sequence[Instruction]) -> Mix:
    """Count instructions."""
    effects = Counter(effect.name for each in instructions for effect in each.effects)
    opcodes = Counter(each.opcode for each in instructions)
    scalars = sum(effect.scalars for each in instructions for effect in each.effects)
    return Mix(len(instructions), _sorted(effects), scalars, _sorted(opcodes))


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def loop_record(loop: LoopCode) -> Loop:
    return Loop(loop.depth, loop.inner, mix_of(loop.instructions), places(loop.instructions))
