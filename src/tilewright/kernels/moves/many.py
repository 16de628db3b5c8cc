"""many.cl as a Kernel: moves between arrays of more dimensions than a launch of the other kernels has."""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...dtypes import ELEMENT_TYPES, element_type
from ...kernel import Config, Kernel, NDRange, round_up
from ...operands import Operand, Scalars
from ...problem import Arrays, Problem
from .configs import TYPES


@dataclass(frozen=True)
class ManyMove:
    """output[index . writes] = input[index . reads] for every index below `sides`; offsets and steps are in elements.

    The output's steps decrease, as far as they can, so that neighbouring work-items write neighbouring elements.
    """

    operation: ClassVar[str] = "move of many dimensions"
    sides: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    dtype: str
    input_offset: int = 0
    output_offset: int = 0

    @property
    def title(self) -> str:
        return f"move {'x'.join(map(str, self.sides))} {self.dtype}"

    @property
    def flops(self) -> int:
        return 0

    @property
    def operands(self) -> tuple[Operand, ...]:
        return Operand("input", self.sides, self.dtype), Operand("output", self.sides, self.dtype, written=True)

    @property
    def scalars(self) -> Scalars:
        return {
            "elements": prod(self.sides),
            "input_offset": self.input_offset,
            "output_offset": self.output_offset,
        }

    def reference(self, arrays: Arrays) -> np.ndarray:
        return arrays["input"]

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        return 0.0


@dataclass(frozen=True)
class ManyConfig(Config):
    """The group's size; all else is the problem's."""

    GROUP: int

    def macros(self, problem: Problem) -> dict[str, str | int]:
        assert isinstance(problem, ManyMove)
        lists = {"SIDES": problem.sides, "READS": problem.reads, "WRITES": problem.writes}
        return {
            **super().macros(problem),
            "ELEMENT": TYPES[element_type(problem.dtype).itemsize],
            "DIMENSIONS": len(problem.sides),
            **{name: ", ".join(map(str, values)) for name, values in lists.items()},
        }

    def ndrange(self, problem: Problem) -> NDRange:
        assert isinstance(problem, ManyMove)
        return NDRange((round_up(prod(problem.sides), self.GROUP),), (self.GROUP,))


MANY = Kernel(
    Path(__file__).parent / "many.cl",
    ManyConfig(256),
    ManyMove.operation,
    (ManyConfig(32),),
    dtypes=tuple(ELEMENT_TYPES),
)
