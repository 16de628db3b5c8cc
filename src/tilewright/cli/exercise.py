"""Write an exercise: a rung with its idea cut out, or a faulty kernel, with its goals as counts; or show its hints."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = """\
  tilewright exercise
  tilewright exercise tiles/2
  tilewright exercise tiles/2 --hint 1
  tilewright exercise tiles/2 --solution tiles_02.cl"""


# What is done with an exercise: one of these, or the file is written under its usual name.
WHAT = (("output", "--output", None), ("hint", "--hint", None), ("solution", "--solution", None))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "exercise",
        metavar="EXERCISE",
        nargs="?",
        help="a rung such as tiles/2, or a case such as cases/1 (default: list all)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="the file to write (default: the exercise's name, in this folder)",
    )
    parser.add_argument("--hint", type=int, metavar="N", help="print hint 1, 2 or 3 instead (default: write the file)")
    parser.add_argument(
        "--solution", type=Path, metavar="FILE", nargs="?", const="",
        help="print the difference from your FILE, or from the exercise, to the solution instead (default: write the file)",
    )  # fmt: skip


def execute(options: argparse.Namespace) -> int:
    from ..api.learning import Exercise, exercise
    from ..errors import InvalidInput
    from .outputs import check_target
    from .printing import say, tell_written
    from .unused_options import given_among

    given = given_among(options, WHAT)
    if len(given.split()) > 1:
        raise InvalidInput(f"{given}: each asks for something else; give one of them")
    found = exercise(options.exercise)
    if not isinstance(found, Exercise):
        if given:
            raise InvalidInput("name an exercise; `tilewright exercise` lists them")
        say(str(found))
    elif options.hint is not None:
        say(found.hint(options.hint))
    elif options.solution is not None:
        say(found.solution(options.solution if str(options.solution) not in ("", ".") else None).rstrip("\n"))
    else:
        if options.output is not None:
            check_target("--output", options.output)
        path = found.save(options.output)
        tell_written([path])
        say(f"tilewright grade {path}")
    return 0
