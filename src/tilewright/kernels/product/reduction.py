"""reduce.cl: adds up the splits of a product with split-K, by a launch of its own, and applies the epilogue."""

from dataclasses import dataclass
from pathlib import Path

from ...core.kernel import Config, Kernel, NDRange
from ...core.problem import Problem
from ...core.types import ELEMENT_TYPES
from .call import call_of
from .macros import element_macros, elements

HERE = Path(__file__).parent


@dataclass(frozen=True)
class ReduceConfig(Config):
    """reduce.cl: ITEMS_PER_ELEMENT work-items per element of C."""

    GROUP_ELEMENTS: int = 32
    ITEMS_PER_ELEMENT: int = 8

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), **element_macros(call_of(problem))}

    def ndrange(self, problem: Problem) -> NDRange:
        call, items = call_of(problem), self.GROUP_ELEMENTS * self.ITEMS_PER_ELEMENT
        return NDRange((-(-call.m * call.n // self.GROUP_ELEMENTS) * items, 1, call.batch), (items, 1, 1))

    def local_bytes(self, problem: Problem) -> int:
        kind = elements(call_of(problem).dtype)
        return self.GROUP_ELEMENTS * self.ITEMS_PER_ELEMENT * kind.parts * kind.component_bytes


def reduction(splits: int) -> ReduceConfig:
    """Elements side by side as far as there are few splits; the more splits, the more work-items add up an element."""
    items = 1
    while items < 32 and 8 * items <= splits:
        items *= 2
    return ReduceConfig(256 // items, items)


REDUCE = Kernel(HERE / "reduce.cl", ReduceConfig(), dtypes=tuple(ELEMENT_TYPES), scales=True)
