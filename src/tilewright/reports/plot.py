"""Draws a record: rates by rung, or by size if the record has several. Needs matplotlib, an optional extra."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..core.records import Record, Row
from ..errors import InvalidInput, Unsupported
from .table import heading

MOST_BARS = 500
PICTURES = (".svg", ".png", ".pdf")


def check_picture(path: Path) -> None:
    """InvalidInput if the name does not end as a picture's does, Unsupported if matplotlib is missing."""
    if path.suffix.lower() not in PICTURES:
        raise InvalidInput(f"{path}: a plot's name ends in {', '.join(PICTURES)}")
    if find_spec("matplotlib") is None:
        raise Unsupported("plots need matplotlib: pip install 'tilewright[plot]'")


def plot(record: Record, path: Path) -> None:
    """Write a picture in the format of the file's name: .svg, .png or .pdf."""
    check_picture(path)
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tilewright"  # the same record gives the same file
    from matplotlib import pyplot

    rows = [row for row in record.rows if row.measured]
    if not rows:
        raise Unsupported(f"{record.title} has no measured row to plot")
    figure, axes = pyplot.subplots(figsize=(9, 0.36 * len(record.rows) + 1.6), layout="constrained")
    sweep = len({row.size for row in rows}) > 1
    if not sweep and len(rows) > MOST_BARS:
        raise Unsupported(f"{record.title} has {len(rows):,} measured rows; a plot has room for {MOST_BARS}")
    (_by_size if sweep else _by_rung)(axes, rows)
    axes.set_title(_literal(heading(record)), fontsize=8, loc="left")
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    finally:
        pyplot.close(figure)


def _literal(text: str) -> str:
    """Text that matplotlib does not read as a formula."""
    return text.replace("$", r"\$")


def _by_rung(axes: Any, rows: Sequence[Row]) -> None:
    colours = ["#9aa5b1" if row.is_baseline else "#2f6fab" for row in rows]
    bars = axes.barh([_literal(row.label) for row in rows], [row.rate for row in rows], color=colours)
    axes.bar_label(bars, fmt="%.3g", padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_xlabel(f"{rows[-1].unit} (logarithmic axis)")
    axes.tick_params(labelsize=8)


def _by_size(axes: Any, rows: Sequence[Row]) -> None:
    baselines = {row.label for row in rows if row.is_baseline}
    for name in dict.fromkeys(row.label for row in rows):
        points = [(row.size[0], row.rate) for row in rows if row.label == name and row.size]
        if not points:
            continue
        style = "--" if name in baselines else "-"
        axes.plot(*zip(*points, strict=True), style, marker="o", markersize=3, label=_literal(name))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("first size (M, or rows)")
    axes.set_ylabel(f"{rows[-1].unit} (logarithmic axis)")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
