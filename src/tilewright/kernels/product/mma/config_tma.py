"""The configurations of main_loop_tma.cl: fp64 and complex128 that TMA loads for mma.sync."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import Config, NDRange
from ....core.problem import Problem
from ....core.tensor_map import TensorMap, layout_violation, tensor_map_violation
from ....core.types import element_type
from ..call import GemmCall, remembered
from ..macros import MAX_INDEX, element_macros, result_width
from ..packing import LINE
from ..results import result_violations
from .config import MmaConfig

WARPS = 8  # that multiply: with their registers an SM holds no more
PRODUCERS = 128
REGISTERS = (240, 24)  # what setmaxnreg gives a work-item of theirs, and one of the producers
FP64_BYTES = 8
LINE_FP64 = LINE // FP64_BYTES  # elements of fp64 in a line
MOST_BOX = 256


@dataclass(frozen=True)
class MmaTmaConfig(MmaConfig):
    """main_loop_tma.cl: the fields in capitals are explained at its top, the others at MmaConfig.

    `pack` copies operands that TMA cannot read; `lines` and WARPS_K are always 1.
    """

    def semaphores(self, call: GemmCall) -> int:
        """One for each warp's part of a tile."""
        return WARPS * super().semaphores(call)

    def packed(self, call: GemmCall) -> tuple[str, ...]:
        if not self.pack:
            return ()
        return tuple(name for name in ("A", "B") if name not in call.packed and refusal(call, name))

    def ndrange(self, problem: Problem) -> NDRange:
        items = self.items + PRODUCERS
        return NDRange((self.work_groups(self.oriented(problem)) * items,), (items,))

    def local_bytes(self, problem: Problem) -> int:
        return self.STAGES * ((self.BM + self.BN) * LINE + 16) + 1024  # what the compiler puts before aligned panels

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        consumer, producer = REGISTERS
        return {
            **Config.macros(self, problem),
            **element_macros(call),
            "C_VEC": result_width(call, 2),
            "A_ACROSS": int(across("A", call)), "B_ACROSS": int(across("B", call)),
            "A_BATCHED": int(call.batched("A")), "B_BATCHED": int(call.batched("B")),
            "CONSUMER_REGISTERS": consumer, "PRODUCER_REGISTERS": producer, "WITH_C": int(call.beta != 0),
        }  # fmt: skip

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        call = self.oriented(problem)
        return {"map_a": tensor_map("A", call, self.BM), "map_b": tensor_map("B", call, self.BN)}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from self._geometry()
        call = self.oriented(problem)
        yield from result_violations(call)
        if 0 in (call.m, call.n, call.batch):
            return  # nothing is launched
        if call.k == 0:
            yield "K=0 leaves TMA nothing to load"
            return
        yield from filter(None, (refusal(call, name) for name in ("A", "B")))
        if self.tiles(call) * self.steps(call) > MAX_INDEX:
            yield f"{self.tiles(call):,} tiles of {self.steps(call):,} panels are more than an int can count"
        if self.pack and not call.packed:
            yield "TMA can read A and B where they are: packing them gains nothing"
        yield from self._stream_k_violations(call)

    def _geometry(self) -> Iterator[str]:
        yield from super()._geometry()
        if self.WARPS_M * self.WARPS_N != WARPS or self.WARPS_K * self.lines != 1:
            warps = f"{self.WARPS_M}x{self.WARPS_N}x{self.WARPS_K}"
            yield f"{warps} warps and panels of {self.lines} lines: it has {WARPS} side by side, and 1"
        if max(self.BM, self.BN) > MOST_BOX:
            yield f"TMA loads at most {MOST_BOX} rows at a time, not {max(self.BM, self.BN)}"


def across(name: str, call: GemmCall) -> bool:
    """Whether neighbours in memory are neighbours across k."""
    view, _ = call.sided(name)
    return view.row == 1 and not (view.column == 1 and call.k > 1)


def tensor_map(name: str, call: GemmCall, side: int) -> TensorMap:
    """How TMA reads the operand, as fp64: lines of 128 bytes, `side` rows or all k of a panel at a time."""
    view, rows = call.sided(name)
    itemsize = element_type(call.dtype).itemsize
    parts, matrices = itemsize // FP64_BYTES, call.batch if view.batch else 1
    if across(name, call):
        sizes, stride, lines = (rows * parts, call.k, matrices), view.column, LINE_FP64 // parts
    else:
        sizes, stride, lines = (call.k * parts, rows, matrices), view.row, side
    distance = view.batch or stride * sizes[1]  # of a lone matrix, any that a map may have
    return TensorMap("float64", sizes, (stride * itemsize, distance * itemsize), (LINE_FP64, lines, 1), LINE)


@remembered
def refusal(call: GemmCall, name: str) -> str:
    """Why TMA cannot read the operand, as a sentence, or ""."""
    view, _ = call.sided(name)
    itemsize = element_type(call.dtype).itemsize
    return layout_violation(name, view, itemsize) or tensor_map_violation(
        name, tensor_map(name, call, WARPS), FP64_BYTES
    )
