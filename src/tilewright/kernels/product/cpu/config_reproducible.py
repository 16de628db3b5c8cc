"""The configuration of reproducible.cl: that of 06_production.cl, with sums that wait in tiles of their own."""

from dataclasses import dataclass

from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall
from .config import CpuConfig
from .cost import STREAM_BYTES


@dataclass(frozen=True)
class ReproducibleConfig(CpuConfig):
    """The fields are those of CpuConfig. DOT is always 0: integers are exact in any order."""

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        """C is written once however many blocks K has, so that it may go around the caches whenever it is large."""
        call = self.oriented(problem)
        large = call.batch * call.m * call.n * element_type(call.result).itemsize > STREAM_BYTES
        return {**super().scalars(problem), "stream": int(large)}

    def sums_bytes(self, call: GemmCall) -> int:
        """Scratch memory for whole tiles of sums between blocks of K; 0 if there is one block."""
        if self.blocks_of_k(call) == 1:
            return 0
        tiles = call.batch * -(-call.m // self.MR) * -(-call.n // self.tile.panel)
        return tiles * self.MR * self.tile.panel * element_type(element_type(call.dtype).accumulator).itemsize
