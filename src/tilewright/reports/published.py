"""A ladder's published figures beside ours: whose, at what size, how timed, and each with its ratio to the rung before."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod

from ..core.kernel import Kernel, Ladder, Publication
from ..core.numbers import figure
from ..core.records import Row
from .table import by

COLUMNS = ("rung", "published on", "GFLOP/s", "x before", "here", "x before", "the published kernel")


@dataclass(frozen=True)
class Published:
    """What is said of a ladder: facts about the source, the lines of the table, and remarks."""

    facts: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]


def published(ladder: Ladder, rows: Sequence[Row]) -> Published:
    """The published figures of the ladder's rungs among `rows`. Of several sizes the nearest to the published one is taken."""
    source = ladder.publication
    if source is None:
        return Published((f"{ladder.name}: no figures were published. It follows {ladder.origin}.",), (), ())
    own = nearest(rows, source.size)
    facts = (
        f"published: {source.title}", f"author: {source.author}", f"link: {source.link}", f"licence: {source.licence}",
        f"measured at {by(source.size)}; {source.settings}", f"timed: {source.timing}",
    )  # fmt: skip
    ours = {row.name: row for row in own if row.backend != "cuda"}
    kernels = [kernel for kernel in ladder.kernels if kernel.name in ours]
    places = dict.fromkeys(place for kernel in kernels for place, _ in kernel.published)
    lines = [line for place in places for line in _lines(place, kernels, ours, source)]
    return Published(facts, tuple(lines), (*source.claims, *_remarks(source, own, bool(lines))))


def nearest(rows: Sequence[Row], size: Sequence[int]) -> list[Row]:
    """The rungs' rows of the size that is nearest to the published one."""
    rungs = [row for row in rows if not row.is_baseline and row.size]
    sizes = {row.size for row in rungs if prod(row.size)}
    if not sizes:
        return []
    best = min(sizes, key=lambda each: abs(log(prod(each)) / len(each) - log(prod(size)) / len(size)))
    return [row for row in rungs if row.size == best]


def _lines(place: str, kernels: Sequence[Kernel], ours: dict[str, Row], source: Publication) -> list[tuple[str, ...]]:
    """The lines of one device: libraries first, then the rungs."""
    lines: list[tuple[str, ...]] = [
        (name, where, figure(rate), "", "", "", "") for where, name, rate in source.others if where == place
    ]
    before: tuple[float, float] | None = None  # what was published of the rung before, and what it reached here
    for kernel in kernels:
        rate = dict(kernel.published).get(place)
        if rate is None:
            continue
        row = ours[kernel.name]
        here = figure(row.rate) if row.measured else str(row.status)
        then_ratio = figure(rate / before[0]) if before else ""
        our_ratio = figure(row.rate / before[1]) if before and before[1] and row.measured else ""
        lines.append(
            (kernel.name, place, figure(rate), then_ratio, here, our_ratio, kernel.published_with or "as here")
        )
        before = (rate, row.rate)
    return lines


def _remarks(source: Publication, own: Sequence[Row], has_lines: bool) -> tuple[str, ...]:
    """That sizes differ, if they do."""
    if not own or own[0].size == source.size:
        return ()
    what = "compare the ratios, not the rates" if has_lines else "the claims are of another size"
    return (f"here at {by(own[0].size)}, published at {by(source.size)}: {what}",)
