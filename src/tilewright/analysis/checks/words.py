"""Arguments of a kernel as a TOML file writes them: numbers, "f32[1024]", "local:4096", "@x.npy"."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ..explain import LocalMemory
from ..explain.clc import parse_program
from ..explain.clc.types import Pointer, element_of
from ..explain.explain import choose_entry

SEED = 1
_ARRAY = re.compile(r"(?:[a-z]+\d+)?\[(\d+(?:x\d+)*)\]$")


def arguments_of_words(
    text: str, filename: str, macros: Mapping[str, Any], include: Sequence[Path], entry: str | None,
    words: Mapping[str, Any], folder: Path,
) -> dict[str, Any]:  # fmt: skip
    """A value for each argument that is named. Arrays are random, of the parameter's own type.

    InvalidInput for a word that is none of these, or that does not suit the parameter.
    """
    program = parse_program(text, filename, macros, include)
    parameters = {each.name: each.type for each in program.functions[choose_entry(program, entry, filename)].parameters}
    generator = np.random.default_rng(SEED)
    return {name: _value(name, word, parameters.get(name), folder, generator) for name, word in words.items()}


def _value(name: str, word: Any, kind: Any, folder: Path, generator: np.random.Generator) -> Any:
    if not isinstance(word, str):
        return word
    if word.startswith("local:") and word[6:].isdecimal():
        return LocalMemory(int(word[6:]))
    if word.startswith("@"):
        try:
            return np.load(folder / word[1:], allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InvalidInput(f"argument {name!r}: {folder / word[1:]} cannot be read: {error}") from error
    shape = _ARRAY.match(word)
    element = element_of(kind.target) if isinstance(kind, Pointer) else None
    if shape is None or element is None:
        raise InvalidInput(f"argument {name!r} = {word!r}: write a number, [1024], f32[1024], local:4096 or @file.npy")
    sizes = tuple(int(each) for each in shape[1].split("x"))
    if element.dtype.kind == "f":
        return generator.random(sizes).astype(element.dtype)
    return generator.integers(0, 100, sizes).astype(element.dtype)
