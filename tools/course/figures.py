"""Writes the rates that the course's prose speaks of, from the records of the ladders."""

import re
from pathlib import Path

import msgspec

from tilewright.core.records import Record, RowStatus, load_record
from tilewright.errors import RecordError
from tilewright.kernels import LADDERS
from tilewright.learning.figures import FIGURES, Figure
from tilewright.learning.lesson import lesson_place

DEVICES = ("h200", "cpu-intel", "cpu-pocl")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def figures_of(record: Record, ladder: str) -> dict[str, Figure]:
    """Rates by rung, "tiles/02" (variants keep their brackets), and baseline, "tiles/cuBLAS". RecordError for a record of several
    sizes or backends: prose speaks of one."""
    found: dict[str, Figure] = {}
    for row in record.rows:
        if row.status is not RowStatus.OK or not row.rate:
            continue
        variant = re.search(r"\[.*\]", row.name)
        name = f"{lesson_place(row.name)}{variant[0] if variant else ''}" if "/" in row.name else f"{ladder}/{row.name}"
        if name in found:
            raise RecordError(f"the record of {ladder} has {row.name} more than once")
        found[name] = Figure(round(row.rate, 4), row.unit, "x".join(map(str, row.size)))
    return found


def figures_text() -> str:
    """The content of figures.json, from the records of all ladders."""
    figures: dict[str, dict[str, Figure]] = {}
    for device in DEVICES:
        for ladder in LADDERS:
            path = BENCHMARKS / f"{device}-{ladder}.json"
            if path.exists():
                figures.setdefault(device, {}).update(figures_of(load_record(path), ladder))
    return f"{msgspec.json.format(msgspec.json.encode(figures), indent=1).decode()}\n"


def write_figures() -> None:
    """Write figures.json anew."""
    FIGURES.write_text(figures_text(), encoding="utf-8")
