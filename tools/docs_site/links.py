"""Links of pages as GitHub shows them, made links of the site: to other pages, or to files of the repository."""

import posixpath
import re
from collections.abc import Callable

FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
SUBSCRIPTS = re.compile(r"(\w\[\w+\])\[")
LIST = re.compile(r"(?:[-*]|\d+\.) ")
# Pages outside docs/, and where the site has them. docs/README.md makes room for the start page.
MOVED = {
    "README.md": "index.md",
    "README.zh.md": "zh/index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "docs/README.md": "contents.md",
    "benchmarks/results.md": "benchmarks/results.md",
    "benchmarks/counters.md": "benchmarks/counters.md",
    "benchmarks/predictions.md": "benchmarks/predictions.md",
}


def slug(title: str, separator: str) -> str:
    """The anchor of a heading as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", separator)


def place_of(path: str) -> str | None:
    """Where the site has a file of the repository; None if it has not."""
    if path in MOVED:
        return MOVED[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """The text with its lines changed, but for those of code blocks."""
    lines, inside = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            inside = not inside
        lines.append(line if inside else change(line))
    return "\n".join(lines)


def with_site_links(text: str, path: str, repository: str) -> str:
    """The text of the page at `path` in the repository, with links for the site. Links to files that the site has not lead to
    the `repository`; without one, only their words stay."""

    def changed(match: re.Match[str]) -> str:
        target, _, anchor = match["target"].partition("#")
        if "://" in target or not target or target.startswith("mailto:"):
            return match[0]
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        place = place_of(meant)
        if place is None:
            if not repository or match["picture"]:
                return match["text"]
            return f"[{match['text']}]({repository}/blob/HEAD/{meant})"
        here = posixpath.dirname(place_of(path) or "")
        link = posixpath.relpath(place, here or ".")
        return f"{match['picture']}[{match['text']}]({link}{'#' + anchor if anchor else ''})"

    return outside_fences(text, lambda line: without_references(LINK.sub(changed, line)))


def without_references(line: str) -> str:
    """Subscripts such as `tile[32][33]` in plain text, where Markdown would look for a reference called 33."""
    parts = line.split("`")
    return "`".join(part if number % 2 else SUBSCRIPTS.sub(r"\1\[", part) for number, part in enumerate(parts))


def with_lists_apart(text: str) -> str:
    """A blank line before each list: without one GitHub sees a list below a paragraph, and Python-Markdown does not."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        if FENCE.match(line):
            inside = not inside
        before = lines[-1] if lines else ""
        begins = LIST.match(line) is not None and before.strip() and not before.startswith((" ", "#", "|"))
        if begins and not inside and not LIST.match(before):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)
