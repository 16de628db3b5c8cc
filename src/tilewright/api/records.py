"""Records that show themselves, and what is done with records: load, save, compare, plot, report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..core import records
from ..core.shown import Shown
from ..core.sizes import FilePath
from ..reports import compare as comparing
from ..reports import plot as plotting
from ..reports.forms import own_table, shortened
from ..reports.shown import as_html, as_text
from ..reports.table import data_rows


@dataclass(frozen=True, repr=False)
class Record(Shown, records.Record):
    """A run of a ladder, a kernel or a benchmark.

    `rows` stand in the order in which they ran, baselines included. `print` shows the table, a notebook does so in HTML.
    `to_dataframe` and `to_csv` give the rows as data, `save_record` writes everything as JSON.
    """

    def __str__(self) -> str:
        return as_text(own_table(shortened(self)))

    def _repr_html_(self) -> str:
        return as_html(own_table(shortened(self)))

    def one_line(self) -> str:
        passed = sum(row.passed for row in self.rows)
        device = self.environment.device.label
        return f"{self.title}, {self.dtype}, {passed} of {len(self.rows)} rows passed, on {device}"

    def to_rows(self) -> list[dict[str, Any]]:
        return data_rows(self)


def shown_record(record: records.Record) -> Record:
    """The same record, which shows itself."""
    return Record(**{each.name: getattr(record, each.name) for each in fields(record)})


def as_record(record: records.Record | FilePath) -> records.Record:
    """A record, or the one in that file."""
    return record if isinstance(record, records.Record) else records.load_record(record)


def load_record(path: FilePath) -> Record:
    """Read a record of `ladder`, `run` or `bench`, from JSON or from JSON in .gz.

    RecordError says what is wrong with the file and where.
    """
    return shown_record(records.load_record(path))


@dataclass(frozen=True, repr=False)
class Comparisons(Shown):
    """The rows that two records have in common, with the ratios of their medians. Above 1 the second is faster."""

    heading: str
    rows: tuple[comparing.Comparison, ...]

    def __str__(self) -> str:
        return "\n".join((self.heading, *map(str, self.rows)))

    def __iter__(self) -> Iterator[comparing.Comparison]:
        return iter(self.rows)

    def one_line(self) -> str:
        faster = sum(row.low > 1 for row in self.rows)
        slower = sum(row.high < 1 for row in self.rows)
        return f"{len(self.rows)} rows in common; the second is faster in {faster}, slower in {slower}"

    def to_rows(self) -> list[dict[str, Any]]:
        return [{each.name: getattr(row, each.name) for each in fields(row)} for row in self.rows]


def compare(first: records.Record | FilePath, second: records.Record | FilePath) -> Comparisons:
    """Compare two records, or the records in two files, row by row.

    RecordError if no row was measured in both with the same problem.
    """
    one, other = as_record(first), as_record(second)
    return Comparisons(comparing.heading(one, other), tuple(comparing.compare(one, other)))


def plot(record: records.Record | FilePath, picture: FilePath) -> Path:
    """Draw a record, or the record in a file, as `picture`: a name that ends in .svg, .png or .pdf. Returns that path.

    Unsupported if matplotlib is missing, or if nothing was measured.
    """
    target = Path(picture)
    plotting.plot(as_record(record), target)
    return target


def report(page: FilePath) -> int:
    """Rewrite the generated parts of a Markdown page from the records that it names. Returns how many there are.

    RecordError if the page has no marks, or if one of its records cannot be read.
    """
    from ..reports.pages import refresh  # it draws rooflines and inspects, so it imports drivers

    return refresh(Path(page))
