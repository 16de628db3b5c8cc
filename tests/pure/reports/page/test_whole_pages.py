"""Whole pages of the records in benchmarks/: complete, self-contained, small, and the same in the terminal."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from example_records import RECORD
from paths import BENCHMARKS
from says import says

import tilewright
from tilewright.core.records import save_record
from tilewright.errors import InvalidInput, RecordError
from tilewright.reports.page import page
from tilewright.reports.page.evidence import Evidence
from tilewright.reports.page.subjects import subject_of
from tilewright.reports.page.text import text

NAMES = [path.name for path in sorted((*BENCHMARKS.glob("*.json"), *BENCHMARKS.glob("*.json.gz")))]
WITHOUT = (
    "planning",
    "warm-calls",
    "fuzz",
    "counters",
    "predictions",
    "sanitize",
    "playground",
    "transformer-block",
    "calls",
    "host-copies",
    "symmetric",
    "outofcore",
    "-blocks",
    "-host-float",
    "regret",
)  # kinds that have no page
VOID = {"meta", "input", "br"}
FETCHING = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "object": "data",
    "use": "href",
    "image": "href",
}


class Elements(HTMLParser):
    """Whether all elements are closed, each id once, and what would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.fetched: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if (name := known.get("id")) is not None and "svg" not in self.open:
            self.ids.append(name)
        if tag in FETCHING and (target := known.get(FETCHING[tag])) is not None:
            self.fetched.append(target)
        if tag == "a":
            self.links.append(str(known.get("href")))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Of SVG: nothing is left open."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(html: str) -> Elements:
    found = Elements()
    found.feed(html)
    assert found.open == []
    assert len(set(found.ids)) == len(found.ids)
    assert found.fetched == []
    assert [link for link in found.links if not link.startswith(("data:", "#"))] == []
    assert "url(" not in re.sub(r"url\(#tip\)", "", html)
    assert "@import" not in html
    assert len(html.encode()) < page.LARGEST
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_record_has_a_page_or_a_reason(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "evidence_of", lambda record, arch: Evidence())  # counting has its own tests
    if any(each in name for each in WITHOUT):
        with pytest.raises(RecordError, match=re.escape(name)):
            subject_of(BENCHMARKS / name)
        return
    subject = subject_of(BENCHMARKS / name)
    made = page.report_of([subject])
    html = page.html(made)
    check(html)
    (chapter,) = made.chapters
    assert chapter.headline.sentence in text(made)
    assert html.index("</header>") < html.index("<h2>"), "the sentence comes first"
    assert f'download="{subject.name}' in html


def test_a_ladder_opens_with_diffs_costs_pictures_and_a_path() -> None:
    made = page.report_of([subject_of(BENCHMARKS / "h200-tiles.json")])
    html = page.html(made)
    ids = check(html).ids
    assert [name for name in ids if name.startswith("tiles/")] == [f"tiles/{number:02}" for number in range(1, 12)]
    rung = html[html.index('id="tiles/06"') : html.index('id="tiles/07"')]
    for part in (
        "Changed since tiles/05_transposed",
        "global\nsectors",
        "The ring marks this rung",
        "Worst requests",
        "bank",
    ):
        assert part in rung
    assert len(re.findall(r"background:rgba\(var\(--(cool|warm|hot)\)", rung)) >= 4
    assert says(made.chapters[0].headline.sentence, "tiles/10_any_size reaches 62% of cuBLAS")
    assert any("local memory" in each for each in made.chapters[0].headline.more)
    assert says(text(made), "limited by", "measure it again: tilewright ladder tiles")


def test_two_records_are_a_comparison_and_two_chapters() -> None:
    names = ("cpu-intel-transpose.json", "cpu-pocl-transpose.json")
    made = page.report_of([subject_of(BENCHMARKS / name) for name in names])
    html = page.html(made)
    ids = check(html).ids
    assert {"record-1", "record-2", "transpose/05", "2/transpose/05"} <= set(ids)
    assert "cpu-pocl-transpose against cpu-intel-transpose" in html
    assert says(text(made), "cpu-pocl-transpose has", "first", "second")


def test_strings_of_records_are_text_and_nothing_else() -> None:
    evil = '"><script>alert(1)</script><a href=http://evil.example>x</a>'
    rows = tuple(replace(each, name=each.name + evil, lesson=evil, problem=evil, notes=(evil,)) for each in RECORD.rows)
    device = replace(RECORD.environment.device, name=evil, driver=evil)
    environment = replace(RECORD.environment, device=device, processor=evil, versions={evil: evil})
    for title in (evil, f"ladder {evil}", f"benchmark {evil}"):
        html = page.html(page.report_of([subject_of(replace(RECORD, title=title, rows=rows, environment=environment))]))
        check(html)
        assert html.count("<script") == 1, "the page's own"


def test_a_page_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page, "LARGEST", 1000)
    with pytest.raises(InvalidInput, match="report fewer records"):
        page.save_page(page.report_of([subject_of(RECORD)]), tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()
    with pytest.raises(InvalidInput, match="at least one"):
        page.report_of([])


def test_the_public_call_takes_records_and_files(tmp_path: Path) -> None:
    save_record(RECORD, tmp_path / "one.json")
    one = tilewright.report(tmp_path / "one.json")
    assert str(one) == str(tilewright.report([RECORD]))
    assert says(str(one), "l/04_d", "x first")
    assert {each["record"] for each in one.to_rows()} == {"one.json"}
    assert len(one.to_rows()) == len(RECORD.rows)
    made = tilewright.report([RECORD, tmp_path / "one.json"], tmp_path / "two.html")
    assert says((tmp_path / "two.html").read_text(encoding="utf-8"), "What differs around them")
    assert "l/04_d" in repr(made)


def test_the_command_prints_or_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tilewright.cli.main import main

    save_record(RECORD, tmp_path / "one.json")
    assert main(["report", str(tmp_path / "one.json")]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[1].startswith("Rung l/04_d")
    assert main(["report", str(tmp_path / "one.json"), "-o", str(tmp_path / "one.html")]) == 0
    assert (tmp_path / "one.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "Rung l/04_d" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "one.json"), "-o", str(tmp_path / "one.md")]) == 2
    assert main(["report", str(tmp_path / "none.json")]) == 1
