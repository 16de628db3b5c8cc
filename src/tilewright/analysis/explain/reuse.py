"""Compares the bytes that a kernel fetches from a buffer with the bytes that it needs: what is fetched often can be shared."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from ...core.language import Sentence, translated_count
from .explanation import Explanation
from .numbers import one_or_several
from .profile import SECTORS, LineAccess

OFTEN = 4.0  # how often a byte is fetched, from which on it is said
ASKED_OFTEN = 2.0  # how often work-items must ask for a byte: below this, sharing does not help
FEW_REQUESTS = 4  # of a sub-group
PRIVATE = Sentence("keep it in a private variable")
BLOCK = Sentence("keep a block of it in private variables")
LARGER = Sentence("larger tiles, or more results for each work-item, fetch it less often")
SHARE = Sentence("share it in local memory")


@dataclass(frozen=True)
class Reuse:
    """The loads of one buffer in the whole NDRange. `fetched` and `data` are bytes: all that move, and the different ones.
    `excess` counts sectors (cache lines on CPUs) beyond the fewest. `remedy` says how to fetch less."""

    buffer: str
    lines: tuple[int, ...]
    fetched: float
    data: float
    excess: float
    remedy: str

    @property
    def times(self) -> float:
        """How often each byte is fetched."""
        return self.fetched / self.data


def reuses(explanation: Explanation) -> list[Reuse]:
    """The buffers that are fetched often although work-items could share what is fetched, the largest excess first."""
    needed = {each.buffer: each for each in explanation.coverage}
    scale = explanation.group_count / max(1, len(explanation.groups))
    found = []
    for buffer in dict.fromkeys(each.buffer for each in explanation.accesses):
        loads = loads_of(explanation.accesses, buffer)
        known = needed.get(buffer)
        if not loads or known is None or not known.read:
            continue
        data = min(known.elements, known.read * scale) * known.itemsize
        asked = scale * sum(each.useful_bytes for each in loads)
        fetched = asked if explanation.model.is_cpu else scale * sum(each.cost * each.sector for each in loads)
        if fetched >= OFTEN * data and asked >= ASKED_OFTEN * data and not few_words(explanation, loads):
            lines = tuple(sorted({each.position.line for each in loads}))
            excess = (fetched - data) / explanation.model.sector
            found.append(Reuse(buffer, lines, fetched, data, excess, remedy_for(explanation, buffer)))
    return sorted(found, key=lambda each: -each.excess)


def few_words(explanation: Explanation, loads: list[LineAccess]) -> bool:
    """Whether a sub-group asks only a few times for less than half of what a request moves, such as one number for all its
    work-items. Fetching that costs little, and sharing it would cost as much."""
    sub_groups = -(-prod(explanation.local_size) // explanation.model.lanes) * len(explanation.groups)
    moved = sum(each.cost * each.sector for each in loads)
    return (
        sum(each.requests for each in loads) < FEW_REQUESTS * sub_groups
        and 2 * sum(each.useful_bytes for each in loads) < moved
    )


def loads_of(accesses: Iterable[LineAccess], buffer: str) -> list[LineAccess]:
    """The loads of a buffer that are counted in sectors."""
    return [each for each in accesses if each.buffer == buffer and each.operation == "load" and each.unit == SECTORS]


def remedy_for(explanation: Explanation, buffer: str) -> str:
    """What makes a kernel fetch a buffer less often."""
    if any(each.buffer == buffer and each.operation == "store" for each in explanation.accesses):
        return PRIVATE
    if prod(explanation.local_size) == 1:
        return BLOCK
    return LARGER if any(each.is_local for each in explanation.accesses) else SHARE


def reuse_sentences(explanation: Explanation) -> list[tuple[float, str]]:
    """One sentence for all buffers with the same remedy, and their excess."""
    found = reuses(explanation)
    sentences = []
    for remedy in dict.fromkeys(each.remedy for each in found):
        same = [each for each in found if each.remedy == remedy]
        sentences.append((sum(each.excess for each in same), sentence_about(same)))
    return sentences


def sentence_about(same: list[Reuse]) -> str:
    """Lines, buffers and numbers of what has one remedy."""
    lines = sorted({line for each in same for line in each.lines})
    first, *others = same
    often = translated_count(
        "every byte of {buffer} is fetched {times} time",
        "every byte of {buffer} is fetched {times} times",
        many(first.times), buffer=first.buffer, times=many(first.times),
    ) + "".join(
        translated_count(
            ", every byte of {buffer} {times} time",
            ", every byte of {buffer} {times} times",
            many(each.times), buffer=each.buffer, times=many(each.times),
        )
        for each in others
    )  # fmt: skip
    moved, data = sum(each.fetched for each in same), sum(each.data for each in same)
    return translated_count(
        "line {lines}: {often} ({moved} for {data} of data): {remedy}",
        "lines {lines}: {often} ({moved} for {data} of data): {remedy}",
        one_or_several(lines),
        lines=", ".join(map(str, lines)), often=often, moved=megabytes(moved), data=megabytes(data), remedy=first.remedy,
    )  # fmt: skip


def many(count: float) -> str:
    """A number of times: whole if it is at least 10."""
    return f"{count:,.0f}" if count >= 10 else f"{count:.2g}"


def megabytes(count: float) -> str:
    """Bytes as "21 MB" or "0.131 MB"; fewer than 10,000 as they are."""
    if count >= 1e4:
        return f"{count / 1e6:.3g} MB"
    return translated_count("{count:,} byte", "{count:,} bytes", round(count), count=round(count))
