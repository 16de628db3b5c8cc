"""How TMA sees the operands of main_loop.cl, and what speaks against that."""

from math import gcd

from ....core.kernel import round_up
from ....core.operands import Layout
from ....core.tensor_map import TensorMap, layout_violation, tensor_map_violation
from ....core.types import element_type
from ..call import GemmCall, remembered

LINE = 128  # bytes of a line of a tile in local memory: the width of the widest swizzle
SWIZZLED = 8  # lines after which the swizzle repeats itself
WORTH_A_MAP = 32  # rows outside that are not loaded: with fewer, a map more to prepare costs as much as it saves
UNIT = 16  # bytes of which TMA wants addresses to be multiples
SECTOR = 32  # bytes that L2 gives at least


def depth(call: GemmCall) -> int:
    """Elements of k of one stage: BK."""
    return LINE // element_type(call.dtype).itemsize


def steps_of(call: GemmCall) -> int:
    """Stages of one tile."""
    return -(-(call.k + early(call)) // depth(call))


def along_k(rows: Layout) -> bool:
    """Whether an operand, seen by its rows of k, lies along them."""
    return rows.column == 1


@remembered
def alignment(call: GemmCall, name: str) -> int:
    """The power of two up to LINE of which all lines of operand "A" or "B" are loaded from a multiple on, in bytes."""
    view, outer = call.sided(name)
    stride, lines = (view.row, outer) if along_k(view) else (view.column, call.k)
    distances = [view.offset, stride if lines > 1 else 0, view.batch if call.batch > 1 else 0]
    if call.even_odd_rows and along_k(view):  # k begins early for odd rows of A, and so for B
        distances[-1] -= early(call)
    return gcd(LINE, *(distance * element_type(call.dtype).itemsize for distance in distances))


def straddles(call: GemmCall) -> bool:
    """Whether lines of A or B that are loaded lie in two of L2's."""
    return min(alignment(call, "A"), alignment(call, "B")) < LINE


def early(call: GemmCall) -> int:
    """How many elements before its first one k begins for odd rows, so that they are loaded from multiples of SECTOR bytes."""
    return UNIT // element_type(call.dtype).itemsize if call.even_odd_rows else 0


def loaded_rows(call: GemmCall, name: str, tile: int, parts: int = 1) -> int:
    """The rows of operand "A" or "B" that a work-group loads: `tile`, or fewer where the operand has fewer.

    On an H200 TMA takes 7 cycles for a line outside, several times as many as for one that is there.
    """
    _, outer = call.sided(name)
    return min(tile, round_up(max(outer, 1), _unit(call, name, tile, parts)))


def line_of(call: GemmCall, name: str, tile: int) -> int:
    """Bytes of a line in local memory of operand "A" or "B": half of one if `tile` rows across k are not whole ones."""
    return LINE // 2 if not along_k(call.sided(name)[0]) and tile % depth(call) else LINE


@remembered
def edge_rows(call: GemmCall, name: str, tile: int, parts: int = 1) -> int:
    """What work-groups with an operand's last rows load of it; 0 if that is not worth a map of its own."""
    _, outer = call.sided(name)
    left = round_up(outer % tile, _unit(call, name, tile, parts))
    return left if outer > tile and 0 < left <= tile - WORTH_A_MAP else 0


def _unit(call: GemmCall, name: str, tile: int, parts: int) -> int:
    """Rows that are loaded together: those of a unit of the swizzle, or of a box across k."""
    if along_k(call.sided(name)[0]):
        return SWIZZLED * parts
    return line_of(call, name, tile) // element_type(call.dtype).itemsize


def input_map(call: GemmCall, name: str, rows: int, line: int = LINE) -> TensorMap:
    """The map of operand "A" or "B": `rows` rows along k that a work-group loads at a time, or lines of `line` bytes across k."""
    view, outer = call.sided(name)
    itemsize, matrices = element_type(call.dtype).itemsize, 1 if view.batch == 0 else call.batch
    if along_k(view):
        sizes, stride, box = (call.k, outer, matrices), view.row, (depth(call), rows, 1)
    else:
        sizes, stride, box = (outer, call.k, matrices), view.column, (line // itemsize, depth(call), 1)
    stride = lone_stride(stride, sizes[0], sizes[1], itemsize)
    batch = lone_stride(view.batch, stride * sizes[1], matrices, itemsize)
    dtype = "tf32" if call.dtype == "float32" else call.dtype  # the tensor cores would cut off what is not rounded
    return TensorMap(dtype, sizes, (stride * itemsize, batch * itemsize), box, line)


def output_map(call: GemmCall, rows: int = 64) -> TensorMap:
    """The map of C, into which `rows` of 128 bytes are stored at a time."""
    itemsize = element_type(call.result).itemsize
    row = lone_stride(call.c.row, call.n, call.m, itemsize)
    batch = lone_stride(call.c.batch, row * call.m, call.batch, itemsize)
    return TensorMap(
        call.result, (call.n, call.m, call.batch), (row * itemsize, batch * itemsize), (LINE // itemsize, rows, 1), LINE
    )


def lone_stride(stride: int, least: int, count: int, itemsize: int) -> int:
    """The stride of `count` lines or matrices; of a lone one, which has none to speak of, any that a map may have."""
    units = 16 // itemsize
    return stride if count > 1 else -(-max(least, 1) // units) * units


@remembered
def rows_aligned(call: GemmCall) -> bool:
    """Whether C's rows begin and end at multiples of 16 bytes, the most that a work-item stores at a time."""
    itemsize = element_type(call.result).itemsize
    if itemsize == 1 or call.c.column != 1:
        return False
    distances = (call.n, call.c.offset, call.c.row if call.m > 1 else 0, call.c.batch if call.batch > 1 else 0)
    return all(distance * itemsize % 16 == 0 for distance in distances)


@remembered
def stores_by_tma(call: GemmCall) -> bool:
    """Whether TMA can store C. Its rows must end on 16 bytes, too: on an H200 a store of a row of one element wrote
    beyond it."""
    itemsize = element_type(call.result).itemsize
    empty = min(call.m, call.n, call.batch) == 0
    return rows_aligned(call) and not empty and not tensor_map_violation("C", output_map(call), itemsize)


@remembered
def load_refusal(call: GemmCall, name: str, register_operand: str = "") -> str:
    """Why operand "A" or "B" cannot be multiplied where it lies, as a sentence, or "".

    `register_operand` is the one that is multiplied from registers.
    """
    view, outer = call.sided(name)
    itemsize = element_type(call.dtype).itemsize
    unmapped = layout_violation(name, view, itemsize)
    if unmapped:
        return unmapped
    if itemsize != 2 and not along_k(view) and name != register_operand:
        return f"wgmma multiplies {call.dtype} only along k, and {name} lies across it"
    return tensor_map_violation(name, input_map(call, name, 64), itemsize) if outer and call.batch else ""
