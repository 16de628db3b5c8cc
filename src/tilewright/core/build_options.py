"""The options of clBuildProgram, read: macros, folders of included files, the version of the language."""

import shlex
from dataclasses import dataclass

RELAXED = ("-cl-fast-relaxed-math",)  # defines __FAST_RELAXED_MATH__, 5.8.4.3 of the OpenCL 1.2 specification
STANDARD = "-cl-std="


@dataclass(frozen=True)
class BuildOptions:
    """What a compiler's options say to a preprocessor. `macros` stand in the order of the options; `standard` is the value of
    -cl-std, or None."""

    macros: dict[str, str]
    include: tuple[str, ...]
    standard: str | None = None


def read_options(text: str) -> BuildOptions:
    """Macros and folders of an options string, such as "-D N=4 -Iinclude -cl-std=CL2.0". Other options change no access to
    memory, and are left out."""
    try:
        words = shlex.split(text)
    except ValueError:  # an unpaired quote, which compilers take as it is
        words = text.split()
    macros: dict[str, str] = {}
    include: list[str] = []
    standard = None
    rest = iter(words)
    for word in rest:
        letter = word[:2]
        if letter in ("-D", "-I", "-U"):
            given = word[2:] or next(rest, "")
            if letter == "-I":
                include.append(given)
            elif letter == "-U":
                macros.pop(given, None)
            else:
                name, equals, value = given.partition("=")
                macros[name] = value if equals else "1"
        elif word in RELAXED:
            macros["__FAST_RELAXED_MATH__"] = "1"
        elif word.startswith(STANDARD):
            standard = word.removeprefix(STANDARD)
    return BuildOptions(macros, tuple(include), standard)
