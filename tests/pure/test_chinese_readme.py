"""README.zh.md says what README.md says: the same structure, code, links, tables and numbers."""

import re

from paths import ROOT

ENGLISH, CHINESE = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md"))
OWN_LINKS = {"README.md", "README.zh.md"}


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
    return [each for each in re.findall(r"\]\(([^)]+)\)", prose(text)) if each not in OWN_LINKS]


def test_headings_and_paragraphs_stand_in_the_same_order() -> None:
    assert headings(ENGLISH) == headings(CHINESE)
    assert len(re.split(r"\n\n+", prose(ENGLISH))) == len(re.split(r"\n\n+", prose(CHINESE)))


def test_code_and_tables_are_the_same() -> None:
    assert blocks(ENGLISH)
    assert blocks(ENGLISH) == blocks(CHINESE)


def test_links_and_quoted_names_are_the_same() -> None:
    assert links(ENGLISH) == links(CHINESE)
    assert re.findall(r"`[^`]+`", prose(ENGLISH)) == re.findall(r"`[^`]+`", prose(CHINESE))


def test_numbers_are_the_same() -> None:
    english, chinese = (sorted(re.findall(r"\d[\d,.]*\d|\d", prose(text))) for text in (ENGLISH, CHINESE))
    assert english == chinese
