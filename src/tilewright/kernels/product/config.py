"""What the configurations of all families share: how they see a product, and how work-groups divide its tiles."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ...core.device import DeviceInfo
from ...core.kernel import Config, NDRange, round_up
from ...core.precision import REPRODUCIBLE
from ...core.problem import Problem
from ...core.types import DOUBLES, element_type
from .call import GemmCall, call_of
from .packing import Place, across_k, on_lines, with_packed
from .results import result_violations
from .symmetric import TRIANGLE, tiles_of_triangle

# Scratch buffers, by the names of the kernels' arguments: partial tiles, or sums over a split of K, and semaphores.
PARTIAL, SEMAPHORES = "partial", "semaphores"
# Files that leave no rounding to a compiler, by those whose places they take: of reproducible products.
FUSED = {"../elements.cl": "../elements_fma.cl", "../epilogue.cl": "../epilogue_fma.cl"}


def tensor_cores_add_alike(call: GemmCall) -> bool:
    """Whether tensor cores add what makes an element of C in one order, wherever it is: float64 in the order of k, integers
    exactly. Of shorter floats they do not: A times its own transpose, by one tile of wgmma, was not symmetric on an H200."""
    return call.dtype in DOUBLES or element_type(call.dtype).exact


@dataclass(frozen=True)
class ProductConfig(Config):
    """Base of the configurations of products.

    The methods that every Config has take any problem, and begin with `oriented`. All others take the GemmCall that it
    returns. A product is made a GemmCall once, where a plan begins: a call passes through `orientation` as it is, or as
    the same transposed call each time.
    """

    any_gemm: ClassVar[bool] = True

    @property
    def place(self) -> Place:
        """Where packed operands lie."""
        return across_k

    def orientation(self, problem: Problem) -> GemmCall:
        """The product as this kernel wants it: with C by rows."""
        return call_of(problem).row_major

    def oriented(self, problem: Problem) -> GemmCall:
        """The product as this kernel is given it, once the operands that want it are packed."""
        return self.after_packing(self.orientation(problem))

    def packed(self, call: GemmCall) -> tuple[str, ...]:
        """Which of "A" and "B" are copied into scratch memory first."""
        return ()

    def included(self, problem: Problem) -> Mapping[str, str]:
        """Of a symmetric product the tile scheduler walks a triangle; a reproducible one leaves no rounding to a compiler."""
        call = self.oriented(problem)
        return {**(TRIANGLE if call.symmetric else {}), **(FUSED if call.precision == REPRODUCIBLE else {})}

    def sums_alike(self, problem: Problem) -> bool:
        """Whether all elements of C are sums in one order of k, so that those of a symmetric product are symmetric."""
        return True

    def after_packing(self, call: GemmCall) -> GemmCall:
        """The call with those operands there."""
        for name in self.packed(call):
            call = with_packed(call, name, self.place)
        return call


@dataclass(frozen=True)
class SplitKConfig(ProductConfig):
    """Base of the kernels for any GPU, whose field `split_k` is the number of parts into which K is split."""

    def chunk(self, call: GemmCall) -> int:
        """How many elements of k a split has; 0 if K is not split."""
        return 0

    def registers(self, call: GemmCall) -> int:
        """About how many 32-bit registers a work-item needs."""
        raise NotImplementedError

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        yield from result_violations(call)
        limit, needed = register_limit(device, self.ndrange(problem).group_items), self.registers(call)
        if needed > limit:
            yield f"a work-item needs about {needed} registers, and {device.name} has {limit} for each"


@dataclass(frozen=True)
class SplitTilesConfig(SplitKConfig):
    """Base of those whose work-groups compute a tile of BM x BN each, by panels that are BK deep."""

    BM: int
    BN: int
    BK: int
    split_k: int = field(default=1, kw_only=True)

    @property
    def items(self) -> int:
        raise NotImplementedError

    def chunk(self, call: GemmCall) -> int:
        return round_up(-(-call.k // self.split_k), self.BK) if self.split_k > 1 else 0

    def has_empty_split(self, call: GemmCall) -> bool:
        """Whether nothing of K is left for the last split."""
        return self.split_k > 1 and (call.k <= self.BK or self.chunk(call) * (self.split_k - 1) >= call.k)

    def tiles(self, call: GemmCall) -> int:
        """Tiles of one matrix, those that are computed."""
        tiles_m, tiles_n = -(-call.m // self.BM), -(-call.n // self.BN)
        return tiles_of_triangle(tiles_m, tiles_n, self.BM, self.BN) if call.symmetric else tiles_m * tiles_n

    def ndrange(self, problem: Problem) -> NDRange:
        call = self.oriented(problem)
        return NDRange((self.tiles(call) * self.items, call.splits, call.batch), (self.items, 1, 1))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        if self.has_empty_split(call):
            yield f"K={call.k} has not {self.split_k} splits of at least BK={self.BK}"
        yield from super().violations(problem, device)


@dataclass(frozen=True)
class TiledConfig(ProductConfig):
    """Base of the kernels whose work-groups compute tile after tile of C.

    The tiles of the tail wave may be split: several work-groups then compute a tile, each some steps of K.
    """

    BM: int
    BN: int

    @property
    def place(self) -> Place:
        return on_lines

    @property
    def splits_tail(self) -> bool:
        """Whether tiles of the tail wave are split among work-groups."""
        raise NotImplementedError

    def work_groups(self, call: GemmCall) -> int:
        """How many are launched."""
        raise NotImplementedError

    def components(self, call: GemmCall) -> int:
        """Rows and columns of sums for each row and column of C."""
        return 1

    def mirrors(self, call: GemmCall) -> bool:
        """Whether the kernel itself completes a symmetric product, of which it computes one triangle."""
        return False

    def tiles(self, call: GemmCall) -> int:
        """Tiles of the whole batch, those that are computed: of a symmetric product about half."""
        parts = self.components(call)
        tiles_m, tiles_n = -(-call.m * parts // self.BM), -(-call.n * parts // self.BN)
        if call.symmetric:
            return tiles_of_triangle(tiles_m, tiles_n, self.BM, self.BN) * call.batch
        return tiles_m * tiles_n * call.batch

    def sums_alike(self, problem: Problem) -> bool:
        """Not where work-groups share some tiles."""
        return self.tail_tiles(self.oriented(problem)) == 0

    def full_wave_tiles(self, call: GemmCall) -> int:
        """Tiles that one work-group computes alone: those of full waves, or all of them."""
        tiles, groups = self.tiles(call), self.work_groups(call)
        return tiles // groups * groups if self.splits_tail and groups else tiles

    def tail_tiles(self, call: GemmCall) -> int:
        """Tiles of the tail wave that several work-groups compute together."""
        return self.tiles(call) - self.full_wave_tiles(call)

    def semaphores(self, call: GemmCall) -> int:
        """Counters by which the work-groups of a tile learn who is ready last."""
        return self.tail_tiles(call)

    def partial_tiles(self, call: GemmCall) -> int:
        """Partial tiles: one for each work-group, and for each tile."""
        return self.work_groups(call) + self.tail_tiles(call)

    def tile_bytes(self, call: GemmCall) -> int:
        """Bytes of a tile's sums."""
        return self.BM * self.BN * element_type(element_type(call.dtype).accumulator).itemsize

    def partial_bytes(self, call: GemmCall) -> int:
        """Scratch memory for partial tiles."""
        return self.partial_tiles(call) * self.tile_bytes(call)

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = self.oriented(problem)
        return {"whole": self.full_wave_tiles(call), "tiles": self.tiles(call)}


def register_limit(device: DeviceInfo, items: int = 1) -> int:
    """32-bit registers that a work-item of a group of `items` can have before its variables are kept in memory.

    NVIDIA: 255 addressable, and 65536 for a group. AMD: 256 vector registers. Others: what half of a thread's file gives
    on Intel's (128 registers of 32 bytes for 8 work-items: 128), the least of the usual GPUs. A CPU spills to its first
    cache.
    """
    if device.kind == "cpu":
        return 1024
    if "nvidia" in device.features:
        return min(255, 65536 // max(items, 1))
    return 256 if "amd" in device.vendor.lower() or "advanced micro" in device.vendor.lower() else 128
