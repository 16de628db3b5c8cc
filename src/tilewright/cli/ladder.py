"""Verify and measure every rung of one ladder, or of all."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.kernel import Ladder
    from ..core.records import Record
    from ..runtime.device import Device

EXAMPLES = """\
  tilewright ladder cpu
  tilewright ladder tiles --size 256 --rung tiles/2
  tilewright ladder rows --why
  tilewright ladder transpose --device gpu --json record.json --plot rates.svg"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .shared_arguments import add_measuring, ladder_sides

    parser.add_argument("name", nargs="?", metavar="LADDER", help="{values} (default: all of them)")
    parser.add_argument(
        "--rung", action="append", metavar="RUNG", help="only this rung; may be repeated (default: all)"
    )
    parser.add_argument(
        "--sizes", metavar="MIN:MAX", help="measure MIN, 2 MIN, 4 MIN ... up to MAX (default: one size)"
    )
    parser.add_argument("--flush-cache", action="store_true", help="empty the caches before each run (default: warm)")
    parser.add_argument(
        "--why", action="store_true",
        help="say for each rung what it changes, what `explain` counts, the roofline's bound and what was measured "
        "(default: the table alone)",
    )  # fmt: skip
    parser.add_argument(
        "--published",
        action="store_true",
        help="measure the sources' kernels as they were published, too, and show their figures beside ours (default: not)",
    )
    add_measuring(parser, 8.0, ladder_sides())


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if a rung failed."""
    from ..kernels import LADDERS, find_ladder
    from ..runtime.cuda.counterparts import open_backends
    from .outputs import check_outputs
    from .printing import say, tell_blas_settings
    from .sizes import sizes_of

    names = [options.name] if options.name is not None else list(LADDERS)
    ladders = [find_ladder(name) for name in names]
    sizes = sizes_of(options)
    check_outputs(options, [""] if options.name else names)
    device, *_ = open_backends(options.backend, options.device)
    check_all(ladders, device, sizes, options)
    if not options.no_baselines:
        tell_blas_settings(device.info.kind)
    failed = False
    for each in ladders if options.name else in_order(ladders, device):
        if options.name is None and (line := not_for(each, device, sizes)):
            say(line)
            continue
        record = measure(each, device, sizes, options)
        failed = failed or any(row.failed for row in record.rows)
    return int(failed)


def check_all(
    ladders: Sequence[Ladder], device: Device, sizes: Sequence[Sequence[int]], options: argparse.Namespace
) -> None:
    """Refuse what any of the ladders refuses, before the first one is measured."""
    from ..errors import InvalidInput
    from ..measurement.ladders import check_ladder

    for ladder in ladders:
        try:
            check_ladder(
                ladder, device, sizes, options.dtype, options.rung or (), not options.no_baselines, options.published
            )
        except InvalidInput as refusal:
            if len(ladders) == 1:
                raise
            raise InvalidInput(
                f"the ladder {ladder.name}: {refusal}; nothing was measured, so name one ladder"
            ) from None


def in_order(ladders: Sequence[Ladder], device: Device) -> list[Ladder]:
    """The ladders, those first that climb on this kind of device."""
    return sorted(ladders, key=lambda ladder: device.info.kind == "cpu" and ladder.name != "cpu")


def not_for(ladder: Ladder, device: Device, sizes: Sequence[Sequence[int]]) -> str:
    """One line for a ladder of which the device lacks all rungs, or all but one; "" if more can run."""
    from ..errors import MissingFeature
    from ..measurement.ladders import default_size, refusals

    size = sizes[0] if sizes else (default_size(ladder, device.info.kind),)
    missing = [each for each in refusals(ladder, device, size).values() if isinstance(each, MissingFeature)]
    if len(missing) < max(2, len(ladder.kernels) - 1):
        return ""
    reason = str(missing[0]).split(";")[0]
    return (
        f"{ladder.title} ({ladder.name}): {len(missing)} of {len(ladder.kernels)} rungs are not here: {reason}. "
        f"`tilewright ladder {ladder.name}` measures the others."
    )


def measure(chosen: Ladder, device: Device, sizes: Sequence[Sequence[int]], options: argparse.Namespace) -> Record:
    """Measure one ladder, fill its table, and write its files as soon as it ends."""
    from ..api.measurements import ladder
    from ..core.language import translated
    from .live_table import LiveTable, console
    from .outputs import keep_early, keep_so_far, write_outputs
    from .printing import tell_written

    name = "" if options.name else chosen.name
    with LiveTable(console, translated(chosen.title), device, options.dtype or chosen.usual_dtype, sizes) as table:

        def keep(record: Record) -> None:
            table.finish(record)
            keep_early(options, record, f"{sum(row.measured for row in record.rows)} rows of {chosen.name}", name)

        def so_far(record: Record) -> None:
            keep_so_far(options, record, name)
            table.so_far(record)

        record = ladder(
            chosen, sizes, device=device, dtype=options.dtype, rungs=options.rung or (), seconds=options.seconds,
            flush_cache=options.flush_cache, baselines=not options.no_baselines, watch=table.watch,
            backend=options.backend, announce=table.announce, keep=keep, so_far=so_far, published=options.published,
        )  # fmt: skip
        table.finish(record)
        written = write_outputs(options, record, name)
    tell_written(written)
    if options.published:
        show_published(chosen, record)
    if options.why:
        show_why(chosen, record)
    return record


def show_published(ladder: Ladder, record: Record) -> None:
    """Print the published figures beside ours."""
    from rich.text import Text

    from ..reports.published import COLUMNS, published
    from .fitting import Column, Line, drawn
    from .live_table import console

    columns = [
        Column(name, place in range(2, 8), {2: 4, 6: 3, 1: 2, 8: 1}.get(place, 0), wraps=place == 8)
        for place, name in enumerate(COLUMNS)
    ]
    for found in published(ladder, record.rows):
        for name, value in found.facts:
            console.print(Text(f"\n{name}: {value}" if name in ("source", "published") else f"{name}: {value}"))
        if found.lines:
            console.print(drawn(columns, [Line(line) for line in found.lines], console.width)[0])
        for remark in found.remarks:
            console.print(Text(remark, style="dim"))


def show_why(ladder: Ladder, record: Record) -> None:
    """Print for each rung why it is fast or slow here."""
    from rich.text import Text

    from ..measurement.why import why
    from .live_table import console
    from .phase_line import PhaseLine

    with PhaseLine(console) as phases:
        answers = why(record, ladder.with_originals, phases.announce)
    for answer in answers:
        console.print(Text(f"\n{answer}"))
