"""A ladder's record as a table with columns for each size: OpenCL and CUDA. Rungs come first, then baselines."""

from collections.abc import Sequence

from ..core.markdown import cell
from ..core.records import Record, Role, Row
from .table import failure, heading, peaks_line

COLUMNS = {"opencl": "OpenCL", "cuda": "CUDA"}


def column_of(row: Row) -> str:
    """The column of a row. Rows measured on the host are in the first one."""
    return "cuda" if row.backend == "cuda" else "opencl"


def shown_name(row: Row) -> str:
    return f"{row.name} (on the host)" if row.backend == "host" else row.name


def side(row: Row) -> str:
    """The size in a column's heading: one number for a square."""
    return str(row.size[0]) if len(set(row.size)) == 1 else "x".join(map(str, row.size))


def markdown(record: Record) -> str:
    """The record as a Markdown table of rates: a line for each rung and baseline, two columns for each size."""
    rows = [row for row in record.rows if row.role is not Role.SEQUENTIAL]
    sizes = list(dict.fromkeys(map(side, rows)))
    places = [
        (size, backend) for size in sizes for backend in COLUMNS if any(column_of(row) == backend for row in rows)
    ]
    names = [name for wanted in (False, True) for name in dict.fromkeys(
        shown_name(row) for row in rows if row.is_baseline == wanted)]  # fmt: skip
    found = {(shown_name(row), side(row), column_of(row)): row for row in rows}
    unit = rows[-1].unit if rows else "rate"
    head = (unit, *(f"{size} {COLUMNS[backend]}" for size, backend in places))
    lines = [f"**{heading(record, sizes=False)}**", "", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for name in names:
        cells = (_cell(found.get((name, size, backend))) for size, backend in places)
        lines.append("| " + " | ".join(map(cell, (name, *cells))) + " |")
    environment = record.environment
    runtimes = ", ".join(f"{name} {version}" for name, version in environment.versions.items())
    lines += ["", f"{peaks_line(record.peaks)}. {environment.processor}, {environment.cores} cores; {runtimes}; "
              f"{environment.date}."]  # fmt: skip
    return "\n".join([*lines, *_lessons(rows), *_failures(rows)])


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row.rate:,.0f}" if row.rate >= 100 else f"{row.rate:.3g}" if row.measured else row.status


def _lessons(rows: Sequence[Row]) -> list[str]:
    """The libraries' versions and settings."""
    known = {shown_name(row): row.lesson for row in rows if row.is_baseline and row.measured}
    return [f"- {name}: {lesson}" for name, lesson in known.items()]


def _failures(rows: Sequence[Row]) -> list[str]:
    """Why rows were not measured, each reason once."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if not row.measured:
            reasons.setdefault(f"{row.label}: {failure(row)}", []).append(side(row))
    return [f"- {reason} ({', '.join(dict.fromkeys(sizes))})" for reason, sizes in reasons.items()]
