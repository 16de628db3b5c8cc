"""What MkDocs calls while it builds: pages of the root and generated ones, navigation, links."""

import os
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tilewright.core.language import LANGUAGES
from tools.docs_site.api import api_page
from tools.docs_site.commands import commands_page
from tools.docs_site.links import MOVED, with_lists_apart, with_site_links

ROOT = Path(__file__).parents[2]
GENERATED = {"reference/commands.md": commands_page, "reference/api.md": api_page}
# The tabs after the start page, each with its folder. A page that lies there stands there; a folder that is missing is left out.
# Translated pages lie in docs/zh, at the places that the English ones have in docs.
SECTIONS = {
    "Course": "course",
    "How-to guides": "howto",
    "Reference": "reference",
    "Explanation": "explanation",
    "Notebook": "notebook",
    "Measured": "benchmarks",
    "Project": "project",
    LANGUAGES["zh"]: "zh",
}
READING_ORDER = ("transpose", "tiles", "rows", "cpu", "tensor")  # of the course's ladders, as its start page has it
# Of a folder these come first, in this order; the others by name.
FIRST = ("README.md", "index.md", "commands.md", "api.md", "results.md", *LANGUAGES, *READING_ORDER)
PLAYGROUND = "<!-- playground -->"  # where a page links to the playground, which is no page of MkDocs


def repository() -> str:
    """The address of the repository, if the environment tells: links to sources lead there."""
    server, name = os.environ.get("GITHUB_SERVER_URL", ""), os.environ.get("GITHUB_REPOSITORY", "")
    return f"{server}/{name}" if server and name else ""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation, from the folders."""
    docs = Path(config.docs_dir)
    pages = [*MOVED.values(), *GENERATED, *(each.relative_to(docs).as_posix() for each in docs.rglob("*.md"))]
    nav: list[Any] = [{"Start": ["index.md", "contents.md", "architecture.md"]}]
    for title, folder in SECTIONS.items():
        found = {each for each in pages if each.startswith(f"{folder}/")}
        if found:
            nav.append({title: entries(found, folder)})
    config.nav = nav
    config.repo_url = repository() or None
    return config


def entries(pages: set[str], folder: str) -> list[Any]:
    """The pages of a folder, and the folders in it as sections of their own."""
    names = {each.removeprefix(f"{folder}/").split("/")[0] for each in pages if each.startswith(f"{folder}/")}
    return [
        f"{folder}/{name}" if name.endswith(".md") else {LANGUAGES.get(name, name): entries(pages, f"{folder}/{name}")}
        for name in sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take in the pages that lie elsewhere, and the generated ones."""
    files.remove(files.src_uris["README.md"])  # the start page is the repository's, this one stands beside it
    for path, place in MOVED.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    for place, make in GENERATED.items():
        files.append(File.generated(config, place, content=make()))
    style = (ROOT / "tools" / "docs_site" / "site.css").read_text(encoding="utf-8")
    files.append(File.generated(config, "site.css", content=style))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links for the site. Generated pages have them already."""
    place = page.file.src_uri
    if place in GENERATED:
        return markdown
    path = next((path for path, moved in MOVED.items() if moved == place), f"docs/{place}")
    up = "../" * page.url.count("/")
    button = f'<a class="md-button md-button--primary" href="{up}playground/">Open the playground</a>'
    return with_lists_apart(with_site_links(markdown, path, repository())).replace(PLAYGROUND, button)
