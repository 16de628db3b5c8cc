"""Check kernels in CI: faults, budgets for conflicts and sectors, and a baseline that nothing may be worse than."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = """\
  tilewright check mine.cl
  tilewright check tilewright.toml --baseline kernels.json
  tilewright check kernels/*.cl --sarif found.sarif --github"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .json_output import add_json

    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="kernels (.cl) and files that name kernels and budgets (.toml)",
    )
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE",
        help="fail if a measure is worse than in FILE; write FILE if it is not there (default: none)",
    )  # fmt: skip
    parser.add_argument(
        "--update-baseline", action="store_true", help="write the file of --baseline anew (default: compare with it)"
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--sarif", type=Path, metavar="FILE", help="write the problems as SARIF 2.1.0 (default: not written)"
    )
    output.add_argument(
        "--github", action="store_true", help="print annotations for GitHub's workflows (default: text alone)"
    )
    add_json(output, "measures and problems")


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if there is a problem."""
    from ..api.checking import check
    from ..errors import InvalidInput, RecordError
    from .outputs import check_json, check_sarif, check_target, write_json
    from .printing import say, tell_written

    check_json(options)
    check_sarif(options)
    if options.baseline is not None:
        check_target("--baseline", options.baseline)
    if options.update_baseline and options.baseline is None:
        raise InvalidInput("--update-baseline needs --baseline FILE")
    try:
        found = check(options.files, baseline=options.baseline, update_baseline=options.update_baseline)
    except RecordError as error:  # status 1 would say that kernels have problems
        raise InvalidInput(str(error)) from error
    say("\n".join([*(found.annotations() if options.github else ()), str(found)]))
    if options.sarif is not None:
        found.save_sarif(options.sarif)
        tell_written([options.sarif])
    write_json(options, found.to_dict())
    return int(bool(found.problems))
