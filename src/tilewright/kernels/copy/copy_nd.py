"""copy_nd.cl as a Kernel: copies between arrays of many dimensions in one launch, and conversions."""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...core.kernel import Config, Kernel, NDRange, round_up
from ...core.operands import Operand, Scalars
from ...core.problem import Arrays, Problem
from ...core.types import ELEMENT_TYPES, element_type
from .configs import TYPES

# OpenCL C's names of the types that can be converted, by NumPy's.
SPELLED = {
    "bool": "uchar", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
    "int64": "long", "uint64": "ulong", "float16": "half", "float32": "float", "float64": "double",
    "complex64": "float2", "complex128": "double2",
}  # fmt: skip


@dataclass(frozen=True)
class StridedCopyND:
    """output[index . writes] = input[index . reads] for every index below `sides`; offsets and steps are in elements.

    Dimensions are ordered by the output's steps, the smallest last: neighbouring work-items write neighbouring elements. `dtype`
    has the size of the input's elements, `result` that of the output's. Elements are copied as they are, or converted as in C
    between the two types of SPELLED that `converts` names.
    """

    operation: ClassVar[str] = "copy of many dimensions"
    sides: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    dtype: str
    input_offset: int = 0
    output_offset: int = 0
    result: str = ""  # the same as `dtype`
    converts: tuple[str, str] | None = None

    @property
    def title(self) -> str:
        return f"copy {'x'.join(map(str, self.sides))} {self.dtype}"

    @property
    def flops(self) -> int:
        return 0

    @property
    def operands(self) -> tuple[Operand, ...]:
        return Operand("input", self.sides, self.dtype), Operand(
            "output", self.sides, self.result or self.dtype, written=True
        )

    @property
    def scalars(self) -> Scalars:
        return {
            "elements": prod(self.sides),
            "input_offset": self.input_offset,
            "output_offset": self.output_offset,
        }

    def reference(self, arrays: Arrays) -> np.ndarray:
        """What a dense output holds, whose steps are those of its sides."""
        elements = arrays["input"].reshape(-1)[self.input_offset :]
        strides = tuple(step * elements.itemsize for step in self.reads)
        seen = np.lib.stride_tricks.as_strided(elements, self.sides, strides)
        return seen.astype(self.converts[1]) if self.converts else seen.copy()

    def error_bound(self, arrays: Arrays, reference: np.ndarray) -> np.ndarray | float:
        return 0.0


@dataclass(frozen=True)
class CopyNDConfig(Config):
    """The work-group's size; the other macros are the problem's."""

    GROUP: int

    def macros(self, problem: Problem) -> dict[str, str | int]:
        assert isinstance(problem, StridedCopyND)
        lists = {"SIDES": problem.sides, "READS": problem.reads, "WRITES": problem.writes}
        return {
            **super().macros(problem),
            **_elements(problem),
            "DIMENSIONS": len(problem.sides),
            **{name: ", ".join(map(str, values)) for name, values in lists.items()},
        }

    def ndrange(self, problem: Problem) -> NDRange:
        assert isinstance(problem, StridedCopyND)
        return NDRange((round_up(prod(problem.sides), self.GROUP),), (self.GROUP,))


def _elements(problem: StridedCopyND) -> dict[str, str | int]:
    """How an element is loaded and stored."""
    if problem.converts is None:
        kind = TYPES[element_type(problem.dtype).itemsize]
        return {
            "ELEMENT": kind,
            "RESULT": kind,
            "LOAD(from, place)": "from[place]",
            "STORE(value, to, place)": "to[place] = (value)",
        }
    source, target = (SPELLED[name] for name in problem.converts)
    load = "vload_half(place, from)" if source == "half" else "from[place]"
    if problem.converts[0] == "bool":
        load = "(from[place] != 0)"  # any byte but 0 is true
    summed = "float" if target == "half" else target
    if target.endswith("2") and not source.endswith("2"):
        value = f"({target})(convert_{target[:-1]}(value), 0)"
    elif problem.converts[1] == "bool":
        value = "(value) != 0"
    else:
        value = f"convert_{summed}(value)"
    if target == "half" and source == "double":
        value = "value"
    store = f"vstore_half({value}, place, to)" if target == "half" else f"to[place] = {value}"
    return {"ELEMENT": source, "RESULT": target, "LOAD(from, place)": load, "STORE(value, to, place)": store}


COPY_ND = Kernel(
    Path(__file__).parent / "copy_nd.cl",
    CopyNDConfig(256),
    StridedCopyND.operation,
    (CopyNDConfig(32),),
    dtypes=tuple(ELEMENT_TYPES),
)
