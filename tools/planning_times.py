"""Measures how long planning takes for shapes never seen: `python -m tools.planning_times --json benchmarks/NAME.json`.

Random products of each type are planned on the facts of the H200 that a record holds: no GPU is needed. The record has the
median, the 90th percentile and the worst time of each type in milliseconds, and the product that took longest.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from tilewright.cli.outputs import check_target
from tilewright.core.device import DeviceInfo
from tilewright.core.problem import Gemm
from tilewright.core.records import load_record
from tilewright.core.types import ELEMENT_TYPES, storable
from tilewright.dispatch.choice import plan_product
from tilewright.dispatch.table_files import FOLDER, file_name, load_table
from tilewright.dispatch.tuned import Tables
from tilewright.errors import InvalidInput, TilewrightError
from tilewright.runtime.environment import read_environment
from tilewright.runtime.opencl.device import open_device

FACTS = Path(__file__).resolve().parents[1] / "benchmarks" / "h200-gemm-float32.json"
SIDES = (64, 600, 8192)  # a side of a product is random, up to one of these
BATCHES = (1, 1, 1, 8)
WARM_UP = 5  # products of each type that are planned before: a process has its caches filled by then
LIMIT_MS = 5.0  # what the median should stay below


@dataclass(frozen=True)
class Times:
    """Milliseconds that plans of one type took, and the product whose plan took longest."""

    median_ms: float
    p90_ms: float
    worst_ms: float
    worst: str


def random_product(generator: random.Random, dtype: str) -> Gemm:
    """A product with random sides, memory orders and batch."""
    m, n, k = (generator.randint(1, generator.choice(SIDES)) for _ in "mnk")
    a_order, b_order = (generator.choice(("row", "column")) for _ in "ab")
    result = dtype if dtype in storable(dtype) else "float32"
    return Gemm(m, n, k, dtype, a_order, b_order, out_dtype=result, batch=generator.choice(BATCHES))


def planning_times(dtype: str, count: int, seed: int, device: DeviceInfo, tables: Tables) -> Times:
    """The times of this thread for the plans of `count` random products of a type."""
    generator = random.Random(f"{seed} {dtype}")
    for _ in range(WARM_UP):
        plan_product(random_product(generator, dtype), device, tables)
    found: list[tuple[float, str]] = []
    for _ in range(count):
        problem = random_product(generator, dtype)
        begin = time.thread_time()
        plan_product(problem, device, tables)
        title = f"{problem.title} {problem.a_order} {problem.b_order}"
        found.append(((time.thread_time() - begin) * 1e3, title))
    found.sort()
    times = [each for each, _ in found]
    worst_ms, worst = found[-1]
    return Times(round(median(times), 3), round(times[int(0.9 * (count - 1))], 3), round(worst_ms, 3), worst)


def measured(count: int, seed: int) -> dict[str, Any]:
    """The record: where it was made, for which device, and the times of each type."""
    if count < 1:
        raise InvalidInput(f"{count} products measure nothing: ask for at least 1")
    device = load_record(FACTS).environment.device
    tables = Tables((load_table(FOLDER / file_name(device.name)),))
    record: dict[str, Any] = {
        "machine": msgspec.to_builtins(read_environment(open_device().info)),
        "planned_for": device.name, "count": count, "seed": seed, "limit_ms": LIMIT_MS,
    }  # fmt: skip
    record["types"] = {dtype: asdict(planning_times(dtype, count, seed, device, tables)) for dtype in ELEMENT_TYPES}
    return record


def lines(record: dict[str, Any]) -> list[str]:
    """The record as a table, a line for each type."""
    texts = [f"{'type':14}  {'median ms':>9}  {'90% ms':>9}  {'worst ms':>9}  slowest product"]
    for dtype, row in record["types"].items():
        texts.append(
            f"{dtype:14}  {row['median_ms']:9.2f}  {row['p90_ms']:9.2f}  {row['worst_ms']:9.2f}  {row['worst']}"
        )
    slow = [dtype for dtype, row in record["types"].items() if row["median_ms"] > record["limit_ms"]]
    verdict = f"above it: {', '.join(slow)}" if slow else "every type is below it"
    return [*texts, f"The median should be at most {record['limit_ms']:g} ms: {verdict}."]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a line for each type, and write the record if asked to."""
    parser = argparse.ArgumentParser(
        "python -m tools.planning_times", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
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
