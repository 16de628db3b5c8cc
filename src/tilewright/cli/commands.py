"""The commands of the command line: each takes the parsed options, makes one call, prints, and returns the exit status.

What a command needs is imported when it runs, so that none waits for what another needs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..bench.tuning import Outcome
    from ..core.kernel import Kernel
    from ..core.records import Record, Row
    from ..runtime.verify import Verdict

TITLE_WIDTH = 34  # of a problem in the tables of `bench`


def say(text: str) -> None:
    """Print text as it is."""
    print(text)


def ladder_command(options: argparse.Namespace) -> int:
    """`tilewright ladder`: every rung of one ladder or of all, verified and measured."""
    from ..bench.ladders import run_ladder
    from ..kernels import LADDERS, find_ladder
    from ..report.table import published_lines
    from ..runtime.cuda.counterparts import open_backends
    from .arguments import sizes_of
    from .live import LiveTable, console
    from .outputs import check_outputs, write_outputs

    names = [options.name] if options.name is not None else list(LADDERS)
    ladders = [find_ladder(name) for name in names]
    sizes = sizes_of(options)
    check_outputs(options, [""] if options.name else names)
    device, *_ = open_backends(options.backend, options.device)
    failed = False
    for ladder in ladders:
        with LiveTable(console, ladder.title, device, options.dtype or ladder.usual_dtype) as table:
            record = run_ladder(
                ladder, device, sizes, options.dtype, options.rung or (), options.seconds, options.flush_cache,
                not options.no_baselines, table.watch, options.backend,
            )  # fmt: skip
            table.finish(record)
            written = write_outputs(options, record, "" if options.name else ladder.name)
        if options.reference_figures:
            say("\n".join(published_lines(ladder, record.rows)))
        tell_written(written)
        failed = failed or any(row.failed for row in record.rows)
    return int(failed)


def run_command(options: argparse.Namespace) -> int:
    """`tilewright run`: one kernel, a rung or the user's own file, verified and measured."""
    from ..bench.ladders import run_kernel
    from ..runtime.cuda.counterparts import open_backends
    from .arguments import kernel_of, refuse_build_options, size_of
    from .live import LiveTable, console
    from .outputs import check_outputs, write_outputs

    kernel = kernel_of(options)
    asked = size_of(options)
    refuse_build_options(options)
    check_outputs(options)
    device, *_ = open_backends(options.backend, options.device)
    size = asked or (1024 if device.info.kind == "gpu" else 512,)
    with LiveTable(console, kernel.name, device, options.dtype or kernel.usual_dtype) as table:
        record, verdict = run_kernel(
            kernel, size, device, options.dtype, options.offset, options.seconds, not options.no_baselines, table.watch,
            options.backend, options.time_budget,
        )  # fmt: skip
        table.finish(record)
        written = write_outputs(options, record)
    print_verdict(record, kernel, verdict, options.show_samples)
    tell_written(written)
    return int(any(not row.passed for row in record.rows if row.name == kernel.name))


def tell_written(paths: Sequence[Path]) -> None:
    for path in paths:
        say(f"wrote {path}")


def print_verdict(record: Record, kernel: Kernel, verdict: Verdict | None, sample: bool) -> None:
    from rich.markup import escape

    from .live import console

    for row in record.rows:
        if row.name == kernel.name and not row.passed:
            console.print(f"[red]{row.status}[/red]: {escape(row.reason)}", soft_wrap=True)
        if row.explained:
            texts = [f"{row.explained}{':' if row.faults else ''}", *(f"  {fault}" for fault in row.faults)]
            say("\n".join(texts))
    if verdict is not None and verdict.passed:
        say(str(verdict))
    if verdict is not None and sample:
        for element in verdict.sample:
            say(f"  {element}")


def bench_command(options: argparse.Namespace) -> int:
    """`tilewright bench`: the library against NumPy, verified and interleaved."""
    from ..bench.library import run_benchmark
    from ..bench.sets import problems_of
    from ..core.records import RowStatus
    from ..core.types import element_type
    from ..report.versus import COLUMNS, by_problem, summary
    from ..runtime.opencl.device import open_device
    from .live import console
    from .outputs import check_outputs, write_or_rescue

    names = options.sets.split(",")
    element_type(options.dtype)
    for name in names:
        problems_of(name, options.dtype)
    check_outputs(options)
    device = open_device(options.device)

    def keep(record: Record) -> None:
        if options.json:
            write_or_rescue(options.json, record)
            words = f"ended early: wrote {len(by_problem(record))} problems to {options.json}"
            say(words)

    titles = (f"{COLUMNS[0]:<{TITLE_WIDTH}}", *(f"{text:>12}" for text in COLUMNS[1:]))
    waiting = ["  ".join(titles)]

    def show(rows: Sequence[Row]) -> None:
        while waiting:  # the heading comes with the first line, after all that may refuse the options
            console.print(waiting.pop(), style="bold", soft_wrap=True)
        _show_comparison(rows, energies=bool(options.sustained))

    record = run_benchmark(
        names, options.dtype, device, seconds=options.seconds, sustained=options.sustained, backend=options.backend,
        precision=options.precision, watch=show, keep=keep,
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


def _show_comparison(rows: Sequence[Row], energies: bool) -> None:
    """One problem's line of `tilewright bench`."""
    from ..report.versus import COLUMNS, ENERGY, cells, energy

    beside = [row.label for row in rows[2:]]
    title, *texts = cells(tuple(rows))
    texts = [f"{title:<{TITLE_WIDTH}}", *(f"{text:>12}" for text in texts)]
    others = zip(beside, cells(tuple(rows), beside)[len(COLUMNS) :], strict=True)
    texts += [f"{name}: {text}" for name, text in others]
    if energies:
        texts += [f"{name} {text}" for name, text in zip(ENERGY, energy(tuple(rows)), strict=True) if text]
    say("  ".join(texts))


def tune_command(options: argparse.Namespace) -> int:
    """`tilewright tune`: measure a device's fastest kernel for each product of some sets, for the library to use."""
    from ..bench.sets import problems_of
    from ..bench.tuning import Effort, tune
    from ..core.problem import Gemm
    from ..dispatch.tuned import file_name, own_folder
    from ..errors import InvalidInput
    from ..runtime.opencl.device import open_device
    from .outputs import check_target

    problems = [each for name in options.sets.split(",") for each in problems_of(name, options.dtype)]
    if options.output is not None:
        check_target("--output", options.output)
    info = open_device(options.device).info
    if info.kind == "cpu":
        raise InvalidInput(
            f"{info.label}: tables are for GPUs; on CPUs the library computes its blocking from the caches"
        )
    path = options.output or own_folder() / file_name(info.name)

    def show(outcome: Outcome) -> None:
        for complaint in outcome.complaints:
            say(f"  {complaint}")
        won = outcome.entry
        result = f"{won.untuned_seconds / won.seconds:.2f}x  {won.kernel} ({won.config})" if won else "nothing is right"
        say(f"{outcome.problem}: {result}")

    products = [replace(each, precision=options.precision) for each in problems if isinstance(each, Gemm)]
    effort = Effort(options.seconds, options.candidates, options.time_budget)
    table = tune(products, info, options.device, path, effort, show)
    settled = f"{len(table.settled)} problems where the cost model's choice is as good"
    say(f"{path}: {len(table.entries)} entries, {settled}")
    return 0


def plan_command(options: argparse.Namespace) -> int:
    """`tilewright plan`: what the library would run for a product, and why other candidates lost."""
    from ..dispatch.choice import plan_product
    from ..runtime.opencl.device import open_device
    from ..runtime.opencl.vpdpbusd import equipped
    from .arguments import product_of

    problem = product_of(options)
    print(plan_product(problem, equipped(open_device(options.device).info, options.dtype)))
    return 0


def accuracy_command(options: argparse.Namespace) -> int:
    """`tilewright accuracy`: the numerical errors of each precision, on well- and ill-conditioned data."""
    from ..bench.accuracy import ErrorRow, measure_accuracy
    from ..errors import InvalidInput
    from .arguments import parse_size
    from .outputs import check_outputs, write_or_rescue

    size = parse_size(options.size)
    if len(size) != 3:
        raise InvalidInput(f"{options.size}: write MxNxK")

    def show(row: ErrorRow) -> None:
        words = f"{row.data:16} {row.mode:10} {row.by:10} {row.largest:10.3g} units of |A||B| {row.normwise:10.2e} of the norm"
        say(words)

    check_outputs(options)
    record = measure_accuracy(size, options.device, show, options.dtype)
    if options.json:
        write_or_rescue(options.json, record)
    return 0


def list_command(options: argparse.Namespace) -> int:
    """`tilewright list`: the ladders and what each rung changes."""
    from ..kernels import LADDERS, find_ladder

    for ladder in [find_ladder(options.name)] if options.name is not None else LADDERS.values():
        say(f"{ladder.name}  {ladder.title}")
        for kernel in ladder.kernels:
            say(f"  {kernel.name:32} {kernel.lesson}")
    return 0


def show_command(options: argparse.Namespace) -> int:
    """`tilewright show`: a rung's source, or what it changes against the rung before."""
    from ..errors import InvalidInput
    from ..kernels import find_kernel, rung_before

    kernel = find_kernel(options.rung)
    if not options.diff:
        print(kernel.text, end="")
        return 0
    previous = rung_before(kernel)
    if previous is None:
        raise InvalidInput(f"{kernel.name} has no rung before it")
    names = previous.source.name, kernel.source.name
    print("\n".join(unified_diff(previous.text.splitlines(), kernel.text.splitlines(), *names, lineterm="")))
    return 0


def devices_command(options: argparse.Namespace) -> int:
    """`tilewright devices`: every device with the limits that explain results."""
    from rich.markup import escape

    from ..core.records import to_json
    from ..errors import NoDevice
    from .devices import describe_devices
    from .live import console

    reports = describe_devices(options.peaks)
    if options.json:
        print(to_json([asdict(each) for each in reports]), end="")
    for report in [] if options.json else reports:
        console.print(f"[bold]{escape(report.title)}[/bold]", highlight=False)
        for name, value in report.lines:
            say(f"  {name:28} {value}")
    if not reports:
        raise NoDevice(
            "there is no OpenCL device; `tilewright doctor` says what is missing, and the command that mends it"
        )
    return 0


def doctor_command(options: argparse.Namespace) -> int:
    """`tilewright doctor`: what was found, what works, what is missing and the command that mends it."""
    from ..doctor import examine

    examination = examine()
    if options.json:
        print(examination.to_json())
    else:
        for line in examination.lines():
            say(line)
    return 0 if examination.healthy else 1


def compare_command(options: argparse.Namespace) -> int:
    """`tilewright compare`: ratios between two records, with their spread."""
    from ..core.records import load_record
    from ..report.compare import compare, heading

    first, second = load_record(options.first), load_record(options.second)
    lines = compare(first, second)
    say(heading(first, second))
    for line in lines:
        say(str(line))
    return 0


def report_command(options: argparse.Namespace) -> int:
    """`tilewright report`: rewrite what Markdown pages hold between marks: tables, inspections, rooflines."""
    from ..report.pages import refresh

    for page in options.pages:
        count = refresh(page)
        say(f"{page}: {count} table{'' if count == 1 else 's'}, inspections and rooflines among them")
    return 0


def plot_command(options: argparse.Namespace) -> int:
    """`tilewright plot`: draw a record."""
    from ..core.records import load_record
    from ..report.plot import PICTURES, plot
    from .outputs import check_target

    check_target("the picture", options.picture, PICTURES)
    plot(load_record(options.record), options.picture)
    tell_written([options.picture])
    return 0
