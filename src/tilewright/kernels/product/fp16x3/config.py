"""The configuration of main_loop.cl: its geometry, its macros, and what speaks against it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ....core.device import DeviceInfo
from ....core.kernel import NDRange
from ....core.problem import Problem
from ....core.tensor_map import TensorMap
from ..call import GemmCall
from ..config import TiledConfig, tensor_cores_add_alike
from ..macros import element_macros, result_width
from .config_split import FP16_BYTES, pitch_of, sides
from .cost import cost, plain_cost

SHALLOW = 128  # below this K, splitting the operands costs more than the tensor cores gain


@dataclass(frozen=True)
class Fp16x3Config(TiledConfig):
    """main_loop.cl. Four tiles of fp16 to a stage: 227 KiB of local memory hold three stages of 128 x 128 x 64."""

    ITEMS: ClassVar[int] = 384
    BM: int = 128
    BN: int = 128
    BK: int = 64
    STAGES: int = 3
    GROUP_M: int = 16
    groups: int = 132  # work-groups that run at a time: a device's SMs
    only_if_faster: bool = True  # refuses products that CUDA cores compute sooner

    @property
    def splits_tail(self) -> bool:
        return False

    def sums_alike(self, problem: Problem) -> bool:
        return tensor_cores_add_alike(self.oriented(problem))

    def work_groups(self, call: GemmCall) -> int:
        return min(self.groups, self.tiles(call))

    def steps(self, call: GemmCall) -> int:
        """Stages of one tile."""
        return -(-call.k // self.BK)

    def result_width(self, call: GemmCall) -> int:
        """Elements of a row of C that are stored together: those that a work-item holds side by side, or one."""
        return result_width(call, 2)

    def cost(self, call: GemmCall) -> float:
        """Cycles of both launches."""
        return cost(self.tiles(call), self.steps(call), self.groups, call)

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        a, b = sides(call)
        return {"a_batched": int(a.batch > 1), "b_batched": int(b.batch > 1), "tiles": self.tiles(call)}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        own = {"C_VEC": self.result_width(call), "WITH_ALPHA": int(call.alpha != 1), "WITH_C": int(call.beta != 0)}
        return {**super().macros(problem), **element_macros(call), **own}

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((self.work_groups(self.oriented(problem)) * self.ITEMS,), (self.ITEMS,))

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        call = self.oriented(problem)
        maps = {}
        for side, rows in zip(sides(call), (self.BM, self.BN), strict=True):
            pitch = pitch_of(call) * FP16_BYTES
            sizes, strides = (call.k, 2 * side.length, side.batch), (pitch, 2 * pitch * side.length)
            maps[f"map_{side.name.lower()}"] = TensorMap("float16", sizes, strides, (self.BK, rows, 1), 128)
        return maps

    def local_bytes(self, problem: Problem) -> int:
        tiles = self.STAGES * 2 * (self.BM + self.BN) * self.BK * FP16_BYTES
        return tiles + 16 * (self.STAGES + self.BN + 1) + 1024  # the tiles begin on 1024 bytes

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        if call.k < SHALLOW:
            yield f"K={call.k} is below {SHALLOW}: splitting A and B into fp16 would cost more than it gains"
        if min(call.m, call.n) < self.BM // 2:
            yield f"M={call.m}, N={call.n}: a tile of {self.BM}x{self.BN} would be more than half empty"
        by_tensor_cores, by_cuda_cores = self.cost(call), plain_cost(self.groups, call)
        if self.only_if_faster and by_tensor_cores > by_cuda_cores:
            both = f"about {by_tensor_cores:,.0f} cycles by fp16 and {by_cuda_cores:,.0f} by float32"
            yield f"{call.m}x{call.n}x{call.k} takes {both}, which is as accurate"
        if call.result != "float32":
            yield f"the result of fp32_split is float32, not {call.result}"
