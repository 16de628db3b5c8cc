"""The tool that writes tables of records into Markdown pages."""

import shutil
from pathlib import Path

import pytest
from example_records import RECORD
from paths import BENCHMARKS, ROOT

from tilewright.core.records import save_record
from tilewright.errors import RecordError
from tilewright.reports.table import markdown
from tools.pages.__main__ import main
from tools.pages.refresh import MARKS, refresh

# Marks that need no compiler, and the pages that have one.
OF_RECORDS = {name: MARKS[name] for name in ("record", "regret", "processor")}
PAGES = [
    page
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *BENCHMARKS.glob("*.md"))
    if any(f"<!-- {name}: " in page.read_text(encoding="utf-8") for name in OF_RECORDS)
]
ROOFLINE = BENCHMARKS / "h200-roofline-tiles-06.json"


def test_a_page_gets_its_tables_from_the_records_it_names(tmp_path: Path) -> None:
    save_record(RECORD, tmp_path / "one.json")
    page = tmp_path / "page.md"
    text = "Before.\n<!-- record: one.json -->\nold\n<!-- end record -->\nBetween {}.\n"
    page.write_text(text * 2, encoding="utf-8")
    assert refresh(page) == 2
    fresh = page.read_text(encoding="utf-8")
    assert fresh.count(markdown(RECORD)) == 2
    assert "old" not in fresh
    assert fresh.count("Before.") == fresh.count("Between {}.") == 2
    assert refresh(page) == 2
    assert page.read_text(encoding="utf-8") == fresh, "refreshing twice changes nothing"


def test_a_page_without_marks_or_record_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("No mark.", encoding="utf-8")
    with pytest.raises(RecordError, match="<!-- record"):
        refresh(page)
    page.write_text("<!-- record: absent.json -->\n<!-- end record -->\n", encoding="utf-8")
    with pytest.raises(RecordError, match=r"absent\.json"):
        refresh(page)
    page.write_bytes(b"\x7fELF\0\0\xff")
    with pytest.raises(RecordError, match="not UTF-8 text"):
        refresh(page)
    with pytest.raises(RecordError, match="Is a directory"):
        refresh(tmp_path)


def test_the_tool_prints_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save_record(RECORD, tmp_path / "one.json")
    page = tmp_path / "page.md"
    page.write_text("<!-- record: one.json -->\n<!-- end record -->\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["tools.pages", str(page)])
    main()
    assert capsys.readouterr().out.startswith(f"{page}: 1 table,")
    monkeypatch.setattr("sys.argv", ["tools.pages", str(tmp_path / "none.md")])
    with pytest.raises(SystemExit, match=r"none\.md cannot be read"):
        main()


def test_every_kind_of_mark_on_one_page_is_refreshed(tmp_path: Path) -> None:
    save_record(RECORD, tmp_path / "one.json")
    shutil.copy(ROOFLINE, tmp_path / "roof.json")
    page = tmp_path / "page.md"
    marks = ("record: one.json", "inspect: tiles/02 sm_90", "roofline: roof.json")
    page.write_text("".join(f"<!-- {mark} -->\nold\n<!-- end {mark.split(':')[0]} -->\n" for mark in marks))
    assert refresh(page, {**MARKS, "inspect": lambda words, folder: " and ".join(words)}) == 3
    fresh = page.read_text(encoding="utf-8")
    assert "old" not in fresh
    assert markdown(RECORD) in fresh
    assert "tiles/02 and sm_90" in fresh
    assert "<- limits" in fresh


def test_a_mark_that_asks_for_an_unknown_form_is_an_error(tmp_path: Path) -> None:
    save_record(RECORD, tmp_path / "one.json")
    page = tmp_path / "page.md"
    page.write_text("<!-- record: one.json besides -->\n<!-- end record -->\n", encoding="utf-8")
    with pytest.raises(RecordError, match="besides"):
        refresh(page)


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_the_projects_pages_have_the_figures_of_their_records(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m tools.pages PAGE.md` makes the tables anew after a new record."""
    written: list[str] = []
    monkeypatch.setattr("tools.pages.refresh.write_page", lambda page, text: written.append(text))
    assert refresh(page, OF_RECORDS)
    assert written == [page.read_text(encoding="utf-8")]
