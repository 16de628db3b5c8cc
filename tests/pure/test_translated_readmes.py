"""README.zh.md and README.ru.md say what README.md says: the same structure, code, links, tables and numbers."""

import re
from pathlib import Path

import pytest
from paths import ROOT

from tilewright.core.language import ENGLISH as ENGLISH_CODE
from tilewright.core.language import LANGUAGES

ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
NAMES = [f"README.{code}.md" for code in LANGUAGES if code != ENGLISH_CODE]
OWN_LINKS = {"README.md", *NAMES}


@pytest.fixture(params=NAMES)
def other(request: pytest.FixtureRequest) -> str:
    """The README in another language."""
    return (ROOT / str(request.param)).read_text(encoding="utf-8")


def readmes() -> list[Path]:
    return [ROOT / name for name in sorted(OWN_LINKS)]


def blocks(text: str) -> list[str]:
    """Fenced code, and tables made from records."""
    return re.findall(r"^```.*?^```|^<!-- record: .*?^<!-- end record -->", text, re.M | re.S)


def prose(text: str) -> str:
    for block in blocks(text):
        text = text.replace(block, "")
    return text


def headings(text: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", prose(text), re.M)]


def links(text: str) -> list[str]:
    """Links in order, but for those to the READMEs. A page of the course is the same page in each language."""
    found = [each for each in re.findall(r"\]\(([^)]+)\)", prose(text)) if each not in OWN_LINKS]
    return [re.sub(r"^docs/course/\w+/", "docs/course/", each) for each in found]


def test_headings_and_paragraphs_stand_in_the_same_order(other: str) -> None:
    assert headings(ENGLISH) == headings(other)
    assert len(re.split(r"\n\n+", prose(ENGLISH))) == len(re.split(r"\n\n+", prose(other)))


def test_code_and_tables_are_the_same(other: str) -> None:
    assert blocks(ENGLISH)
    assert blocks(ENGLISH) == blocks(other)


def test_links_and_quoted_names_are_the_same(other: str) -> None:
    assert links(ENGLISH) == links(other)
    quoted = [re.findall(r"`[^`]+`", prose(text)) for text in (ENGLISH, other)]
    assert quoted[0] == quoted[1]


def test_links_exist_and_lead_to_the_language_where_it_has_a_page() -> None:
    for path in readmes():
        targets = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
        assert not [each for each in targets if not (ROOT / each).exists()]
        code = path.name.removeprefix("README.").removesuffix(".md")
        own = [each.replace("docs/course/en/", f"docs/course/{code}/") for each in targets]
        assert not [each for each, mine in zip(targets, own, strict=True) if each != mine and (ROOT / mine).exists()]


def test_numbers_are_the_same(other: str) -> None:
    english, translated = (sorted(re.findall(r"\d[\d,.]*\d|\d", prose(text))) for text in (ENGLISH, other))
    assert english == translated


@pytest.mark.parametrize("path", readmes(), ids=lambda path: path.name)
def test_each_links_to_the_others_and_names_the_option(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert all(f"({name})" in text for name in OWN_LINKS - {path.name})
    assert all(f"`--lang {code}`" in text for code in LANGUAGES if code != ENGLISH_CODE)
