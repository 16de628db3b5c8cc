"""Tables of one kind of processor from several records: `<!-- processor: FOLDER FILE ... -->` and `<!-- end processor -->`.

Records of other processors are refused. A first table says which goals the records reach, others have each problem. All ratios
are rates of ours as a part of another library's: medians of pairs of runs.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright.core.numbers import figure
from tilewright.core.records import Environment, Record, Row, load, load_record
from tilewright.errors import RecordError
from tilewright.library.numpy_call import DOT, MATMUL
from tilewright.reports.benchmark_table import by_problem
from tilewright.reports.table import paired_ratios

from ..regret.measured import Regret, load_regret
from ..regret.table import HEADS as REGRET_HEADS
from ..regret.table import heading, rows_of


@dataclass(frozen=True)
class SymmetricTimes:
    """A record of `tools.symmetric_times` on a CPU."""

    numpy: str
    environment: Environment
    rounds: int
    rows: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Measured:
    """One problem: our rate, and the ratios to other libraries by their names."""

    problem: str
    size: tuple[int, ...]
    dtype: str
    rate: str
    spread: float | None  # None: unknown, because it ran once
    ratios: dict[str, float]
    own: bool = False  # whether our call was NumPy's own product

    @property
    def of_the_best(self) -> float:
        return min(self.ratios.values())


Found = Record | SymmetricTimes | Regret


@dataclass(frozen=True)
class Goal:
    """What is asked for: at least `least` of the best of `baselines`, of all if that is empty, for the problems `of`."""

    title: str
    least: float
    of: Callable[[Measured], bool]
    baselines: tuple[str, ...] = ()


def product(each: Measured) -> bool:
    """Whether it is a product that every BLAS has."""
    return each.problem.startswith("gemm") and each.dtype in ("float32", "float64")


def square(least: int, most: int) -> Callable[[Measured], bool]:
    return lambda each: product(each) and len(set(each.size)) == 1 and least <= each.size[0] <= most


GOALS = (
    Goal("squares of 512 and more, of the best library", 0.98, square(512, 1 << 20)),
    Goal("squares of 128 to 511, of the best library", 0.9, square(128, 511)),
    Goal("squares below 128, of NumPy", 0.95, square(1, 127), ("NumPy",)),
    Goal("thin products, of the best library", 1.0, lambda each: product(each) and len(set(each.size)) > 1),
    Goal("A times its own transpose, of NumPy's syrk", 1.0, lambda each: each.problem.startswith("a @ a.T"), ("NumPy",)),
    Goal("int64, times NumPy", 20.0, lambda each: each.dtype == "int64", ("NumPy",)),
    Goal(
        "other integers and bools, times NumPy", 50.0,
        lambda each: each.dtype != "int64" and ("int" in each.dtype or each.dtype == "bool"), ("NumPy",),
    ),
)  # fmt: skip


def processor_tables(words: Sequence[str], folder: Path) -> str:
    """The text between the marks. The first word is the folder of the records, beside the page."""
    if len(words) < 2:
        raise RecordError(f"the mark processor has {len(words)} words; it takes a folder and at least one record in it")
    found = [read(folder / words[0] / each) for each in words[1:]]
    kinds = {kind(each.environment) for each in found}
    if len(kinds) > 1:
        raise RecordError(f"the records are of several kinds of processors: {'; '.join(sorted(kinds))}")
    problems = [each for record in found for each in problems_of(record)]
    regrets = [each for each in found if isinstance(each, Regret)]
    parts = [
        about(found),
        goals_table(problems),
        *map(table, filter(None, map(problems_of, found))),
        *map(regret_text, regrets),
    ]
    return "\n\n".join(parts)


def read(path: Path) -> Found:
    """A record of `bench`, of `tools.symmetric_times` or of `tools.regret`."""
    if path.name.startswith("regret"):
        return load_regret(path)
    if "symmetric" in path.name:
        return load(path, SymmetricTimes, "a record of symmetric products with its environment")
    return load_record(path)


def kind(environment: Environment) -> str:
    """What tells processors apart: the name, and the length of vectors, as virtual machines give several the same name."""
    return f"{environment.processor}, vectors of {32 * environment.device.native_widths.get('float32', 0)} bits"


def about(found: Sequence[Found]) -> str:
    """Where and when: one paragraph."""
    first = found[0].environment
    caches = {each.environment.device.level2_bytes for each in found} - {0}
    cache = f", level-2 cache of {min(caches) // 1024} KiB" if caches else ""
    dates = sorted({each.environment.date[:10] for each in found})
    others = [each.environment.others for each in found if each.environment.others is not None]
    busy = f"; other programs kept up to {max(others):.1f} cores busy meanwhile" if others else ""
    libraries = sorted({text for each in found if isinstance(each, Record) for text in libraries_of(each)})
    return (
        f"**{kind(first)}**{cache}, {first.cores} cores. {first.device.platform} {first.device.driver}, "
        f"{' and '.join(dict.fromkeys((dates[0], dates[-1])))}{busy}. Beside {'; '.join(libraries)}."
    )


def libraries_of(record: Record) -> set[str]:
    """What the measured baselines say of themselves: version, core type, threads."""
    return {row.lesson for row in record.rows if row.is_baseline and row.measured}


def problems_of(found: Found) -> list[Measured]:
    """The problems of a record whose rows have products or copies; none of a record of regret."""
    if isinstance(found, Regret):
        return []
    if isinstance(found, SymmetricTimes):
        return [symmetric_problem(row) for row in found.rows]
    return list(benchmark_problems(found))


def symmetric_problem(row: dict[str, Any]) -> Measured:
    size = int(row["rows"]), int(row["columns"])
    rate = size[0] * size[0] * size[1] / row["us"] * 1e-3
    low, high = row["spread_us"]
    shape, spread = f"a @ a.T, a of {size[0]}x{size[1]}", (high - low) / 2 / row["us"]
    ratios = {"NumPy": float(row["ratio"])}
    return Measured(shape, size[:1] + size, row["dtype"], f"{figure(rate)} GFLOP/s", spread, ratios)


def benchmark_problems(record: Record) -> Iterator[Measured]:
    for group in by_problem(record):
        ours = next(row for row in group if not row.is_baseline)
        baselines = [row for row in group if row.is_baseline and row.comparable]
        if not ours.comparable or not baselines:
            continue
        ratios = {row.library: statistics.median(paired_ratios(row, ours)) for row in baselines}
        yield Measured(
            " ".join((ours.problem, *ours.notes)), ours.size, dtype_of(ours), f"{figure(ours.rate)} {ours.unit}",
            ours.samples.spread if ours.samples.has_spread else None, ratios,
            ours.lesson in (DOT, MATMUL),
        )  # fmt: skip


def dtype_of(row: Row) -> str:
    """The element type, which stands third in a problem's title."""
    return row.problem.split()[2]


def goals_table(problems: Sequence[Measured]) -> str:
    """Which goals are reached by how many problems, and the worst of each."""
    lines = ["| goal | at least | reached by | worst |", "| --- | ---: | ---: | --- |"]
    for goal in GOALS:
        asked = [(each, compared(each, goal)) for each in problems if goal.of(each)]
        counted = [(each, ratio) for each, ratio in asked if ratio is not None]
        if counted:
            reached = sum(round(ratio, 2) >= goal.least for _, ratio in counted)
            worst, ratio = min(counted, key=lambda pair: pair[1])
            share = f"{reached} of {len(counted)}"
            lines.append(f"| {goal.title} | {goal.least:g} | {share} | {ratio:.2f}: {worst.problem} {extra(worst)}|")
    return "\n".join(lines)


def extra(each: Measured) -> str:
    return "" if each.dtype in each.problem.split() else f"{each.dtype} "


def compared(each: Measured, goal: Goal) -> float | None:
    ratios = [ratio for name, ratio in each.ratios.items() if not goal.baselines or name in goal.baselines]
    return min(ratios, default=None)


def table(problems: Sequence[Measured]) -> str:
    """A line for each problem of one record."""
    names = list(dict.fromkeys(name for each in problems for name in each.ratios))
    lines = [
        f"| problem | ours | spread | {' | '.join(names)} | of the best |",
        "| --- |" + " ---: |" * (len(names) + 3),
    ]
    for each in problems:
        ratios = [f"{each.ratios[name]:.2f}" if name in each.ratios else "-" for name in names]
        own = " by NumPy" if each.own else ""
        what = f"{each.problem} {extra(each)}".strip()
        spread = "one run" if each.spread is None else f"±{each.spread:.0%}"
        lines.append(f"| {what} | {each.rate}{own} | {spread} | {' | '.join(ratios)} | {each.of_the_best:.2f} |")
    return "\n".join(lines)


def regret_text(record: Regret) -> str:
    """The shares of a record of regret."""
    lines = [
        f"{heading(record)}.",
        "",
        f"| {' | '.join(REGRET_HEADS)} |",
        "| --- |" + " ---: |" * (len(REGRET_HEADS) - 1),
    ]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows_of(record))])
