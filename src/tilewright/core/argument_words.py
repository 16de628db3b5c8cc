"""The words that give a kernel's argument a value: `f32[1024]`, `n*4`, `img.npy`, `local:256*4`, `null`, `@a+16`, `{x=1,y=2}`.

A word is read without knowing the parameter's type: names and sizes in it are expressions, which are computed later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidInput

FORMS = (
    "a number or an expression over other sizes (n=4*m), a buffer (x=f32[1024], x=f32[64,32], or x=[1024] of the parameter's "
    "own type), a file (x=data.npy or x=data.bin:f32), local memory in bytes (tile=local:16*17*4), another parameter's buffer "
    "(y=@x, or y=@x+256 for a part of it), a vector (v=(1,2,3,4)), a struct (s={x=1,y=2.5}), an image "
    "(i=image:rgba,unorm_int8:640x480 or i=image:rgba:photo.npy), a sampler (s=sampler:repeat,linear,normalized), or null"
)
LONGEST_WORD = 4096
# What a type is called on the command line, and its name in OpenCL C.
TYPE_NAMES = {
    **{name: name for name in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")},
    "i8": "char", "u8": "uchar", "i16": "short", "u16": "ushort", "i32": "int", "u32": "uint", "i64": "long", "u64": "ulong",
    "f16": "half", "f32": "float", "f64": "double",
    "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
    "int64": "long", "uint64": "ulong", "float16": "half", "float32": "float", "float64": "double",
    "bool": "bool", "unsigned": "uint", "size_t": "ulong",
}  # fmt: skip
# int8, int16, uint8, uint16 and float16 are vectors in OpenCL C, and scalars in NumPy. A buffer of `int8[N]` is meant as
# the parameter's own type has it; `resolved` decides.
AMBIGUOUS = ("int8", "int16", "uint8", "uint16", "float16")
_VECTOR = re.compile(r"(char|uchar|short|ushort|int|uint|long|ulong|half|float|double)(2|3|4|8|16)$")
_NAME = re.compile(r"[A-Za-z_]\w*$", re.ASCII)
_TYPED = re.compile(r"(?P<type>(?:[A-Za-z_]\w*)?)\s*(?P<sizes>(?:\[[^\[\]]*\]\s*)+)$", re.ASCII)
_SIZED_STRUCT = re.compile(r"(?P<fields>\{.*\})\s*\[(?P<count>[^\[\]]+)\]$", re.S)
_BY = re.compile(r"\d+(?:[xX]\d+)+$|[A-Z0-9_]+(?:x[A-Z0-9_]+)+$", re.ASCII)
_SHARED = re.compile(r"@\s*(?P<name>[A-Za-z_]\w*)\s*(?:\+(?P<offset>.+))?$", re.ASCII | re.S)
FILES = (".npy", ".bin", ".raw", ".dat")


@dataclass(frozen=True)
class NullWord:
    """No buffer: a null pointer."""


@dataclass(frozen=True)
class LocalWord:
    """Local memory of `nbytes` (an expression) for each work-group."""

    nbytes: str


@dataclass(frozen=True)
class BufferWord:
    """A buffer of elements of the type that `type_name` names ("": the parameter's own), and its sides as expressions."""

    type_name: str
    sides: tuple[str, ...]


@dataclass(frozen=True)
class FileWord:
    """A buffer with the contents of a file. Raw files have a `type_name`."""

    path: str
    type_name: str = ""


@dataclass(frozen=True)
class ImageWord:
    """An image with channels of a `format` ("rgba,unorm_int8"; "" for a guess): random texels, as many along x, y ... as the
    expressions in `sides` say, or those of a .npy file."""

    format: str
    sides: tuple[str, ...] = ()
    path: str = ""


@dataclass(frozen=True)
class SamplerWord:
    """A sampler, by words such as "repeat,linear,normalized"."""

    words: str


@dataclass(frozen=True)
class SharedWord:
    """The buffer of another parameter, from element `offset` (an expression) on."""

    name: str
    offset: str = "0"


@dataclass(frozen=True)
class StructWord:
    """A struct by its fields. With a `count` it is a buffer of that many equal ones."""

    fields: tuple[tuple[str, Word], ...]
    count: str = ""


@dataclass(frozen=True)
class VectorWord:
    """The elements of a vector or of an array in a struct."""

    items: tuple[Word, ...]


@dataclass(frozen=True)
class NumberWord:
    """A number or an expression; for a pointer `name` or `name+offset` means another parameter's buffer."""

    text: str


Word = (
    NullWord
    | LocalWord
    | BufferWord
    | FileWord
    | SharedWord
    | StructWord
    | VectorWord
    | NumberWord
    | ImageWord
    | SamplerWord
)


@dataclass(frozen=True)
class LaunchWords:
    """How a user's kernel is launched beyond its sizes, as the user said it. Each pair is (parameter, what it gets).

    `arguments` hold words, or in Python numbers, arrays, None, LocalMemory and dicts. `bind` gives parameters the names of a
    problem's operands and sizes. `init` are contents of buffers before the launch, `expect` files with right results.
    `include` are folders of included files. A `ragged` launch has smaller groups at its edges. `global_offset` holds an
    expression for each dimension.
    """

    entry: str | None = None
    arguments: tuple[tuple[str, object], ...] = ()
    bind: tuple[tuple[str, str], ...] = ()
    init: tuple[tuple[str, object], ...] = ()
    expect: tuple[tuple[str, object], ...] = ()
    include: tuple[str, ...] = ()
    ragged: bool = False
    global_offset: tuple[str, ...] = ()
    problem_given: bool = False

    def changed_by(self, given: LaunchWords) -> LaunchWords:
        """These words with those that were `given` in their place."""

        def merged(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple({**dict(old), **dict(new)}.items())

        return LaunchWords(
            entry=given.entry or self.entry,
            arguments=merged(self.arguments, given.arguments),
            bind=merged(self.bind, given.bind),
            init=merged(self.init, given.init),
            expect=merged(self.expect, given.expect),
            include=(*self.include, *given.include),
            ragged=self.ragged or given.ragged,
            global_offset=given.global_offset or self.global_offset,
            problem_given=self.problem_given or given.problem_given,
        )

    @property
    def own_words(self) -> bool:
        """Whether the user gave what only a kernel with arguments of its own has."""
        return bool(self.arguments or self.expect)


def name_and_word(text: str, option: str) -> tuple[str, str]:
    """ "x=f32[8]" as ("x", "f32[8]"). InvalidInput for what has no name or no value."""
    name, equals, word = text.partition("=")
    name, word = name.strip(), word.strip()
    if not equals or not _NAME.match(name) or not word:
        raise InvalidInput(f"{option} {text[:80]!r}: write NAME=VALUE, with the name of one of the kernel's parameters")
    return name, word


def bound_names(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """ "in1=A,in2=B" as pairs. InvalidInput for what are no names."""
    pairs = [name_and_word(each, "--bind") for text in texts for each in text.split(",")]
    for name, target in pairs:
        if not _NAME.match(target) and not target.startswith("local:"):
            raise InvalidInput(
                f"--bind {name}={target[:80]}: write NAME=OPERAND, such as in1=A, rows=M or tile=local:1024"
            )
    return tuple(pairs)


def read_word(text: str) -> Word:
    """What a word means. InvalidInput, with the forms that there are, for what means nothing."""
    text = text.strip()
    if not text or len(text) > LONGEST_WORD or "\0" in text:
        raise InvalidInput(f"{text[:80]!r} is no argument: give {FORMS}")
    if text.lower() == "null":
        return NullWord()
    if text.startswith("local:"):
        return LocalWord(text[6:].strip() or "0")
    if text.startswith("image:"):
        return _image(text)
    if text.startswith("sampler:"):
        return SamplerWord(text[8:].strip())
    if text.startswith("@"):
        return _shared(text)
    if text.startswith("{"):
        return _struct(text)
    if text.startswith("(") and text.endswith(")") and len(_parts(text[1:-1], text)) > 1:
        return VectorWord(tuple(read_word(each) for each in _parts(text[1:-1], text)))
    if typed := _TYPED.match(text):
        return BufferWord(typed["type"], _sides(typed["sizes"], text))
    path, colon, kind = text.rpartition(":")
    if colon and path.lower().endswith(FILES) and _NAME.match(kind):
        return FileWord(path, kind)
    if text.lower().endswith(FILES):
        return FileWord(text)
    return NumberWord(text)


def _image(text: str) -> ImageWord:
    """ "image:FORMAT:SIDES", "image:FORMAT:FILE", or either without a format."""
    first, colon, rest = text[6:].partition(":")
    form, last = (first.strip(), rest.strip()) if colon else ("", first.strip())
    if last.lower().endswith(".npy"):
        return ImageWord(form, path=last)
    sides = tuple(each.strip() for each in re.split("[xX,]" if last[:1].isdigit() else ",", last))
    if not all(sides):
        raise InvalidInput(
            f"{text[:80]!r}: give an image's format and its texels along x, y and z, or a file: image:rgba,unorm_int8:640x480, "
            "image:r,float:N,M or image:rgba:photo.npy"
        )
    return ImageWord(form, sides)


def _shared(text: str) -> SharedWord:
    found = _SHARED.match(text)
    if found is None:
        raise InvalidInput(
            f"{text[:80]!r}: write @NAME for another parameter's buffer, or @NAME+ELEMENTS for a part of it"
        )
    return SharedWord(found["name"], (found["offset"] or "0").strip())


def _struct(text: str) -> StructWord:
    sized = _SIZED_STRUCT.match(text)
    body = sized["fields"] if sized else text
    if not body.endswith("}"):
        raise InvalidInput(
            f"{text[:80]!r}: a struct ends with }}, such as {{x=1,y=2.5}}, or with }}[64] for 64 of them"
        )
    pairs = []
    for each in _parts(body[1:-1], text) if body[1:-1].strip() else []:
        name, word = name_and_word(each, "the field")
        pairs.append((name, read_word(word)))
    return StructWord(tuple(pairs), sized["count"].strip() if sized else "")


def _sides(brackets: str, text: str) -> tuple[str, ...]:
    """The sides in "[64,32]", "[64x32]" or "[64][32]"."""
    sides: list[str] = []
    for inside in re.findall(r"\[([^\[\]]*)\]", brackets):
        separator = "x" if _BY.match(inside.strip()) and "," not in inside else ","
        sides += re.split("[xX]", inside) if separator == "x" and inside[:1].isdigit() else inside.split(separator)
    sides = [each.strip() for each in sides]
    if not all(sides):
        raise InvalidInput(f"{text[:80]!r}: a buffer needs its number of elements, such as f32[1024] or f32[64,32]")
    return tuple(sides)


def _parts(text: str, whole: str) -> list[str]:
    """The text between commas that stand in no bracket."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "({[") - (letter in ")}]")
        if depth < 0 or depth > 32:
            raise InvalidInput(f"{whole[:80]!r}: the brackets do not match")
        if letter == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    if depth:
        raise InvalidInput(f"{whole[:80]!r}: the brackets do not match")
    return [*parts, text[begin:]]


def opencl_type(name: str, wanted: str = "") -> str:
    """The OpenCL C name of a type as users write it. int8, int16 and float16 are NumPy's scalars unless `wanted`, the type of
    the parameter's elements, is that vector; "" for a name that is no built-in type."""
    if name == wanted or (_VECTOR.match(name) and name not in AMBIGUOUS):
        return name
    return TYPE_NAMES.get(name, "")
