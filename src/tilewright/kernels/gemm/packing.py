"""Operands that are copied into scratch memory before a product: where they lie there, and the launches that copy them.

Layouts here are those of an operand's rows across k: `m` or `n` rows of `k` elements, whichever operand it is.
"""

from collections.abc import Callable
from dataclasses import replace

from ...dtypes import element_type
from ...kernel import Steps, round_up
from ...operands import Layout
from ..moves import Move, packing_steps
from .call import GemmCall

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
    copy takes less time than a turn.
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


def with_packed(call: GemmCall, name: str, place: Place) -> GemmCall:
    """The call with operand "A" or "B" in scratch memory."""
    a, b, c = call.views
    layout = place(call, name)
    views = (layout, b, c) if name == "A" else (a, layout.swapped, c)
    return replace(call, views=views, packed=(*call.packed, name))


def room(call: GemmCall, name: str, place: Place) -> int:
    """Elements of scratch memory that operand "A" or "B" takes."""
    view, outer = call.sided(name)
    layout = place(call, name)
    lines = outer * layout.row if layout.column == 1 else call.k * layout.column
    return (1 if view.batch == 0 else call.batch) * lines


def packing(call: GemmCall, name: str, place: Place) -> Steps:
    """The launches that copy operand "A" or "B" there."""
    view, outer = call.sided(name)
    batch = 1 if view.batch == 0 else call.batch
    move = Move(outer, call.k, call.dtype, view, place(call, name), batch, room(call, name, place))
    return packing_steps(move, dict(call.buffers).get(name, name), f"packed_{name}")
