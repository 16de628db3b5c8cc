"""What a GemmCall's element types and memory layouts become in the kernels' source: macros, and nothing of its sizes."""

from dataclasses import dataclass
from functools import cache

from ...core.operands import Layout
from ...core.types import element_type
from .call import GemmCall, remembered

MAX_INDEX = 2**31 - 1  # the largest int of a kernel
LOAD_BYTES = 16  # the widest load or store of one work-item on every GPU that is known


@dataclass(frozen=True)
class Elements:
    """The types of one dtype: `stored` in memory, `component` in registers, `parts` components an element."""

    stored: str
    component: str
    parts: int
    form: str

    @property
    def component_bytes(self) -> int:
        return 8 if self.component in ("double", "long", "ulong") else 4

    @property
    def fragment(self) -> int:
        """Elements of one read of local memory."""
        return max(1, LOAD_BYTES // (self.component_bytes * self.parts))


@cache
def elements(dtype: str) -> Elements:
    kind = element_type(dtype)
    return Elements(kind.stored, element_type(kind.accumulator).stored, kind.parts, kind.decode)


def element_macros(call: GemmCall) -> dict[str, str | int]:
    """The element types, the epilogue and the complex conjugates."""
    own, result = elements(call.dtype), elements(call.result)
    return {
        "STORED": own.stored,
        "STORED_AS": own.form,
        "COMPONENT": own.component,
        "WRAPPING": "ulong" if own.component_bytes == 8 else "uint",
        "PARTS": own.parts,
        "ACC": own.component if own.parts == 1 else f"{own.component}2",
        "RESULT": result.stored,
        "RESULT_AS": result.form,
        "ACTIVATION": call.activation or "none",
        "BIAS": int(bool(call.bias)),
        "SCALED": int(bool(call.scale_a)),
        "CONJUGATE_A": int(own.parts == 2 and call.conjugate_a),
        "CONJUGATE_B": int(own.parts == 2 and call.conjugate_b),
    }


def vector_width(
    layout: Layout, itemsize: int, along: tuple[int, int], across: tuple[int, int], batch: int, limit: int = LOAD_BYTES
) -> int:
    """Elements that one load may take in a direction: a power of two, 1 if its stride is not 1.

    `along` and `across` are (size, stride) in the direction and across it. Every load of that width is then aligned,
    since buffers start on 16 bytes, and wholly inside or outside of the matrix. `limit` is in bytes.
    """
    size, stride = along
    width = max(1, limit // itemsize)
    while width > 1 and not (
        stride == 1
        and size % width == 0
        and layout.offset % width == 0
        and (across[0] == 1 or across[1] % width == 0)
        and (batch == 1 or layout.batch % width == 0)
    ):
        width //= 2
    return width


@dataclass(frozen=True)
class Reading:
    """How a panel of A or B is read: along k or across it, and by how many elements at a time."""

    order: str  # "PANEL_ALONG_K" or "PANEL_ACROSS"
    width: int


@remembered
def reading(call: GemmCall, operand: str) -> Reading:
    """The direction of the widest loads of operand "A" or "B"; of the smaller stride where none are wide."""
    itemsize = element_type(call.dtype).itemsize
    layout = call.a if operand == "A" else call.b.swapped
    outer, inner = (call.m if operand == "A" else call.n, layout.row), (call.k, layout.column)
    if operand in call.packed:  # by packing.across_k
        return Reading("PANEL_ACROSS", max(1, LOAD_BYTES // itemsize))
    along_k = vector_width(layout, itemsize, inner, outer, call.batch)
    across = vector_width(layout, itemsize, outer, inner, call.batch)
    # A direction with a single element has no stride to speak of.
    k_stride = abs(layout.column) if call.k > 1 else MAX_INDEX
    outer_stride = abs(layout.row) if outer[0] > 1 else MAX_INDEX
    if (along_k, -k_stride) > (across, -outer_stride):
        return Reading("PANEL_ALONG_K", along_k)
    return Reading("PANEL_ACROSS", across)


@remembered
def result_width(call: GemmCall, limit: int) -> int:
    """Elements of a row of C that one store may write, at most `limit`."""
    itemsize = element_type(call.result).itemsize
    along, across = (call.n, call.c.column), (call.m, call.c.row)
    width = vector_width(call.c, itemsize, along, across, call.batch, min(LOAD_BYTES, limit * itemsize))
    return width if call.c_split % width == 0 else 1


def index_type(call: GemmCall, bm: int, bn: int, bk: int) -> str:
    """The type that holds every offset inside a tile of A or B."""
    parts = elements(call.dtype).parts
    a = bm * abs(call.a.row) + bk * abs(call.a.column)
    b = bn * abs(call.b.column) + bk * abs(call.b.row)
    return "int" if parts * max(a, b) <= MAX_INDEX else "long"
