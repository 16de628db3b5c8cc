"""The part of the counters page about constant memory, atomic functions and private arrays."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .compare import EQUAL, MERGED
from .special import DIFFERS, costs_of, counted_cost

MEANINGS = {
    EQUAL: "the counters are what is predicted",
    MERGED: "fewer, as nvcc adds up lanes first, or uses an instruction that does (`ATOMS.POPC.INC`)",
    DIFFERS: "none of these",
}


def section(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The lines of the section, from the record of `python -m tools.counters.special`."""
    verdicts = Counter(row["verdict"] for row in rows)
    yield from ("## Constant memory, atomic functions, private arrays", "")
    yield (
        f"{len(rows)} kernels, one access pattern each, with real `__constant__` tables. Costs are addresses of the constant "
        "cache (`idc__requests`, less the loads of arguments), sectors of global atomics and of private arrays off-chip, and "
        "wavefronts of local atomics. Record: `benchmarks/h200-special-counters.json`, by `python -m tools.counters.special`."
    )
    yield from ("", "| verdict | kernels | meaning |", "| --- | --- | --- |")
    yield from (f"| {verdict} | {verdicts[verdict]} | {meaning} |" for verdict, meaning in MEANINGS.items())
    yield from ("", "| kernel | predicted | counted | verdict |", "| --- | --- | --- | --- |")
    for row in rows:
        predicted = costs_of(row["rule"], row["predicted"])
        counted = counted_cost(row["rule"], row["counted"], row["predicted"])
        costs = (", ".join(f"{each:,}" for each in costs) for costs in (predicted, counted))
        yield f"| {row['name']} | {' | '.join(costs)} | {row['verdict']} |"
