"""Say what was found, what works, what is missing, and which command repairs it."""

import argparse

EXAMPLES = """\
  tilewright doctor
  tilewright doctor --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .json_output import add_json

    add_json(parser, "the findings")


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if something that is needed is missing."""
    from ..health import Status, doctor
    from .outputs import check_json, write_json
    from .printing import DIM, GREEN, RED, YELLOW, coloured, say, say_hanging

    check_json(options)
    styles = {Status.OK: GREEN, Status.WARN: YELLOW, Status.FAIL: RED, Status.ABSENT: DIM}
    examination = doctor()
    for status, head, text in examination.entries():  # commands are not wrapped: they are copied
        if head.endswith("-> "):
            say(f"{coloured(head, styles[status])}{text}")
        else:
            say_hanging(head, text, styles[status])
    verdict, *commands = examination.advice()
    say(coloured(verdict, GREEN if examination.healthy else RED))
    for line in commands:
        say(line)
    write_json(options, examination.to_dict())
    return 0 if examination.healthy else 1
