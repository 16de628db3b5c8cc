"""The configurations of rows.cl and columns.cl whose programs depend on classes of columns, but on no layout, team or lanes."""

from dataclasses import dataclass

from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall
from ..macros import LOAD_BYTES, element_macros, elements, reading
from .config import IN_FLIGHT, MOST_RUNS, ColumnsConfig, RowsConfig

ITEMS = 256
MOST_STEPS = 4  # of k that a work-item of columns.cl takes at a time


def column_class(call: GemmCall) -> int:
    """The number of columns that a program is made for: the next power of two."""
    return 1 << (max(call.n, 1) - 1).bit_length()


def widest(dtype: str) -> int:
    """Elements of the widest load."""
    return max(1, LOAD_BYTES // element_type(dtype).itemsize)


@dataclass(frozen=True)
class AnyRowsConfig(RowsConfig):
    """rows.cl: teams of any size, of ITEMS work-items; ROWS is 1."""

    def columns(self, call: GemmCall) -> int:
        return column_class(call)

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        a, b = reading(call, "A"), reading(call, "B")
        a_wide = a.order == "PANEL_ALONG_K" and a.width == widest(call.dtype)
        b_wide = a_wide and b.order == "PANEL_ALONG_K" and b.width >= a.width
        return {"team": self.TEAM, "a_wide": int(a_wide), "b_wide": int(b_wide)}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        own: dict[str, str | int] = {
            "ANY": 1, "ITEMS": ITEMS, "ROWS": self.ROWS, "COLUMNS": column_class(call), "A_VEC": widest(call.dtype),
        }  # fmt: skip
        return {**element_macros(call), **own}


@dataclass(frozen=True)
class AnyColumnsConfig(ColumnsConfig):
    """columns.cl: any number of lanes, of ITEMS work-items."""

    def _most(self, call: GemmCall) -> int:
        return min(widest(call.dtype), elements(call.dtype).fragment)

    def width(self, call: GemmCall) -> int:
        return most if super().width(call) == (most := self._most(call)) else 1

    def columns(self, call: GemmCall) -> int:
        return column_class(call)

    def partials(self, call: GemmCall) -> int:
        return self._most(call) * column_class(call) * elements(call.dtype).parts

    def _steps(self, call: GemmCall) -> int:
        return min(widest(call.dtype), MOST_STEPS)

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        b, most = reading(call, "B"), self._most(call)
        b_wide = b.order == "PANEL_ALONG_K" and b.width >= self._steps(call)
        return {"lanes": self.LANES, "a_wide": int(self.width(call) == most), "b_wide": int(b_wide)}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        width, steps, itemsize = self._most(call), self._steps(call), element_type(call.dtype).itemsize
        own: dict[str, str | int] = {
            "ANY": 1, "ITEMS": ITEMS, "COLUMNS": column_class(call), "A_VEC": width, "B_VEC": steps, "RUNS": MOST_RUNS,
            "BOTH_RUNS": max(1, min(MOST_RUNS, IN_FLIGHT // (width * steps * itemsize))),
        }  # fmt: skip
        return {**element_macros(call), **own}
