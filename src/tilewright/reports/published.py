"""A ladder's published figures beside ours: whose, at what size, how timed, and each with its ratio to the rung before."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod

from ..core.kernel import Kernel, Ladder, Publication
from ..core.numbers import figure
from ..core.records import Row
from .table import by

COLUMNS = ("rung", "published on", "size", "GFLOP/s", "x before", "here", "size", "x before", "the published kernel")


@dataclass(frozen=True)
class Published:
    """What is said of one source: facts about it as (name, value), the lines of the table, and remarks."""

    facts: tuple[tuple[str, str], ...]
    lines: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()


def published(ladder: Ladder, rows: Sequence[Row]) -> tuple[Published, ...]:
    """Each source of the ladder with its figures of the rungs among `rows`. Of several sizes the nearest to the published one is
    taken."""
    if not ladder.publications:
        return (Published((("published", f"no figures of {ladder.name}. It follows {ladder.origin}."),)),)
    return tuple(_of_source(source, ladder, rows) for source in ladder.publications)


def facts_of(source: Publication) -> tuple[tuple[str, str], ...]:
    """Whose figures they are and how they were measured."""
    return (
        ("source", source.title),
        ("author", f"{source.author}, {source.year or 'year not known'}"),
        ("link", source.link),
        ("licence", source.licence),
        ("measured at", f"{by(source.size)}; {source.settings}"),
        ("timed", source.timing),
    )


def _of_source(source: Publication, ladder: Ladder, rows: Sequence[Row]) -> Published:
    own = nearest(rows, source.size)
    ours = {row.name: row for row in own if row.backend != "cuda"}
    kernels = [kernel for kernel in ladder.with_originals if kernel.name in ours]
    lines = [line for device in source.devices for line in _lines(device, kernels, ours, source)]
    return Published(facts_of(source), tuple(lines), (*source.claims, *_remarks(source, own, bool(lines))))


def nearest(rows: Sequence[Row], size: Sequence[int]) -> list[Row]:
    """The rungs' rows of the size that is nearest to the published one."""
    rungs = [row for row in rows if not row.is_baseline and row.size]
    sizes = {row.size for row in rungs if prod(row.size)}
    if not sizes:
        return []
    best = min(sizes, key=lambda each: abs(log(prod(each)) / len(each) - log(prod(size)) / len(size)))
    return [row for row in rungs if row.size == best]


def _lines(device: str, kernels: Sequence[Kernel], ours: dict[str, Row], source: Publication) -> list[tuple[str, ...]]:
    """The lines of one device: libraries first, then the rungs."""
    size = by(source.size)
    lines: list[tuple[str, ...]] = [
        (name, where, size, figure(rate), "", "", "", "", "") for where, name, rate in source.others if where == device
    ]
    before: tuple[float, float] | None = None  # what was published of the rung before, and what it reached here
    for kernel in kernels:
        rate = dict(kernel.published).get(device)
        if rate is None:
            continue
        row = ours[kernel.name]
        here = figure(row.rate) if row.measured else str(row.status)
        then_ratio = figure(rate / before[0]) if before else ""
        our_ratio = figure(row.rate / before[1]) if before and before[1] and row.measured else ""
        there = (kernel.name, device, size, figure(rate), then_ratio)
        lines.append((*there, here, by(row.size), our_ratio, kernel.published_with or "as here"))
        before = (rate, row.rate)
    return [*lines, *_ratios(device, ours, source)]


def _ratios(device: str, ours: dict[str, Row], source: Publication) -> list[tuple[str, ...]]:
    """The lines of what a source says of two rungs, those that have a row here."""
    lines: list[tuple[str, ...]] = []
    for where, name, other, times in source.ratios:
        if where != device or name not in ours or other not in ours:
            continue
        row, slower = ours[name], ours[other]
        here = figure(row.rate) if row.measured else str(row.status)
        ratio = figure(row.rate / slower.rate) if row.measured and slower.measured else ""
        there = (name, device, by(source.size), "", figure(times))
        lines.append((*there, here, by(row.size), ratio, f"as here, beside {other}"))
    return lines


def _remarks(source: Publication, own: Sequence[Row], has_lines: bool) -> tuple[str, ...]:
    """That sizes differ, if they do."""
    if not own or own[0].size == source.size:
        return ()
    what = "compare the ratios, not the rates" if has_lines else "the claims are of another size"
    return (f"here at {by(own[0].size)}, published at {by(source.size)}: {what}",)
