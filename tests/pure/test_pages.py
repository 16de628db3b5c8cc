"""Every link of every page leads to a file that is there, and to a heading that it has."""

import itertools
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from paths import ROOT

PAGES = sorted(
    page.relative_to(ROOT)
    for folder in (ROOT, *(ROOT / name for name in ("docs", "benchmarks", "examples", "tests", "tools")))
    for page in (folder.glob("*.md") if folder == ROOT else folder.rglob("*.md"))
)


def links(page: Path) -> list[str]:
    """What the page's links and pictures point to, as it is written."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    inline = [child for token in tokens for child in token.children or ()]
    targets = [child.attrs.get("href", child.attrs.get("src")) for child in inline]
    return [str(target) for target in targets if target]


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them: lower case, without punctuation, spaces as hyphens."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    titles = [after.content for token, after in itertools.pairwise(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-") for title in titles}


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere in the repository. Other sites are not asked."""
    found = []
    for target in links(page):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(ROOT / page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `two`: three\n[a](#one-two-three) [b](#four) [c](none.md) ![d](page.md#one-two-three)\n")
    assert broken(page) == ["#four", "none.md"]
