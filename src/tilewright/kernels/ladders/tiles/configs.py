"""The configurations of the ladder `tiles`: tiles of a work-group and of a work-item.

The tutorial's names and ours:

    TS           BM = BN = BK   side of a square tile             WPT    TN          columns of C per work-item
    TSM TSN TSK  BM BN BK       tile of a work-group              WIDTH  VEC         elements of a wide load
    WPTM WPTN    TM TN          rows, columns of C per work-item  TSDK   BK          depth of `transposed`'s tiles
    RTSM RTSN    ITEMS_M/N      work-items of a group along M, N  RTS    ITEMS_N     as in `more_work_per_item`, `transposed`
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ....core.device import DeviceInfo
from ....core.kernel import Config, NDRange
from ....core.problem import Problem
from ....core.types import element_type
from ...sizes import size


@dataclass(frozen=True)
class Tile(Config):
    """A work-group computes BM x BN elements of C, a work-item TM x TN of them."""

    vectors: ClassVar[tuple[tuple[str, str], ...]] = ()  # (side, field): loads of `field` elements run along it

    BM: int  # rows of C per work-group
    BN: int  # columns of C per work-group
    BK: int = 0  # depth of the tiles in local memory; 0 if there are none
    TM: int = 1  # rows of C per work-item
    TN: int = 1  # columns of C per work-item
    VEC: int = 1  # elements of one load from global memory
    PAD: int = 0  # unused elements at the end of each row of the tile of B
    STAGES: int = 1  # buffers in local memory for each tile

    @property
    def local_size(self) -> tuple[int, int]:
        return self.BM // self.TM, self.BN // self.TN

    def ndrange(self, problem: Problem) -> NDRange:
        m, n = size(problem, "M"), size(problem, "N")
        items_m, items_n = self.local_size
        return NDRange((-(-m // self.BM) * items_m, -(-n // self.BN) * items_n), self.local_size)

    def local_bytes(self, problem: Problem) -> int:
        elements = self.BM * self.BK + self.BN * (self.BK + self.PAD)
        return elements * self.STAGES * element_type(problem.dtype).itemsize

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        for block, item in (("BM", "TM"), ("BN", "TN")):
            if getattr(self, block) % getattr(self, item):
                yield f"{self._named(block)} is not a multiple of {self._named(item)}"
        for side, field in self.vectors:
            if size(problem, side) % getattr(self, field):
                yield (
                    f"{side}={size(problem, side)} is not a multiple of {getattr(self, field)}, "
                    f"which a load of {self._named(field)} elements needs"
                )

    def _named(self, field: str) -> str:
        return f"{field}={getattr(self, field)}"


@dataclass(frozen=True)
class SquareTile(Tile):
    """`tiled` to `wide_types`: one side for all tiles, so that each work-item loads as much of A as of B."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        if not self.BM == self.BN == self.BK:
            yield f"the tiles are not square: BM={self.BM}, BN={self.BN}, BK={self.BK}"


@dataclass(frozen=True)
class WideSquareTile(SquareTile):
    """`wide_types`: vectors of A and C along M, of B along K; a work-item computes one vector of C."""

    vectors = (("M", "VEC"), ("K", "VEC"))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        if self.TM != self.VEC:
            yield f"TM={self.TM} is not VEC={self.VEC}, though a work-item computes one vector of C"


@dataclass(frozen=True)
class WideTile(Tile):
    """`wide_loads` and `shuffles`: vectors of A along M, of the transposed B along N."""

    vectors = (("M", "VEC"), ("N", "VEC"))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        for block in ("BM", "BN"):
            if getattr(self, block) % self.VEC:
                yield f"{self._named(block)} is not a multiple of VEC={self.VEC}"


@dataclass(frozen=True)
class ShuffleTile(WideTile):
    """`shuffles`: whole warps, in which the work-items with the same columns of C lie side by side."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        items_m, items_n = self.local_size
        if self.VEC != 4:
            yield f"VEC={self.VEC} is not 4, the words that ld.global.nc.v4 loads"
        if 32 % items_m or items_m < self.TN:
            yield f"BM/TM={items_m} work-items do not divide a warp of 32, or are fewer than the TN={self.TN} values"
        if items_m * items_n % 32:
            yield f"{items_m}x{items_n} work-items are not whole warps of 32"


@dataclass(frozen=True)
class PrefetchTile(Tile):
    """`prefetch` and `any_size`: each work-item holds its share of the next tiles in registers."""

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from super().violations(problem, device)
        items = self.local_size[0] * self.local_size[1]
        for block in ("BM", "BN"):
            if getattr(self, block) * self.BK % (self.VEC * items) or getattr(self, block) % self.VEC:
                yield f"{self._named(block)}, BK={self.BK}: {items} work-items cannot share it by VEC={self.VEC} evenly"
        if self.STAGES != 2:
            yield f"STAGES={self.STAGES} is not 2: one buffer to read, one to fill"


@dataclass(frozen=True)
class RegisterTile(Tile):
    """`clblas_style`: no local memory; vectors of TM rows of A and C, and of VEC elements of B along K."""

    vectors = (("M", "TM"), ("K", "VEC"))
