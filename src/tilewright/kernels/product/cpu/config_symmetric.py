"""The configuration of symmetric.cl: the blocks of a triangle."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ....core.device import DeviceInfo
from ....core.kernel import NDRange
from ....core.problem import Problem
from ..call import GemmCall
from .config import CpuConfig
from .cost import (
    FETCH_A,
    GROUP,
    PACK_A,
    PACK_B,
    UNEVENNESS,
    WAKE,
    Blocking,
    Tile,
    cycles,
    depths,
    grids,
    in_place,
)

MIRROR = 8.0  # cycles for each vector of C that is copied to the other side


@dataclass(frozen=True)
class CpuSymmetricConfig(CpuConfig):
    """symmetric.cl. Its work-groups are blocks on and below the diagonal, which `groups` of a Blocking does not count."""

    def cut(self, call: GemmCall, k: int, c_bytes: int, a_bytes: int, a_row: int | None) -> Blocking:
        return triangle_blocking(call.m, k, call.batch, self.tile, self.units, a_bytes, a_row)

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        if not (call.m and call.batch):
            return NDRange((0, 0, 0), (1, 1, 1))
        blocks = self.blocks(call)
        return NDRange((blocks_of_triangle(call.m, blocks.mb, blocks.nb), 1, call.batch), (1, 1, 1))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        if not call.symmetric:
            yield f"{call.title} is no product of A and its own transpose"
        yield from super().violations(problem, device)


def blocks_of_triangle(n: int, mb: int, nb: int) -> int:
    """Blocks of mb x nb of a matrix of n x n that touch its lower triangle."""
    return sum(-(-min(n, first + mb) // nb) for first in range(0, n, mb))


@cache
def triangle_blocking(n: int, k: int, batch: int, tile: Tile, units: int, a_bytes: int, a_row: int | None) -> Blocking:
    """The blocks for the lower triangle of C (n x n) = A A^T over k, `batch` times, as `blocking` finds those of a rectangle."""

    def cost(blocks: tuple[int, int, int]) -> float:
        mb, nb, kb = blocks
        lies = in_place(a_row, kb, a_bytes)
        groups = batch * blocks_of_triangle(n, mb, nb)
        one = cycles(mb, nb, k, kb, tile, lies)
        around = ((FETCH_A if lies else PACK_A) * mb + PACK_B * nb) * k / tile.width + GROUP
        area = n * (n + tile.panel + tile.rows) / 2
        total = groups * around + batch * area * ((one - around) / (mb * nb) + MIRROR / tile.width)
        if groups == 1 or units == 1:
            return total
        return WAKE + total / units * (1 + UNEVENNESS * units / groups) + one * (units - 1) / units / 2

    tried = ((mb, nb, kb) for kb in depths(k, tile) for mb, nb in grids(n, n, kb, tile, -(-units // batch)))
    mb, nb, kb = min(tried, key=cost)
    return Blocking(mb, nb, kb, -(-n // mb), -(-n // nb), False, in_place(a_row, kb, a_bytes))
