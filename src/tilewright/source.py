"""The text of a kernel's file: read, its arguments found, its includes put in, the lines of a compiler's log named."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .errors import InvalidInput


def read_source(path: Path) -> str:
    """The file's text as it is now: a file that was edited since is read again."""
    facts = path.stat()
    return _read_version(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=256)
def _read_version(path: Path, modified_ns: int, size: int) -> str:
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel: a global pointer, a local pointer, or a scalar of the C type `ctype`."""

    name: str
    ctype: str
    pointer: str = ""  # "global", "local" or "" for a scalar
    readonly: bool = False


@dataclass(frozen=True)
class Signature:
    entry: str
    parameters: tuple[Parameter, ...]


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_ENTRY = re.compile(r"\b(?:__)?kernel\b.*?\bvoid\s+(?P<name>\w+)\s*\((?P<arguments>[^()]*)\)\s*\{", re.S)
_QUALIFIERS = {"__global", "global", "__local", "local", "const", "restrict", "volatile", "__constant", "constant"}


def parse_signature(text: str, filename: str, entry: str | None = None) -> Signature:
    """The kernel function in an OpenCL C source and its arguments, by which they are bound.

    With several kernels in one file `entry` says which; InvalidInput if there is none, or more than one and no word.
    """
    found = {each["name"]: each["arguments"] for each in _ENTRY.finditer(_COMMENT.sub(" ", text))}
    if not found:
        raise InvalidInput(f"{filename} holds no __kernel function")
    if entry is None and len(found) > 1:
        raise InvalidInput(f"{filename} holds {len(found)} kernels ({', '.join(found)}); name one as the entry")
    if entry is not None and entry not in found:
        raise InvalidInput(f"{filename} holds no kernel {entry!r}; it has {', '.join(found)}")
    name = entry or next(iter(found))
    arguments = [each.strip() for each in found[name].split(",")]
    return Signature(name, tuple(_parameter(each) for each in arguments if each not in ("", "void")))


def _parameter(declaration: str) -> Parameter:
    words = declaration.replace("*", " * ").split()
    ctype = " ".join(word for word in words[:-1] if word not in _QUALIFIERS and word != "*")
    if "*" not in words:
        return Parameter(words[-1], ctype)
    space = "local" if {"__local", "local"} & set(words) else "global"
    before_star = words[: words.index("*")]
    readonly = "const" in before_star or bool({"__constant", "constant"} & set(words))
    return Parameter(words[-1], ctype, space, readonly)


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"(?P<file>[^"\n]+)"[^\n]*$', re.M)


def with_includes(text: str, source: Path, macros: Mapping[str, str | int]) -> str:
    """The text with each `#include "file"` replaced by that file of the same folder: programs are self-contained.

    `#include "NAME"` takes the file that the macro NAME names. `#line` makes compilers name the real file and line.
    """
    pieces, place = [f'#line 1 "{_shown(source)}"\n'], 0
    for match in _INCLUDE.finditer(text):
        path = source.parent / str(macros.get(match["file"], match["file"]))
        if not path.is_file():
            raise InvalidInput(f"{source}: there is no file {match['file']} to include in {source.parent}")
        pieces += [text[place : match.start()], with_includes(read_source(path), path, macros)]
        place = match.end() + 1
        pieces.append(f'\n#line {text.count(chr(10), 0, place) + 1} "{_shown(source)}"\n')
    return "".join((*pieces, text[place:]))


_LINE = re.compile(r'#line (\d+) "([^"]*)"')


def name_lines(log: str, source: str) -> str:
    """A compiler's log with the real file and line where it counts lines of the whole text, as NVIDIA's does.

    Such a log says "<kernel>:30:12: error"; the `#line` before that line of `source` tells what it stands for.
    """
    lines = source.splitlines()

    def real(match: re.Match[str]) -> str:
        place = min(int(match[1]), len(lines))
        for back in range(place - 1, -1, -1):
            found = _LINE.match(lines[back])
            if found:
                return f"{found[2]}:{int(found[1]) + place - back - 2}:"
        return match[0]

    return re.sub(r"<kernel>:(\d+):", real, log)


def _shown(source: Path) -> str:
    """How compilers are told to name a file: "tiles/02_tiled.cl"."""
    return f"{source.parent.name}/{source.name}"
