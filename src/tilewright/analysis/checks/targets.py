"""What a check explains: kernels' files with a head, and TOML files that name kernels, their arguments and budgets."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...core.budgets import Budget, budgets_of_table, head_budgets
from ...core.custom import custom_kernel
from ...core.source import decoded, read_source
from ...errors import InvalidInput, UnknownName
from ..explain import NVIDIA, Explanation, explain_source, find_model
from ..explanations import explain
from .words import arguments_of_words

SHARED = "tilewright.toml"  # the file of a folder; one beside a kernel has the kernel's name
KEYS = (
    "file",
    "entry",
    "problem",
    "size",
    "dtype",
    "global",
    "local",
    "define",
    "include",
    "model",
    "arguments",
    "budget",
)


@dataclass(frozen=True)
class Target:
    """One kernel to check. `explained` explains it, or raises a TilewrightError."""

    file: str
    entry: str
    budgets: tuple[Budget, ...]
    explained: Callable[[], Explanation]


def targets_of(path: Path) -> list[Target]:
    """The kernels that a file names. A kernel's file is taken with its head, unless a TOML file beside it names it.

    InvalidInput or UnknownName for a file that is not there, or that is not understood.
    """
    if not path.is_file():
        raise InvalidInput(f"{path} is {'a folder' if path.is_dir() else 'not there'}: give .cl and .toml files")
    if path.suffix == ".toml":
        return toml_targets(path)
    if path.suffix != ".cl":
        raise InvalidInput(f"{path}: a check takes .cl and .toml files")
    beside = [each for name in (f"{path.stem}.toml", SHARED) if (each := path.with_name(name)).is_file()]
    named = [each for toml in beside for each in toml_targets(toml) if Path(each.file).resolve() == path.resolve()]
    return named or [Target(str(path), "", head_budgets(path), lambda: explain(path))]


def toml_targets(path: Path) -> list[Target]:
    """The kernels of a TOML file: its `[[kernel]]` tables."""
    try:
        table = tomllib.loads(decoded(path.read_bytes()))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: {error}") from error
    entries = table.get("kernel")
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise InvalidInput(f"{path}: name each kernel in a table [[kernel]]")
    return [_target(path, entry) for entry in entries]


def _target(path: Path, entry: Mapping[str, Any]) -> Target:
    for key in entry:
        if key not in KEYS:
            raise UnknownName(f"key of [[kernel]] in {path}", key, KEYS)
    for key, kind in (("define", dict), ("arguments", dict), ("budget", dict), ("include", list), ("entry", str)):
        if key in entry and not isinstance(entry[key], kind):
            raise InvalidInput(f"{path}: {key} = {entry[key]!r} is no {kind.__name__}")
    file = path.with_name(str(entry.get("file", f"{path.stem}.cl")))
    budgets = budgets_of_table(entry.get("budget", {}), str(path), line_of(path, str(entry.get("entry", file.name))))
    ready = partial(_with_arguments if "arguments" in entry else _of_a_problem, path, file, entry)
    return Target(str(file), str(entry.get("entry", "")), budgets, ready)


def line_of(path: Path, word: str) -> int:
    """The first line of a TOML file that has a word: where problems of its budgets are shown."""
    lines = decoded(path.read_bytes()).splitlines()
    return next((number for number, line in enumerate(lines, 1) if word in line), 1)


def _of_a_problem(path: Path, file: Path, entry: Mapping[str, Any]) -> Explanation:
    """A kernel that computes a gemm, a transpose or a copy: its arguments are known by name."""
    kernel = custom_kernel(
        file, _needed(path, entry, "global"), _needed(path, entry, "local"), entry.get("define"),
        str(entry.get("problem", "gemm")),
    )  # fmt: skip
    return explain(kernel, entry.get("size"), dtype=entry.get("dtype"), model=entry.get("model"))


def _with_arguments(path: Path, file: Path, entry: Mapping[str, Any]) -> Explanation:
    """Any kernel, with the arguments that the table gives."""
    define, include = entry.get("define", {}), [path.parent / each for each in entry.get("include", [])]
    text = read_source(file)
    return explain_source(
        text,
        filename=file.name,
        macros=define,
        entry=entry.get("entry"),
        global_size=_whole(path, entry, "global"),
        local_size=_whole(path, entry, "local"),
        arguments=arguments_of_words(
            text, file.name, define, include, entry.get("entry"), entry["arguments"], path.parent
        ),
        include=[file.parent, *include],
        model=find_model(entry["model"]) if "model" in entry else NVIDIA,
        partial=True,
    )


def _needed(path: Path, entry: Mapping[str, Any], key: str) -> Any:
    if key not in entry:
        raise InvalidInput(f"{path}: a kernel needs {key}, such as {key} = [64]")
    return entry[key]


def _whole(path: Path, entry: Mapping[str, Any], key: str) -> list[int]:
    sizes = _needed(path, entry, key)
    sizes = sizes if isinstance(sizes, list) else [sizes]
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in sizes):
        raise InvalidInput(f"{path}: {key} = {sizes!r}: whole numbers are needed beside arguments")
    return sizes
