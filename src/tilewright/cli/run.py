"""Verify and measure one kernel: a rung, or a .cl file of your own."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .quantities import numbers, seconds

if TYPE_CHECKING:
    from ..core.kernel import Kernel
    from ..core.records import Record
    from ..runtime.verify import Verdict

EXAMPLES = """\
  tilewright run tiles/2 -D BM=16 -D BN=16 -D BK=16
  tilewright run mine.cl --global M,N --local 16,16 --size 512"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..core.defaults import RUN_SIDES, TRIAL_S
    from .shared_arguments import add_kernel, add_measuring, sides

    add_kernel(parser)
    parser.add_argument(
        "--show-samples", action="store_true", help="print 10 random elements beside the host's (default: not printed)"
    )
    parser.add_argument(
        "--time-budget", type=seconds, default=TRIAL_S, metavar="SECONDS",
        help="limit of the trial of your own kernel in a child process, in s (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--fill", type=numbers, default=(), metavar="NUMBERS",
        help="the number that each input holds, such as 2,3; constants hide a transposed index (default: random numbers)",
    )  # fmt: skip
    add_measuring(parser, 3.0, sides(RUN_SIDES))


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if the kernel failed."""
    from ..api.measurements import run
    from ..core.defaults import RUN_SIDES, cpu_or_gpu
    from ..errors import InvalidInput
    from ..runtime.cuda.counterparts import open_backends
    from .kernel_arguments import kernel_of, refuse_build_options
    from .live_table import LiveTable, console
    from .outputs import check_outputs, keep_early, write_outputs
    from .printing import tell_blas_settings, tell_written
    from .sizes import size_of

    kernel = kernel_of(options)
    asked = size_of(options)
    if asked is not None and 0 in asked:
        raise InvalidInput(f"--size {options.size}: there is nothing to compute; a size has sides of at least 1")
    refuse_build_options(options)
    check_outputs(options)
    device, *_ = open_backends(options.backend, options.device)
    if not options.no_baselines:
        tell_blas_settings(device.info.kind)
    size = asked or (RUN_SIDES[cpu_or_gpu(device.info.kind)],)
    tell_trial(kernel, options.time_budget)
    with LiveTable(console, kernel.name, device, options.dtype or kernel.usual_dtype) as table:

        def keep(record: Record) -> None:
            table.finish(record)
            keep_early(options, record, f"{sum(row.measured for row in record.rows)} rows")

        record, verdict = run(
            kernel, size, device=device, dtype=options.dtype, offset=options.offset, seconds=options.seconds,
            baselines=not options.no_baselines, watch=table.watch, backend=options.backend,
            time_budget=options.time_budget, announce=table.announce, keep=keep, fill=options.fill,
        )  # fmt: skip
        table.finish(record)
        written = write_outputs(options, record)
    print_verdict(record, kernel, verdict, options.show_samples)
    tell_written(written)
    return int(any(not row.passed for row in record.rows if row.name == kernel.name))


def tell_trial(kernel: Kernel, time_budget: float) -> None:
    """Print, in a terminal, that a kernel of the user's own is tried first, for at most `time_budget` seconds."""
    from rich.markup import escape

    from ..measurement.trial import comes_with_us
    from .live_table import console

    if console.is_terminal and not comes_with_us(kernel):
        limit = f"for at most {time_budget:g} s; Ctrl-C ends it"
        console.print(
            f"[dim]{escape(kernel.name)} is first tried in a process of its own, {limit}[/dim]", soft_wrap=True
        )


def print_verdict(record: Record, kernel: Kernel, verdict: Verdict | None, with_samples: bool) -> None:
    """Print what verification and `explain` found, and the sample elements."""
    from rich.markup import escape

    from ..core.language import shown
    from .live_table import console
    from .printing import say, say_lines

    for row in record.rows:
        if row.name == kernel.name and not row.passed:
            console.print(f"[red]{row.status}[/red]: {escape(row.reason)}", soft_wrap=True)
        if row.explained:
            texts = [f"{row.explained}{':' if row.faults else ''}", *(f"  {fault}" for fault in row.faults)]
            say("\n".join(texts))
    if verdict is not None and verdict.passed:
        say_lines(str(verdict))
    if verdict is not None and with_samples:
        for element in verdict.sample:
            say(f"  {shown(element.sentence)}")
