"""Counts the programs that random products build in a fresh process: `python -m tools.programs_built --json FILE`.

A program is what `Device.build` tells apart: a source text, the kernel's name, options and a target. Random products of a type
are planned on the facts of the H200 that a record holds, and rendered: no GPU is needed. The record has, for each type, how many
programs all of them build, and what the choice of few programs costs by the models: the time of what is chosen over the
time of what they rank first, as a geometric mean and at its worst.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from math import exp, log
from pathlib import Path
from typing import Any

from tilewright.cli.outputs import check_target
from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Step, render
from tilewright.core.plan import violations
from tilewright.core.problem import Gemm
from tilewright.core.records import load_record
from tilewright.dispatch.choice import FAMILIES, plan_product
from tilewright.dispatch.table_files import FOLDER, file_name, load_table
from tilewright.dispatch.tuned import Tables
from tilewright.errors import InvalidInput, TilewrightError
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.family import ranked

FACTS = Path(__file__).resolve().parents[1] / "benchmarks" / "h200-gemm-float32.json"
TYPES = ("float32", "float64", "float16", "bfloat16", "int8", "complex64")
MOST_SIDE = 8192  # sides are log-uniform up to it
EVEN = 0.5  # of the sides, the part that is rounded to a multiple of a power of two
LAYOUTS = (("row", "row"), ("row", "column"), ("column", "row"))  # NN, NT, TN
MOST_MULTIPLE = 64
STAGES = (10, 50, 100)  # products after which programs are counted, too
LIMIT = 12  # programs of one type that 200 products may build

Program = tuple[str, str, tuple[str, ...], str]


@dataclass(frozen=True)
class Count:
    """What the products of one type build, and what it costs: ratios of predicted times, and the product with the worst."""

    programs: int
    kernels: dict[str, int]
    after: dict[str, int]
    mean_loss: float
    worst_loss: float
    worst: str


def random_side(generator: random.Random) -> int:
    """A side from 1 to MOST_SIDE, log-uniform; half of them are multiples of a power of two, as far as that is possible."""
    side = min(int(exp(generator.uniform(0, log(MOST_SIDE + 1)))), MOST_SIDE)
    if generator.random() < EVEN:
        multiple = min(MOST_MULTIPLE, 1 << max(0, side.bit_length() - 2))
        side = max(multiple, (side + multiple // 2) // multiple * multiple)
    return side


def random_product(generator: random.Random, dtype: str) -> Gemm:
    """A product with random sides and one of LAYOUTS."""
    m, n, k = (random_side(generator) for _ in "mnk")
    a_order, b_order = generator.choice(LAYOUTS)
    return Gemm(m, n, k, dtype, a_order, b_order, out_dtype="int32" if dtype == "int8" else dtype)


def program_of(step: Step) -> Program:
    """What tells this step's program from others."""
    kernel = step.kernel
    return render(kernel, step.config, step.problem), kernel.signature.entry, kernel.options, kernel.target


def loss(problem: Gemm, device: DeviceInfo, tables: Tables) -> float:
    """The predicted time of what is chosen, over that of the fastest candidate; 1 if a tuned table chose it."""
    found = plan_product(problem, device, tables)
    if any(note.startswith("from the tuned table") for note in found.notes):
        return 1.0
    call, chosen = call_of(problem), {(step.kernel.name, str(step.config)) for step in found.steps}
    fitting = (
        each
        for each in ranked(FAMILIES, call, device)
        if not any(violations(each.configured, each.config, call, device))
    )
    first = next(fitting)
    own = next(each for each in chain((first,), fitting) if (each.kernel.name, str(each.config)) in chosen)
    return own.cost / first.cost


def random_products(dtype: str, count: int, seed: int) -> list[Gemm]:
    generator = random.Random(f"{seed} {dtype}")
    return [random_product(generator, dtype) for _ in range(count)]


def programs_of(products: Sequence[Gemm], device: DeviceInfo, tables: Tables) -> dict[Program, tuple[str, int]]:
    """The programs that products build, each with its kernel's name and the number of the product that builds it first."""
    found: dict[Program, tuple[str, int]] = {}
    for number, problem in enumerate(products, 1):
        for step in plan_product(problem, device, tables).steps:
            found.setdefault(program_of(step), (step.kernel.name, number))
    return found


def programs_built(dtype: str, count: int, seed: int, device: DeviceInfo, tables: Tables) -> Count:
    """The programs of `count` random products of a type, and what they cost."""
    products = random_products(dtype, count, seed)
    found = programs_of(products, device, tables)
    after = {
        str(most): sum(number <= most for _, number in found.values()) for most in (*STAGES, count) if most <= count
    }
    losses = [(loss(each, device, tables), f"{each.title} {each.a_order} {each.b_order}") for each in products]
    worst_loss, worst = max(losses)
    mean = exp(sum(log(each) for each, _ in losses) / count)
    kernels = dict(Counter(name for name, _ in found.values()).most_common())
    return Count(len(found), kernels, after, round(mean - 1, 4), round(worst_loss - 1, 4), worst)


def measured(count: int, seed: int) -> dict[str, Any]:
    """The record: the device that was planned for, and the counts of each type."""
    if count < 1:
        raise InvalidInput(f"{count} products build nothing: ask for at least 1")
    device = load_record(FACTS).environment.device
    tables = Tables((load_table(FOLDER / file_name(device.name)),))
    types = {dtype: asdict(programs_built(dtype, count, seed, device, tables)) for dtype in TYPES}
    return {"planned_for": device.name, "count": count, "seed": seed, "limit": LIMIT, "types": types}


def lines(record: dict[str, Any]) -> list[str]:
    """The record as a table, a line for each type."""
    texts = [
        f"{'type':10}  {'programs':>8}  {'mean loss':>9}  {'worst':>6}  product that loses most; programs of each kernel"
    ]
    for dtype, row in record["types"].items():
        kernels = ", ".join(f"{name} {count}" for name, count in row["kernels"].items())
        rates = f"{100 * row['mean_loss']:8.2f}%  {100 * row['worst_loss']:5.1f}%"
        texts.append(f"{dtype:10}  {row['programs']:8}  {rates}  {row['worst']}; {kernels}")
    many = [dtype for dtype, row in record["types"].items() if row["programs"] > record["limit"]]
    verdict = f"more: {', '.join(many)}" if many else "every type stays within it"
    return [*texts, f"{record['count']} products of a type should build at most {record['limit']} programs: {verdict}."]


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, print a line for each type, and write the record if asked to."""
    parser = argparse.ArgumentParser(
        "python -m tools.programs_built", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="products of each type (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="chooses the products (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    options = parser.parse_args(arguments)
    try:
        if options.json is not None:
            check_target("--json", options.json)
        record = measured(options.count, options.seed)
        print("\n".join(lines(record)))
        if options.json is not None:
            options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
            print(f"wrote {options.json}")
    except TilewrightError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
