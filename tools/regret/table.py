"""Tables of records of regret: shares, geometric means, and the worst shapes."""

from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from statistics import median

from .measured import Regret, load_regret
from .plans import Shape
from .shapes import DRAWS

TOO_SLOW, NEAR = 1.1, 1.02  # multiples of the best time
WORST = 5
HEADS = ("shapes", "measured", "over 10% slower than the best plan", "over 10% slower than the best of all", "within 2%",
         "geometric mean of the best's time by ours", "worst")  # fmt: skip


def share(shapes: Sequence[Shape], passed: Sequence[bool]) -> str:
    return f"{100 * sum(passed) / len(shapes):.1f}%"


def row_of(name: str, shapes: Sequence[Shape]) -> list[str]:
    """One line: what became of these shapes. `best by ours` may exceed 1: where ours is the fastest, the best other counts."""
    gains = [log(min((each.of_ours for each in (*shape.plans, *shape.rivals)), default=1.0)) for shape in shapes]
    return [
        name, str(len(shapes)),
        share(shapes, [shape.regret_of_plans > TOO_SLOW for shape in shapes]),
        share(shapes, [shape.regret > TOO_SLOW for shape in shapes]),
        share(shapes, [shape.regret <= NEAR for shape in shapes]),
        f"{exp(sum(gains) / len(gains)):.2f}",
        f"{max(shape.regret for shape in shapes):.2f} x",
    ]  # fmt: skip


def rows_of(record: Regret) -> list[list[str]]:
    """A line for all shapes, and one for each kind."""
    done = [shape for shape in record.shapes if not shape.reason]
    parts = [("all", done), *((kind, [each for each in done if each.kind == kind]) for kind in DRAWS)]
    return [row_of(name, shapes) for name, shapes in parts if shapes]


def worst_of(record: Regret) -> list[str]:
    """The shapes with the most regret, each with what was faster."""
    texts = []
    for shape in sorted(record.shapes, key=lambda each: -each.regret)[:WORST]:
        if shape.regret > TOO_SLOW:
            best = min((*shape.plans, *shape.rivals), key=lambda each: each.of_ours)
            texts.append(
                f"{shape.title} {shape.layout}: {shape.seconds * 1e6:.1f} us by {shape.chosen}, "
                f"{shape.regret:.2f} x the time of {best.name}"
            )
    return texts


def heading(record: Regret) -> str:
    """One sentence: where, how many of how many, against whom."""
    environment = record.environment
    rivals = sorted({each.name for shape in record.shapes for each in shape.rivals})
    failed = sum(bool(shape.reason) for shape in record.shapes)
    others = "" if environment.others is None else f", with {environment.others:.1f} cores busy with other programs"
    return (
        f"{record.regret_of} on {environment.device.label} ({environment.processor}, {environment.cores} cores{others}), "
        f"{environment.date[:10]}: {len(record.shapes)} of {record.drawn} shapes, {failed} of them not measured; "
        f"beside {', '.join(rivals) or 'no other library'}; median of {_runs(record)} runs each"
    )


def _runs(record: Regret) -> int:
    return round(median([shape.runs for shape in record.shapes if not shape.reason] or [0]))


def text(record: Regret) -> str:
    """The record as lines for a terminal."""
    rows = [list(HEADS), *rows_of(record)]
    widths = [max(len(row[place]) for row in rows[1:]) for place in range(len(HEADS))] if rows[1:] else []
    lines = [heading(record), "columns: " + "; ".join(HEADS)]
    lines += ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows[1:]]
    return "\n".join([*lines, *worst_of(record)])


def markdown(record: Regret) -> str:
    """The same for a page."""
    lines = [f"{heading(record)}.", "", f"| {' | '.join(HEADS)} |", "| --- |" + " ---: |" * (len(HEADS) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in rows_of(record)]
    worst = worst_of(record)
    return "\n".join([*lines, *(["", "The worst:", "", *(f"- {each}" for each in worst)] if worst else [])])


def regret_table(words: Sequence[str], folder: Path) -> str:
    """The tables of the records that a page's mark names."""
    return "\n\n".join(markdown(load_regret(folder / word)) for word in words)
