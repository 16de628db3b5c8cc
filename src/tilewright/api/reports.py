"""One page, or its text, about records: `report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import records
from ..core.shown import Shown
from ..core.sizes import FilePath
from ..reports.page import page
from ..reports.page.subjects import Data, subject_of
from ..reports.page.text import text
from ..reports.table import data_rows

Reported = Data | FilePath


@dataclass(frozen=True, repr=False)
class Report(Shown):
    """Records in words: a sentence first, then tables. `print` it to read it; `save` writes it as a page."""

    found: page.Report

    def __str__(self) -> str:
        return text(self.found)

    def one_line(self) -> str:
        return " ".join(each.headline.sentence for each in self.found.chapters)

    def to_rows(self) -> list[dict[str, Any]]:
        """The rows of ladders and benchmarks, each with the name of its record."""
        return [
            {"record": each.subject.name, **row}
            for each in self.found.chapters
            if isinstance(each.subject.data, records.Record)
            for row in data_rows(each.subject.data)
        ]

    def save(self, path: FilePath) -> Path:
        """Write the page: one HTML file that needs nothing else. InvalidInput if it would have more than 2 MB."""
        page.save_page(self.found, Path(path))
        return Path(path)


def report(found: Reported | Sequence[Reported], html: FilePath | None = None, *, arch: str = "") -> Report:
    """What records say: one sentence first, then bars, rungs that open, ratios, errors, and where they were made.

    Arguments:
        found: a record, a roofline, an inspection or the .json file of one, or several of them. Two records of the same thing
            are compared.
        html: a file for the page.
        arch: the architecture whose machine code is shown, as in `inspect`; the record's GPU if left out.

    Rungs are explained and compiled when this is called, by today's kernels and without a device. RecordError says what is
    wrong with a file, or why a record of its kind has no page; InvalidInput for what is no record, and if the page would have
    more than 2 MB.

    >>> print(report("benchmarks/h200-gemm-float32.json").found.chapters[0].headline.of)
    cuBLAS
    """
    pair = hasattr(found, "record")  # what `run` returns: a sequence, but no record
    several = isinstance(found, Sequence) and not isinstance(found, str) and not pair
    sources: Sequence[Any] = tuple(found) if several else (found,)  # type: ignore[arg-type]
    made = Report(page.report_of([subject_of(each) for each in sources], arch))
    if html is not None:
        made.save(html)
    return made
