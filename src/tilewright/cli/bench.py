"""Verify and measure the library against its baselines."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .quantities import seconds

if TYPE_CHECKING:
    from ..core.records import Record

EXAMPLES = """\
  tilewright bench --sets squares,skinny --seconds 4
  tilewright bench --device gpu --dtype float16 --sustained --json record.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..core.defaults import BENCHMARK_SETS, LIBRARY_BACKENDS, SUSTAINED_S
    from .json_output import add_json
    from .shared_arguments import add_device, add_library_type, sides

    usual = sides({kind: ",".join(names) for kind, names in BENCHMARK_SETS.items()})
    parser.add_argument("--sets", metavar="SET,...", help=f"{{values}} (default: {usual})")
    add_library_type(parser)
    add_device(parser)
    parser.add_argument(
        "--backend", choices=LIBRARY_BACKENDS, default="opencl",
        help="both: measure the library's kernels as CUDA too (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=seconds, default=2.0, help="measuring time for one problem, in s (default: %(default)s)"
    )
    parser.add_argument(
        "--sustained", type=seconds, nargs="?", const=SUSTAINED_S, metavar="SECONDS",
        help="run each case for SECONDS without a pause, %(const)s if left out; record clock and power (default: bursts)",
    )  # fmt: skip
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if a result is wrong."""
    from ..api.measurements import bench
    from ..core.records import RowStatus
    from ..core.types import element_type
    from ..measurement.library import asked
    from ..measurement.sets import default_sets, problems_of
    from ..reports.benchmark_table import by_problem
    from ..runtime.opencl.device import open_device
    from .live_benchmark import LiveBenchmark
    from .live_table import console
    from .outputs import check_json, keep_early, keep_so_far, write_json
    from .printing import tell_blas_settings

    names = options.sets.split(",") if options.sets is not None else []
    element_type(options.dtype)
    for name in names:
        problems_of(name, options.dtype)
    check_json(options)
    device = open_device(options.device)
    tell_blas_settings(device.info.kind)
    names = names or list(default_sets(device.info.kind))
    title = f"benchmark {'+'.join(names)} · {options.dtype} · {options.seconds:g} s a problem · {device.info.label}"
    problems = [asked(each, options.precision) for name in names for each in problems_of(name, options.dtype)]
    longest = max((len(f"{each.title} NN") for each in problems), default=0)  # NN stands for the layout
    with LiveBenchmark(console, title, bool(options.sustained), longest) as table:

        def keep(record: Record) -> None:
            table.finish(record)
            keep_early(options, record, f"{len(by_problem(record))} problems")

        def so_far(record: Record) -> None:
            keep_so_far(options, record)
            table.so_far(record)

        record = bench(
            names, options.dtype, device=device, seconds=options.seconds, sustained=options.sustained,
            backend=options.backend, precision=options.precision, watch=table.watch, keep=keep, announce=table.announce,
            so_far=so_far,
        )  # fmt: skip
        table.finish(record)
        write_json(options, record)
    return int(any(row.status is RowStatus.WRONG for row in record.rows))
