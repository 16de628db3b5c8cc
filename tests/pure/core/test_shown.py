"""What results have in common: one line, a block for notebooks, CSV, data frames."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tilewright.core import shown
from tilewright.core.shown import Shown, csv_text
from tilewright.errors import Unsupported


@dataclass(frozen=True, repr=False)
class Example(Shown):
    text: str

    def __str__(self) -> str:
        return self.text

    def one_line(self) -> str:
        return f"{len(self.text)} characters"

    def to_rows(self) -> list[dict[str, Any]]:
        return [{"name": "a", "time_s": 0.5}, {"name": "b, c", "time_s": None, "note": "x"}]


EXAMPLE = Example("A <b>\n  line & more")


def test_repr_is_one_line_with_the_class() -> None:
    assert repr(EXAMPLE) == "<Example: 19 characters>"


def test_a_notebook_gets_the_text_escaped() -> None:
    block = EXAMPLE._repr_html_()
    assert block.startswith("<pre")
    assert block.endswith("</pre>")
    assert "A &lt;b&gt;\n  line &amp; more" in block


def test_csv_has_every_column_and_nothing_for_none(tmp_path: Path) -> None:
    text = EXAMPLE.to_csv(str(tmp_path / "x.csv"))
    assert text.splitlines() == ["name,time_s,note", "a,0.5,", '"b, c",,x']
    assert (tmp_path / "x.csv").read_bytes().decode() == text
    assert csv_text([]).strip() == ""


@pytest.mark.parametrize("present", ["pandas", "polars"])
def test_a_data_frame_is_that_of_the_installed_library(
    present: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{present}.py").write_text(
        "class DataFrame:\n    def __init__(self, rows):\n        self.rows = rows\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(shown, "DATA_FRAMES", (present,))
    monkeypatch.delitem(sys.modules, present, raising=False)
    assert EXAMPLE.to_dataframe().rows == EXAMPLE.to_rows()
    monkeypatch.delitem(sys.modules, present)


def test_without_a_library_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "DATA_FRAMES", ("no_such_library",))
    with pytest.raises(Unsupported, match="pip install pandas"):
        EXAMPLE.to_dataframe()
