"""One page of the course: a rung in one language, from its lesson, its code, its counts, records and drawings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilewright.core.kernel import Kernel
from tilewright.core.numbers import figure
from tilewright.kernels import originals
from tilewright.learning.counted import Counted
from tilewright.learning.exercises.task import all_tasks
from tilewright.learning.figures import rate_words, read_figures
from tilewright.learning.lesson import COUNTED_VARIANTS, Lesson, lesson_place
from tilewright.learning.placeholders import filled_lesson
from tilewright.learning.stops import code_diff, option_words
from tilewright.learning.tour_text import joined

from .machine_code import MachineCode
from .words import WORDS

DEVICES = {"h200": "NVIDIA H200", "cpu-intel": "CPU, Intel's driver", "cpu-pocl": "CPU, PoCL"}
MOST_KINDS = 8  # of instructions in the main loop, the most frequent first
SUMS = (
    "sectors_loaded", "sectors_stored", "load_requests", "store_requests", "local_loads", "local_stores", "conflicts",
    "new_lines", "barriers", "work_items", "faults",
)  # fmt: skip


@dataclass(frozen=True)
class Neighbours:
    """The rungs before and after in reading order, and what is drawn for this one: (caption, file name)."""

    before: Kernel | None
    after: Kernel | None
    pictures: tuple[tuple[str, str], ...] = ()


def page_text(kernel: Kernel, lesson: Lesson, counts: Counted, code: MachineCode | None, around: Neighbours) -> str:
    """The whole page in Markdown. Links lead from docs/course/LANGUAGE/LADDER/."""
    words = WORDS[lesson.language]
    lesson = filled_lesson(lesson, counts)
    parts = [
        f"# {lesson.title}",
        f"`{kernel.name}` · [{words['file']}](../../../../{_source(kernel)}) · {_navigation(around, words)}",
        *_section(words["question"], [joined(lesson.question)]),
        *_section(words["idea"], [joined(lesson.idea)]),
        *_section(
            words["drawings"],
            [f"![{caption}](../../pictures/{name})\n\n*{caption}*" for caption, name in around.pictures],
        ),
        *_section(words["code"], [f"```{'c' if counts.before is None else 'diff'}\n{code_diff(kernel)}```"]),
        *_section(words["guess"], _guess(lesson, words)),
        *_section(words["counts"], list(_counts(kernel, counts, words))),
        *_section(words["machine"], list(_machine(kernel, code, words))),
        *_section(words["devices"], [*_rates(kernel, around, words), joined(lesson.devices)]),
        *_section(words["source"], [joined(lesson.source)] if lesson.source else []),
        *_section(words["exercise"], _exercise(lesson, words)),
    ]
    return "\n\n".join(parts) + "\n"


def _source(kernel: Kernel) -> str:
    return str(kernel.source.relative_to(Path(__file__).parents[2]))


def _section(title: str, parts: Sequence[str]) -> list[str]:
    return [f"## {title}", *parts] if parts else []


def _navigation(around: Neighbours, words: dict[str, str]) -> str:
    links = [
        f"[{words[word]}: {each.name}]({page_link(each)})"
        for word, each in (("previous", around.before), ("next", around.after))
        if each is not None
    ]
    return " · ".join([*links, f"[{words['contents']}](../README.md)"])


def page_link(kernel: Kernel) -> str:
    """From one page of a rung to another's."""
    return f"../{lesson_place(kernel)}.md"


def _guess(lesson: Lesson, words: dict[str, str]) -> list[str]:
    options = [f"{number}. {option}" for number, option in enumerate(option_words(lesson.guess), 1)]
    folded = f'<details markdown="1">\n<summary>{words["see"]}</summary>\n\n{joined(lesson.answer)}\n\n</details>'
    return [joined(lesson.guess.question), "\n".join(options), folded]


def _counts(kernel: Kernel, counts: Counted, words: dict[str, str]) -> Iterator[str]:
    """A table of the sums that are not 0, beside those of the rung before."""
    if counts.found is None:
        yield words["not_counted"].format(reason=counts.reason)
        return
    rows = [(name, counts.measure(name), counts.measure_before(name)) for name in SUMS]
    lines = [f"| {words['measure']} | {words['before']} | {words['now']} | {words['times']} |", "|---|---:|---:|---:|"]
    for name, now, was in rows:
        if now or was:
            times = "" if not was or now is None else _times(now, was)
            lines.append(f"| {words[name]} | {'' if was is None else f'{was:,}'} | {now:,} | {times} |")
    yield "\n".join(lines)
    found = counts.found
    size = "x".join(map(str, found.global_size)) + " by " + "x".join(map(str, found.local_size))
    place = lesson_place(kernel)
    yield words["counted_at"].format(
        rung=COUNTED_VARIANTS.get(place, place), size=size, groups=f"{found.group_count:,}", model=found.model.name
    )


def _times(now: int, was: int) -> str:
    """How many times more; fewer as a fraction: "1/20"."""
    return figure(now / was) if now >= was or not now else f"1/{figure(was / now)}"


def _machine(kernel: Kernel, code: MachineCode | None, words: dict[str, str]) -> Iterator[str]:
    if code is None:
        return
    facts = [(words["registers"], f"{code.registers}"), (words["local_bytes"], f"{code.local_bytes:,}")]
    facts += [(words["occupancy"], code.occupancy)] if code.occupancy else []
    facts += [(f"{kind}, {words['loop']}", f"{count:,}") for kind, count in list(code.loop.items())[:MOST_KINDS]]
    yield "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts)])
    yield words["by"].format(title=code.title, by=code.by, rung=lesson_place(kernel), arch=code.arch)


def _rates(kernel: Kernel, around: Neighbours, words: dict[str, str]) -> Iterator[str]:
    """A table of measured rates, and the published figure."""
    place, rows = lesson_place(kernel), []
    variant = kernel.name.partition("[")[2]
    names = (f"{place}[{variant}", place) if variant else (place,)
    before = lesson_place(around.before) if around.before is not None else ""
    for device, title in DEVICES.items():
        figures = read_figures()[device]
        own = next((name for name in names if name in figures), None)
        if own is not None:
            was = rate_words(device, before) if before in figures else ""
            rows.append(f"| {title} | {figures[own].size} | {rate_words(device, own)} | {was} |")
    for each in (kernel, *(other for other in originals() if other.rung == kernel.name)):
        of_what = "" if each is kernel else f" `{each.name}`"
        rows += [
            f"| {device} ({words['published']}){of_what} | | {figure(rate)} {_unit(kernel)} | |"
            for device, rate in each.published
        ]
    if rows:
        head = (
            f"| {words['device']} | {words['size']} | {words['rate']} | {words['rate_before']} |\n|---|---|---:|---:|"
        )
        yield "\n".join([head, *rows])
        yield words["records"]


def _unit(kernel: Kernel) -> str:
    return "GFLOP/s" if kernel.operation == "gemm" else "GB/s"


def _exercise(lesson: Lesson, words: dict[str, str]) -> list[str]:
    if lesson.rung not in all_tasks():
        return []
    file = f"{lesson.rung.replace('/', '_')}.cl"
    commands = f"```console\ntilewright exercise {lesson.rung}\ntilewright grade {file}\n```"
    return [joined(lesson.task), words["try"], commands]
