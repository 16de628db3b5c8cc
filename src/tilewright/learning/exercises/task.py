"""Tasks: what is cut out of a rung, or mended in a faulty kernel, and what is graded. One TOML file for each exercise.

    size = [64, 64, 64]                       the problem whose counts are graded
    config = 1                                which of the kernel's configurations: its first if left out
    goals = ["sectors_loaded", "barriers"]    measures in which the learner's kernel may not be worse than the solution. Who
                                              limits loads limits stores, too, because atomic functions load by stores
    [[edit]]
    find = '''...'''                          lines of the kernel's file, which stand in it once
    put = '''...'''                           what stands there instead

For a rung the edits make the learner's file of the solution. For a case, whose `kernel` is a known-bad one, they make the
solution of the faulty kernel. A rung with variants names one of them as its `kernel`.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.kernel import Kernel
from ...errors import InvalidInput, UnknownName
from ...kernels import LADDERS, find_kernel
from ..counted import MEASURES
from ..lesson import lesson_place

TASKS = Path(__file__).parent / "tasks"
CASES = "cases"
_MACRO = re.compile(r"// [A-Z][A-Z0-9_]*(, [A-Z][A-Z0-9_]*)*  ")
PAIRS = (("sectors_loaded", "sectors_stored"), ("local_loads", "local_stores"))
KEYS = ("size", "config", "goals", "kernel", "edit")


@dataclass(frozen=True)
class Edit:
    """One replacement in a kernel's text. Both end with the end of a line."""

    find: str
    put: str


@dataclass(frozen=True)
class Task:
    """One exercise: `rung` is the rung, or the faulty kernel of a case, and `kernel` the same in the graded configuration.
    `start` is the code that the learner gets, without its first comment, and `solution` the code that reaches the goals."""

    name: str  # "tiles/02" or "cases/02"
    rung: Kernel
    kernel: Kernel
    size: tuple[int, ...]
    goals: tuple[str, ...]
    start: str
    solution: str

    @property
    def is_case(self) -> bool:
        return self.name.startswith(CASES)


def all_tasks() -> list[str]:
    """The names of all exercises, in the order of the ladders; the detective cases come last."""
    names = [f"{file.parent.name}/{file.stem}" for file in sorted(TASKS.glob("*/*.toml"))]
    order = [*LADDERS, CASES]
    return sorted(names, key=lambda name: (order.index(name.split("/")[0]), name))


def find_task(name: str) -> Task:
    """The exercise of a rung ("tiles/2", "tiles/02_tiled") or a case ("cases/2"). UnknownName if there is none."""
    if not isinstance(name, str):
        raise UnknownName("exercise", name, all_tasks())
    folder, _, number = name.lower().partition("/")
    place = f"{folder}/{number.zfill(2)}"
    if place not in all_tasks() and folder in LADDERS:
        place = lesson_place(find_kernel(name))
    if place not in all_tasks():
        raise UnknownName("exercise", name, all_tasks())
    return read_task(place)


def read_task(place: str) -> Task:
    """The exercise of a place such as "tiles/02". InvalidInput, with the file, for one that is not as described above."""
    file = TASKS / f"{place}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    unknown = [key for key in table if key not in KEYS]
    strange = [goal for goal in table.get("goals", ()) if goal not in MEASURES]
    if unknown or strange or not table.get("size") or not table.get("edit"):
        raise InvalidInput(f"{file}: it needs size and edit; unknown: {', '.join((*unknown, *strange)) or 'nothing'}")
    rung = find_kernel(table.get("kernel", place))
    kernel = replace(rung, config=rung.configs[table.get("config", 0)], smaller=())
    code = without_first_comment(kernel.text)
    changed = edited(file, code, [Edit(**each) for each in table["edit"]])
    start, solution = (code, changed) if place.startswith(CASES) else (changed, code)
    return Task(place, rung, kernel, tuple(table["size"]), _paired(table.get("goals", ())), start, solution)


def _paired(goals: list[str]) -> tuple[str, ...]:
    """The goals, and after each that limits loads or stores its counterpart."""
    found = dict.fromkeys(goals)
    for loads, stores in PAIRS:
        if loads in found or stores in found:
            found |= dict.fromkeys((loads, stores))
    return tuple(found)


def without_first_comment(text: str) -> str:
    """A kernel's code without the comment at its start, which says what the rung does."""
    return text.removeprefix(_first_comment(text)).lstrip("\n")


def macro_lines(text: str) -> str:
    """The paragraphs of a kernel's first comment that say what its macros mean: those that begin with a name in capitals."""
    paragraphs = _first_comment(text).split("//\n")
    return "".join(each for each in paragraphs if _MACRO.match(each))


def _first_comment(text: str) -> str:
    lines = text.splitlines(keepends=True)
    end = next((place for place, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return "".join(lines[:end])


def edited(file: Path, code: str, edits: list[Edit]) -> str:
    """The code after the edits. InvalidInput if a text to be found stands there not at all, or more than once."""
    for each in edits:
        if code.count(each.find) != 1:
            raise InvalidInput(
                f"{file}: found {code.count(each.find)} times in the kernel instead of once: {each.find!r}"
            )
        code = code.replace(each.find, each.put)
    return code
