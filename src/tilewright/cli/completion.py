"""Print a script that lets a shell complete commands, options and names by the Tab key.

argcomplete answers the shell from the parser itself, so that new rungs and options need no new script.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .command_parser import CommandParser, ProgramParser

EXAMPLES = """\
  tilewright completion bash
  tilewright completion zsh
  tilewright completion fish"""
ASKED = "_ARGCOMPLETE"  # the variable by which the shell's script asks for completions
SHELLS = {
    "bash": 'eval "$(tilewright completion bash)" in ~/.bashrc',
    "zsh": 'autoload -U compinit; compinit; eval "$(tilewright completion zsh)" in ~/.zshrc',
    "fish": "tilewright completion fish | source in ~/.config/fish/config.fish",
}
Completer = Callable[..., "list[str] | dict[str, str]"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SHELLS), help="to keep it: " + "; ".join(SHELLS.values()))


def execute(options: argparse.Namespace) -> int:
    from argcomplete import shellcode

    print(shellcode(["tilewright"], shell=options.shell), end="")
    return 0


def answer_shell(parser: ProgramParser) -> None:
    """If the shell asks for completions, write them and end the process."""
    if ASKED not in os.environ:
        return
    from argcomplete import autocomplete

    commands: Mapping[str, CommandParser] = parser.commands.choices
    for word in os.environ.get("COMP_LINE", "").split():
        if word in commands:
            commands[word].load()
    autocomplete(parser, always_complete_options="long")


def complete_arguments(parser: argparse.ArgumentParser) -> None:
    """Give the arguments of a command the completers of their metavars."""
    for action in parser._actions:
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        if metavar in COMPLETERS:
            action.completer = COMPLETERS[metavar]  # type: ignore[attr-defined]
        elif action.dest == "dtype":
            action.completer = dtypes  # type: ignore[attr-defined]


def ladders(**_: Any) -> dict[str, str]:
    """Ladders with their titles."""
    from ..kernels import LADDERS

    return {name: ladder.title for name, ladder in LADDERS.items()}


def rungs(**_: Any) -> dict[str, str]:
    """Rungs with what they teach."""
    from ..kernels import LADDERS

    return {kernel.name: kernel.lesson for ladder in LADDERS.values() for kernel in ladder.kernels}


def kernels(prefix: str, **_: Any) -> dict[str, str]:
    """Rungs and .cl files."""
    from argcomplete.completers import FilesCompleter

    return {**rungs(), **dict.fromkeys(FilesCompleter(("cl",))(prefix), "a file")}


def devices(**_: Any) -> dict[str, str]:
    """The values of `--device` that mean a device of this machine. The drivers are asked for them."""
    from ..runtime.opencl.device import list_devices

    found = list_devices()
    return {
        **{info.kind: f"the first {info.kind}" for info in found},
        **{str(i): each.label for i, each in enumerate(found)},
    }


def dtypes(**_: Any) -> list[str]:
    """Element types."""
    from ..core.types import ELEMENT_TYPES

    return list(ELEMENT_TYPES)


def device_models(**_: Any) -> dict[str, str]:
    """Device models and their other names."""
    from ..analysis.explain.models import MODELS

    return {name: model.title for model in MODELS for name in (model.name, *model.aliases)}


def benchmark_sets(prefix: str, **_: Any) -> list[str]:
    """Benchmark sets, of which several are joined by commas."""
    from ..bench.sets import SETS

    before = prefix.rpartition(",")[0]
    return [f"{before},{name}" if before else name for name in SETS]


def architectures(**_: Any) -> list[str]:
    """Architectures that `inspect` compiles for."""
    from ..analysis.inspect import ARCHITECTURES

    return ["device", *ARCHITECTURES]


COMPLETERS: dict[str, Completer] = {
    "LADDER": ladders,
    "RUNG": rungs,
    "KERNEL": kernels,
    "DEVICE": devices,
    "MODEL": device_models,
    "SET,...": benchmark_sets,
    "ARCH": architectures,
}
