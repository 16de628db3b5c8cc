"""Operands that are copied into scratch memory before a product: where they lie there, and the launches that copy them.

Layouts here are those of an operand's rows across k: `m` or `n` rows of `k` elements, whichever operand it is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.kernel import MOST_GROUPS, Config, Kernel, NDRange, Step, Steps, round_up
from ...core.operands import Layout
from ...core.problem import Problem
from ...core.types import ELEMENT_TYPES, element_type
from ..copy import StridedCopy, nearer_rows, packing_steps, width
from ..copy.configs import TYPES, WORD
from ..copy.strided_copy import VECTOR_BYTES
from .call import GemmCall, call_of, remembered

HERE = Path(__file__).parent
TILE_BYTES = 256  # of a line of a tile of pack.cl
MOST_TOGETHER = 2**25  # bytes of operands for which a launch less gains more than stores by vectors
MULTIPLE = 32  # elements: lines begin on 128 bytes, if 4 bytes wide
LINE = 128  # bytes of a line of a GPU's caches
Place = Callable[[GemmCall, str], Layout]


def across_k(call: GemmCall, name: str) -> Layout:
    """Lines of one k, with room at their ends for vectors."""
    view, outer = call.sided(name)
    pitch = round_up(outer, MULTIPLE)
    return Layout(0, 1, pitch, _batch(call, view, pitch * call.k))


def on_lines(call: GemmCall, name: str) -> Layout:
    """Lines along k that begin on the cache's.

    Elements of 16 bits are multiplied across k as well by tensor cores, so they stay as they lie where that fills lines: a
    copy takes less time than a transpose.
    """
    view, outer = call.sided(name)
    itemsize = element_type(call.dtype).itemsize
    across = itemsize == 2 and view.row == 1 and view.column != 1 and outer * itemsize >= LINE
    lines, length = (call.k, outer) if across else (outer, call.k)
    pitch = round_up(max(length, 1), LINE // itemsize)
    row, column = (1, pitch) if across else (pitch, 1)
    return Layout(0, row, column, _batch(call, view, lines * pitch))


def _batch(call: GemmCall, view: Layout, elements: int) -> int:
    return 0 if call.batch == 1 or view.batch == 0 else elements


def shares_copy(call: GemmCall, names: tuple[str, ...]) -> bool:
    """Whether one copy serves both operands: of a symmetric product B is the copy of A, transposed."""
    return call.symmetric and {"A", "B"} <= set(names)


def copied(call: GemmCall, names: tuple[str, ...]) -> tuple[str, ...]:
    """Which of the operands that are packed need a copy of their own."""
    return ("A",) if shares_copy(call, names) else names


@remembered
def with_packed(call: GemmCall, name: str, place: Place) -> GemmCall:
    """The call with operand "A" or "B" in scratch memory."""
    a, b, c = call.views
    if name == "B" and shares_copy(call, (*call.packed, name)):
        return replace(call, views=(a, a.swapped, c), packed=(*call.packed, name))
    layout = place(call, name)
    views = (layout, b, c) if name == "A" else (a, layout.swapped, c)
    return replace(call, views=views, packed=(*call.packed, name))


@remembered
def room(call: GemmCall, name: str, place: Place) -> int:
    """Elements of scratch memory that operand "A" or "B" takes."""
    view, outer = call.sided(name)
    layout = place(call, name)
    lines = outer * layout.row if layout.column == 1 else call.k * layout.column
    return (1 if view.batch == 0 else call.batch) * lines


@dataclass(frozen=True)
class PackConfig(Config):
    """pack.cl: how the copies of A and B lie, by their rows across k. The fields in capitals are explained at its top."""

    a: Layout
    b: Layout
    ITEMS: int = 256

    def _tile(self, call: GemmCall) -> int:
        return TILE_BYTES // element_type(call.dtype).itemsize

    def _tiles(self, call: GemmCall, rows: int) -> int:
        return -(-rows // self._tile(call)) * -(-call.k // self._tile(call))

    def ndrange(self, problem: Problem) -> NDRange:
        call = call_of(problem)
        tiles = self._tiles(call, call.m) + self._tiles(call, call.n)
        return NDRange((tiles * self.ITEMS, 1, call.batch), (self.ITEMS, 1, 1))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        call = call_of(problem)
        found: dict[str, int | float] = {"a_tiles": self._tiles(call, call.m)}
        for name, copy in (("packed_a", self.a), ("packed_b", self.b)):
            found |= {f"{name}_row": copy.row, f"{name}_column": copy.column, f"{name}_batch": copy.batch}
        return found

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = call_of(problem)
        macros: dict[str, str | int] = {"ELEMENT": TYPES[element_type(call.dtype).itemsize], "TILE": self._tile(call)}
        for name, copy in (("A", self.a), ("B", self.b)):
            source, rows = call.sided(name)
            macros[f"{name}_READ"] = int(nearer_rows(source, rows, call.k))
            macros[f"{name}_WRITTEN"] = int(nearer_rows(copy, rows, call.k))
            macros[f"{name}_BATCHED"] = int(call.batched(name))
        return super().macros(problem) | macros

    def local_bytes(self, problem: Problem) -> int:
        tile = self._tile(call_of(problem))
        return tile * (tile + 1) * element_type(problem.dtype).itemsize


def by_one_launch(call: GemmCall, names: tuple[str, ...]) -> bool:
    """Whether operands are copied by a single launch: where vectors could not do it faster by two."""
    return set(names) == {"A", "B"} and _by_elements(call)


@remembered
def launches(call: GemmCall, names: tuple[str, ...]) -> int:
    """How many launches copy operands, of a batch that each of them can take."""
    return 1 if by_one_launch(call, names) else len(copied(call, names))


def packing(call: GemmCall, names: tuple[str, ...], place: Place) -> Steps:
    """The launches that copy operands "A" and "B", one or both, there."""
    names = copied(call, names)
    if by_one_launch(call, names):
        config = PackConfig(place(call, "A"), place(call, "B"))
        itemsize = element_type(call.dtype).itemsize
        scratch = tuple((f"packed_{name}", room(call, name, place) * itemsize) for name in names)
        return (Step(PACK, config, call, call.buffers, scratch),)
    return tuple(step for name in names for step in _copy(call, name, place))


def _by_elements(call: GemmCall) -> bool:
    """Whether A and B are small, of wide elements, and of lines of which vectors would load no more than one."""
    itemsize = element_type(call.dtype).itemsize
    broadcast = [call.sided(name)[0].batch == 0 for name in ("A", "B")]
    if (
        call.batch > 1 and broadcast[0] != broadcast[1]
    ):  # a launch for both would have work-groups for copies that there are
        return False
    matrices = [call.batch if call.sided(name)[0].batch else 1 for name in ("A", "B")]
    size = (matrices[0] * call.m + matrices[1] * call.n) * call.k * itemsize
    if not WORD <= itemsize < VECTOR_BYTES or call.batch > MOST_GROUPS or size > MOST_TOGETHER:
        return False
    for view, rows in (call.sided("A"), call.sided("B")):
        across = nearer_rows(view, rows, call.k)
        line, length, lines = (view.swapped, rows, call.k) if across else (view, call.k, rows)
        if width(line, length, lines, call.batch, itemsize) > 1:
            return False
    return True


def _copy(call: GemmCall, name: str, place: Place) -> Steps:
    """The launches that copy operand "A" or "B" there."""
    view, outer = call.sided(name)
    batch = 1 if view.batch == 0 else call.batch
    copy = StridedCopy(outer, call.k, call.dtype, view, place(call, name), batch, room(call, name, place))
    return packing_steps(copy, dict(call.buffers).get(name, name), f"packed_{name}")


PACK = Kernel(HERE / "pack.cl", PackConfig(Layout(0, 1, 1), Layout(0, 1, 1)), dtypes=tuple(ELEMENT_TYPES))
