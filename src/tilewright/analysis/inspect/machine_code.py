"""Machine code as plain data, the same for all instruction sets: instructions, their effects and their branches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from . import instruction_kinds as kinds


@dataclass(frozen=True)
class Effect:
    """One effect of an instruction. `bits` is the width of a load or store of one work-item, or of an x86 instruction.
    `scalars` counts its multiply-adds for one work-item, or in all lanes of an x86 vector."""

    kind: str
    bits: int = 0
    scalars: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind} {self.bits}" if self.bits else self.kind


@dataclass(frozen=True)
class Instruction:
    """One instruction. `opcode` is the word that counters count ("FFMA"), `effects` is what it does, `target` is the label of a
    branch, and `place` is the source file and line, if the listing has them."""

    opcode: str
    text: str
    effects: tuple[Effect, ...] = ()
    flow: str = kinds.NEXT
    target: str = ""
    place: tuple[str, int] = ("", 0)


@dataclass(frozen=True)
class Listing:
    """The code of one kernel. `labels` gives the index of the instruction after each label. `functions` gives the indices at
    which called functions begin, if their code is in the listing."""

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    functions: tuple[int, ...] = ()

    def target(self, instruction: Instruction) -> int | None:
        """The index of the instruction that a branch leads to; None if it lies outside."""
        return self.labels.get(instruction.target) if instruction.target else None

    def parts(self) -> tuple["Listing", ...]:
        """One listing for each function."""
        cuts = (0, *self.functions, len(self.instructions))
        return tuple(
            Listing(
                self.instructions[first:last],
                {label: at - first for label, at in self.labels.items() if first <= at < last},
            )
            for first, last in pairwise(cuts)
            if last > first
        )


def calls(listing: Listing) -> tuple[str, ...]:
    """The called functions outside the listing. Their instructions are not counted."""
    if listing.functions:
        return ()
    hidden = (each for each in listing.instructions if each.flow == kinds.CALL and each.target not in listing.labels)
    return tuple(dict.fromkeys(each.target or each.text for each in hidden))


def places(instructions: Sequence[Instruction]) -> dict[str, tuple[int, int]]:
    """The first and last line of each file that the instructions come from."""
    found: dict[str, tuple[int, int]] = {}
    for each in instructions:
        file, line = each.place
        if file and line:
            first, last = found.get(file, (line, line))
            found[file] = (min(first, line), max(last, line))
    return found
