"""The launches of an "fp32_split" product: cut A and B into halves, then multiply these."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ....core.device import DeviceInfo
from ....core.kernel import Config, NDRange
from ....core.problem import Problem
from ....core.tensor_map import TensorMap
from ..call import GemmCall, call_of
from ..macros import element_macros, result_width
from .splitting import FLOAT_BYTES, HALF_BYTES, pitch_of, sides

SHALLOW = 128  # below this K the cutting costs more than the tensor cores gain
# An estimate in clock cycles, from times on an H200: of halves, a step of 64 in k, a tile's beginning and end, both
# launches' beginnings and ends; of floats, those of one launch and their share of the device's multiply-adds.
STEP, TILE, LAUNCHES = 1700, 3000, 17000
FLOATS_LAUNCH, FLOATS_EFFICIENCY = 6800, 0.85
CUT_BYTES = 15  # read or written in a cycle for each compute unit


@dataclass(frozen=True)
class TileConfig(Config):
    """What main_loop.cl and fallback.cl, which it includes, share: tiles of C."""

    BM: int = 128
    BN: int = 128

    def macros(self, problem: Problem) -> dict[str, str | int]:
        return {**super().macros(problem), **element_macros(call_of(problem))}

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        a, b = sides(call_of(problem))
        return {"a_batched": int(a.batch > 1), "b_batched": int(b.batch > 1), "tiles": self.all_tiles(problem)}

    def tiles(self, call: GemmCall) -> tuple[int, int]:
        return -(-call.m // self.BM), -(-call.n // self.BN)

    def all_tiles(self, problem: Problem) -> int:
        call = call_of(problem)
        down, across = self.tiles(call)
        return down * across * call.batch


def stored_together(problem: Problem) -> int:
    """Elements of a row of C that main_loop.cl stores together: those that a work-item holds side by side, or one."""
    return result_width(call_of(problem), 2)


@dataclass(frozen=True)
class ProductConfig(TileConfig):
    """main_loop.cl. Four tiles of halves to a stage: 227 KiB of local memory hold three stages of 128 x 128 x 64."""

    ITEMS: ClassVar[int] = 384
    BK: int = 64
    STAGES: int = 3
    GROUP_M: int = 16
    groups: int = 132  # work-groups that run at a time: a device's compute units
    only_if_faster: bool = True  # refuses products that floats compute sooner

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = call_of(problem)
        own = {"C_VEC": stored_together(problem), "WITH_ALPHA": int(call.alpha != 1), "WITH_C": int(call.beta != 0)}
        return {**super().macros(problem), **own}

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((min(self.groups, self.all_tiles(problem)) * self.ITEMS,), (self.ITEMS,))

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        call = call_of(problem)
        maps = {}
        for own, rows in zip(sides(call), (self.BM, self.BN), strict=True):
            pitch = pitch_of(call) * HALF_BYTES
            sizes, strides = (call.k, 2 * own.length, own.batch), (pitch, 2 * pitch * own.length)
            maps[f"map_{own.name.lower()}"] = TensorMap("float16", sizes, strides, (self.BK, rows, 1), 128)
        return maps

    def local_bytes(self, problem: Problem) -> int:
        tiles = self.STAGES * 2 * (self.BM + self.BN) * self.BK * HALF_BYTES
        return tiles + 16 * (self.STAGES + self.BN + 1) + 1024  # the tiles begin on 1024 bytes

    def cycles(self, call: GemmCall) -> float:
        """Of both launches: cutting at memory speed, then the tiles of the busiest work-group."""
        rounds, steps = -(-self.all_tiles(call) // self.groups), -(-call.k // self.BK)
        cut_bytes = sum(own.length * own.batch for own in sides(call)) * call.k * 2 * FLOAT_BYTES
        return LAUNCHES + cut_bytes / (CUT_BYTES * self.groups) + rounds * (steps * STEP + TILE)

    def cycles_of_floats(self, call: GemmCall) -> float:
        """128 multiply-adds in a cycle of a compute unit."""
        return FLOATS_LAUNCH + call.batch * call.m * call.n * call.k / (128 * self.groups * FLOATS_EFFICIENCY)

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = call_of(problem)
        if call.k < SHALLOW:
            yield f"K={call.k} is below {SHALLOW}: cutting A and B into halves would cost more than it gains"
        if min(call.m, call.n) < self.BM // 2:
            yield f"M={call.m}, N={call.n}: a tile of {self.BM}x{self.BN} would be more than half empty"
        if self.only_if_faster and self.cycles(call) > self.cycles_of_floats(call):
            own = f"about {self.cycles(call):,.0f} cycles by halves and {self.cycles_of_floats(call):,.0f} as floats"
            yield f"{call.m}x{call.n}x{call.k} takes {own}, which are as accurate"
        if call.result != "float32":
            yield f"the result of fp32_split is float32, not {call.result}"
