"""The configurations of main_loop.cl: their geometry, their macros, their tensor maps, and what speaks against them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange
from ....core.problem import Problem
from ....core.tensor_map import TensorMap, layout_violation, tensor_map_violation
from ....core.types import element_type
from ..call import GemmCall, remembered
from ..chain import division_of_k
from ..config import TiledConfig
from ..macros import MAX_INDEX, element_macros, elements, result_width
from ..packing import Place, across_k, room
from ..results import result_violations

CONSUMERS = 256  # work-items of a group that multiply: with their registers an SM holds no more
WARPS = CONSUMERS // 32
PRODUCERS = 128
WARP_TILE = 64  # rows and columns of a warp's tile
# What setmaxnreg gives a consumer and a producer. With more the compiler reads so far ahead that it moves sums about.
REGISTERS, TRANSPOSING_REGISTERS = (224, 56), (216, 72)
BOX_DEPTH = 16  # k of a box of an operand that is transposed: 64 bytes
MOST_ROWS = 256  # of a box
EXCHANGED = 16 * 8 * 4 * CONSUMERS  # bytes of all sums of a work-group
MOST_STAGES = 6  # more gained nothing
MOST_SIDE = 512  # rows or columns of a tile
MOST_COPIED = 8  # part of the device's memory that copies may take: 1/8; the portable kernels need none
LOCAL_BYTES = 232448 - 2048  # what Hopper's SMs give a group, less alignment and barriers


@dataclass(frozen=True)
class CudaCoresConfig(TiledConfig):
    """main_loop.cl: the fields in capitals are explained at its top. `groups` is how many work-groups run at a time.

    With `stream_k`, the tiles of the tail wave are computed by all `groups` work-groups. These must run at a time, because
    those that compute a tile together wait for each other. With `pack`, operands that TMA cannot read are copied into
    aligned scratch memory first; with `transpose`, those that lie along k, too.
    """

    SLICED_K: int = 1
    DEPTH: int = 16
    GROUP_M: int = 8
    groups: int = 132
    stream_k: bool = False
    pack: bool = False
    transpose: bool = False

    @property
    def place(self) -> Place:
        return across_k

    @property
    def depth(self) -> int:
        """Elements of k of a stage."""
        return self.DEPTH * self.SLICED_K

    def packed(self, call: GemmCall) -> tuple[str, ...]:
        """Which of "A" and "B" are copied first."""
        unread = (name for name in ("A", "B") if name not in call.packed and self._copies(name, call))
        return tuple(unread) if self.pack or self.transpose else ()

    def _copies(self, name: str, call: GemmCall) -> bool:
        return bool(refusal(call, name)) or (self.transpose and along_k(name, call))

    @property
    def splits_tail(self) -> bool:
        return self.stream_k

    def components(self, call: GemmCall) -> int:
        return elements(call.dtype).parts

    def tile_bytes(self, call: GemmCall) -> int:
        return 4 * self.BM * self.BN // elements(call.dtype).parts

    def steps(self, call: GemmCall) -> int:
        """Stages of a tile."""
        return max(1, -(-call.k // self.depth))

    def work_groups(self, call: GemmCall) -> int:
        """How many are launched: one for each tile, at most `groups`, or as many as compute the tail wave.

        Slices are added up in the local memory of stages, so that such a work-group must not load a tile's ahead.
        """
        tiles, steps = self.tiles(call), self.steps(call)
        if not self.stream_k or (self.SLICED_K > 1 and tiles >= self.groups):
            return tiles if self.SLICED_K > 1 else min(self.groups, tiles)
        if not 0 < tiles < self.groups:
            return min(self.groups, tiles)
        splits = min(self.groups // tiles, steps)
        evenly = -(-steps // splits) <= -(-tiles * steps // self.groups)  # then nobody has parts of two tiles
        return tiles * splits if evenly or self.SLICED_K > 1 else min(self.groups, tiles * steps)

    def ndrange(self, problem: Problem) -> NDRange:
        items = CONSUMERS + PRODUCERS
        return NDRange((self.work_groups(self.oriented(problem)) * items,), (items,), together=self.splits_tail)

    def stage_bytes(self, call: GemmCall) -> int:
        """Local memory of a stage: what is loaded, and what is transposed besides."""
        sides = self.BM * (1 + along_k("A", call)) + self.BN * (1 + along_k("B", call))
        return 4 * self.depth * sides

    def line_bytes(self, call: GemmCall) -> int:
        """Local memory through which floats pass that cannot be stored by vectors: four rows of all sums, or a slice's."""
        rows = min(4, 16 // self.SLICED_K)
        return 4 * 8 * CONSUMERS * rows if result_width(call, 4) * elements(call.dtype).parts == 1 else 4

    def stages(self, call: GemmCall) -> int:
        """As many as local memory holds."""
        return min(MOST_STAGES, (LOCAL_BYTES - self.line_bytes(call)) // self.stage_bytes(call))

    def local_bytes(self, problem: Problem) -> int:
        call = self.oriented(problem)
        return self.stages(call) * (self.stage_bytes(call) + 24) + self.line_bytes(call) + 16

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        vector = result_width(call, 4)
        transposing = vector == 4 and (along_k("A", call) or along_k("B", call))
        consumer, producer = TRANSPOSING_REGISTERS if transposing else REGISTERS
        return {
            **super().macros(problem),
            **element_macros(call),
            "BK": self.depth, "STAGES": self.stages(call), "C_VEC": vector,
            "TRANSPOSE_A": int(along_k("A", call)), "TRANSPOSE_B": int(along_k("B", call)),
            "A_BATCHED": int(call.batched("A")), "B_BATCHED": int(call.batched("B")),
            "CONSUMER_REGISTERS": consumer, "PRODUCER_REGISTERS": producer,
            "STREAM_K": int(self.stream_k), "WITH_C": int(call.beta != 0),
        }  # fmt: skip

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        call = self.oriented(problem)
        return {
            "map_a": tensor_map("A", call, self.BM, self.depth),
            "map_b": tensor_map("B", call, self.BN, self.depth),
        }

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        yield from self._geometry(call)
        yield from result_violations(call)
        yield from division_of_k(call, self)
        if 0 in (call.m, call.n, call.batch):
            return  # nothing is launched
        if call.k == 0:
            yield "K=0 leaves TMA nothing to load"
            return
        if max(call.m, call.n) * elements(call.dtype).parts > MAX_INDEX - MOST_SIDE:
            yield f"{max(call.m, call.n):,} rows or columns of {call.dtype} are more than an int can count"
        yield from filter(None, (refusal(call, name) for name in ("A", "B")))
        yield from self._copying(self.orientation(problem), device)
        tiles, groups = self.tiles(call), self.work_groups(call)
        if max(tiles, groups) * self.steps(call) > MAX_INDEX:
            yield f"{tiles:,} tiles of {self.steps(call):,} stages are more than an int can count"
        if self.stream_k and tiles == self.full_wave_tiles(call):
            yield f"{tiles} tiles are full waves of {groups} work-groups: there is no tail wave for stream-K"
        elif self.stream_k and (tiles - self.full_wave_tiles(call)) * self.steps(call) < groups:
            stages = (tiles - self.full_wave_tiles(call)) * self.steps(call)
            yield f"the tail wave has {stages} stages, too few for stream-K by {groups} work-groups"

    def _copying(self, call: GemmCall, device: DeviceInfo) -> Iterator[str]:
        """What speaks against copying operands of the problem as it comes."""
        copied = self.packed(call)
        if self.pack and not copied:
            yield "TMA can read A and B where they are: packing them gains nothing"
        if self.transpose and not any(along_k(name, call) and not refusal(call, name) for name in copied):
            yield "no operand that TMA can read lies along k: there is nothing to transpose"
        needed = sum(room(call, name, across_k) for name in copied) * element_type(call.dtype).itemsize
        if device.global_bytes and needed > device.global_bytes // MOST_COPIED:
            yield f"copies of {needed:,} bytes are more than 1/{MOST_COPIED} of {device.name}'s {device.global_bytes:,}"

    def _geometry(self, call: GemmCall) -> Iterator[str]:
        """What is wrong with the numbers themselves, for any size of the problem."""
        warps = self.BM // WARP_TILE * (self.BN // WARP_TILE) * self.SLICED_K
        if self.BM % WARP_TILE or self.BN % WARP_TILE or warps != WARPS:
            yield f"{self.SLICED_K} slices of {self.BM}x{self.BN} are not {WARPS} tiles of {WARP_TILE}x{WARP_TILE}, one a warp"
        if self.depth % BOX_DEPTH:
            yield f"a stage of {self.depth} k cannot be transposed by boxes of {BOX_DEPTH}"
        if self.stages(call) < 3:
            yield f"local memory holds {self.stages(call)} stages of {self.stage_bytes(call):,} bytes, and 3 are needed"
        if self.SLICED_K > 1 and self.stages(call) * self.stage_bytes(call) < EXCHANGED:
            yield f"slices exchange {EXCHANGED:,} bytes of sums, more than {self.stages(call)} stages hold"


def along_k(name: str, call: GemmCall) -> bool:
    """Whether the operand lies along k."""
    view, _ = call.sided(name)
    return view.row != 1 or (view.column == 1 and call.k > 1)


def tensor_map(name: str, call: GemmCall, side: int, depth: int) -> TensorMap:
    """How TMA reads the operand: `side` rows, at most MOST_ROWS, by `depth`, or BOX_DEPTH if they are transposed.

    Real and imaginary parts are rows of their own.
    """
    view, rows = call.sided(name)
    kind = elements(call.dtype)
    rows, side, itemsize = rows * kind.parts, min(side, MOST_ROWS), element_type(call.dtype).itemsize
    matrices = call.batch if view.batch else 1
    if along_k(name, call):
        sizes, stride, box, swizzle = (call.k, rows, matrices), view.row, (BOX_DEPTH, side, 1), BOX_DEPTH * itemsize
    else:
        sizes, stride, box, swizzle = (rows, call.k, matrices), view.column, (side, depth, 1), 0
    distance = view.batch or stride * sizes[1]  # of a lone matrix, any that a map may have
    dtype = call.dtype if kind.parts == 1 else "float32"
    return TensorMap(dtype, sizes, (stride * itemsize, distance * itemsize), box, swizzle)


@remembered
def refusal(call: GemmCall, name: str) -> str:
    """Why TMA cannot read the operand, as a sentence, or ""."""
    view, _ = call.sided(name)
    kind, itemsize = elements(call.dtype), element_type(call.dtype).itemsize
    if kind.parts == 2 and along_k(name, call):
        return f"{name} lies along k, where real and imaginary parts cannot be transposed each by itself"
    return layout_violation(name, view, itemsize) or tensor_map_violation(
        name, tensor_map(name, call, WARP_TILE, BOX_DEPTH), itemsize // kind.parts
    )
