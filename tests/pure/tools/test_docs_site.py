"""The documentation's site: it builds without a warning, and its pages link to each other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from paths import DOCS, ROOT
from says import says

import tilewright
from tilewright.cli.main import COMMANDS
from tools.docs_site.api import FOLDERS, api_page, names_in
from tools.docs_site.commands import commands_page
from tools.docs_site.links import MOVED, place_of, slug, with_lists_apart, with_site_links

REPOSITORY = "https://example.org/a/b"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a warning, such as a link that leads nowhere, ends the build."""
    pytest.importorskip("material", reason="MkDocs is not installed: uv sync --group dev --group docs")
    pytest.importorskip("mkdocstrings_handlers.python", reason="mkdocstrings is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def page(site: Path, place: str) -> str:
    return (site / place / "index.html").read_text(encoding="utf-8")


def test_every_page_of_docs_and_of_the_root_is_there(site: Path) -> None:
    places = [
        MOVED.get(f"docs/{name}", name) for name in (each.relative_to(DOCS).as_posix() for each in DOCS.rglob("*.md"))
    ]
    for place in (*places, *MOVED.values()):
        folder = place.removesuffix(".md").removesuffix("README").removesuffix("index")
        assert (site / folder / "index.html").exists(), place


def test_the_reference_has_every_command_and_every_public_name(site: Path) -> None:
    commands, calls = page(site, "reference/commands"), page(site, "reference/api")
    assert all(f'id="{name}"' in commands for name in COMMANDS)
    names = set(tilewright.__all__) - {"__version__"}
    assert {name for name in names if f'href="#tilewright.{name}"' not in calls} == set()
    assert "&gt;&gt;&gt;" not in re.sub(r"<pre>.*?</pre>", "", calls, flags=re.S)


def targets(text: str) -> list[str]:
    """What the tags of a page lead to or load."""
    return re.findall(r"<[a-z][^>]*?\s(?:href|src)=[\"']?([^\"'\s>]+)", text)


def test_links_and_pictures_lead_to_files_of_the_site(site: Path) -> None:
    missing = []
    for html in (each for each in site.rglob("*.html") if each.name != "404.html"):  # that page is served anywhere
        for target in targets(html.read_text(encoding="utf-8")):
            path = target.split("#")[0].split("?")[0]
            there = (html.parent / path).resolve()
            if path and ":" not in path and there != site / "playground" and not there.exists():
                missing.append((html.relative_to(site).as_posix(), target))
    assert missing == []


def test_nothing_is_loaded_from_other_hosts(site: Path) -> None:
    for html in site.rglob("*.html"):
        tags = re.findall(r"<(?:script|img|iframe|link)\b[^>]*>", html.read_text(encoding="utf-8"))
        loaded = [
            tag for tag in tags if re.search(r"(?:src|href)=[\"']?(?:https?:)?//", tag) and "canonical" not in tag
        ]
        assert loaded == [], html.relative_to(site)


def test_the_start_page_leads_to_the_playground_and_the_chinese_page(site: Path) -> None:
    assert 'href="../../playground/"' in page(site, "howto/playground")
    assert 'href="zh/"' in page(site, ".")


def test_links_are_those_of_the_site() -> None:
    text = "[a](docs/howto/measure.md#x) ![p](docs/tiles-h200.svg) [l](LICENSE) [h](#start) [w](https://x.org)"
    expected = f"[a](howto/measure.md#x) ![p](tiles-h200.svg) [l]({REPOSITORY}/blob/HEAD/LICENSE) [h](#start) [w](https://x.org)"
    assert with_site_links(text, "README.md", REPOSITORY) == expected
    assert with_site_links("see [l](LICENSE)", "README.md", "") == "see l"
    up = with_site_links(
        "[c](../../CONTRIBUTING.md) [r](../../benchmarks/results.md#a) [d](../README.md)", "docs/howto/own.md", ""
    )
    assert up == "[c](../project/contributing.md) [r](../benchmarks/results.md#a) [d](../contents.md)"
    assert with_site_links("```\n[l](LICENSE)\n```\n[l](LICENSE)", "README.md", "") == "```\n[l](LICENSE)\n```\nl"
    assert with_site_links("tile[32][33] and `tile[32][33]`", "README.md", "") == "tile[32]\\[33] and `tile[32][33]`"
    assert all((ROOT / path).exists() and place_of(path) == place for path, place in MOVED.items())


def test_lists_stand_apart() -> None:
    assert with_lists_apart("words:\n- one\n- two\n  more") == "words:\n\n- one\n- two\n  more"
    assert with_lists_apart("```\nwords\n- one\n```") == "```\nwords\n- one\n```"


def test_anchors_are_githubs() -> None:
    assert slug("`gemm(a, b)`: what — it is", "-") == "gemma-b-what--it-is"


def test_generated_pages_have_what_help_has() -> None:
    commands = commands_page()
    assert [name for name in COMMANDS if f"\n### {name}\n" not in commands] == []
    assert says(commands, "--device-model", "--sweep", "nvidia")
    assert "%(default)s" not in commands
    assert api_page().count("\n::: tilewright.") == len(tilewright.__all__) - 1 + sum(
        len(names_in(each)) for each in FOLDERS
    )
