"""The options of clBuildProgram, read: macros, folders of included files, the version of the language."""

import re
import shlex
from dataclasses import dataclass

RELAXED = ("-cl-fast-relaxed-math",)  # defines __FAST_RELAXED_MATH__, 5.8.4.3 of the OpenCL 1.2 specification
VERSION = re.compile(r"-cl-std=CL(?:C)?(\d)\.(\d)$")


@dataclass(frozen=True)
class BuildOptions:
    """What a compiler's options say to a preprocessor. `macros` stand in the order of the options."""

    macros: dict[str, str]
    include: tuple[str, ...]


def read_options(text: str) -> BuildOptions:
    """Macros and folders of an options string, such as "-D N=4 -Iinclude -cl-std=CL2.0". Other options change no access to
    memory, and are left out."""
    try:
        words = shlex.split(text)
    except ValueError:  # an unpaired quote, which compilers take as it is
        words = text.split()
    macros: dict[str, str] = {}
    include: list[str] = []
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
        elif version := VERSION.match(word):
            macros["__OPENCL_C_VERSION__"] = f"{version[1]}{version[2]}0"
    return BuildOptions(macros, tuple(include))
