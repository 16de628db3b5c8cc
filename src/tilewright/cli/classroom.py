"""Write the workflow with which GitHub grades the exercises of a course in each pull request, on machines without a GPU."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = """\
  tilewright classroom
  tilewright classroom my-course --exercises tiles/2 tiles/3 cases/1"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", nargs="?", default=Path(),
        help="the folder of the course's repository (default: this folder)",
    )  # fmt: skip
    parser.add_argument(
        "--exercises", nargs="*", default=[], metavar="EXERCISE",
        help="exercises whose files are written into FOLDER/exercises (default: none)",
    )  # fmt: skip


def execute(options: argparse.Namespace) -> int:
    from ..api.learning import classroom
    from .printing import say, tell_written

    written = classroom(options.folder, options.exercises)
    tell_written(written)
    if not written:
        say("all files were there already; nothing was written")
    return 0
