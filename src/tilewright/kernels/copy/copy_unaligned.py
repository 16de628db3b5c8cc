"""The configuration of copy_unaligned.cl: int8 and int16 rows whose leading dimension is unaligned."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.device import DeviceInfo
from ...core.operands import Layout
from ...core.problem import Problem
from ...core.types import element_type
from .configs import TYPES, WORD, CopyGroupConfig
from .strided_copy import VECTOR_BYTES, StridedCopy, too_long, width

Side = tuple[str, Layout, int, int]  # what it is called, how it lies, its lines in memory and their length


def per_word(copy: StridedCopy) -> int:
    """Elements of a word; 1 where they are as large, or larger."""
    return max(1, WORD // element_type(copy.dtype).itemsize)


def vector(copy: StridedCopy) -> int:
    """Elements of VECTOR_BYTES."""
    return VECTOR_BYTES // element_type(copy.dtype).itemsize


def scattered(copy: StridedCopy, *sides: Side) -> Iterator[str]:
    """Why the elements of a line are not neighbours in memory, or the lines lie in reverse order."""
    for name, side, lines, length in sides:
        if side.column != 1 and length > 1:
            yield f"neighbours in the {name} are {side.column} elements apart, so a word does not hold two of them"
        if side.row < 0 and lines > 1:
            yield f"the {name}'s first line lies behind its last one, with {side.row} elements from line to line"


@dataclass(frozen=True)
class CopyUnalignedConfig(CopyGroupConfig):
    """copy_unaligned.cl, whose top explains the fields."""

    GROUP_Y: int = 2

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        across, down = self.group(copy)
        return down, across * vector(copy)

    def covered(self, copy: StridedCopy) -> tuple[int, int]:
        """A row may begin inside its first aligned vector."""
        return copy.rows, copy.columns + vector(copy) - 1

    def macros(self, problem: Problem) -> dict[str, str | int]:
        copy = self.oriented(problem)
        across, down = self.group(copy)
        element, merged = TYPES[element_type(copy.dtype).itemsize], per_word(copy)
        return {"ELEMENT": element, "MERGE": merged, "WORD": TYPES[WORD], "GROUP_X": across, "GROUP_Y": down}

    def refusals(self, problem: Problem) -> Iterator[str]:
        """Why this kernel cannot compute a copy, or another is faster."""
        copy = self.oriented(problem)
        itemsize, sides = element_type(copy.dtype).itemsize, (copy.source, copy.target)
        if itemsize >= WORD:
            yield f"elements of {itemsize} bytes are at least words of {WORD} bytes already"
            return
        yield from too_long(copy)
        named = zip(("source", "target"), sides, strict=True)
        yield from scattered(copy, *((name, side, copy.rows, copy.columns) for name, side in named))
        if all(width(side, copy.columns, copy.rows, copy.batch, itemsize) * itemsize >= WORD for side in sides):
            yield "all lines are aligned to words, and copy.cl with vectors is faster"

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        return self.refusals(problem)
