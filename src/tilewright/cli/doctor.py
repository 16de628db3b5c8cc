"""Say what was found, what works, what is missing, and which command repairs it."""

import argparse

EXAMPLES = "  tilewright doctor"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON (default: lines of text)")


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if something that is needed is missing."""
    from ..health import doctor
    from .printing import say

    examination = doctor()
    if options.json:
        print(examination.to_json())
    else:
        for line in examination.lines():
            say(line)
    return 0 if examination.healthy else 1
