"""What a check explains: kernels' files with a head, and TOML files that name kernels, their arguments and budgets."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.argument_words import FILES
from ...core.budgets import Budget, budgets_of_table, head_budgets
from ...core.heads import read_heads
from ...core.kernel_options import with_head
from ...core.source import file_text
from ...errors import InvalidInput, UnknownName
from ..explain import Explanation
from ..explanations import explain

SHARED = "tilewright.toml"  # the file of a folder; one beside a kernel has the kernel's name
# The keys of [[kernel]], and the arguments of `explain` that they are.
EXPLAIN_KEYS = {
    "entry": "entry", "problem": "problem", "size": "size", "dtype": "dtype", "global": "global_size", "local": "local_size",
    "define": "settings", "include": "include", "model": "model", "arguments": "arguments", "bind": "bind", "init": "init",
    "ragged": "ragged", "global_offset": "global_offset",
}  # fmt: skip
KEYS = ("file", *EXPLAIN_KEYS, "budget")
TYPES = {
    "file": str, "entry": str, "problem": str, "dtype": str, "model": str, "define": dict, "arguments": dict, "bind": dict,
    "init": dict, "budget": dict, "include": list, "ragged": bool,
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """One kernel to check, with the `options` of `explain`."""

    file: str
    entry: str
    budgets: tuple[Budget, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for targets that are the same check, such as of a file that is named twice."""
        return self.file, self.entry, self.budgets, repr(sorted(self.options.items()))

    @property
    def variant(self) -> str:
        """What tells it from others of the same kernel and sizes, in the words of its table."""
        own = [(key, self.options[name]) for key, name in EXPLAIN_KEYS.items() if name in self.options]
        told = [f"{key} = {value!r}" for key, value in own if key not in ("entry", "global", "local")]
        return f"with {', '.join(told)}" if told else ""

    def explained(self) -> Explanation:
        """Raises a TilewrightError if the kernel cannot be explained."""
        return explain(Path(self.file), **self.options)


def targets_of(path: Path) -> list[Target]:
    """The kernels that a file names. A kernel's file is taken with its head, unless a TOML file beside it names it. If kernels of
    a file have budgets or options right above them, those are checked, each with its own.

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
    if named:
        return named
    own = () if with_head(path).entry else tuple(read_heads(path).own)
    if not own:
        return [Target(str(path), "", head_budgets(path))]
    return [Target(str(path), entry, head_budgets(path, entry), {"entry": entry}) for entry in own]


def toml_targets(path: Path) -> list[Target]:
    """The kernels of a TOML file: its `[[kernel]]` tables."""
    try:
        table = tomllib.loads(file_text(path))
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
    for key, kind in TYPES.items():
        if key in entry and not isinstance(entry[key], kind):
            raise InvalidInput(f"{path}: {key} = {entry[key]!r} is no {kind.__name__}")
    name = entry.get("file", f"{path.stem}.cl")
    if not name.endswith(".cl"):
        raise InvalidInput(f"{path}: file = {name!r}: name a .cl file, from the folder of {path.name}")
    file = path.parent / name
    budgets = budgets_of_table(entry.get("budget", {}), str(path), line_of(path, str(entry.get("entry", file.name))))
    if file.is_file():  # a table's budgets win over those of the kernel's head
        budgets = tuple({each.name: each for each in (*head_budgets(file, entry.get("entry")), *budgets)}.values())
    return Target(str(file), str(entry.get("entry", "")), budgets, _options(path.parent, entry))


def _options(folder: Path, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `explain` that a table gives. Its files and folders are named from the folder of the TOML file."""
    found = {EXPLAIN_KEYS[key]: value for key, value in entry.items() if key in EXPLAIN_KEYS}
    for key in ("arguments", "init"):
        if key in found:
            found[key] = {name: _placed(folder, value) for name, value in found[key].items()}
    if "include" in found:
        found["include"] = [folder / str(each) for each in found["include"]]
    return found


def _placed(folder: Path, value: Any) -> Any:
    """A word of a file, "x.npy" or "x.bin:f32", with its folder; every other value as it is."""
    if isinstance(value, str) and value.partition(":")[0].strip().lower().endswith(FILES):
        return str(folder / value.strip())
    return value


def line_of(path: Path, word: str) -> int:
    """The first line of a TOML file that has a word: where problems of its budgets are shown."""
    lines = file_text(path).splitlines()
    return next((number for number, line in enumerate(lines, 1) if word in line), 1)
