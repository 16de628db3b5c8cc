"""Draws one request: its sectors in global memory, its addresses in a constant cache, its banks and passes in local memory."""

import numpy as np

from ....core.svg import Drawing
from ..models.rules import Model, bank_units, split_access, words_of
from ..numbers import number
from ..profile import ADDRESSES, LineAccess, Request

_CELL, _ROW = 26, 22
_LINES_SHOWN = 36
_ADDRESS = 300  # pixels


def draw_access(access: LineAccess, model: Model, source: str) -> Drawing:
    """The worst request of an access, under its source line."""
    drawing = Drawing()
    title = f"line {access.position.line}: {access.operation} of {access.size} bytes, {access.space} {access.buffer}"
    drawing.text(0, 14, title, "ink head")
    drawing.text(0, 32, source.strip()[:110], "soft")
    banked = access.is_local and not model.local_is_global
    draw = draw_banks if banked else draw_addresses if access.unit == ADDRESSES else draw_sectors
    drawing.place(draw(access, model), 0, 44)
    return drawing


def lane_names(lanes: list[int]) -> str:
    """0-3, 16 for [0, 1, 2, 3, 16]."""
    if not lanes:
        return ""
    runs: list[list[int]] = [[lanes[0], lanes[0]]]
    for lane in lanes[1:]:
        if lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def draw_sectors(access: LineAccess, model: Model) -> Drawing:
    """One row for each cache line that the request touches, and one box for each sector, filled up to the used part."""
    request, drawing = access.worst, Drawing()
    users: dict[int, list[int]] = {}
    used: dict[int, set[int]] = {}
    for lane, address in enumerate(request.addresses):
        if address is not None:
            for byte in range(address, address + request.size):
                used.setdefault(byte // model.sector, set()).add(byte)
            for sector in range(address // model.sector, (address + request.size - 1) // model.sector + 1):
                users.setdefault(sector, []).append(lane)
    per_line, box = model.line // model.sector, 150
    lines = sorted({sector // per_line for sector in users})
    for row, line in enumerate(lines[:_LINES_SHOWN]):
        y = row * (_ROW + 4)
        drawing.text(0, y + 15, f"byte {line * model.line}", "soft")
        for part in range(per_line):
            sector = line * per_line + part
            x = 110 + part * (box + 4)
            lanes = lane_names(users.get(sector, []))
            start, asked = sector * model.sector, len(used.get(sector, set()))
            hover = f"bytes {start} to {start + model.sector - 1}: {asked} asked for, by lanes {lanes or 'none'}"
            drawing.box(x, y, box, _ROW, "moved" if sector in users else "empty", hover)
            for first, count in stretches(sorted(used.get(sector, set()))):
                drawing.box(
                    x + (first % model.sector) * box / model.sector, y, count * box / model.sector, _ROW, "used", hover
                )
            drawing.text(x + box / 2, y + 15, lanes[:20], "ink", "middle", title=hover)
    below = min(len(lines), _LINES_SHOWN) * (_ROW + 4) + 14
    if len(lines) > _LINES_SHOWN:
        drawing.text(0, below, f"... and {len(lines) - _LINES_SHOWN} more lines", "soft")
        below += 18
    unused = len(users) * model.sector - sum(len(each) for each in used.values())
    drawing.text(
        0,
        below,
        f"one {model.sub_group} moves "
        f"{counted(len(users), 'sector', 'sectors')} of {model.sector} bytes in {counted(len(lines), 'line', 'lines')}; "
        f"{unused} bytes of them unused. Numbers are lanes; green: bytes asked for, orange: moved but not used.",
        "soft",
    )
    return drawing


def draw_addresses(access: LineAccess, model: Model) -> Drawing:
    """A row for each address that the request asks a constant cache for, one after the other, with the lanes that it serves."""
    request, drawing = access.worst, Drawing()
    served: dict[int, list[int]] = {}
    for lane, address in enumerate(request.addresses):
        if address is not None:
            served.setdefault(address, []).append(lane)
    for row, (address, lanes) in enumerate(list(served.items())[:_LINES_SHOWN]):
        y, names = row * (_ROW + 4), lane_names(lanes)
        hover = f"byte {address}: lanes {names}"
        drawing.text(0, y + 15, f"byte {address}", "soft")
        drawing.box(110, y, _ADDRESS, _ROW, "used" if row == 0 else "late", hover)
        drawing.text(110 + _ADDRESS / 2, y + 15, names[:40], "ink", "middle", title=hover)
    below = min(len(served), _LINES_SHOWN) * (_ROW + 4) + 14
    if len(served) > _LINES_SHOWN:
        drawing.text(0, below, f"... and {len(served) - _LINES_SHOWN} more addresses", "soft")
        below += 18
    count = counted(len(served), "address", "addresses")
    order = (
        ", which the constant cache serves one after the other" if len(served) > 1 else ": one pass serves all lanes"
    )
    drawing.text(
        0,
        below,
        f"one {model.sub_group} asks for {count}{order}. Numbers are lanes; green: the least, red: the rest.",
        "soft",
    )
    return drawing


def counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def stretches(values: list[int]) -> list[tuple[int, int]]:
    """Consecutive numbers as (first, count)."""
    out: list[tuple[int, int]] = []
    for value in values:
        if out and value == out[-1][0] + out[-1][1]:
            out[-1] = (out[-1][0], out[-1][1] + 1)
        else:
            out.append((value, 1))
    return out


def passes_of(request: Request, model: Model, operation: str, size: int) -> list[dict[int, list[int]]]:
    """The passes of a request through local memory, before pairs merge: for each pass, bank -> lanes whose word it delivers."""
    out: list[dict[int, list[int]]] = []
    for at, piece in split_access(request.size, size, model.widest):
        for phase in model.phases_of(piece, operation):
            words: dict[int, dict[int, list[int]]] = {}
            for lane in phase:
                address = request.addresses[lane]
                if address is None:
                    continue
                for unit in np.unique(bank_units(model, words_of(np.array([address + at]), piece)[0])):
                    words.setdefault(int(unit) % model.banks, {}).setdefault(int(unit), []).append(lane)
            deepest = max((len(each) for each in words.values()), default=0)
            for turn in range(deepest):
                out.append({bank: list(each.values())[turn] for bank, each in words.items() if len(each) > turn})
    return out


def draw_banks(access: LineAccess, model: Model) -> Drawing:
    """A column for each bank and a row for each pass. Each cell names the lanes that it serves."""
    request, drawing = access.worst, Drawing()
    operation = "load" if access.operation == "load" else "store"
    rows = passes_of(request, model, operation, request.size)
    phases = sum(
        any(request.addresses[lane] is not None for lane in phase)
        for _, piece in split_access(request.size, request.size, model.widest)
        for phase in model.phases_of(piece, operation)
    )
    drawing.text(0, 14, "bank", "soft")
    for bank in range(model.banks):
        drawing.text(90 + bank * _CELL + _CELL / 2, 14, str(bank), "soft", "middle", 10)
    for row, served in enumerate(rows):
        y = 22 + row * (_ROW + 2)
        drawing.text(0, y + 15, f"{model.local_pass} {row + 1}", "soft", size=11)
        for bank in range(model.banks):
            lanes = served.get(bank, [])
            kind = "empty" if not lanes else "busy" if row < phases else "late"
            drawing.box(90 + bank * _CELL, y, _CELL - 2, _ROW, kind, f"bank {bank}: lanes {lane_names(lanes)}")
            if lanes:
                label = str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}+"
                drawing.text(90 + bank * _CELL + _CELL / 2 - 1, y + 15, label, "light", "middle", 10)
    below = 22 + len(rows) * (_ROW + 2) + 14
    worst = access.degree * max(access.ideal_per_request, 1)
    merged = f" Pairs of lanes with one address let them pass in {number(worst)}." if round(worst) < len(rows) else ""
    total = counted(len(rows), model.local_pass, model.local_passes)
    drawing.text(
        0,
        below,
        f"{model.banks} banks of {model.bank_bytes} bytes; numbers are lanes (+: the word serves several). {total}.{merged}",
        "soft",
    )
    return drawing
