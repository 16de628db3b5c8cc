"""Every command that stands in a block of code of a page, or between backticks of a guide, has options that exist."""

import re
import shlex
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from paths import ROOT

from tilewright.cli.main import make_parser, parse

GUIDES = sorted((ROOT / "docs" / "howto").glob("*.md"))
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md"), *GUIDES})
PLACEHOLDER = re.compile(r"\b[A-Z]{4,}\b|\.\.\.|\[|--help|--version")


def commands(page: Path, *, between_backticks: bool) -> list[list[str]]:
    """The words after `tilewright` of each command of a page. Those with words in capitals or dots, and help, are left
    out, and so is what the shell does with the output."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    lines = [line.strip() for token in tokens if token.type == "fence" for line in token.content.splitlines()]
    if between_backticks:
        inline = [child for token in tokens for child in token.children or ()]
        lines += [child.content for child in inline if child.type == "code_inline"]
    found = (re.fullmatch(r"(?:uv run |\.venv/bin/)?tilewright (.*?)(?: [>|] .*)?", line) for line in lines)
    return [shlex.split(each[1], comments=True) for each in found if each and not PLACEHOLDER.search(each[1])]


FOUND = [
    pytest.param(words, id=f"{page.relative_to(ROOT)}: {' '.join(words)}")
    for page in PAGES
    for words in commands(page, between_backticks=page in GUIDES)
]


@pytest.mark.parametrize("words", FOUND)
def test_a_command_of_a_page_can_be_parsed(words: list[str]) -> None:
    parse(make_parser(), words)


def test_guides_have_commands() -> None:
    assert len(FOUND) > 20


def test_a_command_with_another_option_cannot(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```\ntilewright explain tiles/2 --none\ntilewright run KERNEL.cl\n```\n`tilewright list`\n")
    assert commands(page, between_backticks=False) == [["explain", "tiles/2", "--none"]]
    assert commands(page, between_backticks=True) == [["explain", "tiles/2", "--none"], ["list"]]
    with pytest.raises(SystemExit):
        parse(make_parser(), ["explain", "tiles/2", "--none"])
