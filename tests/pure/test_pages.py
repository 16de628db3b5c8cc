"""Every link of every page leads to a file that is there and to a heading that it has, and every path that is named is there."""

import itertools
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from paths import ROOT

FILE = re.compile(r"[\w*.-]+(/[\w*.-]+)*\.(c|cl|csv|h|html|ipynb|json|json\.gz|md|py|svg|toml)(::\w+)?")
FOLDERS = (
    "benchmarks",
    "docs",
    "examples",
    "src",
    "tests",
    "tools",
    "kernels",
    "runtime",
    "analysis",
    "dispatch",
    "library",
)
RUNG = re.compile(r"(rows|tiles|transpose|cpu|tensor|known_bad)/(\d+[a-z]?)(_\w+)?")

READERS_OWN = {"src/tilewright/kernels/ladders/tiles/02a_mine.cl", "tiles/2a"}  # what a reader of CONTRIBUTING.md makes

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


def names(page: Path) -> set[str]:
    """What stands between backticks in a page's text. Of a command, the words."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    inline = [child for token in tokens for child in token.children or ()]
    return {word for child in inline if child.type == "code_inline" for word in child.content.split()}


def is_path(name: str) -> bool:
    """Whether a word looks like a file or a folder of the repository. A file without a folder may be the reader's own."""
    whole = FILE.fullmatch(name) is not None or re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", name) is not None
    return whole and "/" in name and (name.split("/")[0] in FOLDERS or FILE.fullmatch(name) is not None)


def is_there(name: str, page: Path) -> bool:
    """Whether a path leads somewhere from the root, the package, its kernels, its products or the page's folder."""
    path, _, function = name.partition("::")
    package = ROOT / "src" / "tilewright"
    for folder in (ROOT, package, package / "kernels", package / "kernels" / "product", page.parent):
        found = [
            *folder.glob(path.rstrip("/")),
            *folder.glob(f"{path}.py"),
        ]  # a module of tools may stand without its .py
        if found:
            return not function or f"def {function}(" in found[0].read_text(encoding="utf-8")
    return False


def missing_names(page: Path) -> list[str]:
    """The paths, tests and rungs between a page's backticks that are not there. Words in capitals are the reader's to replace."""
    ladders = ROOT / "src" / "tilewright" / "kernels"
    found = []
    for name in sorted(names(page) - READERS_OWN):
        rung = RUNG.fullmatch(name)
        if rung:
            number = f"{rung[2]:0>2}" + (rung[3] or "_*")
            there = any(ladders.glob(f"**/{rung[1]}/{number}.cl"))
        else:
            there = not is_path(name) or bool(re.search("[A-Z]{3}", name)) or is_there(name, page)
        if not there:
            found.append(name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_named_paths_and_rungs_are_there(page: Path) -> None:
    assert missing_names(ROOT / page) == []


def test_a_path_that_is_not_there_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "`docs/none.md` `docs/README.md` `product/none.cl` `gemv/rows.cl` `tools/none` `tools/claims`\n"
        "`tiles/99` `tiles/2` `mine.cl` `n / 16` `python -m tools.pages docs/gone.md`\n"
        "`tests/pure/test_pages.py::test_nothing` `tests/pure/test_pages.py::test_links_lead_somewhere`\n"
        "`benchmarks/*.json` `benchmarks/none-*.json` `benchmarks/fuzz-NAME.json`\n"
    )
    expected = ["benchmarks/none-*.json", "docs/gone.md", "docs/none.md", "product/none.cl"]
    assert missing_names(page) == [*expected, "tests/pure/test_pages.py::test_nothing", "tiles/99", "tools/none"]


def files_of_marks(page: Path) -> list[str]:
    """The records and pictures that the marks of a page name, as `python -m tools.pages` finds them: from the page's folder."""
    marks = re.findall(r"^<!-- (?:record|inspect|roofline): (.*) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [word for mark in marks for word in mark.split() if word.endswith((".json", ".gz", ".svg"))]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_files_of_marks_are_there(page: Path) -> None:
    assert [name for name in files_of_marks(ROOT / page) if not (ROOT / page.parent / name).exists()] == []


def test_marks_are_read() -> None:
    found = files_of_marks(ROOT / "docs" / "reference" / "inspect.md")
    assert found == ["../../benchmarks/h200-inspect-tiles-02.json"]
    assert files_of_marks(ROOT / "benchmarks" / "results.md")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(ROOT / page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `two`: three\n[a](#one-two-three) [b](#four) [c](none.md) ![d](page.md#one-two-three)\n")
    assert broken(page) == ["#four", "none.md"]


def test_the_index_leads_to_every_page_of_docs() -> None:
    """Those of the course by way of its start pages, which the index leads to."""
    index = ROOT / "docs" / "README.md"
    starts = [ROOT / "docs" / "course" / language / "README.md" for language in ("en", "zh")]
    linked = {(page.parent / target.partition("#")[0]).resolve() for page in (index, *starts) for target in links(page)}
    assert set((ROOT / "docs").rglob("*.md")) - linked == {index}
