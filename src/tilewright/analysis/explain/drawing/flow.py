"""Draws a tile's path from global memory over local memory to registers, and the timeline between barriers."""

from dataclasses import dataclass

from ....core.svg import Drawing
from ..explanation import Explanation
from ..profile import LineAccess, Phase

_WIDTH, _HEIGHT = 190, 46


@dataclass(frozen=True)
class Leg:
    """An arrow between two boxes, with its label."""

    source: tuple[str, str]
    target: tuple[str, str]
    label: str


REGISTERS = ("registers", "")


def legs(explanation: Explanation) -> list[Leg]:
    """The paths of the data. A statement that loads from global and stores into local memory is one leg."""
    out: list[Leg] = []
    accesses, passes = explanation.accesses, explanation.model.local_passes
    moved: set[int] = set()
    for store in accesses:
        if store.is_local and store.operation == "store":
            sources = [
                each
                for each in accesses
                if not each.is_local and each.operation == "load" and each.position.line == store.position.line
            ]
            for load in sources:
                moved |= {id(load), id(store)}
                label = f"line {store.position.line}: {_cost(load, passes)}, then {store.cost:,} {passes}"
                out.append(Leg((load.space, load.buffer), ("local", store.buffer), label))
    for access in accesses:
        if id(access) in moved:
            continue
        memory = (access.space, access.buffer)
        label = f"line {access.position.line}: {_cost(access, passes)}"
        out.append(Leg(memory, REGISTERS, label) if access.operation == "load" else Leg(REGISTERS, memory, label))
    return out


def _cost(access: LineAccess, passes: str) -> str:
    if access.is_image:
        return f"{access.requests:,} requests, {access.useful_bytes:,} bytes of texels"
    unit = passes if access.is_local else access.unit
    return f"{access.requests:,} requests, {access.cost:,} {unit}"


def draw_path(explanation: Explanation) -> Drawing:
    """Each leg as two boxes with an arrow between them, in the order of global memory, constants and images, local, registers."""
    drawing = Drawing()
    found = legs(explanation)
    order = {"global": 0, "constant": 0, "image": 0, "local": 1, "registers": 2}
    found.sort(key=lambda leg: (order[leg.target[0]] <= order[leg.source[0]], order[leg.source[0]], leg.label))
    for row, leg in enumerate(found):
        y = row * (_HEIGHT + 26)
        columns = [order[leg.source[0]], order[leg.target[0]]]
        for place, column, kind in ((leg.source, columns[0], "load"), (leg.target, columns[1], "store")):
            x = column * (_WIDTH + 230)
            drawing.box(x, y, _WIDTH, _HEIGHT, kind, leg.label)
            drawing.text(x + 12, y + 19, place[0], "soft")
            drawing.text(x + 12, y + 36, place[1] or "of each work-item", "ink head")
        left, right = min(columns), max(columns)
        start, end = left * (_WIDTH + 230) + _WIDTH, right * (_WIDTH + 230)
        begin, finish = (start + 4, end - 4) if columns[0] < columns[1] else (end - 4, start + 4)
        drawing.arrow(begin, y + _HEIGHT / 2, finish, y + _HEIGHT / 2)
        drawing.text((start + end) / 2, y + _HEIGHT + 14, leg.label, "soft", "middle", 11)
    return drawing


def folded(phases: tuple[Phase, ...]) -> list[tuple[tuple[Phase, ...], int]]:
    """Phases, with repetitions of one or two phases folded: (phases, times)."""
    out: list[tuple[tuple[Phase, ...], int]] = []
    at = 0
    while at < len(phases):
        best = (1, 1)
        for length in (1, 2, 3):
            block, times = phases[at : at + length], 1
            while phases[at + times * length : at + (times + 1) * length] == block and len(block) == length:
                times += 1
            if times > 1 and length * times > best[0] * best[1]:
                best = (length, times)
        out.append((phases[at : at + best[0]], best[1]))
        at += best[0] * best[1]
    return out


def draw_timeline(explanation: Explanation) -> Drawing:
    """The stretches between barriers from left to right, each with its accesses. A wall is a barrier."""
    drawing = Drawing()
    x: float = 0
    lines = {(each.position.line, each.operation, each.buffer) for each in explanation.accesses}
    for block, times in folded(explanation.profile.phases):
        left = x
        for phase in block:
            if not phase.accesses and not phase.barrier:
                continue
            for row, (line, operation, space, buffer, count) in enumerate(phase.accesses):
                kind = "load" if operation == "load" else "store"
                assert (line, operation, buffer) in lines
                drawing.box(
                    x, 24 + row * 26, 230, 22, kind, f"line {line}: {count:,} times {operation} in {space} {buffer}"
                )
                drawing.text(x + 6, 39 + row * 26, f"{line}: {operation} {space} {buffer} x{count}", "ink", size=11)
            x += 236
            if phase.barrier:
                drawing.box(x, 20, 4, max(26 * len(phase.accesses), 26) + 8, "wall", f"barrier at line {phase.barrier}")
                drawing.text(x + 2, 14, f"barrier {phase.barrier}", "soft", "middle", 10)
                x += 12
        if times > 1:
            drawing.text(left, drawing.height + 14, f"\u21b3 {times} times", "soft")
    return drawing
