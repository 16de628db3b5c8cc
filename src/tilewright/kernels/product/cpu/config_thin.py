"""What the configurations of thin products share: those with a few rows or columns, or one step of k."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange
from ....core.problem import Problem
from ..call import GemmCall
from ..config import ProductConfig
from .elements import element_macros, result_refusal
from .row_groups import groups_of


@dataclass(frozen=True)
class ThinConfig(ProductConfig):
    """Base of the configurations whose work-items compute some rows of C each, and read A where it lies."""

    def group_rows(self, call: GemmCall) -> int:
        """Rows of C that one work-group computes."""
        raise NotImplementedError

    def refusal(self, call: GemmCall) -> str:
        """Why the product is for another kernel; "" if it is for this one."""
        raise NotImplementedError

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        return groups_of(call, self.group_rows(call))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        return {"mb": self.group_rows(self.oriented(problem))}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), **element_macros(self.oriented(problem)), "DOT": 0}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        yield from filter(None, (result_refusal(call), self.refusal(call)))
