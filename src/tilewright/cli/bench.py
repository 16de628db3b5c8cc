"""Verify and measure the library against its baselines."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .quantities import seconds

if TYPE_CHECKING:
    from ..core.records import Record, Row

EXAMPLES = """\
  tilewright bench --sets squares
  tilewright bench --device gpu --dtype float16 --sustained --json record.json"""
TITLE_WIDTH = 34  # of a problem in the table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..measurement.sets import SETS
    from ..measurement.sustained import SECONDS
    from .shared_arguments import add_device, add_library_type, add_record

    parser.add_argument(
        "--sets", default="squares,skinny", metavar="SET,...", help=f"{', '.join(SETS)} (default: %(default)s)"
    )
    add_library_type(parser)
    add_device(parser)
    parser.add_argument(
        "--backend", choices=("opencl", "both"), default="opencl",
        help="both: measure the library's kernels as CUDA too (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=seconds, default=4.0, help="measuring time for one problem, in s (default: %(default)s)"
    )
    parser.add_argument(
        "--sustained", type=seconds, nargs="?", const=SECONDS, metavar="SECONDS",
        help="run each case for SECONDS without a pause, %(const)s if left out; record clock and power (default: bursts)",
    )  # fmt: skip
    add_record(parser)


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if a result is wrong."""
    from ..api.measurements import bench
    from ..core.records import RowStatus
    from ..core.types import element_type
    from ..measurement.sets import problems_of
    from ..reports.benchmark_table import COLUMNS, by_problem, summary
    from ..runtime.opencl.device import open_device
    from .live_table import console
    from .outputs import check_outputs, write_or_rescue
    from .printing import say, tell_written

    names = options.sets.split(",")
    element_type(options.dtype)
    for name in names:
        problems_of(name, options.dtype)
    check_outputs(options)
    device = open_device(options.device)

    def keep(record: Record) -> None:
        if options.json:
            write_or_rescue(options.json, record)
            say(f"ended early: wrote {len(by_problem(record))} problems to {options.json}")

    titles = (f"{COLUMNS[0]:<{TITLE_WIDTH}}", *(f"{text:>12}" for text in COLUMNS[1:]))
    waiting = ["  ".join(titles)]

    def show(rows: Sequence[Row]) -> None:
        while waiting:  # the heading comes with the first line, because the options may be refused before it
            console.print(waiting.pop(), style="bold", soft_wrap=True)
        _print_problem(rows, energies=bool(options.sustained))

    record = bench(
        names, options.dtype, device=device, seconds=options.seconds, sustained=options.sustained,
        backend=options.backend, precision=options.precision, watch=show, keep=keep,
    )  # fmt: skip
    if options.json:
        write_or_rescue(options.json, record)
    if record.telemetry:
        say(f"clock and power: {record.telemetry}")
    say(f"baseline: {by_problem(record)[0][0].lesson}")
    if record.absent:
        say(f"not measured: {'; '.join(record.absent)}")
    say(summary(by_problem(record)))
    if options.json:
        tell_written([options.json])
    return int(any(row.status is RowStatus.WRONG for row in record.rows))


def _print_problem(rows: Sequence[Row], energies: bool) -> None:
    """Print one problem's line."""
    from ..reports.benchmark_table import COLUMNS, ENERGY, cells, energy
    from .printing import say

    others = [row.label for row in rows[2:]]
    title, *texts = cells(tuple(rows))
    texts = [f"{title:<{TITLE_WIDTH}}", *(f"{text:>12}" for text in texts)]
    texts += [f"{name}: {text}" for name, text in zip(others, cells(tuple(rows), others)[len(COLUMNS) :], strict=True)]
    if energies:
        texts += [f"{name} {text}" for name, text in zip(ENERGY, energy(tuple(rows)), strict=True) if text]
    say("  ".join(texts))
