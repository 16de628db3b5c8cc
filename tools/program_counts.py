"""Counts the programs that random products build in a fresh process, by type and kernel: `python -m tools.program_counts`.

A program is what `Device.build` tells apart: a source text, the kernel's name, options and a target. Random products of a type
are planned on the facts of the H200 that a record holds, with its tuned table, and rendered: no GPU is needed. With `--macros`
each kernel's macros are listed, with the programs that would be left if the macro had one value, the fewest first.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import exp, log
from pathlib import Path

from tilewright.core.kernel import Step, render, type_macros
from tilewright.core.problem import Gemm
from tilewright.core.records import load_record
from tilewright.core.types import element_type, storable
from tilewright.dispatch.choice import plan_product
from tilewright.dispatch.table_files import FOLDER, file_name, load_table
from tilewright.dispatch.tuned import Tables
from tilewright.errors import InvalidInput, TilewrightError

FACTS = Path(__file__).resolve().parents[1] / "benchmarks" / "h200-gemm-float32.json"
DEVICE = load_record(FACTS).environment.device
TABLES = Tables((load_table(FOLDER / file_name(DEVICE.name)),))
TYPES = ("float32", "float64", "float16", "bfloat16", "int8", "complex64")
MOST_SIDE = 8192  # sides are log-uniform up to it
EVEN = 0.5  # of the sides, the part that is rounded to a multiple of a power of two
LAYOUTS = (("row", "row"), ("row", "column"), ("column", "row"))  # NN, NT, TN
MOST_MULTIPLE = 64

Program = tuple[str, str, tuple[str, ...], str]


def random_side(generator: random.Random) -> int:
    """A side from 1 to MOST_SIDE, log-uniform; half of them are multiples of a power of two, as far as that is possible."""
    side = min(int(exp(generator.uniform(0, log(MOST_SIDE + 1)))), MOST_SIDE)
    if generator.random() < EVEN:
        multiple = min(MOST_MULTIPLE, 1 << max(0, side.bit_length() - 2))
        side = max(multiple, (side + multiple // 2) // multiple * multiple)
    return side


def random_products(dtype: str, count: int, seed: int) -> Iterator[Gemm]:
    """Products of a type with random sides, each with one of LAYOUTS. A seed gives the same ones each time."""
    result = dtype if dtype in storable(dtype) else element_type(dtype).accumulator
    generator = random.Random(f"{seed} {dtype}")
    for _ in range(count):
        m, n, k = (random_side(generator) for _ in "mnk")
        a_order, b_order = generator.choice(LAYOUTS)
        yield Gemm(m, n, k, dtype, a_order, b_order, out_dtype=result)


def program_of(step: Step) -> Program:
    """What tells this step's program from others."""
    kernel = step.kernel
    return render(kernel, step.config, step.problem), kernel.signature.entry, kernel.options, kernel.target


def programs_of(dtype: str, count: int, seed: int) -> dict[Program, Step]:
    """The programs that random products of a type build, each with the first step that needs it."""
    found: dict[Program, Step] = {}
    for problem in random_products(dtype, count, seed):
        for step in plan_product(problem, DEVICE, TABLES).steps:
            found.setdefault(program_of(step), step)
    return found


def by_kernel(steps: Sequence[Step]) -> dict[str, int]:
    """How many of the programs each kernel has, the most first."""
    return dict(Counter(step.kernel.name for step in steps).most_common())


def left_without(steps: Sequence[Step]) -> dict[str, int]:
    """Of one kernel's programs, how many would be left if a macro had one value: for each macro that has several."""
    macros = [{**type_macros(step.problem.dtype), **step.config.macros(step.problem)} for step in steps]
    values: defaultdict[str, set[str]] = defaultdict(set)
    for each in macros:
        for name, value in each.items():
            values[name].add(str(value))
    several = (name for name, known in values.items() if len(known) > 1)
    left = {name: len({_others(each, name) for each in macros}) for name in several}
    return dict(sorted(left.items(), key=lambda item: item[1]))


def _others(macros: Mapping[str, str | int], name: str) -> frozenset[tuple[str, str]]:
    return frozenset((other, str(value)) for other, value in macros.items() if other != name)


def lines(dtype: str, count: int, seed: int, with_macros: bool) -> Iterator[str]:
    """A type's counts as text, and what multiplies them if it is asked for."""
    steps = tuple(programs_of(dtype, count, seed).values())
    kernels = by_kernel(steps)
    yield f"{dtype:9} {len(steps):4} programs: {', '.join(f'{name} {number}' for name, number in kernels.items())}"
    for name, number in kernels.items() if with_macros else ():
        left = left_without([step for step in steps if step.kernel.name == name])
        yield f"  {name}: {number}; " + ", ".join(f"{others} without {macro}" for macro, others in left.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each type."""
    parser = argparse.ArgumentParser(
        "python -m tools.program_counts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dtype", nargs="+", default=TYPES, help="types (default: %(default)s)")
    parser.add_argument("--count", type=int, default=200, help="products of each type (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="chooses the products (default %(default)s)")
    parser.add_argument("--macros", action="store_true", help="list what multiplies each kernel's programs")
    options = parser.parse_args(arguments)
    try:
        if options.count < 1:
            raise InvalidInput(f"{options.count} products build nothing: ask for at least 1")
        for dtype in options.dtype:
            print("\n".join(lines(dtype, options.count, options.seed, options.macros)), flush=True)
    except TilewrightError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
