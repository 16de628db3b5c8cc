"""Inlines included files: each live `#include "file"` is replaced by the text of that file. So a program is one text.

Conditions are followed as far as they are known before the compiler runs: `#if 0`, macros that the text itself defines,
include guards, `#pragma once`. If a condition is not known, both branches get their files. A file that is missing in such a
branch becomes an `#error`: the compiler reports it only if the branch is live.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidInput, SourceError
from .source import read_source, shown_path, without_comments

DEEPEST = 64  # levels of nesting; C asks compilers for 15, clang stops at 200
MOST_FILES = 1000  # in one program: if each file includes the next one twice, the text doubles at each level

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>[a-z]+)\b(?P<rest>[^\n]*)", re.M)
_FILE = re.compile(r'\s*(?:"([^"\n]+)"|<([^>\n]+)>)')
_DEFINED = re.compile(r"(!?)\s*defined\s*(?:\(\s*(\w+)\s*\)|(\w+))\s*$")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*$")
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*", re.M)

LIVE, DEAD, OPEN = "live", "dead", "open"  # open: only the compiler knows


def with_includes(text: str, source: Path, macros: Mapping[str, str | int], folders: Sequence[Path | str] = ()) -> str:
    """The text with each live `#include "file"` replaced by that file, which is looked for in the folder of the including
    file, then in `folders`. `#include <file>` is replaced if it lies in one of `folders`.

    `#include "NAME"` includes the file that the macro NAME names. `#line` makes compilers report the real file and line.
    SourceError if a file does not exist, or if files include each other without end.
    """
    return _Inliner(macros, tuple(map(Path, folders))).file(text, source)


@dataclass
class _Branch:
    """One open conditional, from its `#if` to its `#endif`."""

    state: str  # of the current branch
    saved: set[str]  # the macros known before the `#if`
    guard: str = ""  # X of an `#ifndef X` without an `#else` so far
    settled: bool = False  # an earlier branch is certainly live
    doubtful: bool = False  # an earlier branch may be live
    after: set[str] | None = None  # the macros known at the end of the branch that is certainly live


class _Inliner:
    """What is known at one place of the text: macros certainly defined, open conditionals, the chain of including files."""

    def __init__(self, macros: Mapping[str, str | int], folders: Sequence[Path] = ()) -> None:
        self.macros = macros
        self.folders = folders
        self.known = set(macros)
        self.branches: list[_Branch] = []
        self.chain: list[Path] = []
        self.files = 0
        self.once: dict[Path, int] = {}

    @property
    def state(self) -> str:
        states = {branch.state for branch in self.branches}
        return DEAD if DEAD in states else OPEN if OPEN in states else LIVE

    def file(self, text: str, source: Path) -> str:
        """The text of one file with everything that it includes."""
        masked = without_comments(text)
        macro = self._once(source) if self.chain and _ONCE.search(masked) else ""
        if macro in self.known:
            return ""
        if macro:
            self.known.add(macro)
        self.chain.append(source)
        outer, self.branches = self.branches, [*self.branches]
        pieces, place = [f'#line 1 "{shown_path(source)}"\n'], 0
        directives = list(_DIRECTIVE.finditer(masked))
        for index, match in enumerate(directives):
            following = directives[index + 1] if index + 1 < len(directives) else None
            line = text.count("\n", 0, match.start()) + 1
            put = self._directive(match, following, source, line)
            if put is not None:
                after = text.count("\n", 0, match.end()) + 2
                pieces += [text[place : match.start()], put, f'\n#line {after} "{shown_path(source)}"\n']
                place = match.end() + 1
        whole = "".join((*pieces, text[place:]))
        self.branches = outer
        self.chain.pop()
        if not macro:
            return whole
        return f"#ifndef {macro}\n#define {macro}\n{whole}\n#endif\n"

    def _once(self, source: Path) -> str:
        """The macro of the include guard that stands for a file's `#pragma once`."""
        return f"TILEWRIGHT_ONCE_{self.once.setdefault(source.resolve(), len(self.once))}"

    def _directive(self, match: re.Match[str], following: re.Match[str] | None, source: Path, line: int) -> str | None:
        """Follow one directive. Its replacement, or None to leave it as it is."""
        word, rest = match["word"], match["rest"].strip()
        if word in ("if", "ifdef", "ifndef"):
            self._open(word, rest, following)
        elif word in ("elif", "else", "endif") and self.branches:
            self._next_part(word, rest)
        elif self.state == DEAD:
            return None
        elif word == "define" and (name := re.match(r"\w+", rest)):
            self.known.add(name[0])
        elif word == "undef" and (name := re.match(r"\w+", rest)):
            for known in (self.known, *(each.saved for each in self.branches)):
                known.discard(name[0])
        elif word == "include" and (named := _FILE.match(rest)):
            if named[1] is None and not any((folder / named[2]).is_file() for folder in self.folders):
                return None  # the compiler's own
            return self._include(named[1] or named[2], source, line)
        elif word == "pragma" and rest.startswith("once") and len(self.chain) > 1:
            return ""
        return None

    def _open(self, word: str, rest: str, following: re.Match[str] | None) -> None:
        state, guard = self._condition(word, rest)
        name = re.match(r"\w+", following["rest"].strip()) if following and following["word"] == "define" else None
        if state == OPEN and guard and name and name[0] == guard:
            state = LIVE  # the first time that an include guard is met
        self.branches.append(_Branch(state, set(self.known), guard))

    def _condition(self, word: str, rest: str) -> tuple[str, str]:
        """Whether a condition holds, and the macro that must be undefined for it."""
        found = _DEFINED.match(f"{'!' if word == 'ifndef' else ''}defined {rest}" if word != "if" else rest)
        if found:
            name = found[2] or found[3]
            if name in self.known:
                return (DEAD if found[1] else LIVE), ""
            return OPEN, name if found[1] else ""
        number = _NUMBER.match(rest)
        if number:
            return (LIVE if int(number[1], 16 if number[1][:2].lower() == "0x" else 10) else DEAD), ""
        return OPEN, ""

    def _next_part(self, word: str, rest: str) -> None:
        branch = self.branches[-1]
        if branch.state == LIVE:
            branch.after, branch.settled = set(self.known), True
        branch.doubtful = branch.doubtful or branch.state == OPEN
        if word == "endif":
            self.branches.pop()
            guarded = {branch.guard} & self.known if branch.state == OPEN else set()
            self.known = branch.after if branch.after is not None and not branch.doubtful else branch.saved | guarded
            return
        self.known, branch.guard = set(branch.saved), ""
        wanted = LIVE if word == "else" else self._condition("if", rest)[0]
        branch.state = DEAD if branch.settled else OPEN if branch.doubtful and wanted == LIVE else wanted

    def _include(self, name: str, source: Path, line: int) -> str:
        own = str(self.macros.get(name, name))
        places = [folder / own for folder in (source.parent, *self.folders)]
        path = next((place for place in places if place.is_file()), places[0])
        names = [shown_path(each) for each in (*self.chain, path)]
        self.files += 1
        if self.files > MOST_FILES:
            sentence = f"more than {MOST_FILES:,} files are included: {' -> '.join(names[-8:])}"
            raise SourceError(shown_path(source), line, 1, sentence)
        if not path.is_file():
            looked = ", ".join(map(str, (source.parent, *self.folders)))
            return self._refusal(
                source, line, f"there is no file {name} to include in {looked}; -I FOLDER names another"
            )
        if len(names) > DEEPEST:
            last = names.pop()
            circle = names[len(names) - 1 - names[::-1].index(last) :] if last in names else names
            return self._refusal(source, line, f"the includes do not end: {' -> '.join((*circle, last))}")
        try:
            text = read_source(path)
        except InvalidInput as unreadable:
            return self._refusal(source, line, str(unreadable))
        return self.file(text, path)

    def _refusal(self, source: Path, line: int, sentence: str) -> str:
        """SourceError if the line is certainly live; otherwise an `#error`, which the compiler skips if it is not."""
        if self.state == LIVE:
            raise SourceError(shown_path(source), line, 1, sentence)
        return f'#line {line} "{shown_path(source)}"\n#error "{sentence}"'
