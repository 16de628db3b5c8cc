"""The configurations of main_loop_elements.cl: its geometry, its macros, and what speaks against them."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall
from ..config import SplitTilesConfig, tensor_cores_add_alike
from ..macros import LOAD_BYTES, Reading, element_macros, elements, reading, result_width
from .config import INSTRUCTIONS, WARP

PANELS = 2  # one is multiplied while the next is filled
PAD = {2: 8, 8: 4}  # elements at the end of a panel's lines, by a component's bytes: neighbours lie in different banks
SUMS_PAD = 8  # elements at the end of a row of sums


@dataclass(frozen=True)
class MmaElementsConfig(SplitTilesConfig):
    """main_loop_elements.cl: the fields are explained at its top."""

    WARPS_M: int
    WARPS_N: int
    WARPS_K: int = 1
    GROUP_M: int = 8

    @property
    def items(self) -> int:
        return WARP * self.WARPS_M * self.WARPS_N * self.WARPS_K

    def sums_alike(self, problem: Problem) -> bool:
        return tensor_cores_add_alike(self.oriented(problem))

    def readings(self, call: GemmCall) -> tuple[Reading, Reading]:
        """How the panels of A and B are read, by loads no wider than divide the work among the items."""
        return self._divided(reading(call, "A"), self.BM), self._divided(reading(call, "B"), self.BN)

    def _divided(self, wanted: Reading, side: int) -> Reading:
        width = wanted.width
        while width > 1 and side * self.BK % (self.items * width):
            width //= 2
        return Reading(wanted.order, width)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        a, b = self.readings(call)
        return {
            **super().macros(problem),
            **element_macros(call),
            **self._instruction_macros(call),
            "A_ORDER": a.order, "A_VEC": a.width, "B_ORDER": b.order, "B_VEC": b.width,
            "C_VEC": self.store_width(call), "C_PAIRS": int(self.stores_pairs(call)), "SPLIT_K": int(self.split_k > 1),
        }  # fmt: skip

    def _instruction_macros(self, call: GemmCall) -> dict[str, str | int]:
        """What multiplies the elements, the file that knows how they are read, and their sizes."""
        kind = element_type(call.dtype)
        sizes: dict[str, str | int] = {
            "STORED_BYTES": stored_bytes(call), "SUM_BYTES": kind.component_bytes, "PAD": PAD[stored_bytes(call)],
        }  # fmt: skip
        if kind.itemsize == 2:
            return {**sizes, "FRAGMENTS": "elements_words.cl", "MMA": INSTRUCTIONS[call.dtype]}
        return {**sizes, "FRAGMENTS": "elements_f64.cl"}

    def store_width(self, call: GemmCall) -> int:
        """Elements of a row of C that a work-item stores at a time."""
        width = result_width(call, LOAD_BYTES)
        while width > 1 and self.BM * self.BN % (self.items * width):
            width //= 2
        return width

    def stores_pairs(self, call: GemmCall) -> bool:
        """Whether words of two elements are stored, although rows begin at any element."""
        return self.store_width(call) == 1 and call.c.column == 1 and element_type(call.result).itemsize == 2

    def local_bytes(self, problem: Problem) -> int:
        call = self.oriented(problem)
        kind, pad = elements(call.dtype), PAD[stored_bytes(call)]
        panels = 0
        for how, side in zip(self.readings(call), (self.BM, self.BN), strict=True):
            panels += side * (self.BK + pad) if how.order == "PANEL_ALONG_K" else self.BK * (side + pad)
        panels *= PANELS * kind.parts * stored_bytes(call)
        sums = self.WARPS_K * self.BM * (self.BN + SUMS_PAD) * kind.parts * kind.component_bytes
        return max(panels, sums)

    def registers(self, call: GemmCall) -> int:
        kind = elements(call.dtype)
        words = kind.parts * kind.component_bytes // 4
        sums = words * self.BM * self.BN * self.WARPS_K // self.items
        loaded = -(-kind.parts * stored_bytes(call) // 4) * (self.BM + self.BN) * self.BK // self.items
        operands = words * (self.BM // self.WARPS_M + self.BN // self.WARPS_N) // 4
        return sums + loaded + operands + 40

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from self._geometry()
        yield from super().violations(problem, device)

    def _geometry(self) -> Iterator[str]:
        """What is wrong with the numbers themselves, for any size of the problem."""
        for side, block, warps in (("M", self.BM, self.WARPS_M), ("N", self.BN, self.WARPS_N)):
            if block % (warps * 16):
                yield f"B{side}={block} is not a multiple of WARPS_{side}={warps} times 16"
            if block * self.BK % self.items:
                yield f"a panel of {block}x{self.BK} cannot be divided evenly among {self.items} work-items"
        if self.BK % (16 * self.WARPS_K):
            yield f"BK={self.BK} is not a multiple of 16 for each of WARPS_K={self.WARPS_K}"
        if self.WARPS_K > 1 and self.split_k > 1:
            yield f"split_k={self.split_k}: partial tiles are of one slice, not of WARPS_K={self.WARPS_K}"


def stored_bytes(call: GemmCall) -> int:
    """Bytes of a component of A or B."""
    kind = element_type(call.dtype)
    return kind.itemsize // kind.parts
