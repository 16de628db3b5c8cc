"""How results show themselves: text by `print`, one line by `repr`, a block in a notebook, CSV, and a data frame."""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import Unsupported

DATA_FRAMES = ("pandas", "polars")  # the first that is installed makes a data frame


class Shown(ABC):
    """A result that shows itself. Its `str` is the whole text; a class adds `one_line` and `to_rows`."""

    @abstractmethod
    def one_line(self) -> str:
        """What `repr` shows after the name of the class."""

    @abstractmethod
    def to_rows(self) -> list[dict[str, Any]]:
        """The result as a table of plain data: one dict for each row, with a unit in each name that needs one."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__.removeprefix('Printed')}: {self.one_line()}>"

    def _repr_html_(self) -> str:
        """The text in a block that does not wrap lines. Notebooks call this."""
        return f'<pre style="white-space:pre;line-height:1.35">{escape(str(self))}</pre>'

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows as CSV text with a header. With a `path`, write it there, too."""
        text = csv_text(self.to_rows())
        if path is not None:
            Path(path).write_text(text, encoding="utf-8", newline="")
        return text

    def to_dataframe(self) -> Any:
        """The rows as a DataFrame of pandas, or of polars if pandas is not installed; Unsupported without both."""
        for name in DATA_FRAMES:
            if find_spec(name) is not None:
                return import_module(name).DataFrame(self.to_rows())
        raise Unsupported(
            "a data frame needs pandas or polars: pip install pandas; to_rows() and to_csv() need neither"
        )


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV. None and missing values are empty cells."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
