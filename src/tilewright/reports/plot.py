"""Draws a record: bars of rates, lines over sizes, ratios to a baseline, or a roofline."""

from pathlib import Path
from typing import Any

from ..core.records import Record, load, load_record
from ..errors import RecordError, Unsupported
from ..measurement.ladder_roofline import LadderRoofline
from ..measurement.roofline import Roofline
from .benchmark_table import by_problem
from .charts.rates import draw_cold_start, draw_rates, draw_sustained
from .charts.ratios import draw_ratios
from .charts.sizes import draw_sizes, is_sweep
from .cold_start import TITLE as COLD_START
from .picture_files import check_picture, write_picture
from .roofline import draw_ladder_roofline, draw_roofline, load_roofline

Drawable = Record | Roofline | LadderRoofline
# What the files of maintainers' tools are called, by fields that each of them has. `load_record` names those of commands.
OTHERS = (
    ("a record of counters: predicted and counted numbers for each line of source", {"profiler", "cases"}),
    ("a record of predictions: predicted times beside measured ones", {"constants", "micro"}),
    ("a record of planning: how long plans of new shapes take", {"planned_for", "limit_ms"}),
    ("a record of regret: random shapes beside the best known times", {"regret_of", "shapes"}),
    ("a record of the fuzzer: numbers of calls", {"first_seed", "counts"}),
    ("a record of sanitizers: what checkers found in each kernel", {"cuda"}),
    ("a record of the playground: times of its visits and runs in a browser", {"visits", "limits_s"}),
    ("a record of warm calls: times of small calls beside those of an older version", {"before", "after"}),
)
DRAWN = "It has no picture: plot draws ladders, single kernels, benchmarks, cold starts and rooflines"


def load_drawable(path: Path, refusal: str = DRAWN) -> Drawable:
    """Read a file that `plot` can draw; RecordError says what is wrong with it, or which other kind of record it is, and then
    the `refusal`."""
    content: Any = load(path, dict | list, "a record")  # type: ignore[arg-type]
    if isinstance(content, list):
        return load_record(path)  # it names the command that wrote the list
    fields = set(content)
    if "format" in fields and "title" in fields:
        return load_record(path)
    if {"kernel", "compulsory_bytes"} <= fields:
        return load_roofline(path)
    if {"title", "rungs"} <= fields:
        return load(path, LadderRoofline, "a ladder's roofline")
    for what, marks in OTHERS:
        if marks <= fields:
            raise RecordError(f"{path} is {what}. {refusal}")
    return load_record(path)


def draw(record: Drawable) -> str:
    """The picture as SVG text. Unsupported says why a record has none."""
    if isinstance(record, Roofline):
        return draw_roofline(record)
    if isinstance(record, LadderRoofline):
        return draw_ladder_roofline(record)
    timed = record.title == COLD_START
    if not any(row.measured if timed else row.rate for row in record.rows):
        raise Unsupported(f"{record.title} has no measured row to plot")
    if timed:
        return draw_cold_start(record).svg()
    if record.title.startswith("benchmark"):
        bars = any(row.turns for row in record.rows) or len(by_problem(record)) == 1
        return (draw_sustained if bars else draw_ratios)(record).svg()
    return (draw_sizes if is_sweep(record) else draw_rates)(record).svg()


def plot(record: Drawable, path: Path) -> None:
    """Write a picture in the format of the file's name: .svg, .png or .pdf.

    A ladder is drawn as bars, at several sizes as lines; a benchmark as ratios to its baseline; a roofline as a roofline.
    InvalidInput for another suffix, Unsupported for a record without measured rows or a missing converter.
    """
    check_picture(path)
    write_picture(draw(record), path)
