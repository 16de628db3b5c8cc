"""Measure which kernel is fastest for each product of some sets, and keep the table for the library."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .quantities import count, seconds

if TYPE_CHECKING:
    from ..measurement.tuning import Outcome

EXAMPLES = """\
  tilewright tune --device gpu --sets batched
  tilewright tune --device gpu --dtype float16 --time-budget 600"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .shared_arguments import add_device, add_library_type

    parser.add_argument(
        "--sets", default="llm-decode,batched", metavar="SET,...", help="{values} (default: %(default)s)"
    )
    add_library_type(parser)
    add_device(parser)
    parser.add_argument(
        "--seconds", type=seconds, default=3.0, help="measuring time for one problem, in s (default: %(default)s)"
    )
    parser.add_argument(
        "--candidates", type=count, default=12, help="number of kernels measured for one problem (default: %(default)s)"
    )
    parser.add_argument(
        "--time-budget", type=seconds, default=float("inf"), metavar="SECONDS",
        help="stop starting problems after SECONDS in total; rerun to resume (default: unlimited)",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the table there (default: in the cache folder of the user)"
    )


def execute(options: argparse.Namespace) -> int:
    from ..api.planning import tune
    from .outputs import check_target
    from .printing import say

    if options.output is not None:
        check_target("--output", options.output)
    tuned = tune(
        options.sets, options.dtype, device=options.device, precision=options.precision, seconds=options.seconds,
        candidates=options.candidates, time_budget=options.time_budget, output=options.output, watch=_print_outcome,
        keep=_print_state,
    )  # fmt: skip
    say(str(tuned))
    return 0


def _print_outcome(outcome: Outcome) -> None:
    """Print one problem's line."""
    from .printing import say

    for complaint in outcome.complaints:
        say(f"  {complaint}")
    won = outcome.entry
    result = (
        f"{won.untuned_seconds / won.seconds:.2f}x  {won.kernel} ({won.config})" if won else "no candidate is right"
    )
    say(f"{outcome.problem}: {result}")


def _print_state(path: Path) -> None:
    """Say what an interrupted tuning leaves."""
    state = f"the table so far is in {path}; rerun to resume" if path.is_file() else "nothing was measured yet"
    print(f"ended early: {state}", file=sys.stderr)
