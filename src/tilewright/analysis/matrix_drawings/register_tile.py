"""What a work-item uses at one k for the elements of C that it computes, and which work-item computes which."""

import numpy as np

from ..explain.clc.types import Space
from .drawing import MatrixDrawing, Values
from .matrices import NOWHERE
from .observe import Held, Observed
from .operands import by_name, group_name, settings
from .panels import GROUP, ITEM, STEP, Cell, Cells, Panel, bounds
from .picture import STYLE, legend, product_arrangement, side_by_side
from .terminal import product_text, row_text

CORNER = 16  # rows and columns of C whose owners are named


def computes_several(seen: Observed) -> bool:
    """Whether the drawn work-item holds several elements of C at once: it stores more than one, and no input is loaded after the
    first store."""
    last_load, first_store = -1, -1
    for number, each in enumerate(seen.globals):
        if seen.matrices[each.buffer].name == seen.output:
            if not each.is_load and first_store < 0:
                first_store = number
        elif each.is_load:
            last_load = number
    several = len(seen.touched(seen.output, item=seen.item, stores=True)) > 1
    return several and last_load < first_store and len(by_name(seen)) == 3


def _step(seen: Observed) -> int | None:
    """The step that is drawn: the first one in which local memory is read, if it is read later than the tiles are loaded."""
    steps = {seen.step_of(each) for each in seen.accesses if each.is_load and each.space is Space.LOCAL}
    return seen.step if not steps or seen.step in steps else min(steps)


def used(seen: Observed, items: range, step: int | None) -> dict[str, set[Cell]]:
    """The elements of the inputs that these work-items read in a step from where they take their operands: local arrays, or
    the matrices themselves where there are none."""
    found: dict[str, set[Cell]] = {each.name: set() for each in by_name(seen)}
    local = any(each.space is Space.LOCAL for each in seen.accesses)
    held = _held_at(seen) if local else {}
    for number, access in enumerate(seen.accesses):
        if not access.is_load or (step is not None and seen.step_of(access) != step):
            continue
        offsets = access.offsets[(access.items >= items.start) & (access.items < items.stop)]
        if access.space is Space.LOCAL:
            now = [each for each in held.get(access.buffer, []) if each.accesses <= number]
            if now:
                _from_array(seen, now[-1], offsets.tolist(), access.size, found)
        elif not local and access.space is Space.GLOBAL and access.buffer in seen.matrices:
            matrix = seen.matrices[access.buffer]
            found[matrix.name].update(map(tuple, matrix.elements(offsets, access.size).tolist()))
    return found


def _held_at(seen: Observed) -> dict[str, list[Held]]:
    held: dict[str, list[Held]] = {}
    for number in range(len(seen.recorders[0].snapshots)):
        own = seen.held(number)
        held.setdefault(own.array, []).append(own)
    return held


def _from_array(seen: Observed, held: Held, offsets: list[int], size: int, found: dict[str, set[Cell]]) -> None:
    for offset in offsets:
        for element in range(offset // held.itemsize, (offset + size) // held.itemsize):
            if held.which[element] != NOWHERE:
                name = seen.matrix_number(int(held.which[element])).name
                row, column = held.places[element]
                found[name].add((int(row), int(column)))


def register_tile(seen: Observed) -> list[MatrixDrawing]:
    """The drawings of a kernel whose work-items compute several elements of C."""
    if not computes_several(seen):
        return []
    item, step = seen.item, _step(seen)
    a, b, c = by_name(seen)
    lanes = seen.model.lanes
    warp = range(item // lanes * lanes, item // lanes * lanes + lanes)
    own, together = used(seen, range(item, item + 1), step), used(seen, warp, step)
    all_of_it = used(seen, range(seen.items), step)
    if not own[a.name] or not own[b.name]:
        return [_owners(seen)]
    k = min(column for _, column in own[a.name])
    at_k = {a.name: lambda cell: cell[1] == k, b.name: lambda cell: cell[0] == k}
    panels = []
    for matrix in (a, b, c):
        tile = seen.touched(c.name, stores=True) if matrix is c else all_of_it[matrix.name]
        if matrix is c:
            alone = seen.touched(c.name, item=item, stores=True)
            shared = set().union(*(seen.touched(c.name, item=each, stores=True) for each in warp))
        else:
            alone, shared = (set(filter(at_k[matrix.name], each[matrix.name])) for each in (own, together))
        panels.append(_tile_panel(matrix.title, tile, shared if lanes > 1 else set(), alone))
    picture = product_arrangement(panels)
    entries = [("s3", f"work-item {item}: what it reads at k = {k}, and what it computes")]
    entries += [("s2", f"the other work-items of its {seen.model.sub_group}")] * (lanes > 1 and seen.items > 1)
    entries += [("s1", "the work-group's tile in this step"), *settings(seen)]
    legend(picture, entries)
    values: Values = {"k": k, "item": item, "kernel": seen.kernel.name, "a": a.title, "b": b.title, "c": c.title,
              "a_item": len(panels[0].shades[ITEM]), "b_item": len(panels[1].shades[ITEM]),
              "c_item": len(panels[2].shades[ITEM])}  # fmt: skip
    text = [*product_text(panels), "", f"█ work-item {item}   ▒ its {seen.model.sub_group}   ░ the work-group's tile"]
    drawing = MatrixDrawing("register_tile", "register_tile", values, picture.svg(STYLE), "\n".join(text))
    return [drawing, _owners(seen)] if seen.items > 1 else [drawing]


def _tile_panel(title: str, tile: set[Cell], shared: set[Cell], alone: set[Cell]) -> Panel:
    edges = bounds(tile)
    assert edges is not None
    top, bottom, left, right = edges
    shades: dict[int, Cells] = {GROUP: frozenset(tile), STEP: frozenset(shared), ITEM: frozenset(alone)}
    return Panel(title, (top, left), (bottom - top + 1, right - left + 1), shades, marked=frozenset(tile))


def _owners(seen: Observed) -> MatrixDrawing:
    """A corner of the work-group's tile of C with the number of the work-item that computes each element."""
    c = by_name(seen)[-1]
    owner: dict[Cell, int] = {}
    for access in seen.globals:
        if seen.matrices[access.buffer].name == seen.output and not access.is_load:
            for offset, item in zip(access.offsets.tolist(), access.items.tolist(), strict=True):
                owner.update({(int(r), int(s)): item for r, s in c.elements(np.array([offset]), access.size)})
    edges = bounds(owner)
    assert edges is not None
    top, bottom, left, right = edges
    size = min(CORNER, bottom - top + 1), min(CORNER, right - left + 1)
    item = owner[top, left]
    warp = frozenset(cell for cell, own in owner.items() if own // seen.model.lanes == item // seen.model.lanes)
    shades: dict[int, Cells] = {STEP: warp, ITEM: frozenset(cell for cell, own in owner.items() if own == item)}
    panel = Panel(
        f"{c.title}, the first {size[0]} x {size[1]} of the work-group", (top, left), size, shades,
        labels={cell: str(own) for cell, own in owner.items()}, marked=frozenset(owner),
    )  # fmt: skip
    picture = side_by_side([panel], largest=20.0)
    entries = [("s3", f"work-item {item}"), ("s2", f"its {seen.model.sub_group}: work-items that run in step")]
    legend(picture, [*entries, ("", "the number: the work-item that computes the element"), *settings(seen)])
    values: Values = {
        "rows": size[0],
        "columns": size[1],
        "c": c.title,
        "group": group_name(seen),
        "kernel": seen.kernel.name,
    }
    text = [*row_text([panel]), "", "the number: the work-item that computes the element"]
    return MatrixDrawing("owners", "owners", values, picture.svg(STYLE), "\n".join(text))
