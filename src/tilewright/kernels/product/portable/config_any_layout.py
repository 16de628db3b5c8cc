"""The configurations of any_layout.cl: tiles whose program does not depend on how the operands lie in memory."""

from dataclasses import dataclass

from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall
from ..macros import LOAD_BYTES, Reading, elements, reading, result_width
from .config import PortableConfig, best_pad

SINGLE = 2  # what `how` has more where elements are read one by one
HOW = {"PANEL_ACROSS": 0, "PANEL_ALONG_K": 1}


@dataclass(frozen=True)
class AnyLayoutConfig(PortableConfig):
    """any_layout.cl: operands are read by the widest vectors, or by single elements; never packed."""

    def widest(self, side: int, dtype: str) -> int:
        """Elements of the widest loads of a panel, along k and across it."""
        width = max(1, LOAD_BYTES // element_type(dtype).itemsize)
        while width > 1 and (self.BK % width or side % width or side * self.BK % (self.items * width)):
            width //= 2
        return width

    def readings(self, call: GemmCall) -> tuple[Reading, Reading]:
        """How the panels of A and B are read: by the widest loads, or by single elements."""
        return self._read(call, "A", self.BM), self._read(call, "B", self.BN)

    def _read(self, call: GemmCall, name: str, side: int) -> Reading:
        own, widest = reading(call, name), self.widest(side, call.dtype)
        return Reading(own.order, widest if own.width >= widest else 1)

    def pads(self, call: GemmCall) -> tuple[int, int]:
        """Those of panels that are read along k: reading across it takes no more with them."""
        kind = elements(call.dtype)
        a, b = (best_pad(side, self.BK, self.widest(side, call.dtype), self.items, kind) for side in (self.BM, self.BN))
        return a, b

    def _stored(self, call: GemmCall) -> int:
        """Elements of C that are stored together where they lie side by side."""
        return max(1, min(elements(call.dtype).fragment, LOAD_BYTES // element_type(call.result).itemsize))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        a, b = (HOW[how.order] + SINGLE * (how.width == 1) for how in self.readings(call))
        stored = self._stored(call)
        return {"a_how": a, "b_how": b, "c_wide": int(result_width(call, stored) == stored)}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        a, b = self.widest(self.BM, call.dtype), self.widest(self.BN, call.dtype)
        own: dict[str, str | int] = {
            "A_ORDER": "PANEL_ANY", "A_VEC": a, "B_ORDER": "PANEL_ANY", "B_VEC": b, "C_VEC": self._stored(call),
        }  # fmt: skip
        return {**super().macros(problem), **own}

    def registers(self, call: GemmCall) -> int:
        """With an offset for each element that is read by itself."""
        a, b = self.readings(call)
        panels = ((self.BM, a.width), (self.BN, b.width))
        return super().registers(call) + sum(
            side * self.BK // self.items * (width - 1) // width for side, width in panels
        )
