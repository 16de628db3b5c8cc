"""Verify and measure every rung of one ladder, or of all."""

import argparse

EXAMPLES = """\
  tilewright ladder cpu
  tilewright ladder tiles --size 256 --rung tiles/2
  tilewright ladder transpose --device gpu --json record.json --plot rates.svg"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from ..kernels import LADDERS
    from .shared_arguments import LADDER_SIZE, add_measuring

    parser.add_argument("name", nargs="?", metavar="LADDER", help=f"{', '.join(LADDERS)} (default: all of them)")
    parser.add_argument(
        "--rung", action="append", metavar="RUNG", help="only this rung; may be repeated (default: all)"
    )
    parser.add_argument(
        "--sizes", metavar="MIN:MAX", help="measure MIN, 2 MIN, 4 MIN ... up to MAX (default: one size)"
    )
    parser.add_argument("--flush-cache", action="store_true", help="empty the caches before each run (default: warm)")
    parser.add_argument(
        "--reference-figures", action="store_true", help="print the figures of the ladder's source too (default: not)"
    )
    add_measuring(parser, 8.0, LADDER_SIZE)


def execute(options: argparse.Namespace) -> int:
    """The exit status: 1 if a rung failed."""
    from ..api.measurements import ladder as measure
    from ..kernels import LADDERS, find_ladder
    from ..reports.table import published_lines
    from ..runtime.cuda.counterparts import open_backends
    from .live_table import LiveTable, console
    from .outputs import check_outputs, write_outputs
    from .printing import say, tell_written
    from .sizes import sizes_of

    names = [options.name] if options.name is not None else list(LADDERS)
    ladders = [find_ladder(name) for name in names]
    sizes = sizes_of(options)
    check_outputs(options, [""] if options.name else names)
    device, *_ = open_backends(options.backend, options.device)
    failed = False
    for ladder in ladders:
        with LiveTable(console, ladder.title, device, options.dtype or ladder.usual_dtype) as table:
            record = measure(
                ladder, sizes, device=device, dtype=options.dtype, rungs=options.rung or (), seconds=options.seconds,
                flush_cache=options.flush_cache, baselines=not options.no_baselines, watch=table.watch,
                backend=options.backend,
            )  # fmt: skip
            table.finish(record)
            written = write_outputs(options, record, "" if options.name else ladder.name)
        if options.reference_figures:
            say("\n".join(published_lines(ladder, record.rows)))
        tell_written(written)
        failed = failed or any(row.failed for row in record.rows)
    return int(failed)
