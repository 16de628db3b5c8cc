"""OpenCL C's qualifiers in a user's file, in the words that `kernels/prelude/cuda.h` makes CUDA of.

CUDA has an address space for a variable, and none for what a pointer points to. The kernels here say so by two words:
`__local` of a variable, `local` of a pointer. Users write either word for both.
"""

import re

# Strings are left alone: #line has names of files. `local` is of a pointer if a * comes before all that names a variable or
# ends a declaration; in a cast, ) does.
_WORDS = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\b(?P<plain>kernel|global|private)\b|\b(?:__)?local\b(?=(?P<of_pointer>[\w\s]*[*)])?)'
)


def in_words_of_cuda_h(text: str) -> str:
    """The text with `__local` for variables in local memory, `local` for pointers into it, and the other qualifiers with
    underscores. Lines stay where they are."""
    return _WORDS.sub(_replaced, text)


def _replaced(found: re.Match[str]) -> str:
    if found[0].startswith('"'):
        return found[0]
    if found["plain"]:
        return f"__{found['plain']}"
    return "local" if found["of_pointer"] else "__local"
