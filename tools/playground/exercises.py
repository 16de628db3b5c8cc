"""The exercises that the playground offers: those whose kernel is launched once, as files of one's own."""

from dataclasses import dataclass

from tilewright.core.kernel import Config
from tilewright.core.language import ENGLISH
from tilewright.core.problems import make_problem
from tilewright.errors import Unsupported
from tilewright.kernels.ladders import cpu, rows, transpose
from tilewright.kernels.ladders.tiles.configs import Tile
from tilewright.learning.exercises.file import file_text, hints_of, title_and_task
from tilewright.learning.exercises.grade import task_goals
from tilewright.learning.exercises.task import Task, all_tasks, find_task

from .examples import head


@dataclass(frozen=True)
class Sizes:
    """A global and a local size in the words of a head."""

    global_size: str
    local_size: str


def offered_tasks() -> list[Task]:
    """The exercises of one launch without scratch memory: a file of one's own has no more."""
    return [task for task in map(find_task, all_tasks()) if is_single_launch(task)]


def is_single_launch(task: Task) -> bool:
    kernel = task.kernel
    steps = kernel.steps(kernel, kernel.config, make_problem(kernel, task.size, kernel.usual_dtype))
    return len(steps) == 1 and not steps[0].scratch


def sizes_of(config: Config) -> Sizes:
    """The geometry of a configuration as expressions, so that it is right at other sizes, too. Unsupported for one that has
    no expressions here."""
    if isinstance(config, rows.Sequential):
        return Sizes("1", "1")
    if isinstance(config, rows.Grid2D):
        return Sizes("M,N", "GROUP_ROWS,GROUP_COLUMNS")
    if isinstance(config, rows.Grid1D):
        return Sizes("M", "GROUP_ROWS")
    if isinstance(config, Tile):
        m, n = divided(config, "TM"), divided(config, "TN")
        return Sizes(f"M{m},N{n}", f"BM{m},BN{n}")
    if isinstance(config, cpu.Naive):
        return Sizes("N,M", "GROUP,GROUP")
    if isinstance(config, cpu.Block):
        return Sizes(f"N/BN,M/{'BM' if config.BM else 'MR'}", "1,1")
    if isinstance(config, transpose.SwappedBlock):
        return Sizes("ROWS,COLUMNS", "TILE,TILE")
    if isinstance(config, transpose.Block):
        items = divided(config, "ROWS_PER_ITEM")
        return Sizes(f"COLUMNS,ROWS{items}", f"TILE,TILE{items}")
    if isinstance(config, transpose.VectorBlock):
        return Sizes("COLUMNS/VEC,ROWS/VEC", "GROUP_X,GROUP_Y")
    raise Unsupported(f"the launch of {type(config).__name__} ({config}) has no words yet: add them to {__name__}")


def divided(config: Config, field: str) -> str:
    """A division by a field; "" if it is 1."""
    return "" if getattr(config, field) == 1 else f"/{field}"


def source(task: Task) -> str:
    """The learner's file, with its launch below the line that names the exercise."""
    sizes = sizes_of(task.kernel.config)
    options = head(task.kernel, sizes.global_size, sizes.local_size, task.start + task.solution)
    first, rest = file_text(task, task_goals(task), ENGLISH).split("\n", 1)
    return f"{first}\n// tilewright: {options}\n{rest}"


def entry(task: Task) -> dict[str, object]:
    """An exercise as the page reads it: name, title, source, goal, size, hints."""
    title, words = title_and_task(task, ENGLISH)
    return {
        "name": task.name, "title": f"{task.name} {title}", "source": source(task), "goal": one_line_paragraphs(words),
        "size": "x".join(map(str, task.size)), "hints": [one_line_paragraphs(each) for each in hints_of(task, ENGLISH)],
    }  # fmt: skip


def entries() -> list[dict[str, object]]:
    """All exercises of the page, in the order of the ladders."""
    return [entry(task) for task in offered_tasks()]


def one_line_paragraphs(text: str) -> str:
    """Text whose lines are broken by the browser."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
