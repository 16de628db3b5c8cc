"""The command line; see the package's docstring."""

import argparse
import sys
from pathlib import Path

from tilewright.errors import TilewrightError

from . import cuda, oclgrind
from .explained import explain_case
from .record import RECORD, facts, rows_of, save, table
from .shapes import chosen
from .sweeps import FAMILIES, cases_of, cost, sweeps_of


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.sanitize", description="The library's kernels under sanitizers."
    )
    parser.add_argument("--family", choices=FAMILIES, help="only these kernels")
    parser.add_argument("--shapes", type=int, default=6, help="of each kernel and type, at most (default 6)")
    parser.add_argument("--cost", type=float, default=10.0, help="leave out cases that take longer, in s (default 10)")
    parser.add_argument("--record", type=Path, default=RECORD, help=f"where results are kept (default {RECORD.name})")
    parser.add_argument("--cuda", action="store_true", help="under NVIDIA's compute-sanitizer, on an NVIDIA GPU")
    parser.add_argument("--seconds", type=float, default=120, help="with --cuda: for all tools together (default 120)")
    parser.add_argument("--oclgrind", action="store_true", help="under Oclgrind; --seconds are for each sweep")
    options = parser.parse_args()
    run = on_cuda if options.cuda else on_oclgrind if options.oclgrind else interpret
    try:
        return run(options)
    except TilewrightError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def interpret(options: argparse.Namespace) -> int:
    """Every chosen case under the project's interpreter; the number of kernels with faults is the exit code, 0 for none."""
    found = cases_of(sweeps_of(options.family))
    cheap = [case for case in found if cost(case) <= options.cost]
    kept = chosen(cheap, options.shapes)
    outcomes = [outcome for case in kept for outcome in explain_case(case)]
    rows = rows_of(outcomes)
    plans = [len({case.variant for case in some}) for some in (kept, found)]
    notes = (
        f"{len(found)} shapes lie beside a change of plan; {len(found) - len(cheap)} would take more than "
        f"{options.cost:g} s each and were left out; {len(kept)} were run, with {plans[0]} of {plans[1]} different plans",
    )
    print("\n".join((table(rows), *notes)))
    part = f"interpreter, {options.family}" if options.family else "interpreter"
    save(part, facts("tilewright explain", "interpreted; plans are for made-up devices", notes), rows, options.record)
    return min(1, sum(row.faults for row in rows))


def on_cuda(options: argparse.Namespace) -> int:
    """Every chosen case under each tool of compute-sanitizer; 1 if anything was found."""
    outcomes, notes = cuda.sanitize(options.shapes, options.seconds)
    rows = rows_of(outcomes)
    print("\n".join((table(rows), *notes)))
    save("cuda", facts("compute-sanitizer", cuda.first_gpu().label, notes), rows, options.record)
    return min(1, sum(row.faults for row in rows))


def on_oclgrind(options: argparse.Namespace) -> int:
    """Every chosen case of plain OpenCL C under Oclgrind; 1 if anything was found."""
    tool = oclgrind.version()
    outcomes, notes = oclgrind.sanitize(sweeps_of(options.family), options.shapes, options.cost, options.seconds)
    rows = rows_of(outcomes)
    print("\n".join((table(rows), *notes)))
    part = f"oclgrind, {options.family}" if options.family else "oclgrind"
    save(part, facts(tool, "Oclgrind's simulator; plans are for made-up devices", notes), rows, options.record)
    return min(1, sum(row.faults for row in rows))


if __name__ == "__main__":
    sys.exit(main())
