"""The report of a watched program: a table of its kernels, the details of the worst, and what was not explained."""

from collections.abc import Sequence
from math import log

from ..explain.annotate import report as explanation_report
from ..explain.verdict import findings_and_costs
from ..marked_lines import Mark, MarkedLine, marked
from .watched import WatchedLaunch

DETAILS = 3  # kernels whose whole reports are shown
HEAD = ("kernel", "NDRange", "launches", "bytes useful", "bytes moved", "conflicts", "faults", "")
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def bytes_of(count: int) -> str:
    """A number of bytes with a unit: "4.19 MB"."""
    power = min(int(log(max(count, 1), 1000) + 1e-9), len(UNITS) - 1)
    return f"{count / 1000**power:.3g} {UNITS[power]}"


def report(launches: Sequence[WatchedLaunch], title: str, details: int = DETAILS) -> list[MarkedLine]:
    """The whole report."""
    if not launches:
        return [MarkedLine(f"{title}: no kernel was launched by PyOpenCL in this process", Mark.HEADING)]
    explained = [each for each in launches if each.explanation is not None]
    worst = [each for each in explained if is_worth_details(each)][:details]
    return [
        *heading(launches, title),
        *table(launches),
        *(line for each in worst for line in details_of(each)),
        *reasons(launches),
    ]


def counted(number: int, word: str) -> str:
    """ "1 launch", "2 launches"."""
    plural = "es" if word.endswith("ch") else "s"
    return f"{number:,} {word}{plural * (number != 1)}"


def heading(launches: Sequence[WatchedLaunch], title: str) -> list[MarkedLine]:
    explained = sum(each.explanation is not None for each in launches)
    count, seconds = sum(each.launches for each in launches), sum(each.seconds for each in launches)
    kernels = len({each.kernel for each in launches})
    ndranges = f", {len(launches)} different NDRanges" if len(launches) > kernels else ""
    which = "explained" if explained == len(launches) else f"{explained} of {len(launches)} explained"
    text = f"{title}: {counted(count, 'launch')} of {counted(kernels, 'kernel')}{ndranges}; {which} in {seconds:.1f} s"
    return [MarkedLine(text, Mark.HEADING), MarkedLine("")]


def is_worth_details(launch: WatchedLaunch) -> bool:
    """Whether it has faults or costs."""
    assert launch.explanation is not None
    return any(each.mark in (Mark.FAULT, Mark.COST) for each in findings_and_costs(launch.explanation))


def table(launches: Sequence[WatchedLaunch]) -> list[MarkedLine]:
    """A row for each kernel and NDRange; bytes and conflicts are those of one launch."""
    rows = [HEAD, *(cells(each) for each in launches)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD) - 1)]
    lines = []
    for row in rows:
        fixed = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join((*fixed, row[-1])).rstrip())
    marks = [Mark.HEADING, *(mark_of(each) for each in launches)]
    return [MarkedLine(text, mark) for text, mark in zip(lines, marks, strict=True)]


def mark_of(launch: WatchedLaunch) -> Mark:
    if launch.explanation is None:
        return Mark.NOTE
    return Mark.FAULT if launch.faults else Mark.COST if is_worth_details(launch) else Mark.PLAIN


def cells(launch: WatchedLaunch) -> tuple[str, ...]:
    counts = ("", "", "", "")
    if launch.explanation is not None:
        moved = bytes_of(launch.useful_bytes), bytes_of(launch.moved_bytes)
        counts = (*moved, f"{launch.conflicts:,}", str(launch.faults))
    return launch.entry, launch.ndrange, f"{launch.launches:,}", *counts, launch.verdict


def details_of(launch: WatchedLaunch) -> list[MarkedLine]:
    """The report of `explain`, and which launch it is of."""
    assert launch.explanation is not None
    which = f"launch {launch.sample} of {launch.launches:,}"
    return [
        MarkedLine(""),
        *explanation_report(launch.explanation),
        *marked((f"{which}; {note}" for note in launch.notes or ("with the arguments of the program",)), Mark.NOTE),
    ]


def reasons(launches: Sequence[WatchedLaunch]) -> list[MarkedLine]:
    """What was not explained, each with its reason."""
    missing = [each for each in launches if each.explanation is None]
    if not missing:
        return []
    texts = [f"- {each.entry}, {each.ndrange}, {counted(each.launches, 'launch')}: {each.reason}" for each in missing]
    return [MarkedLine(""), MarkedLine("not explained:", Mark.HEADING), *marked(texts, Mark.NOTE)]
