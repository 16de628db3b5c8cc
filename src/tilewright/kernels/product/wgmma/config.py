"""The configurations of main_loop.cl: their geometry, their macros, and what speaks against them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange
from ....core.problem import Problem
from ....core.tensor_map import TensorMap
from ....core.types import element_type
from ..call import GemmCall
from ..config import TiledConfig, tensor_cores_add_alike
from ..cost import operand_bytes
from ..macros import MAX_INDEX, element_macros, result_width
from ..results import result_violations
from .maps import (
    LINE,
    SECTOR,
    alignment,
    along_k,
    depth,
    early,
    edge_rows,
    input_map,
    line_of,
    load_refusal,
    loaded_rows,
    output_map,
    rows_aligned,
    steps_of,
    stores_by_tma,
    straddles,
)

WARPGROUP = 128  # work-items
REGISTERS = 512  # of a work-item, if an SM's 65,536 were those of one warpgroup
MOST_REGISTERS = 240  # of a work-item: a multiple of 8, as setmaxnreg wants, below the 255 that have names
PRODUCER_REGISTERS = {2: 24, 3: 24}  # by consumers: what these leave to the producer; one has enough from the start
SLOT = 64 * LINE  # bytes of C that a warpgroup stores at a time
L2_BYTES = 45e6  # that stay in L2
ALIGNMENT = 1024  # of tiles in local memory, and what the compiler may lose before them
MOST_TILE = 256  # rows or columns of the largest tile
LEAST_STEPS = 4  # of a split of a tile: the fix-up takes about as long
MULTIPLY = {
    "float16": "wgmma_f32_f16",
    "bfloat16": "wgmma_f32_bf16",
    "float32": "wgmma_f32_tf32",
    "int8": "wgmma_s32_s8",
    "uint8": "wgmma_s32_u8",
    "float8_e4m3fn": "wgmma_f32_e4m3",
    "float8_e5m2": "wgmma_f32_e5m2",
}
MOST_SUMS = 192  # registers of a work-item for sums, and for a part of them that is multiplied by itself
SUMS = {"float32": '"+f"', "int32": '"+r"'}  # how the accumulator's registers are bound to an instruction


@dataclass(frozen=True)
class WgmmaConfig(TiledConfig):
    """main_loop.cl: the fields in capitals are explained at its top. `groups` is how many work-groups run at a time."""

    STAGES: int
    CONSUMERS_M: int = 2
    CONSUMERS_N: int = 1
    GROUP_M: int = 16
    PROMOTE: int = 0
    CLUSTER_M: int = 1
    CLUSTER_N: int = 1
    groups: int = 132
    # Work-groups that compute a tile of the tail wave together, each a split of its k. Full waves have `groups` tiles.
    tail_split: int = 1
    # Operands, "A", "B" or "AB", that are copied to aligned lines first: TMA cannot load them, or only slowly.
    pack: str = ""
    register_operand: str = ""  # "A" or "B": that operand, which lies across k, is multiplied from registers
    # Multiply even and odd rows of C as two matrices, so that TMA loads rows of A that are odd multiples of 16 bytes apart
    # from multiples of 32 on.
    even_odd_rows: bool = False

    def __str__(self) -> str:
        """Without fields that name no operand, and `even_odd_rows` only where it is."""
        return " ".join(
            each
            for each in super().__str__().split(" ")
            if not each.endswith(("=", "even_odd_rows=False", "CLUSTER_M=1", "CLUSTER_N=1"))
        )

    @property
    def consumers(self) -> int:
        return self.CONSUMERS_M * self.CONSUMERS_N

    @property
    def cluster(self) -> int:
        """Work-groups that load for each other."""
        return self.CLUSTER_M * self.CLUSTER_N

    def parts(self, name: str) -> int:
        """Parts in which the work-groups of a cluster load a tile of operand "A" or "B" for each other."""
        return self.CLUSTER_N if name == "A" else self.CLUSTER_M

    def tiles(self, call: GemmCall) -> int:
        """Those of whole clusters, some of them outside of C."""
        if self.cluster == 1:
            return super().tiles(call)
        return (
            -(-call.m // (self.BM * self.CLUSTER_M))
            * -(-call.n // (self.BN * self.CLUSTER_N))
            * self.cluster
            * call.batch
        )

    def one_wave(self, call: GemmCall) -> bool:
        """Whether there is a work-group for each tile, or for each split of one, by its three numbers: a triangle has none."""
        return not call.symmetric and self.tiles(call) * self.tail_split <= self.groups

    @property
    def part(self) -> int:
        """Columns of sums that a consumer multiplies at a time."""
        return self.sums[1] // max(self.PROMOTE, 1)

    @property
    def sums(self) -> tuple[int, int]:
        """Rows and columns of sums of a consumer: those of its part of the tile, transposed if B is in registers."""
        rows, columns = self.BM // self.CONSUMERS_M, self.BN // self.CONSUMERS_N
        return (columns, rows) if self.register_operand == "B" else (rows, columns)

    @property
    def items(self) -> int:
        return WARPGROUP * (1 + self.consumers)

    def oriented(self, problem: Problem) -> GemmCall:
        """The problem as the kernel is given it, once the operands that want it are packed."""
        call = super().oriented(problem)
        return call.by_even_odd_rows if self.even_odd_rows and not call.even_odd_rows else call

    def packed(self, call: GemmCall) -> tuple[str, ...]:
        """Which of "A" and "B" are copied first."""
        return tuple(name for name in self.pack if name not in call.packed)

    @property
    def splits_tail(self) -> bool:
        return self.tail_split > 1

    def included(self, problem: Problem) -> Mapping[str, str]:
        others = super().included(problem)
        return {**others, "scheduler.cl": "triangle.cl"} if self.oriented(problem).symmetric else others

    def sums_alike(self, problem: Problem) -> bool:
        """All tiles are split alike, or none."""
        call = self.oriented(problem)
        return tensor_cores_add_alike(call) and 0 in (self.tail_tiles(call), self.full_wave_tiles(call))

    def semaphores(self, call: GemmCall) -> int:
        """One for each consumer's part of a tile."""
        return self.tail_tiles(call) * self.consumers

    def partial_tiles(self, call: GemmCall) -> int:
        """Partial tiles: one for each split of a tile."""
        return self.tail_tiles(call) * self.tail_split

    def work_groups(self, call: GemmCall) -> int:
        return min(self.tiles(call) * self.tail_split, self.groups)

    def stores_by_tma(self, call: GemmCall) -> bool:
        """Whether C leaves by TMA: that pays where a work-group computes more than one tile."""
        return not self.one_wave(call) and self.has_lines(call) and stores_by_tma(call)

    def has_lines(self, call: GemmCall) -> bool:
        """Whether work-items put whole lines of C together in local memory: with B in registers each holds neighbours enough
        to store them directly. Bytes are stored directly, two at a time."""
        itemsize = element_type(call.result).itemsize
        return itemsize > 1 and (not self.register_operand or (self.register_operand == "A" and itemsize == 4))

    def mirrors(self, call: GemmCall) -> bool:
        """Whether the kernel stores the mirror image of a symmetric product's tiles itself: of 16-bit elements, whose slabs are
        square, where no tile is split."""
        own = call.symmetric and not self.splits_tail and self.stores_by_tma(call)
        return own and element_type(call.result).itemsize == 2

    def staged(self, call: GemmCall) -> int:
        """Bytes that a work-item stores at a time where else C leaves through local memory: split tiles do not."""
        if (
            self.full_wave_tiles(call) == 0
            or not self.has_lines(call)
            or self.stores_by_tma(call)
            or call.c.column != 1
        ):
            return 0
        words = element_type(call.result).itemsize in (2, 4)
        return 16 if rows_aligned(call) else 4 if words else 0

    def direct_width(self, call: GemmCall) -> int:
        """Elements that a work-item stores at a time where C goes straight to memory; 1 if it never does."""
        if self.tail_split == 1 and (self.staged(call) or self.stores_by_tma(call)):
            return 1
        return result_width(call, self.sums[0] // 32 if self.register_operand == "B" else 2)

    def loads_b_once(self, call: GemmCall) -> bool:
        """Whether B had better not stay in cache: it does not fit, and all that want a part of it do so at a time."""
        alone = call.batch == 1 or call.b.batch != 0 or call.even_odd_rows
        rows = call.m * call.batch if call.even_odd_rows else call.m
        return alone and rows <= self.BM * self.GROUP_M and operand_bytes(call, "B") > L2_BYTES

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        if not self.one_wave(call):
            whole, own, cluster = (self.work_groups(call) * self.items,), (self.items,), (self.cluster,)
            return NDRange(whole, own, together=self.splits_tail, cluster=cluster if self.cluster > 1 else ())
        tiles_m = -(-call.m // (self.BM * self.CLUSTER_M)) * self.CLUSTER_M
        tiles_n = -(-call.n // (self.BN * self.CLUSTER_N)) * self.CLUSTER_N
        sizes = (tiles_m * self.items, tiles_n, call.batch * self.tail_split)
        sides = (self.CLUSTER_M, self.CLUSTER_N, 1)
        return NDRange(sizes, (self.items, 1, 1), together=self.splits_tail, cluster=sides if self.cluster > 1 else ())

    def local_bytes(self, problem: Problem) -> int:
        call = self.oriented(problem)
        slots = 2 * self.consumers * SLOT if self.staged(call) or self.stores_by_tma(call) else 0
        return ALIGNMENT + self.STAGES * (self.BM + self.BN) * LINE + slots + 16 * self.STAGES

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        return {
            "batches": call.batch, "whole": self.full_wave_tiles(call) // self.cluster, "b_once": int(self.loads_b_once(call)),
            "a_rows": loaded_rows(call, "A", self.BM, self.CLUSTER_N),
            "b_rows": loaded_rows(call, "B", self.BN, self.CLUSTER_M),
        }  # fmt: skip

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        producer = PRODUCER_REGISTERS.get(self.consumers, 0)
        consumer = min((REGISTERS - producer) // self.consumers // 8 * 8, MOST_REGISTERS) if producer else 0
        return {
            **super().macros(problem),
            **element_macros(call),
            "BK": depth(call), "BLOCKS": self.sums[0] // 64, "WN": self.sums[1], "PART": self.part,
            "A_EDGED": int(edge_rows(call, "A", self.BM, self.CLUSTER_N) > 0),
            "B_EDGED": int(edge_rows(call, "B", self.BN, self.CLUSTER_M) > 0),
            "REGISTER_A": int(self.register_operand == "A"), "REGISTER_B": int(self.register_operand == "B"),
            "MULTIPLY": MULTIPLY[call.dtype], "KIND": SUMS[element_type(call.dtype).accumulator],
            "A_ACROSS": int(not along_k(call.a)), "B_ACROSS": int(not along_k(call.b.swapped)),
            "B_LINE": line_of(call, "B", self.BN),
            "WITH_C": int(call.beta != 0), "WITH_ALPHA": int(call.alpha != 1),
            "ONE_WAVE": int(self.one_wave(call)), "TAIL_SPLIT": self.tail_split,
            "STORE_BY_TMA": int(self.stores_by_tma(call)), "MIRRORED": int(self.mirrors(call)), "STAGED": self.staged(call),
            "RESULT_BYTES": element_type(call.result).itemsize,
            "C_VEC": self.direct_width(call),
            "PRODUCER_REGISTERS": producer, "CONSUMER_REGISTERS": consumer, "ODD_ROW_LEAD": early(call),
        }  # fmt: skip

    def tensor_maps(self, problem: Problem) -> Mapping[str, TensorMap]:
        call = self.oriented(problem)
        maps = {}
        for name, tile in (("A", self.BM), ("B", self.BN)):
            parts = self.parts(name)
            rows = loaded_rows(call, name, tile, parts)
            edge, line = edge_rows(call, name, tile, parts) or rows, line_of(call, name, tile)
            maps[f"map_{name.lower()}"] = input_map(call, name, rows // parts, line)
            maps[f"edge_{name.lower()}"] = input_map(call, name, edge // parts, line)
        # Without stores by TMA its map is not used; any that can be encoded will do.
        maps["map_c"] = (
            output_map(call, 32 if self.register_operand else 64) if self.stores_by_tma(call) else maps["map_a"]
        )
        return maps

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        if self.even_odd_rows:
            yield from self.even_odd_violations(self.orientation(problem))
        call = self.oriented(problem)
        yield from result_violations(call)
        if call.k == 0:
            yield "K=0 leaves nothing to multiply"
            return
        for name in ("A", "B"):
            refusal = load_refusal(call, name, self.register_operand)
            if refusal:
                yield refusal
        if self.register_operand:
            yield from self._register_violations(call)
        if self.BN % 64 and not self.register_operand and not self.one_wave(call):
            yield f"{self.BN} columns are not whole lines of 64, as TMA must store them during the next tile's products"
        across = not along_k(call.b.swapped) and not self.register_operand
        if across and self.CONSUMERS_N > 1 and self.sums[1] % 64:
            yield f"B lies across k: {self.sums[1]} columns of a warpgroup are not whole boxes of 64"
        if call.c.column != 1 and call.n > 1:
            yield f"neither rows nor columns of C lie without gaps: strides {call.c.row}, {call.c.column}"
        sums = self.BM * self.BN // self.consumers // WARPGROUP
        if self.PROMOTE and sums + sums // self.PROMOTE > MOST_SUMS:
            yield f"{sums} sums of a work-item and {sums // self.PROMOTE} more to be added are more than {MOST_SUMS}"
        if self.PROMOTE and self.consumers == 3:
            yield "three warpgroups that multiply have no registers for a second set of sums"
        if max(call.m, call.n) > MAX_INDEX - MOST_TILE:
            yield f"{call.m:,} rows and {call.n:,} columns, rounded up to tiles, are more than an int counts"
        steps = steps_of(call)
        if max(self.tiles(call), self.tail_split) * (steps + 1) > MAX_INDEX or call.k > MAX_INDEX - 2 * LINE:
            work = f"{self.tiles(call):,} tiles of {steps:,} steps, or {self.tail_split} splits of K={call.k:,}"
            yield f"{work}: more than an int counts"
        if self.tail_split > 1:
            yield from self._tail_split_violations(call, device)
        if self.cluster > 1:
            yield from self._cluster_violations(call, device)
        plain = self.orientation(problem)
        for name in self.pack:
            if not load_refusal(plain, name, self.register_operand) and alignment(plain, name) == LINE:
                yield f"{name} can be loaded by lines of {LINE} bytes where it is: packing it gains nothing"

    def even_odd_violations(self, call: GemmCall) -> Iterator[str]:
        """What speaks against even and odd rows as two matrices."""
        itemsize = element_type(call.dtype).itemsize
        distance, offset = call.a.row * itemsize, call.a.offset * itemsize
        if call.symmetric:
            yield "the even and the odd rows of a symmetric product are not symmetric"
        if call.m % 2 or call.batch != 1:
            yield f"{call.m} rows of {call.batch} matrices are not two halves of one"
        if not along_k(call.a) or distance % SECTOR != SECTOR // 2 or offset % SECTOR or "A" in self.pack:
            yield f"rows of A {distance} bytes apart, from {offset} on, do not begin by turns in the middle of {SECTOR} bytes"
        if call.scalars["bias_row"] or call.scalars["scale_a_row"]:
            yield "a bias or a scale for each row would have to be split, too"

    def _register_violations(self, call: GemmCall) -> Iterator[str]:
        view, _ = call.sided(self.register_operand)
        if call.dtype != "float32":
            yield f"wgmma multiplies {call.dtype} from registers only along k, or reads it across k in local memory"
        elif along_k(view):
            yield f"{self.register_operand} lies along k: from registers it gains nothing"
        if self.sums[0] not in (64, 128) or self.PROMOTE:
            yield f"{self.sums[0]} rows of sums of a warpgroup are not the 64 or 128 for which an operand fits into registers"

    def _cluster_violations(self, call: GemmCall, device: DeviceInfo) -> Iterator[str]:
        if "clusters" not in device.features:
            yield f"{device.name} is not used by CUDA's launches since sm_90, which alone know clusters of work-groups"
        if self.cluster > 2 or self.groups % self.cluster:
            yield f"{self.groups} work-groups at a time are not clusters of {self.cluster}, or these are more than 2"
        if call.symmetric:
            yield "neighbours among the tiles of a triangle need not share rows or columns"
        if self.CLUSTER_M > 1 and self.loads_b_once(call):
            yield "B is loaded once, with a policy for the cache that a load for two work-groups has not"
        if self.consumers == 1 and not self.one_wave(call):
            yield "while the only warpgroup that multiplies stores a tile, the other work-group waits for it, too"
        if not straddles(call):
            yield f"all lines of A and B begin at multiples of {LINE} bytes: a cluster gains nothing, and begins later"

    def _tail_split_violations(self, call: GemmCall, device: DeviceInfo) -> Iterator[str]:
        tail = self.tail_tiles(call)
        if self.groups > device.compute_units:
            yield f"{self.groups} work-groups that wait for each other are more than {device.name}'s {device.compute_units} SMs"
        if tail == 0:
            yield f"{self.tiles(call)} tiles are full waves of {self.groups} work-groups: there is no tail wave to split"
        if tail * self.tail_split > self.groups:
            yield f"{tail} tiles of {self.tail_split} work-groups each are more than the {self.groups} that run at a time"
        if steps_of(call) < self.tail_split * LEAST_STEPS:
            yield f"{steps_of(call)} steps are too few for {self.tail_split} splits of {LEAST_STEPS} and more"
