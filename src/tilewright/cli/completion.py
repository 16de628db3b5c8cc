"""Print a script that lets a shell complete commands, options and names by the Tab key.

argcomplete answers the shell from the parser itself, so that new rungs and options need no new script.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SHELLS), help="to keep it: " + "; ".join(SHELLS.values()))


def execute(options: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

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
    autocomplete(parser, always_complete_options=False)
