"""The configurations of gemm.cl: their geometry, their macros, their tensor maps, and what speaks against them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd

from ...device import DeviceInfo
from ...dtypes import element_type
from ...kernel import Config, NDRange
from ...operands import Layout
from ...problem import Problem
from ...tensormap import TensorMap, layout_violation, tensor_map_violation
from ..gemm.call import GemmCall, call_of
from ..gemm.choice import operand_bytes
from ..gemm.configs import result_violations
from ..gemm.macros import element_macros, result_width
from ..mma.configs import packed_call

LINE = 128  # bytes of a line of a tile in local memory: the width of the widest swizzle
WARPGROUP = 128  # work-items
REGISTERS = 512  # of a work-item, if a compute unit's 65,536 were those of one warpgroup
MOST_REGISTERS = 240  # of a work-item: a multiple of 8, as setmaxnreg wants, below the 255 that have names
PRODUCER_REGISTERS = {2: 24, 3: 24}  # by consumers: what these leave to the producer; one has enough from the start
SLOT = 64 * LINE  # bytes of the piece of C that a warpgroup stores at a time
CACHE = 45e6  # bytes that stay in the second-level cache
ALIGNMENT = 1024  # of tiles in local memory, and what the compiler may lose before them
LEAST_STEPS = 4  # of a range of shared steps: adding up its sums takes about as long
MAX_INDEX = 2**31 - 1
MULTIPLY = {
    "float16": "wgmma_f32_f16",
    "bfloat16": "wgmma_f32_bf16",
    "float32": "wgmma_f32_tf32",
    "int8": "wgmma_s32_s8",
    "float8_e4m3fn": "wgmma_f32_e4m3",
    "float8_e5m2": "wgmma_f32_e5m2",
}
MOST_SUMS = 192  # registers of a work-item for sums, and for a part of them that is multiplied by itself
SUMS = {"float32": '"+f"', "int32": '"+r"'}  # how the accumulator's registers are bound to an instruction


@dataclass(frozen=True)
class WgmmaConfig(Config):
    """gemm.cl: the fields in capitals are explained at its top. `groups` is how many work-groups run at a time."""

    BM: int
    BN: int
    STAGES: int
    CONSUMERS_M: int = 2
    CONSUMERS_N: int = 1
    GROUP_M: int = 16
    PROMOTE: int = 0
    groups: int = 132
    split: int = 1  # work-groups that compute a tile together, each a part of its k; all of them must run at a time
    shared: bool = False  # share out the tiles that are left after whole rounds of `groups`
    pack: bool = (
        False  # copy operands to rows along k first, if they cannot be fetched, or only slowly, or not be multiplied
    )

    @property
    def consumers(self) -> int:
        return self.CONSUMERS_M * self.CONSUMERS_N

    @property
    def cuts_k(self) -> bool:
        """Whether work-groups add to sums of others."""
        return self.shared or self.split > 1

    def alone(self, call: GemmCall) -> bool:
        """Whether there is a work-group for each tile, or for each part of one."""
        return not self.shared and self.tiles(call) * self.split <= self.groups

    @property
    def part(self) -> int:
        """Columns that a consumer multiplies at a time."""
        return self.BN // self.CONSUMERS_N // max(self.PROMOTE, 1)

    @property
    def items(self) -> int:
        return WARPGROUP * (1 + self.consumers)

    def orientation(self, problem: Problem) -> GemmCall:
        """The problem with C by rows."""
        return call_of(problem).row_major

    def oriented(self, problem: Problem) -> GemmCall:
        """The problem as the kernel is given it, once the operands that want it are packed."""
        call = self.orientation(problem)
        for name in self.packed(call):
            call = packed_call(call, name)
        return call

    def packed(self, call: GemmCall) -> tuple[str, ...]:
        """Which of "A" and "B" are copied first."""
        if not self.pack:
            return ()
        plain = (name for name in ("A", "B") if name not in call.packed)
        return tuple(name for name in plain if fetch_refusal(call, name) or alignment(call, name) < LINE)

    def tiles(self, call: GemmCall) -> int:
        """Tiles of C of the whole batch."""
        return -(-call.m // self.BM) * -(-call.n // self.BN) * call.batch

    def whole(self, call: GemmCall) -> int:
        """Tiles that are not shared out: whole rounds, or all of them."""
        tiles = self.tiles(call)
        return tiles // self.groups * self.groups if self.shared else tiles

    def ranges(self, call: GemmCall) -> int:
        """Into how many ranges the steps of all tiles that are shared out are cut."""
        steps = (self.tiles(call) - self.whole(call)) * steps_of(call)
        return max(1, min(self.groups, steps // LEAST_STEPS))

    def work_groups(self, call: GemmCall) -> int:
        if self.shared:
            return self.groups if self.whole(call) else self.ranges(call)
        return min(self.tiles(call) * self.split, self.groups)

    def partial_bytes(self, call: GemmCall) -> int:
        """Scratch memory for sums: a tile for each part of one, two for each range of tiles that are shared out."""
        tiles = self.tiles(call) * self.split if self.split > 1 else 2 * self.ranges(call)
        return tiles * self.BM * self.BN * element_type("float32").itemsize

    def stores_by_tma(self, call: GemmCall) -> bool:
        """Whether C leaves through the copy engine: that pays where a work-group computes more than one tile."""
        return not self.alone(call) and stores_by_tma(call)

    def stages_rows(self, call: GemmCall) -> bool:
        """Whether else it leaves through local memory: slices of a tile that is computed together do not."""
        return self.split == 1 and rows_aligned(call) and not self.stores_by_tma(call)

    def fetches_b_once(self, call: GemmCall) -> bool:
        """Whether B had better not stay in cache: it does not fit, and all that want a part of it do so at a time."""
        alone = call.batch == 1 or call.b.batch != 0
        return alone and call.m <= self.BM * self.GROUP_M and operand_bytes(call, "B") > CACHE

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        if not self.alone(call):
            return NDRange((self.work_groups(call) * self.items,), (self.items,))
        tiles_m, tiles_n = -(-call.m // self.BM), -(-call.n // self.BN)
        return NDRange((tiles_m * self.items, tiles_n, call.batch * self.split), (self.items, 1, 1))

    def local_bytes(self, problem: Problem) -> int:
        call = self.oriented(problem)
        slots = 2 * self.consumers * SLOT if self.stages_rows(call) or self.stores_by_tma(call) else 0
        return ALIGNMENT + self.STAGES * (self.BM + self.BN) * LINE + slots + 16 * self.STAGES

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        return {
            "batches": call.batch, "whole": self.whole(call), "ranges": self.ranges(call),
            "b_once": int(self.fetches_b_once(call)),
        }  # fmt: skip

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        producer = PRODUCER_REGISTERS.get(self.consumers, 0)
        consumer = min((REGISTERS - producer) // self.consumers // 8 * 8, MOST_REGISTERS) if producer else 0
        return {
            **super().macros(problem),
            **element_macros(call),
            "BK": depth(call), "WN": self.BN // self.CONSUMERS_N, "PART": self.part,
            "MULTIPLY": MULTIPLY[call.dtype], "KIND": SUMS[element_type(call.dtype).accumulator],
            "A_ACROSS": int(not along_k(call.a)), "B_ACROSS": int(not along_k(call.b.swapped)),
            "WITH_C": int(call.beta != 0), "WITH_ALPHA": int(call.alpha != 1), "SHARED": int(self.shared),
            "ALONE": int(self.alone(call)), "SPLIT": self.split,
            "STORE_BY_TMA": int(self.stores_by_tma(call)), "STAGED": int(self.stages_rows(call)),
            "RESULT_BYTES": element_type(call.result).itemsize, "C_VEC": result_width(call, 2),
            "PRODUCER_REGISTERS": producer, "CONSUMER_REGISTERS": consumer,
        }  # fmt: skip

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        call = self.oriented(problem)
        maps = {"map_a": input_map(call, "A", self.BM), "map_b": input_map(call, "B", self.BN)}
        # Without stores by the copy engine its map is not used; any that can be encoded will do.
        maps["map_c"] = output_map(call) if self.stores_by_tma(call) else maps["map_a"]
        return maps

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        yield from result_violations(call)
        if call.k == 0:
            yield "K=0 leaves nothing to multiply"
            return
        for name in ("A", "B"):
            refusal = fetch_refusal(call, name)
            if refusal:
                yield refusal
        if call.c.column != 1 and call.n > 1:
            yield f"neither rows nor columns of C lie without gaps: strides {call.c.row}, {call.c.column}"
        sums = self.BM * self.BN // self.consumers // WARPGROUP
        if self.PROMOTE and sums + sums // self.PROMOTE > MOST_SUMS:
            yield f"{sums} sums of a work-item and {sums // self.PROMOTE} more to be added are more than {MOST_SUMS}"
        if self.tiles(call) * steps_of(call) > MAX_INDEX:
            yield f"{self.tiles(call):,} tiles of {steps_of(call):,} steps are more than an int can count"
        if self.split > 1:
            yield from self._split_violations(call)
        elif self.shared and self.tiles(call) == self.whole(call):
            yield f"{self.tiles(call)} tiles are whole rounds of {self.groups} work-groups: none is left to share out"
        if self.pack and not self.packed(self.orientation(problem)):
            yield f"A and B can be fetched by lines of {LINE} bytes where they are: packing them gains nothing"

    def _split_violations(self, call: GemmCall) -> Iterator[str]:
        if self.shared:
            yield "tiles are computed together or shared out, not both"
        if self.tiles(call) * self.split > self.groups:
            yield f"{self.tiles(call)} tiles of {self.split} work-groups each are more than the {self.groups} that run at a time"
        if steps_of(call) < self.split * LEAST_STEPS:
            yield f"{steps_of(call)} steps are too few for {self.split} parts of {LEAST_STEPS} and more"


def depth(call: GemmCall) -> int:
    """Elements of k of one stage: BK."""
    return LINE // element_type(call.dtype).itemsize


def steps_of(call: GemmCall) -> int:
    """Stages of one tile."""
    return -(-call.k // depth(call))


def along_k(rows: Layout) -> bool:
    """Whether an operand, seen by its rows of k, lies along them."""
    return rows.column == 1


def alignment(call: GemmCall, name: str) -> int:
    """The power of two up to LINE of which all lines of operand "A" or "B" begin at a multiple, in bytes."""
    view, outer = call.sided(name)
    stride, lines = (view.row, outer) if along_k(view) else (view.column, call.k)
    distances = (view.offset, stride if lines > 1 else 0, view.batch if call.batch > 1 else 0)
    return gcd(LINE, *(distance * element_type(call.dtype).itemsize for distance in distances))


def input_map(call: GemmCall, name: str, tile: int) -> TensorMap:
    """The map of operand "A" or "B", of whose m or n rows along k a work-group fetches `tile` at a time."""
    view, outer = call.sided(name)
    itemsize, matrices = element_type(call.dtype).itemsize, 1 if view.batch == 0 else call.batch
    if along_k(view):
        sizes, stride, box = (call.k, outer, matrices), view.row, (depth(call), tile, 1)
    else:
        sizes, stride, box = (outer, call.k, matrices), view.column, (depth(call), depth(call), 1)
    stride = lone_stride(stride, sizes[0], sizes[1], itemsize)
    batch = lone_stride(view.batch, stride * sizes[1], matrices, itemsize)
    return TensorMap(call.dtype, sizes, (stride * itemsize, batch * itemsize), box, LINE)


def output_map(call: GemmCall) -> TensorMap:
    """The map of C, into which a warpgroup stores 64 rows of 128 bytes at a time."""
    itemsize = element_type(call.result).itemsize
    row = lone_stride(call.c.row, call.n, call.m, itemsize)
    batch = lone_stride(call.c.batch, row * call.m, call.batch, itemsize)
    return TensorMap(
        call.result, (call.n, call.m, call.batch), (row * itemsize, batch * itemsize), (LINE // itemsize, 64, 1), LINE
    )


def lone_stride(stride: int, least: int, count: int, itemsize: int) -> int:
    """The stride of `count` lines or matrices; of a lone one, which has none to speak of, any that a map may have."""
    units = 16 // itemsize
    return stride if count > 1 else -(-max(least, 1) // units) * units


def rows_aligned(call: GemmCall) -> bool:
    """Whether C's rows begin and end at multiples of 16 bytes, the most that a work-item stores at a time."""
    itemsize = element_type(call.result).itemsize
    if itemsize == 1 or call.c.column != 1:
        return False
    distances = (call.n, call.c.offset, call.c.row if call.m > 1 else 0, call.c.batch if call.batch > 1 else 0)
    return all(distance * itemsize % 16 == 0 for distance in distances)


def stores_by_tma(call: GemmCall) -> bool:
    """Whether the copy engine can store C. Its rows must end on 16 bytes, too: on an H200 a store of a row of one element
    wrote beyond it."""
    itemsize = element_type(call.result).itemsize
    empty = min(call.m, call.n, call.batch) == 0
    return rows_aligned(call) and not empty and not tensor_map_violation("C", output_map(call), itemsize)


def fetch_refusal(call: GemmCall, name: str) -> str:
    """Why operand "A" or "B" cannot be multiplied where it lies, as a sentence, or ""."""
    view, outer = call.sided(name)
    itemsize = element_type(call.dtype).itemsize
    unmapped = layout_violation(name, view, itemsize)
    if unmapped:
        return unmapped
    if itemsize != 2 and not along_k(view):
        return f"wgmma multiplies {call.dtype} only along k, and {name} lies across it"
    return tensor_map_violation(name, input_map(call, name, 64), itemsize) if outer and call.batch else ""
