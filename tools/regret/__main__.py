"""How often the library's choice is slower than the best known: `python -m tools.regret --json benchmarks/NAME.json`.

Random shapes (log-uniform, thin, ragged, stacks) are measured one after the other: the library's call, the first other
candidates of its plan, and every other library that is here. It prints the share of shapes where the choice is more than 10%
slower than the best plan and than the best of all, the geometric mean, and the worst shapes. The time budget may end it before
all shapes were measured; the record says how many were. Shapes are the same in every run with the same seed. On a GPU
`--warm-up` builds the programs of all shapes first, in several processes.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tilewright.cli.outputs import check_target
from tilewright.errors import TilewrightError
from tilewright.measurement.baselines.child import blas_settings_words
from tilewright.runtime.opencl.device import open_device

from .measured import measured, save_regret
from .plans import Shape
from .table import text
from .tensors import build_all, build_share


def progress(shape: Shape) -> None:
    what = shape.reason or f"{shape.seconds * 1e6:10.1f} us, regret {shape.regret:.2f}, by {shape.chosen}"
    print(f"{shape.kind:12} {shape.title:34} {shape.layout} {what}", flush=True)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m tools.regret", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--device", help="as everywhere; by default the library's")
    parser.add_argument("--shapes", type=int, default=1000, help="how many (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="chooses the shapes (default %(default)s)")
    parser.add_argument("--candidates", type=int, default=3, help="other plans that are measured (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="for one shape (default %(default)s)")
    parser.add_argument(
        "--without", default="", metavar="NAME", help="leave out libraries whose names begin so (default: none)"
    )
    parser.add_argument(
        "--time-budget", type=float, default=330.0, help="seconds; no shape begins later (default %(default)s)"
    )
    parser.add_argument(
        "--warm-up", type=int, default=0, metavar="PROCESSES", help="processes that build programs first"
    )
    parser.add_argument("--share", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and write the record if asked to."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        if options.shapes < 1:
            parser.error(f"--shapes {options.shapes}: ask for at least 1")
        if options.json is not None:
            check_target("--json", options.json)
        if differences := blas_settings_words():
            parser.error(differences)
        if options.share:
            build_share(options.dtype, options.seed, options.shapes, options.candidates, options.share)
            return 0
        if options.warm_up:
            own = ("dtype", "seed", "shapes", "candidates")
            build_all([word for name in own for word in (f"--{name}", str(vars(options)[name]))], options.warm_up)
        device = open_device(options.device)
        record = measured(
            options.dtype, device, options.shapes, options.seed, options.candidates, options.seconds, options.time_budget,
            progress, options.without,
        )  # fmt: skip
        print(text(record))
        if options.json is not None:
            save_regret(record, options.json)
            print(f"wrote {options.json}")
    except TilewrightError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
