"""OpenCL C of a user's file, in the words that `kernels/prelude/cuda.h` and `cuda_own.h` make CUDA of.

CUDA has an address space for a variable, and none for what a pointer points to. The kernels here say so by two words:
`__local` of a variable, `local` of a pointer. Users write either word for both, and hide them in macros and typedefs. The same
holds of constant memory, where `of_constant` is of a pointer. C++ reads `(float4)(x, y, z, w)` as a cast of w: it becomes
`made<float4>::of(x, y, z, w)`.
"""

import re
from dataclasses import dataclass

from ..errors import Unsupported

_SPACE = r"\b(?:__)?(?:local|constant)\b"
_ANY_SPACE = re.compile(r"\b(?:__)?(?:local|constant|global|private)\b")
_VECTOR = r"u?(?:char|short|int|long)(?:2|4|8|16)|(?:float|double)(?:2|4|8|16)"
_ELEMENTS = {f"{first}{number}": letter for first in "sS" for number, letter in enumerate("xyzw")}
_OF_THREE = re.compile(r"(?:u?(?:char|short|int|long)|half|float|double)3")
_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<parameters>\([^)\n]*\))?(?P<body>(?:[^\n\\]|\\[^\n]|\\\n)*)", re.M
)
_TYPEDEF = re.compile(r"\btypedef\b(?P<type>[\w\s]*?)\b(?P<name>\w+)\s*(?:\[[^;{}]*)?;")
# Comments, strings and directives are left alone: #line has names of files, and #ifdef asks for a macro's own name.
_TOKEN = re.compile(
    r'//[^\n]*|/\*[\s\S]*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#[ \t]*(?!define)[a-z]+\b[^\n]*'
    r"|\([ \t]*(?P<type>\w+)[ \t]*\)[ \t]*(?P<list>[({])?|(?P<word>[A-Za-z_]\w*)",
    re.M,
)
_POINTER = re.compile(r"[\w\s]*\*")
_ARRAY = re.compile(r"[\w\s]*\[")
_IN_PARENTHESES = re.compile(r"(?P<before>\w*)\s*[(,][\w\s]*\Z")
_BEFORE_A_CAST = re.compile(r"(?:\A|[^\w)\]\s]|\b(?:return|case|else|do))\s*\Z")
_LIST = re.compile(r"[^;(){}]*;")


@dataclass(frozen=True)
class _Names:
    """What a file gives names to. `macros` have the words of a macro that ends in an address space and more words, without
    the address space: one text for each definition. `types` have an address space, by its word. `elements` are the numbers of
    vectors' elements that name nothing else, and their letters."""

    macros: dict[str, set[str]]
    types: dict[str, str]
    vectors: frozenset[str]
    elements: dict[str, str]
    with_parameters: frozenset[str]


def in_words_of_cuda_h(text: str) -> str:
    """The text with `__local` for variables in local memory, `local` for pointers into it, the same for constant memory, and
    the other qualifiers with underscores. Lines stay where they are.

    Unsupported if an address space would be lost."""
    names = _names(text)
    pieces, done = [], 0
    for define in _DEFINE.finditer(text):
        begin = define.start("body")
        head = define.start()
        pieces += [_translated(text[done:head], names), text[head:begin], _translated(define["body"], names)]
        done = define.end()
    return "".join((*pieces, _translated(text[done:], names)))


def _names(text: str) -> _Names:
    defines = [(each["name"], each["parameters"], _words(each["body"])) for each in _DEFINE.finditer(text)]
    macros = _macros([(name, body) for name, parameters, body in defines if not parameters])
    vectors = {name for name, parameters, body in defines if not parameters and re.fullmatch(_VECTOR, body)}
    types: dict[str, str] = {}
    for each in _TYPEDEF.finditer(text):
        words = each["type"].split()
        space = next(
            (types.get(word) or _plain(word) for word in words if word in types or re.fullmatch(_SPACE, word)), None
        )
        if space is not None:
            types[each["name"]] = space
        if words and (re.fullmatch(_VECTOR, words[-1]) or words[-1] in vectors):
            vectors.add(each["name"])
    with_parameters = {name: body for name, parameters, body in defines if parameters}
    for name, body in with_parameters.items():
        _check_macro(name, body, text)
    others = set(re.findall(r"(?<![.\w>])[sS][0-3]\b", text))
    elements = {number: letter for number, letter in _ELEMENTS.items() if number not in others}
    return _Names(macros, types, frozenset(vectors), elements, frozenset(with_parameters))


def _words(body: str) -> str:
    """What a macro stands for, without comments."""
    return re.sub(r"//.*|/\*.*?\*/|\\\n", " ", body).strip()


def _macros(defines: list[tuple[str, str]]) -> dict[str, set[str]]:
    """The macros that end in an address space and more words, such as `#define LMEM local`. A pointer's address space goes,
    whichever definition holds."""
    found: set[str] = set()
    while True:
        names = "|".join((_SPACE, *(rf"\b{name}\b" for name in found)))
        more = {name for name, body in defines if re.search(rf"(?:{names})[\w\s]*\Z", body)}
        if more == found:
            break
        found = more
    macros: dict[str, set[str]] = {name: set() for name in found}
    for name, body in defines:
        if name in found:
            rest = " ".join(word for word in body.split() if not _ANY_SPACE.fullmatch(word) and word not in found)
            macros[name].add(rest)
    return macros


def _check_macro(name: str, body: str, text: str) -> None:
    if re.search(rf"{_SPACE}[\w\s]*\Z", body) and re.search(rf"\b{name}\s*\([^()\n]*\)[\w\s]*\*", text):
        raise Unsupported(
            f"the macro {name} ends in an address space and stands before a *, which CUDA has no word for: write the address "
            "space before the type where it is used"
        )


def _plain(word: str) -> str:
    return word.lstrip("_")


def _translated(text: str, names: _Names) -> str:
    def replaced(found: re.Match[str]) -> str:
        if found["type"]:
            return _cast(found, text, names)
        return _word(found["word"], found, text, names) if found["word"] else found[0]

    return _TOKEN.sub(replaced, text)


def _cast(found: re.Match[str], text: str, names: _Names) -> str:
    """`(float4)(x, y)`, `(float4)x` or `(pair){x, y}`. `sizeof(float4)` and `if (x) {` stay."""
    kind = found["type"]
    is_cast = _BEFORE_A_CAST.search(text[max(0, found.start() - 40) : found.start()])
    if is_cast and found["list"] == "{":
        return f"{kind}{{"
    if not is_cast or not (re.fullmatch(_VECTOR, kind) or kind in names.vectors):
        return found[0].replace(kind, _word(kind, found, text, names), 1)
    return f"made<{kind}>::of(" if found["list"] else f"made<{kind}>()->*"


def _word(word: str, found: re.Match[str], text: str, names: _Names) -> str:
    if word in ("kernel", "global", "private"):
        return f"__{word}"
    if _OF_THREE.fullmatch(word):
        raise Unsupported(
            f"CUDA's {word} has other bytes than OpenCL C's, which have the room of four elements: use {word[:-1]}4, or numbers"
        )
    if word in names.elements:
        return names.elements[word]
    begin, end = found.start(), found.end("word" if found["word"] else "type")
    if re.fullmatch(_SPACE, word):
        return _space(_plain(word), begin, end, text, names)
    if word in names.types and found["word"] and not _is_in_typedef(begin, text):
        of_pointer = _is_of_pointer(begin, end, text, names)
        return word if of_pointer else f"{_of_variable(names.types[word], begin, end, text)} {word}"
    if word in names.macros and _is_of_pointer(begin, end, text, names):
        return _without_space(word, names.macros[word])
    return word


def _space(space: str, begin: int, end: int, text: str, names: _Names) -> str:
    of_pointer = _is_of_pointer(begin, end, text, names) or _is_in_typedef(begin, text)
    _check_list(space, end, text, of_pointer)
    if of_pointer:
        return "of_constant" if space == "constant" else space
    return _of_variable(space, begin, end, text)


def _without_space(macro: str, rests: set[str]) -> str:
    """What a macro says beside the address space, for what a pointer points to."""
    if len(rests) > 1:
        raise Unsupported(
            f"the macro {macro} has definitions that differ in more than an address space, and stands before a *, which CUDA has "
            "no word for: write the address space and the rest as two macros"
        )
    return " ".join(("local", *rests)).strip()


def _of_variable(space: str, begin: int, end: int, text: str) -> str:
    """The words for a variable. CUDA has constant memory in functions for static ones, and takes others for private ones."""
    known = re.search(r"\b(?:static|extern)\b[\w\s]*\Z", text[max(0, begin - 200) : begin]) or re.match(
        r"[\w\s]*\bstatic\b", text[end : end + 200]
    )
    return "static __constant" if space == "constant" and not known else f"__{space}"


def _is_of_pointer(begin: int, end: int, text: str, names: _Names) -> bool:
    """A * comes before all that names a variable or ends a declaration; or it is of a parameter, whose array is a pointer."""
    if _POINTER.match(text, end):
        return True
    if not _ARRAY.match(text, end):
        return False
    before = _IN_PARENTHESES.search(text[max(0, begin - 200) : begin])
    return before is not None and before["before"] not in names.with_parameters


def _is_in_typedef(begin: int, text: str) -> bool:
    return re.search(r"\btypedef\b[\w\s]*\Z", text[max(0, begin - 200) : begin]) is not None


def _check_list(space: str, end: int, text: str, of_pointer: bool) -> None:
    """One declaration of variables and pointers would give both what belongs to one."""
    found = _LIST.match(text, end)
    others = re.split(r",\s*", re.sub(r"\[[^\]]*\]", "", found[0]))[1:] if found else []
    if found and any(each.startswith("*") != of_pointer for each in others):
        raise Unsupported(
            f"'{space} {' '.join(found[0].split())}' declares a variable in {space} memory and a pointer into it, "
            "which CUDA has no word for: write two declarations"
        )
