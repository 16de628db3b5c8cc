"""The configurations of main_loop.cl: their geometry, their macros, and what speaks against them."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....core.device import DeviceInfo
from ....core.kernel import NDRange
from ....core.operands import Layout
from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall, call_of, remembered
from ..chain import division_of_k
from ..config import TiledConfig, tensor_cores_add_alike
from ..macros import MAX_INDEX, element_macros, result_width
from ..packing import LINE
from ..results import result_violations

ALONG_K, ACROSS = "PANEL_ALONG_K", "PANEL_ACROSS"
COPIES = {16: "cp_async_cg_16", 8: "cp_async_ca_8", 4: "cp_async_ca_4"}  # by bytes
INSTRUCTIONS = {
    "float16": "mma_sync_m16n8k16_f32_f16",
    "bfloat16": "mma_sync_m16n8k16_f32_bf16",
    "float32": "mma_sync_m16n8k8_f32_tf32",
    "int8": "mma_sync_m16n8k32_s32_s8",
    "uint8": "mma_sync_m16n8k32_s32_u8",
}
WARP = 32
SHORT_LINES, SHORT_FLOATS = (32, 64), ("float16", "bfloat16")  # bytes across k, and the types that ldmatrix transposes


@dataclass(frozen=True)
class CopyForm:
    """How a panel of an operand is copied: along k or across it, `width` bytes at a time; 0 if no copy can do it."""

    order: str
    width: int


@dataclass(frozen=True)
class MmaConfig(TiledConfig):
    """main_loop.cl: the fields in capitals are explained at its top. `groups` is how many work-groups run at a time."""

    WARPS_M: int
    WARPS_N: int
    STAGES: int
    GROUP_M: int = 8
    lines: int = 1  # panels are so many times 128 bytes deep
    WARPS_K: int = 1
    groups: int = 132
    stream_k: bool = False  # compute the tiles of the tail wave by all `groups`
    pack: bool = False  # copy operands to lines that begin on cache lines first, where 16 bytes cannot be copied

    @property
    def splits_tail(self) -> bool:
        return self.stream_k

    def sums_alike(self, problem: Problem) -> bool:
        return tensor_cores_add_alike(self.oriented(problem)) and super().sums_alike(problem)

    @property
    def rate(self) -> float:
        """How fast the instruction is, as a part of the fastest that multiplies this type."""
        return 1.0

    @property
    def items(self) -> int:
        return WARP * self.WARPS_M * self.WARPS_N * self.WARPS_K

    def packed(self, call: GemmCall) -> tuple[str, ...]:
        """Which of "A" and "B" are copied first."""
        if not self.pack:
            return ()
        return tuple(name for name in ("A", "B") if name not in call.packed and copy_form(call, name).width < 16)

    def depth(self, call: GemmCall) -> int:
        """Elements of k in a panel: BK."""
        return self.lines * LINE // element_type(call.dtype).itemsize

    def steps(self, call: GemmCall) -> int:
        """Panels of each operand for one tile."""
        return max(1, -(-call.k // self.depth(call)))

    def work_groups(self, call: GemmCall) -> int:
        tiles = self.tiles(call)
        return min(self.groups, tiles * self.steps(call) if self.stream_k else tiles)

    def ndrange(self, problem: Problem) -> NDRange:
        return NDRange((self.work_groups(self.oriented(problem)) * self.items,), (self.items,))

    def local_bytes(self, problem: Problem) -> int:
        panels = self.STAGES * (self.BM + self.BN) * LINE * self.lines
        accumulator = element_type(element_type(call_of(problem).dtype).accumulator).itemsize
        sums = self.WARPS_K * self.BM * self.BN * accumulator if self.WARPS_K > 1 else 0
        return panels + sums + LINE  # an int that warps share, and what the compiler puts before the panels

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        return {
            **super().macros(problem),
            **element_macros(call),
            **self.operand_macros(call),
            **self.instruction_macros(call),
            "BK": self.depth(call), "C_VEC": result_width(call, 2), "STREAM_K": int(self.stream_k),
        }  # fmt: skip

    def operand_macros(self, call: GemmCall) -> dict[str, str | int]:
        itemsize, macros = element_type(call.dtype).itemsize, dict[str, str | int]()
        partial = False
        for name, outer in (("A", call.m), ("B", call.n)):
            form = copy_form(call, name)
            width = form.width // itemsize
            macros |= {f"{name}_ORDER": form.order, f"{name}_WIDTH": width, f"{name}_COPY": COPIES[form.width]}
            partial |= (call.k if form.order == ALONG_K else outer) % width != 0
        return {**macros, "PARTIAL": int(partial)}

    def instruction_macros(self, call: GemmCall) -> dict[str, str | int]:
        """What multiplies the elements, and the file that knows how they are read."""
        itemsize = element_type(call.dtype).itemsize
        if call.dtype == "complex128":
            return {"FRAGMENTS": "fragments_c128.cl"}
        return {"FRAGMENTS": "fragments_words.cl", "MMA": INSTRUCTIONS[call.dtype], "ITEM_BYTES": itemsize}

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        yield from self._geometry()
        call = self.oriented(problem)
        yield from result_violations(call)
        yield from division_of_k(call, self)
        for name in ("A", "B"):
            form, side = copy_form(call, name), self.BM if name == "A" else self.BN
            line = side * element_type(call.dtype).itemsize
            if not form.width:
                yield copy_refusal(call, name)
            elif form.order == ACROSS and line % LINE and (line not in SHORT_LINES or call.dtype not in SHORT_FLOATS):
                yield f"a line of {side} elements of {name} has {line} bytes, and the permutation of its parts needs {LINE}"
        if self.tiles(call) > MAX_INDEX:
            yield f"{self.tiles(call):,} tiles are more than {MAX_INDEX:,}, which an int can count"
        if self.pack and not self.packed(self.orientation(problem)):
            yield "A and B can be copied by 16 bytes where they are: packing them gains nothing"
        yield from self._stream_k_violations(call)

    def _stream_k_violations(self, call: GemmCall) -> Iterator[str]:
        """What speaks against stream-K: no tail wave, or one with too few panels for each work-group to have one.

        A tile waits for all work-groups from its first to its last, and those without a panel would leave it nothing.
        """
        tail, groups = self.tail_tiles(call), self.work_groups(call)
        if self.stream_k and not tail:
            yield f"{self.tiles(call)} tiles are full waves of {groups} work-groups: there is no tail wave for stream-K"
        elif self.stream_k and tail * self.steps(call) < groups:
            panels = tail * self.steps(call)
            yield f"the tail wave has {panels} panels, too few for stream-K by {groups} work-groups"

    def _geometry(self) -> Iterator[str]:
        """What is wrong with the numbers themselves, for any problem."""
        for side, block, warps, least in (("M", self.BM, self.WARPS_M, 32), ("N", self.BN, self.WARPS_N, 16)):
            if block % (warps * least):
                yield f"B{side}={block} is not a multiple of WARPS_{side}={warps} times {least}"
        if self.lines % self.WARPS_K:
            yield f"WARPS_K={self.WARPS_K} does not divide the {self.lines} lines of a row in a panel"
        elif self.BM * self.BN % (2 * self.items):
            yield f"a tile of {self.BM}x{self.BN} has no two elements for each of {self.items} work-items"
        if self.STAGES < 2:
            yield f"STAGES={self.STAGES}: at least 2 are needed, one to multiply and one to fill"


@dataclass(frozen=True)
class MmaFp64Config(MmaConfig):
    """fp64: the instruction's rows and depth, 16 x 8 x 4, 8 or 16 since sm_90, and 8 x 8 x 4 since sm_80."""

    MMA_M: int = 16
    MMA_K: int = 8

    @property
    def rate(self) -> float:
        return self.MMA_M / 16

    def instruction_macros(self, call: GemmCall) -> dict[str, str | int]:
        return {"FRAGMENTS": "fragments_f64.cl"}

    def _geometry(self) -> Iterator[str]:
        yield from super()._geometry()
        depth = self.lines * LINE // 8
        if depth % (2 * self.WARPS_K * self.MMA_K):
            yield f"a panel of {depth} elements of k is no even number of MMA_K={self.MMA_K} for each of WARPS_K={self.WARPS_K}"


@remembered
def copy_form(call: GemmCall, name: str) -> CopyForm:
    """The direction of the widest copies of operand "A" or "B", whose addresses are all multiples of their width.

    Sizes need not be multiples: the last copy of a line takes fewer bytes. Bytes across k cannot be multiplied.
    """
    layout, outer = call.sided(name)
    itemsize = element_type(call.dtype).itemsize
    forms = [CopyForm(ALONG_K, _width(layout, itemsize, call.k, outer, call.batch))]
    if itemsize > 1:
        forms.append(CopyForm(ACROSS, _width(layout.swapped, itemsize, outer, call.k, call.batch)))
    return max(forms, key=lambda form: (form.width, -abs(layout.column if form.order == ALONG_K else layout.row)))


def _width(layout: Layout, itemsize: int, length: int, lines: int, batch: int) -> int:
    """Bytes of one copy of `lines` lines of `length` elements, whose strides are the layout's row and column."""
    strides = [layout.offset, *([layout.row] if lines > 1 else []), *([layout.batch] if batch > 1 else [])]
    for width in COPIES:
        elements = width // itemsize
        side_by_side = layout.column == 1 or length <= 1 or elements == 1
        if elements and side_by_side and all(stride % elements == 0 for stride in strides):
            return width
    return 0


def copy_refusal(call: GemmCall, name: str) -> str:
    layout = call.a if name == "A" else call.b
    where = f"strides {layout.row} and {layout.column}, offset {layout.offset}, batches {layout.batch} apart"
    return f"{name} of {call.dtype} ({where}) has no lines that copies of 4 bytes or more can take"
