"""Two records of the same thing: a ratio with a verdict for each row, and what differs around them."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.records import Record, Row
from ...errors import RecordError
from ..benchmark_table import geometric_mean
from ..compare import Comparison, broken, compare
from ..table import failure
from ..trust import can_divide, is_busy
from .bars import RatioBar, ratio_list
from .elements import items, paragraph, table, title
from .facts import environment_facts
from .headlines import Headline
from .subjects import Subject
from .words import factor, say


@dataclass(frozen=True)
class Compared:
    """Two records with the rows that both have. `of_rates`: no problem was the same, so rates of one name are compared."""

    first: Subject
    second: Subject
    rows: tuple[Comparison, ...]
    of_rates: bool
    broken: tuple[Row, ...]


def compared(subjects: tuple[Subject, ...]) -> Compared | None:
    """The comparison of two records; None for other numbers of them, or for records without a common row."""
    if len(subjects) != 2:
        return None
    first, second = subjects
    if not (isinstance(first.data, Record) and isinstance(second.data, Record)):
        return None
    for of_rates in (False, True):
        try:
            rows = compare(first.data, second.data, of_rates)
        except RecordError:
            continue
        return Compared(first, second, tuple(rows), of_rates, tuple(broken(first.data, second.data)))
    return None


def verdict(each: Comparison, found: Compared) -> str:
    """ "faster", "slower" or "unsure", of the second record. Times that cannot be trusted decide nothing."""
    if not each.distinct or not all(_trusted(each, side) for side in (found.first, found.second)):
        return "unsure"
    return "faster" if each.ratio > 1 else "slower"


def _trusted(each: Comparison, side: Subject) -> bool:
    assert isinstance(side.data, Record)
    busy = is_busy(side.data.environment)
    rows = [row for row in side.data.rows if row.label == each.name and row.comparable]
    return any(can_divide(row, busy) for row in rows)


def comparison_headline(found: Compared) -> Headline:
    """How much faster the second record is, by the kernels' geometric mean, and in how many rows."""
    kernels = [each for each in found.rows if each.is_kernel] or list(found.rows)
    mean = geometric_mean(each.ratio for each in kernels)
    verdicts = [verdict(each, found) for each in kernels]
    counts = {kind: verdicts.count(kind) for kind in ("faster", "slower", "unsure")}
    words = {"first": label(found.first), "second": label(found.second)}
    sentence = say("compare.sentence", times=factor(mean), count=len(kernels), **words)
    more = (say("compare.counts", count=len(kernels), **counts),)
    return Headline(f"{factor(mean)}\u00d7", say("compare.of", **words), sentence, more)


def label(side: Subject) -> str:
    return side.name.removesuffix(".json")


def comparison_parts(found: Compared) -> Iterator[str]:
    """The rows with their verdicts, kernels that went wrong, and what differs between the two machines."""
    words = {"first": label(found.first), "second": label(found.second)}
    yield title(say("compare.title", **words))
    yield paragraph(say("compare.how", **words), "soft")
    if found.of_rates:
        yield paragraph(say("compare.rates"), "note")
    several = len({each.problem for each in found.rows}) > 1
    yield ratio_list([_bar(each, found, several) for each in found.rows], "row-")
    yield items([f"{row.label} {row.problem}: {failure(row)}" for row in found.broken], "fault")
    yield from difference_parts(found)


def _bar(each: Comparison, found: Compared, several: bool) -> RatioBar:
    judged = verdict(each, found)
    kind = {"faster": "win", "slower": "loss", "unsure": "unsure"}[judged]
    name = f"{each.name} {each.problem}" if several else each.name
    words = f"{factor(each.ratio)}\u00d7  {say(f'verdict.{judged}')}"
    ends = each.ratio if each.low is None else each.low, each.ratio if each.high is None else each.high
    return RatioBar(name, each.ratio, *ends, words, kind, each.spread)


def difference_parts(found: Compared) -> Iterator[str]:
    """The facts in which the two records differ."""
    assert isinstance(found.first.data, Record)
    assert isinstance(found.second.data, Record)
    one, other = (
        dict(environment_facts(each)) for each in (found.first.data.environment, found.second.data.environment)
    )
    names = [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
    yield title(say("compare.differences"))
    rows = [(name, one.get(name, "-"), other.get(name, "-")) for name in names]
    if not rows:
        yield paragraph(say("compare.same"))
        return
    yield table((say("facts.name"), label(found.first), label(found.second)), rows, "facts")
