"""A listing of machine code as plain data, the same for all instruction sets: instructions, what each does, where it goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from . import instruction_kinds as kinds


@dataclass(frozen=True)
class Effect:
    """One thing that an instruction does; `bits` is the width of a load or store of one work-item, or of an x86
    instruction; `scalars` are the multiply-adds that it makes for one work-item, or in all lanes of an x86 vector."""

    kind: str
    bits: int = 0
    scalars: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind} {self.bits}" if self.bits else self.kind


@dataclass(frozen=True)
class Instruction:
    """One instruction. `opcode` is the word that counters count ("FFMA"), `effects` what it does, `target` the label that
    a branch names, `place` the source's file and line, where the listing tells."""

    opcode: str
    text: str
    effects: tuple[Effect, ...] = ()
    flow: str = kinds.NEXT
    target: str = ""
    place: tuple[str, int] = ("", 0)


@dataclass(frozen=True)
class Listing:
    """The code of one kernel; `labels` tell which instruction each label stands before, `functions` where those that it
    calls begin, if their code is here, too."""

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    functions: tuple[int, ...] = ()

    def target(self, instruction: Instruction) -> int | None:
        """The index of the instruction that a branch leads to; None if it lies outside."""
        return self.labels.get(instruction.target) if instruction.target else None

    def parts(self) -> tuple["Listing", ...]:
        """A listing of each function by itself."""
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
    """The functions outside the listing that it calls: what hides behind them is in no count."""
    if listing.functions:
        return ()
    return tuple(dict.fromkeys(each.target or each.text for each in listing.instructions if each.flow == kinds.CALL))


def places(instructions: Sequence[Instruction]) -> dict[str, tuple[int, int]]:
    """The first and last line of each file that the instructions come from."""
    found: dict[str, tuple[int, int]] = {}
    for each in instructions:
        file, line = each.place
        if file and line:
            first, last = found.get(file, (line, line))
            found[file] = (min(first, line), max(last, line))
    return found
