"""Records that show themselves, and what is done with records: load, save, compare, plot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import records
from ..core.checked import checked_path, checked_switch
from ..core.shown import Shown
from ..core.sizes import FilePath
from ..reports import compare as comparing
from ..reports.forms import own_table, shortened
from ..reports.shown import as_html, as_text
from ..reports.table import data_rows

if TYPE_CHECKING:
    from ..reports.plot import Drawable


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
    """The rows that two records have in common, with the ratios of their medians. Above 1 the second is faster.

    `broken` are the kernels that the first record measured, and that went wrong in the second.
    """

    heading: str
    rows: tuple[comparing.Comparison, ...]
    broken: tuple[records.Row, ...] = ()

    def __str__(self) -> str:
        return "\n".join((self.heading, *comparing.table(self.rows), comparing.summary(self.rows)))

    def __iter__(self) -> Iterator[comparing.Comparison]:
        return iter(self.rows)

    def one_line(self) -> str:
        return f"{len(self.rows)} rows in common; {comparing.summary(self.rows)}"

    def to_rows(self) -> list[dict[str, Any]]:
        return [row.to_dict() for row in self.rows]


def compare(
    first: records.Record | FilePath, second: records.Record | FilePath, *, any_size: bool = False
) -> Comparisons:
    """Compare two records, or the records in two files, row by row.

    With `any_size` rows are paired by name alone, and rates are compared, each at the largest size of its record.
    RecordError if no row was measured in both with the same problem, or with `any_size` under the same name.
    """
    one, other = as_record(first), as_record(second)
    rows = comparing.compare(one, other, checked_switch("any_size", any_size))
    heading = "\n".join(comparing.headings(one, other, (_file_of(first), _file_of(second))))
    return Comparisons(heading, tuple(rows), tuple(comparing.broken(one, other)))


def _file_of(record: records.Record | FilePath) -> str:
    """The name of a record's file; "" for a record that was handed in itself."""
    return "" if isinstance(record, records.Record) else str(record)


def plot(record: Drawable | FilePath, picture: FilePath) -> Path:
    """Draw a record or a roofline, or what a file holds, as `picture`: a name that ends in .svg, .png or .pdf.

    Returns that path. InvalidInput for another ending, or for what is no record; Unsupported if nothing was measured, or if
    the package that makes .png and .pdf is missing.
    """
    from ..reports import plot as plotting  # it draws rooflines, so it imports drivers

    target = checked_path("picture", picture)
    if not isinstance(record, plotting.Drawable):
        record = plotting.load_drawable(records.path_of(record, "a record"))
    plotting.plot(record, target)
    return target
