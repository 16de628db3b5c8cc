"""The comment lines of a kernel's file that hold options and budgets: `// tilewright: --global N,M`, `// tilewright: no race`.

Those at the start of the file, its head, are for all its kernels. Those in the comment right above a kernel are for that kernel
alone. A file may begin with the comment of its first kernel: if another kernel has lines of its own, so has the first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .source import read_source, without_comments

OPTIONS_MARK = "tilewright:"  # begins a comment line that holds options
_COMMENT = re.compile(r"\s*(//|/\*|\*/|\*|$)")
_KERNEL = re.compile(r"\b(?:__)?kernel\b[^;{}]*?\bvoid\s+(?P<name>\w+)\s*\(")

Lines = tuple[tuple[int, str], ...]  # of each its number, and what stands behind the mark


@dataclass(frozen=True)
class Heads:
    """The marked lines of a file: `shared` are those of all its kernels, `own` each kernel's further ones. `kernels` are the
    names of all kernels, whatever `#if` leaves of them."""

    shared: Lines
    own: Mapping[str, Lines]
    kernels: tuple[str, ...]

    def of(self, entry: str | None) -> Lines:
        """The lines of a kernel's own. Without a name it is the only kernel of the file, if there is one alone."""
        only = self.kernels[0] if len(self.kernels) == 1 else ""
        return self.own.get(entry or only, ())


def read_heads(path: Path) -> Heads:
    """The marked lines of a kernel's file."""
    text = read_source(path)
    lines = text.split("\n")
    code = without_comments(text)
    first = next((number for number, line in enumerate(lines) if not _COMMENT.match(line)), len(lines))
    shared = tuple(_marked(lines, range(first)))
    own: dict[str, Lines] = {}
    for match in _KERNEL.finditer(code):
        found = tuple(_marked(lines, _above(lines, text.count("\n", 0, match.start()))))
        own[match["name"]] = own.get(match["name"], ()) + found
    kernels = tuple(own)
    own = {name: found for name, found in own.items() if found}
    if all(set(found) <= set(shared) for found in own.values()):
        return Heads(shared, {}, kernels)
    taken = {line for found in own.values() for line in found}
    return Heads(tuple(line for line in shared if line not in taken), own, kernels)


def _above(lines: Sequence[str], kernel: int) -> range:
    """The lines of the comment that ends right above a line."""
    begin = kernel
    while begin and lines[begin - 1].strip() and _COMMENT.match(lines[begin - 1]):
        begin -= 1
    return range(begin, kernel)


def _marked(lines: Sequence[str], numbers: range) -> Iterator[tuple[int, str]]:
    for number in numbers:
        comment = _COMMENT.match(lines[number])
        assert comment is not None
        text = lines[number][comment.end() :].strip()
        if text.startswith(OPTIONS_MARK):
            yield number + 1, text[len(OPTIONS_MARK) :].removesuffix("*/").strip()
