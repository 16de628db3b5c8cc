"""The page in other languages: what limits a rung and the columns of its lines are said in them, too."""

import re

import pytest
from paths import BENCHMARKS

from tilewright.core.language import ENGLISH, LANGUAGES, use_language
from tilewright.reports.page import evidence
from tilewright.reports.page.page import html, report_of
from tilewright.reports.page.subjects import subject_of

OTHERS = [code for code in LANGUAGES if code != ENGLISH]
WORD = re.compile(r"[a-z]{3,}")


@pytest.mark.parametrize("language", OTHERS)
def test_a_ladders_page_names_limits_and_memories_in_its_language(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "PATIENCE_S", 600.0)  # a busy machine has not counted all rungs by then
    use_language(language)
    made = report_of([subject_of(BENCHMARKS / "cpu-intel-cpu.json")])
    _, stop = made.chapters[0].headline.more
    assert not WORD.findall(stop), stop
    page = html(made)
    heads = re.findall(r"<th>([^<]*)</th>", page.partition('class="wide code"')[2].partition("</thead>")[0])
    assert "".join(heads)
    assert not WORD.findall(" ".join(heads)), heads
    assert f'<html lang="{language}">' in page


@pytest.mark.parametrize("language", OTHERS)
def test_a_page_of_errors_says_in_its_language_what_a_cell_has(language: str) -> None:
    use_language(language)
    page = html(report_of([subject_of(BENCHMARKS / "h200-accuracy.json")]))
    (said,) = re.findall(r"<p[^>]*>([^<]*2\^-24[^<]*)</p>", page)
    assert not WORD.findall(said), said
