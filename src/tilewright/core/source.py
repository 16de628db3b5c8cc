"""The text of a kernel's file: reading it, finding its arguments, naming the lines of a compiler's log."""

import codecs
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import InvalidInput

_unsaved: ContextVar[Mapping[Path, str] | None] = ContextVar("_unsaved", default=None)


@contextmanager
def unsaved(texts: Mapping[Path, str]) -> Iterator[None]:
    """While it lasts, these absolute paths have these texts instead of what lies on the disk: an editor's unsaved changes."""
    token = _unsaved.set(texts)
    try:
        yield
    finally:
        _unsaved.reset(token)


def file_text(path: Path) -> str:
    """The text of a file on the disk, or of an editor's unsaved changes. OSError if it cannot be read."""
    texts = _unsaved.get()
    if texts and (own := texts.get(path.resolve())) is not None:
        return own
    return decoded(path.read_bytes())


def read_source(path: Path) -> str:
    """The file's text as it is now, with "\n" at line ends. A file that was edited since the last call is read again.

    InvalidInput if it cannot be read, or is not text.
    """
    try:
        facts = path.stat()
        text = _plain(file_text(path)) if _unsaved.get() else _read_version(path, facts.st_mtime_ns, facts.st_size)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    if "\0" in text:
        raise InvalidInput(f"{path} is not text: it holds zero bytes")
    return text


def read_signature(path: Path) -> "Signature":
    """The one kernel in a file as it is now, and its arguments: parsed once for each version of the file."""
    text = read_source(path)  # refuses what is no text
    facts = path.stat()
    return _signature_of_version(path, facts.st_mtime_ns, facts.st_size, text)


@lru_cache(maxsize=256)
def _signature_of_version(path: Path, modified_ns: int, size: int, text: str) -> "Signature":
    return parse_signature(text, str(path))


@lru_cache(maxsize=256)
def _read_version(path: Path, modified_ns: int, size: int) -> str:
    return _plain(decoded(path.read_bytes()))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(BLANKS)


# Blanks that pages and editors put in place of a space. Some compilers refuse them; columns stay as they are.
BLANKS = dict.fromkeys((0xA0, 0x3000, 0x202F, 0x205F, 0xFEFF, 0x200B, *range(0x2000, 0x200B)), " ")


def source_notes(path: Path) -> tuple[str, ...]:
    """Sentences about a file that is not plain UTF-8: how it was read, and which blanks were replaced."""
    data = path.read_bytes()
    encoding, text = encoding_of(data)
    notes = [] if encoding in ("utf-8", "utf-8-sig") else [f"{path.name} is no UTF-8: it was read as {encoding}"]
    odd = sorted({letter for letter in text.removeprefix("\ufeff") if ord(letter) in BLANKS})
    if odd:
        names = ", ".join(f"U+{ord(letter):04X}" for letter in odd)
        notes.append(
            f"{path.name} holds blanks that are no spaces ({names}); they were read as spaces, some compilers refuse them"
        )
    return tuple(notes)


def decoded(data: bytes) -> str:
    """Source text in any common encoding."""
    return encoding_of(data)[1]


def encoding_of(data: bytes) -> tuple[str, str]:
    """The encoding of source text, and the text. OpenCL C is ASCII outside comments, so a wrong guess only garbles comments.

    UTF-8 or UTF-16 by the byte order mark, UTF-8 without one. Otherwise GB 18030, which contains GBK, if most bytes beyond
    ASCII come in pairs, and Latin-1 if they stand alone. Pairs must be recognised: the second byte of a Chinese or
    Japanese character may be a backslash. At the end of a comment it would continue the comment on the next line.
    """
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return encoding, data.decode(encoding, errors="replace")
    foreign = len(re.findall(rb"[\x80-\xff]", data))
    together = len(re.findall(rb"[\x81-\xfe][\x80-\xfe]", data))
    for encoding in ("utf-8", "gb18030") if 4 * together >= foreign else ("utf-8",):
        try:
            return encoding, data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return "latin-1", data.decode("latin-1")


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel: a global pointer, a local pointer, or a scalar of the C type `ctype`. The value of a `raw` one,
    a vector or struct, is its bytes."""

    name: str
    ctype: str
    pointer: str = ""  # "global", "local" or "" for a scalar
    readonly: bool = False
    raw: bool = False


@dataclass(frozen=True)
class Signature:
    entry: str
    parameters: tuple[Parameter, ...]


_COMMENT = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))|\\\n|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S
)
_ENTRY = re.compile(r"\b(?:__)?kernel\b.*?\bvoid\s+(?P<name>\w+)\s*\((?P<arguments>[^()]*)\)\s*\{", re.S)
_QUALIFIERS = {"__global", "global", "__local", "local", "const", "restrict", "volatile", "__constant", "constant"}


def without_comments(text: str) -> str:
    """The text with comments and line continuations replaced by blanks; every other character keeps its place."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0][0] in "\"'" else " " * len(match[0])

    return _COMMENT.sub(blank, text)


def speaks_of_real(text: str) -> bool:
    """Whether a user's file uses the macro REAL without a definition of its own."""
    code = without_comments(text)
    return bool(re.search(r"\bREAL\b", code)) and not re.search(r"(#\s*define\s+|typedef\b[^;]*\b)REAL\b", code)


def shown_path(path: Path) -> str:
    """A source file's name for compilers and people: "tiles/02_tiled.cl", or "mine.cl" in the current folder.

    Bytes of the name that are no text in the system's encoding become question marks: no source or record could hold them.
    """
    folder = path.parent.name
    name = f"{folder}/{path.name}" if folder else path.name
    return re.sub(r'["\\\n]', "_", name).encode(errors="replace").decode()


def parse_signature(text: str, filename: str, entry: str | None = None) -> Signature:
    """The kernel function in an OpenCL C source, and its arguments, which are bound by name.

    `entry` selects one of several kernels. InvalidInput if there is no such kernel, or several without an `entry`.
    """
    found = {each["name"]: each["arguments"] for each in _ENTRY.finditer(without_comments(text))}
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


_LINE = re.compile(r'#line (\d+) "([^"]*)"')


def name_lines(log: str, source: str) -> str:
    """A compiler's log with real files and lines, for compilers such as NVIDIA's that ignore `#line`.

    Such a log says "<kernel>:30:12: error", counting lines of `source`. The last `#line` before that line gives the file.
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
