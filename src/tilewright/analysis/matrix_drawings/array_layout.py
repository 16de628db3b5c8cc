"""How a local or private array lies in memory: each word says which matrix element it holds, and which lane asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...core.svg import Drawing
from ..explain.clc.types import Space
from ..explain.models.rules import WORD, Model, split_access, words_of
from ..explain.profile import LineAccess
from .drawing import MatrixDrawing, Values
from .matrices import NOWHERE
from .observe import Held, Observed
from .operands import sentence_title
from .picture import CHUNK_SHADES, HATCH, STYLE, WIDTH, legend

LEFT = 40.0  # for the row numbers of the matrix
HIGH = 13.0
FEWEST, MOST = 8, 34  # lines that are shown
MOST_ARRAYS = 2  # of a kernel that are drawn
CACHE_LINE, PIECE = 64, 16  # bytes


@dataclass(frozen=True)
class Line:
    """One line of an array: for each word the row and column of its first element, None where nothing was ever written. The
    number in a cell is the column if `across`, else the row; `fixed` are the others of the line. `chunk` is the number of
    elements that a swizzle keeps together, 0 where elements lie in their order."""

    words: tuple[tuple[int, int] | None, ...]
    across: bool
    fixed: tuple[int, ...]
    chunk: int = 0


@dataclass(frozen=True)
class Mark:
    """The lanes that ask for one word, and whether another word of its bank is asked for at the same time."""

    lanes: tuple[int, ...]
    conflict: bool


def lines_of(held: Held, words: int, swizzled: bool = True) -> list[Line]:
    """The array in lines of so many words of 4 bytes. It may be `swizzled`."""
    per_word = max(1, WORD // held.itemsize)
    found = []
    places, which = held.places[::per_word], held.which[::per_word]
    for begin in range(0, len(places), words):
        own = [
            (int(row), int(column)) if source != NOWHERE else None
            for (row, column), source in zip(places[begin : begin + words], which[begin : begin + words], strict=True)
        ]
        there = [each for each in own if each is not None]
        across = len({column for _, column in there}) >= len({row for row, _ in there})
        fixed = tuple(dict.fromkeys(row if across else column for row, column in there))
        found.append(Line(tuple(own), across, fixed))
    if swizzled and any(_is_permuted(line) for line in found):
        return [replace(line, chunk=PIECE // held.itemsize) for line in found]
    return found


def _is_permuted(line: Line) -> bool:
    """Whether the elements of a row of the matrix lie in another order than there."""
    there = [each if line.across else each[::-1] for each in line.words if each is not None]
    return any(one[0] == two[0] and one[1] > two[1] for one, two in pairwise(there))


def marks_of(access: LineAccess, model: Model) -> dict[int, Mark]:
    """The words that the worst request of an access asks for, by number."""
    operation = "load" if access.operation == "load" else "store"
    lanes: dict[int, list[int]] = {}
    conflicts: set[int] = set()
    for at, piece in split_access(access.worst.size, access.size, model.widest):
        for phase in model.phases_of(piece, operation):
            banks: dict[int, set[int]] = {}
            for lane in phase:
                address = access.worst.addresses[lane]
                for word in () if address is None else words_of(np.array([address + at]), piece)[0].tolist():
                    banks.setdefault(word % model.banks, set()).add(word)
                    lanes.setdefault(word, []).append(lane)
            conflicts.update(word for words in banks.values() if len(words) > 1 for word in words)
    return {word: Mark(tuple(own), word in conflicts) for word, own in lanes.items()}


def held_arrays(seen: Observed) -> list[Held]:
    """What each array held when most of it was filled with elements of the inputs, for the first time."""
    best: dict[str, Held] = {}
    for number in range(len(seen.recorders[0].snapshots)):
        held = seen.held(number)
        known = best.get(held.array)
        filled = int((held.which != NOWHERE).sum())
        if filled and (known is None or filled > int((known.which != NOWHERE).sum())):
            best[held.array] = held
    return list(best.values())


def local_memory(seen: Observed) -> list[MatrixDrawing]:
    """The local arrays with the request that suffers most from bank conflicts."""
    found = []
    for held in held_arrays(seen):
        own = [
            each
            for each in seen.explanation.accesses
            if each.is_local and each.buffer == held.array and each.worst is not None
        ]
        worst = max(own, key=lambda each: (each.degree, each.operation == "load", each.requests), default=None)
        if worst is not None:
            found.append(_local_drawing(seen, held, worst))
        elif any(each.space is Space.LOCAL for each in seen.recorders[0].arrays.values() if each.name == held.array):
            found.append(_unread_drawing(seen, held))
    return found[:MOST_ARRAYS]


def _local_drawing(seen: Observed, held: Held, access: LineAccess) -> MatrixDrawing:
    model = seen.model
    lines, marks = lines_of(held, model.banks), marks_of(access, model)
    ideal = max(round(access.ideal_per_request), 1)
    cost = max(round(access.degree * access.ideal_per_request), 1)
    passes = model.local_pass if cost == 1 else model.local_passes
    matrix = seen.matrix_number(int(held.which.max()))
    first, shown = _shown_lines(lines, marks, model.banks)
    picture = Drawing()
    picture.text(0, 12, f"{held.array}, line {access.position.line} {access.operation}s:", "ink head", size=11)
    verdict = f"{cost} {passes}" + ("" if cost == ideal else f" where {ideal} would do")
    picture.text(0, 27, f"{verdict} for one {model.sub_group}", "ink", size=11)
    draw_lines(picture, shown, {word - first * model.banks: mark for word, mark in marks.items()}, 44.0, "bank")
    if first + len(shown) < len(lines):
        picture.text(0, picture.height + 12, f"... {len(lines)} lines in all", "soft", size=10)
    across = shown[0].across
    legend(picture, _entries(matrix.title, across, marks, shown))
    values: Values = {"array": held.array, "kernel": seen.kernel.name, "banks": model.banks, "line": access.position.line,
              "cost": cost, "passes": passes, "ideal": ideal}  # fmt: skip
    text = [f"{held.array}: line {access.position.line} {access.operation}s, {verdict}"]
    text += text_lines(shown, {word - first * model.banks: mark for word, mark in marks.items()})
    text.append("0*: the word of lane 0, 10, ...   0!: and of a busy bank   //: never written")
    name = f"local_memory_{held.array}"
    return MatrixDrawing(name, "local_memory", values, picture.svg(STYLE, HATCH), "\n".join(text))


def _unread_drawing(seen: Observed, held: Held) -> MatrixDrawing:
    """A local array that no work-item reads or writes: TMA fills it, and matrix instructions read it whole."""
    lines = lines_of(held, seen.model.banks)[: 2 * FEWEST]
    matrix = seen.matrix_number(int(held.which.max()))
    picture = Drawing()
    picture.text(0, 12, f"{held.array}: no work-item reads or writes it itself", "ink head", size=11)
    draw_lines(picture, lines, {}, 30.0, "bank")
    legend(picture, _entries(matrix.title, lines[0].across, {}, lines))
    values: Values = {"array": held.array, "kernel": seen.kernel.name, "banks": seen.model.banks, "a": matrix.title}
    number = "column" if lines[0].across else "row"
    text = [f"{held.array}: the {number} in {matrix.title} of each fourth word, as it lies in {seen.model.banks} banks"]
    text += [f"{_line_name(line):>9} " + " ".join(_number(line, place) for place in line.words[::4]) for line in lines]
    return MatrixDrawing(
        f"local_memory_{held.array}", "engine_memory", values, picture.svg(STYLE, HATCH), "\n".join(text)
    )


def _shown_lines(lines: list[Line], marks: Mapping[int, Mark], words: int) -> tuple[int, list[Line]]:
    """The lines around the marked words: the number of the first, and the lines."""
    touched = [word // words for word in marks] or [0]
    first = min(touched)
    count = min(max(max(touched) - first + 1, FEWEST), MOST)
    first = max(0, min(first, len(lines) - count))
    return first, lines[first : first + count]


def draw_lines(drawing: Drawing, lines: list[Line], marks: Mapping[int, Mark], top: float, heading: str) -> None:
    """The lines one below the other, with the numbers of the words above and those of the matrix at the left."""
    words = len(lines[0].words)
    cell, bottom = (WIDTH - LEFT) / words, top + 5 + len(lines) * HIGH
    drawing.text(0, top, heading, "soft", size=9)
    step = 1 if cell > 12 else 4
    drawing.texts([(LEFT + (word + 0.5) * cell, str(word)) for word in range(0, words, step)], top, "soft", 8)
    for number, line in enumerate(lines):
        _draw_words(drawing, line, top + 5 + number * HIGH, cell)
    gaps = [f"M{LEFT + word * cell:.1f} {top + 5:g}V{bottom:g}" for word in range(1, words)]
    gaps += [f"M{LEFT:g} {top + 5 + number * HIGH:g}H{WIDTH:g}" for number in range(1, len(lines))]
    drawing.path("".join(gaps), "gap", WIDTH, bottom)
    for word, mark in marks.items():
        if 0 <= word < words * len(lines):
            place = lines[word // words].words[word % words]
            _draw_mark(drawing, LEFT + word % words * cell, top + 5 + word // words * HIGH, cell, place, mark)


def _draw_words(drawing: Drawing, line: Line, y: float, cell: float) -> None:
    """One line: what its words hold, in the colours of their rows of the matrix."""
    drawing.text(LEFT - 3, y + 9.5, _line_name(line), "soft", "end", 8)
    kinds = [_kind(line, place) for place in line.words]
    begin = 0
    for word in range(1, len(kinds) + 1):
        if word == len(kinds) or kinds[word] != kinds[begin]:
            drawing.box(round(LEFT + begin * cell, 1), y, round((word - begin) * cell, 1), HIGH, kinds[begin])
            begin = word
    numbers = [
        (LEFT + (word + 0.5) * cell, str(place[1] if line.across else place[0]))
        for word, place in enumerate(line.words)
        if place is not None
    ]
    longest = max((len(each) for _, each in numbers), default=1)
    drawing.texts(numbers, y + 9.5, "ink" if line.chunk else "soft", 8 if cell > 14 else 7 if longest < 3 else 5)


def _line_name(line: Line) -> str:
    name = "row" if line.across else "col"
    if not line.fixed:
        return ""
    many = ",".join(map(str, line.fixed[:2])) + ("…" if len(line.fixed) > 2 else "")
    return f"{name} {many}" if len(many) < 5 else many


def _kind(line: Line, place: tuple[int, int] | None) -> str:
    """How a word is drawn: neighbouring rows of the matrix in one line differ, or the pieces that a swizzle moves."""
    if place is None:
        return "pad"
    if line.chunk:
        return f"chunk c{(place[1] if line.across else place[0]) // line.chunk % CHUNK_SHADES}"
    return "cell odd" if line.fixed.index(place[0] if line.across else place[1]) % 2 else "cell"


def _draw_mark(drawing: Drawing, x: float, y: float, cell: float, place: tuple[int, int] | None, mark: Mark) -> None:
    holds = "nothing" if place is None else f"row {place[0]}, column {place[1]}"
    hover = f"{holds}; asked for by lane {', '.join(map(str, mark.lanes))}"
    drawing.box(round(x, 1), y, round(cell, 1), HIGH, "bad" if mark.conflict else "good", hover)
    words = str(mark.lanes[0]) + ("+" if len(mark.lanes) > 1 else "")
    drawing.text(
        round(x + cell / 2, 1), y + 9.5, words, "light head", "middle", 7 if len(words) < 3 or cell > 14 else 5
    )


def _entries(title: str, across: bool, marks: Mapping[int, Mark], lines: list[Line]) -> list[tuple[str, str]]:
    """The legend: only what can be seen."""
    number, beside = ("column", "row") if across else ("row", "column")
    found = [("cell", f"4 bytes of {title}: the number is the {number}, the {beside} stands at the left")]
    if any(line.chunk for line in lines):
        found[0] = ("chunk c4", found[0][1] + f". One shade: {PIECE} bytes that stay together")
    if any(mark.conflict for mark in marks.values()):
        found.append(("bad", "asked for by the lane of that number: several words of one bank, one after the other"))
    if any(not mark.conflict for mark in marks.values()):
        found.append(("good", "asked for by the lane of that number: no other word of its bank at the same time"))
    if any(len(mark.lanes) > 1 for mark in marks.values()):
        found.append(("", "+: the same word for more lanes"))
    if any(None in line.words for line in lines):
        found.append(("pad", "never written"))
    return found


def text_lines(lines: list[Line], marks: Mapping[int, Mark]) -> list[str]:
    """The lines as text: two characters for a word."""
    found = []
    words = len(lines[0].words)
    for number, line in enumerate(lines):
        cells = []
        for word, place in enumerate(line.words):
            mark = marks.get(number * words + word)
            if mark is not None:
                cells.append(f"{mark.lanes[0] % 10}{'!' if mark.conflict else '*'}")
            else:
                cells.append("//" if place is None else "··")
        found.append(f"{_line_name(line):>9} " + "".join(cells))
    return found


def packed(seen: Observed) -> list[MatrixDrawing]:
    """The private arrays of a CPU kernel that hold a block of an input, in cache lines."""
    if not seen.model.is_cpu:
        return []
    return [_packed_drawing(seen, each) for each in held_arrays(seen)][:MOST_ARRAYS]


def _packed_drawing(seen: Observed, held: Held) -> MatrixDrawing:
    matrix = seen.matrix_number(int(held.which.max()))
    lines = lines_of(held, CACHE_LINE // WORD, swizzled=False)
    filled = [number for number, line in enumerate(lines) if line.fixed]
    lines = lines[: min(filled[-1] + 1, MOST)]
    picture = Drawing()
    picture.text(0, 12, f"{held.array} holds a block of {sentence_title(matrix)}", "ink head", size=11)
    draw_lines(picture, lines, {}, 30.0, "word")
    number, beside = ("column", "row") if lines[0].across else ("row", "column")
    entries = [("cell", f"one element: the number is the {number} in {matrix.title}, the {beside} stands at the left")]
    if any(None in line.words for line in lines):
        entries.append(("pad", "never written"))
    legend(picture, [*entries, ("", f"a line is one cache line of {CACHE_LINE} bytes, in the order of memory")])
    values: Values = {"array": held.array, "kernel": seen.kernel.name, "a": matrix.title,
              "elements": int((held.which != NOWHERE).sum())}  # fmt: skip
    text = [f"{held.array} holds a block of {matrix.title}, a cache line of {CACHE_LINE} bytes a row:"]
    text += [f"{_line_name(line):>9} " + " ".join(_number(line, place) for place in line.words) for line in lines]
    return MatrixDrawing(f"packed_{held.array}", "packed", values, picture.svg(STYLE, HATCH), "\n".join(text))


def _number(line: Line, place: tuple[int, int] | None) -> str:
    return " //" if place is None else f"{place[1] if line.across else place[0]:3}"
