"""Measures cold start: the import, the first call on a new machine, and the first call with filled disk caches.

`python -m tools.cold_start --json benchmarks/NAME.json` measures each in child processes. A new machine is an empty folder
for all caches, the library's and the drivers'.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tilewright.cli.outputs import check_target, write_or_rescue
from tilewright.core.problem import Gemm
from tilewright.core.records import Record, Row, Samples
from tilewright.core.types import element_type
from tilewright.errors import InvalidInput, ProcessFailed, TilewrightError
from tilewright.reports.cold_start import TITLE
from tilewright.runtime.children import run_child
from tilewright.runtime.environment import read_environment
from tilewright.runtime.opencl.device import Device, open_device

SIZE = 64  # so small that the product takes negligible time
# What is measured, and its limit in seconds; None if it depends mostly on other packages.
PARTS: dict[str, tuple[str, float | None]] = {
    "import": ("import tilewright, which loads its parts when they are first asked for", 0.2),
    "matmul's import": ("from tilewright import matmul after that: NumPy, PyOpenCL and the library", None),
    "new machine": ("the first matmul with empty caches: finds the device, compiles", 2.0),
    "disk cache": ("the first matmul of a process when another has compiled before", 0.3),
    "second call": ("the same matmul once more", 0.001),
}
TIME_LIMIT_S = 120.0

CHILD = """
import json, sys, time
device, dtype, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
times = [time.perf_counter()]
import tilewright
times.append(time.perf_counter())
from tilewright import matmul
times.append(time.perf_counter())
import numpy
if dtype == "bfloat16":
    import ml_dtypes
a = numpy.ones((size, size)).astype(dtype)
right = (a.astype("float64") @ a.astype("float64"))
times.append(time.perf_counter())
c = matmul(a, a, device=device)
times.append(time.perf_counter())
c = matmul(a, a, device=device)
times.append(time.perf_counter())
steps = [late - early for early, late in zip(times, times[1:])]
print(json.dumps({"stage": "times", "import": steps[0], "matmul": steps[1], "first": steps[3], "second": steps[4],
                  "right": bool((c.astype("float64") == right).all())}))
"""


def run_cold_start(
    device: str | Device | None = None,
    dtype: str = "float32",
    rounds: int = 5,
    watch: Callable[[Row], None] = lambda row: None,
) -> Record:
    """Measure PARTS `rounds` times each on a device: a record with a row for each, its limit as a note."""
    element_type(dtype)
    if rounds < 1:
        raise InvalidInput(f"{rounds} rounds measure nothing: ask for at least 1")
    opened = device if isinstance(device, Device) else open_device(device)
    collected: dict[str, list[float]] = {name: [] for name in PARTS}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
            new = _child(opened.info.label, dtype, Path(folder))
            again = _child(opened.info.label, dtype, Path(folder))
        collected["new machine"].append(new["first"])
        collected["disk cache"].append(again["first"])
        collected["import"].append(again["import"])
        collected["matmul's import"].append(again["matmul"])
        collected["second call"].append(again["second"])
    rows = tuple(_row(name, dtype, seconds) for name, seconds in collected.items())
    for row in rows:
        watch(row)
    return Record(TITLE, dtype, read_environment(opened.info), None, rows)


def _row(name: str, dtype: str, seconds: list[float]) -> Row:
    lesson, limit = PARTS[name]
    problem = Gemm(SIZE, SIZE, SIZE, dtype)
    note = "no limit" if limit is None else f"at most {limit:g} s"
    return Row(name, lesson, problem.title, (SIZE, SIZE, SIZE), 0, 0, notes=(note,), samples=Samples(tuple(seconds)))


def _child(device: str, dtype: str, caches: Path) -> dict[str, float]:
    """One process's times, with all caches in `caches`; ProcessFailed with what it said if it has none to tell."""
    folders = {"XDG_CACHE_HOME": caches, "LOCALAPPDATA": caches, "POCL_CACHE_DIR": caches / "pocl"}
    environment = {name: str(folder) for name, folder in folders.items()}
    environment |= {"POCL_KERNEL_CACHE": "1", "CUDA_CACHE_DISABLE": "0", "CUDA_CACHE_PATH": str(caches / "cuda")}
    child = run_child([sys.executable, "-c", CHILD, device, dtype, str(SIZE)], TIME_LIMIT_S, environment)
    found = child.stages().get("times")
    if found is None or not found["right"]:
        raise ProcessFailed(f"a first call gave no times or a wrong result: {child.ending} {child.telling_line()}")
    return found


def lines(record: Record) -> list[str]:
    """The record as text, a line for each row."""
    texts = []
    for row in record.rows:
        low, high = min(row.samples.wall), max(row.samples.wall)
        texts.append(
            f"{row.name:15}  {row.samples.median:8.4f} s  ({low:.4f} .. {high:.4f}; {row.notes[0]})  {row.lesson}"
        )
    return texts


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a line for each part, and write the record if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", metavar="DEVICE", help="as for `tilewright ladder`")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--rounds", type=int, default=5, help="how often each part is measured (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the record")
    options = parser.parse_args(arguments)
    try:
        if options.json is not None:
            check_target("--json", options.json)
        record = run_cold_start(options.device, options.dtype, options.rounds)
        print("\n".join(lines(record)))
        if options.json is not None:
            write_or_rescue(options.json, record)
            print(f"wrote {options.json}")
    except TilewrightError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
