"""Causes in the traffic of global memory: data fetched many times, strided accesses, sums kept in memory."""

from ...analysis.explain.address_patterns import shape_of
from ...analysis.explain.profile import LineAccess
from ...analysis.explain.reuse import BLOCK, LARGER, OFTEN, PRIVATE, SHARE, Reuse, many, reuses
from ...analysis.explain.verdict import global_sentence, is_costly
from ...core.numbers import figure
from ...core.problem import Gemm, compulsory_bytes
from .. import rungs
from ..cause import Cause
from ..evidence import ARITHMETIC, MEMORY, Evidence, present

REMEDIES: dict[str, tuple[str, str]] = {
    SHARE: ("Let each work-group load tiles into local memory once, and compute from there", rungs.SHARE),
    LARGER: (
        "Compute more results per work-item in registers, so that larger tiles are fetched less often",
        rungs.LARGER,
    ),
    BLOCK: ("Compute a block of rows and columns per work-item, and keep it in registers", rungs.REGISTERS),
    PRIVATE: ("Keep the sum in a private variable, and store it once after the loop", rungs.PRIVATE),
}
EXCHANGED = (
    "Let neighbouring work-items of dimension 0 access neighbouring addresses: exchange the roles of the two ids"
)
INTERLEAVED = (
    "Let neighbouring work-items access neighbouring addresses: give work-item i the elements i, i + the number of work-items, "
    "and so on, or store side by side what neighbours access at a time"
)
ON_CPU = ("Compute a block of rows and columns per work-item: a loaded element then serves many products", rungs.SHARE)


def fetched_often(evidence: Evidence) -> list[Cause]:
    """Bytes that are fetched again and again.

    now = bytes fetched / peak of copies: what it takes at most, if no cache serves any; least = different bytes / the same
    peak. What caches serve costs less, so this is an upper bound. It is left out if even without caches the memory would be
    faster than the arithmetic.
    """
    last = evidence.last
    if last is None:
        return []
    arithmetic = next((each.seconds for each in evidence.limits if each.name == ARITHMETIC), 0.0)
    data = {each.name: each.nbytes for each in evidence.problem.operands}
    found = reuses(last)
    causes = []
    for remedy in dict.fromkeys(each.remedy for each in found):
        own = [each for each in found if each.remedy == remedy]
        sizes = [(each, *_bytes(evidence, each, data)) for each in own]
        sizes = [(each, fetched, needed) for each, fetched, needed in sizes if needed and fetched >= OFTEN * needed]
        fetched, needed = sum(each[1] for each in sizes), sum(each[2] for each in sizes)
        now = evidence.memory_seconds(fetched)
        if sizes and now > arithmetic:
            causes.append(_fetched_cause(evidence, sizes, now, evidence.memory_seconds(needed), remedy))
    return present(causes)


def _bytes(evidence: Evidence, reuse: Reuse, data: dict[str, int]) -> tuple[float, float]:
    """Bytes fetched of one buffer in the measured problem, and the bytes that it holds there."""
    assert evidence.last is not None
    loads = [each for each in evidence.accesses if each.buffer == reuse.buffer and each.operation == "load"]
    fetched = sum(evidence.scale(evidence.last, each) * evidence.needed_bytes(each) for each in loads)
    scratch = reuse.data * compulsory_bytes(evidence.problem) / max(1, compulsory_bytes(evidence.counted))
    return fetched, data.get(evidence.buffer_of(loads[0]), scratch)


def _fetched_cause(
    evidence: Evidence, sizes: list[tuple[Reuse, float, float]], now: float, least: float, remedy: str
) -> Cause | None:
    assert evidence.last is not None
    words, rung = ON_CPU if evidence.is_cpu and remedy in (SHARE, BLOCK) else REMEDIES[remedy]
    times = " and ".join(f"every byte of {each.buffer} {many(fetched / data)} times" for each, fetched, data in sizes)
    fetched, data = sum(each[1] for each in sizes), sum(each[2] for each in sizes)
    names = {each.buffer for each, _, _ in sizes}
    own = [each for each in evidence.accesses if each.buffer in names and not each.is_local]
    spared = evidence.path_seconds(sum(evidence.scale(evidence.last, each) * evidence.passes(each) for each in own))
    return evidence.cause(
        "sum kept in memory" if remedy == PRIVATE else "data fetched many times",
        f"work-items fetch {times}: {bytes_words(fetched)} for {bytes_words(data)} of data",
        [each.position for each in own if each.operation == "load"], now, least, MEMORY, words,
        rungs.rung_for(rung, evidence.is_cpu), spared if remedy == PRIVATE else 0.0,
    )  # fmt: skip


def bytes_words(count: float) -> str:
    """Bytes with their unit."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 999.5:
            return f"{figure(count)} {unit}"
        count /= 1000
    return f"{figure(count)} TB"


def strided(evidence: Evidence) -> list[Cause]:
    """Accesses of neighbouring work-items that do not lie side by side: sectors (cache lines on CPUs) beyond the ideal.

    now = sectors x their bytes / peak of copies, or their lines through the cache if that takes longer; least = the same
    of the fewest sectors that hold the bytes. An upper bound: caches may serve the rest of a sector later.
    """
    if evidence.last is None:
        return []
    costly = [each for each in evidence.accesses if is_plain(each) and is_costly(each)]
    groups: dict[tuple[str, int], list[LineAccess]] = {}
    for each in sorted(costly, key=lambda each: each.ideal - each.cost):
        groups.setdefault((each.position.file, each.position.line), []).append(each)
    return present([_strided_cause(evidence, own) for own in groups.values()])


def is_plain(access: LineAccess) -> bool:
    """Whether an access loads or stores global memory: constant memory and atomic functions have costs of their own."""
    return access.space == "global" and not access.is_atomic


def _strided_cause(evidence: Evidence, accesses: list[LineAccess]) -> Cause | None:
    assert evidence.last is not None
    first = accesses[0]
    now = least = spared = 0.0
    for each in accesses:
        times = evidence.scale(evidence.last, each)
        ratio = each.ideal / each.cost
        seconds = max(
            evidence.memory_seconds(times * each.cost * each.sector),
            evidence.path_seconds(times * evidence.passes(each)),
        )
        now, least = now + seconds, least + seconds * ratio
        spared += evidence.path_seconds(times * (evidence.passes(each) - evidence.fewest_passes(each)))
    also = f"; {len(accesses)} accesses of the line are like this" if len(accesses) > 1 else ""
    jumps = shape_of(first.worst).kind in ("strided", "scattered", "same")
    if jumps:
        words, rung = (
            EXCHANGED if sum(side > 1 for side in evidence.last.global_size) > 1 else INTERLEAVED,
            rungs.COALESCED,
        )
    else:
        words, rung = "Make the work-group as wide as a row of requests, and align its rows", rungs.COALESCED
    if not isinstance(evidence.problem, Gemm) and evidence.problem.operation == "transpose":
        words = "Transpose through a tile in local memory, so that loads and stores both run along rows"
        rung = rungs.TRANSPOSED
    return evidence.cause(
        "strided access" if jumps else "uncoalesced access", global_sentence(evidence.last, first) + also,
        [each.position for each in accesses], now, least, MEMORY, words, rungs.rung_for(rung, evidence.is_cpu), spared,
    )  # fmt: skip


CAUSES = (fetched_often, strided)
