"""What the library would run: `plan`, and `tune`, which measures it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..core.checked import (
    check_functions,
    check_object,
    checked_count,
    checked_names,
    checked_path,
    checked_seconds,
    checked_switch,
)
from ..core.plan import Plan
from ..core.problem import Gemm
from ..core.shown import Shown
from ..core.sizes import FilePath, Size, as_size
from ..core.types import element_type
from ..dispatch.choice import plan_product
from ..dispatch.numpys_own import Asked, numpys_own
from ..dispatch.parts import note_on_parts
from ..dispatch.table_files import file_name, load_tables, own_folder
from ..dispatch.tuned import Table
from ..errors import InvalidInput, quoted
from ..library.engine import default_device
from ..library.numpy_call import plan_of
from ..library.numpy_limits import measured_for
from ..library.streamed.calls import planned
from ..library.streamed.limits import Bytes, Limits, Where
from ..library.streamed.overlap import note_on_copies
from ..library.streamed.planning import StreamedPlan
from ..measurement import tuning
from ..measurement.progress import Phase
from ..measurement.sets import STORED, problems_of
from ..runtime.device import device_name
from ..runtime.opencl import device as opencl
from ..runtime.opencl.vpdpbusd import equipped
from .progress import progress_line

ORDERS = {"N": "row", "T": "column"}
LARGEST_SIDE = 2**31 - 1  # kernels count in 32 bits


def plan(
    size: Size,
    layout: str = "NN",
    *,
    dtype: str = "float32",
    batch: int = 1,
    precision: str = "",
    device: Where = None,
    max_device_bytes: Bytes = None,
    max_host_bytes: Bytes = None,
    pinned: bool = False,
) -> Plan | StreamedPlan:
    """The launches that the library would run for a product, and why other candidates lost. Nothing is run.

    `size` is n, (m, n, k) or "MxNxK"; `layout` NN, NT, TN or TT says which operand is transposed in memory; `batch` is the
    number of products; `device` is an index, "cpu", "gpu" or part of a name. With limits of memory, several devices, or operands
    that do not fit the device, the plan says which tiles are computed where, what passes over each link, the most memory on each
    side, and about how long it takes; `pinned` says that the arrays are (`tilewright.pinned`). InvalidInput for another size or
    layout, or for limits that no tile fits.

    On a GPU a note says if NumPy arrays are multiplied in tiles without a limit, so that copies run beside the product.
    For NumPy arrays on a CPU that nobody named, the library calls NumPy if that is faster: the plan says so, and has the launches
    that `device=` would ask for among those not taken.
    """
    problem = product_of(as_size(size), layout, dtype, batch, precision)
    pinned = checked_switch("pinned", pinned)
    tiled = planned(problem, Limits(device, max_device_bytes, max_host_bytes), pinned)
    if tiled is not None:
        return tiled
    opened = opencl.open_device(device_name(device))
    found = plan_product(problem, equipped(opened.info, dtype), load_tables())
    may_be_numpys = device is None and not precision and opened.info.kind == "cpu"
    notes = note_on_parts(found, may_be_numpys), note_on_copies(problem, opened.info, pinned)
    found = replace(found, notes=(*found.notes, *filter(None, notes)))
    if not may_be_numpys:
        return found
    across = (layout[0] == "T", layout[1] == "T")
    asked = Asked(batch, problem.m, problem.n, problem.k, dtype, problem.out_dtype or dtype, batch, across=across)
    reason = numpys_own(asked, partial(measured_for, default_device(), asked.read, asked.result))
    return plan_of(found, reason, asked) if reason else found


def product_of(size: Sequence[int], layout: str, dtype: str, batch: int, precision: str) -> Gemm:
    """The product of that size, layout, type and batch."""
    if len(size) not in (1, 3):
        raise InvalidInput(f"{'x'.join(map(str, size))}: a product has 1 or 3 sizes; write N or MxNxK")
    batch = checked_count("batch", batch, 0)
    m, n, k = tuple(size) * 3 if len(size) == 1 else tuple(size)
    if batch > LARGEST_SIDE:
        raise InvalidInput(f"batch={batch:,}: at most 2^31 - 1 = {LARGEST_SIDE:,} products")
    if max(m, n, k) > LARGEST_SIDE:
        raise InvalidInput(f"{'x'.join(map(str, size))}: sides are limited to 2^31 - 1 = {LARGEST_SIDE:,}")
    if not isinstance(layout, str) or not set(layout) <= set(ORDERS) or len(layout) != 2:
        raise InvalidInput(f"layout={quoted(layout)}: write NN, NT, TN or TT")
    element_type(dtype)
    a_order, b_order = (ORDERS[letter] for letter in layout)
    return Gemm(m, n, k, dtype, a_order, b_order, out_dtype=STORED.get(dtype), batch=batch, precision=precision)


@dataclass(frozen=True, repr=False)
class Tuned(Shown):
    """A tuned table, and the file in which it was written."""

    path: Path
    table: Table

    def __str__(self) -> str:
        settled = f"{len(self.table.settled)} problems where the cost model's choice is as good"
        return f"{self.path}: {len(self.table.entries)} entries, {settled}"

    def one_line(self) -> str:
        return str(self)

    def to_rows(self) -> list[dict[str, Any]]:
        return [
            {"problem": each.problem, "kernel": each.kernel, "config": each.config, "seconds": each.seconds,
             "untuned_seconds": each.untuned_seconds}
            for each in self.table.entries
        ]  # fmt: skip


def tune(
    sets: str | Sequence[str] = ("llm-decode", "batched"),
    dtype: str = "float32",
    *,
    device: str | int | None = None,
    precision: str = "",
    seconds: float = 3.0,
    candidates: int = 12,
    time_budget: float = float("inf"),
    output: FilePath | None = None,
    watch: Callable[[tuning.Outcome], None] | None = None,
    keep: Callable[[Path], None] = lambda path: None,
) -> Tuned:
    """Measure which kernel is fastest for each product of some sets on a GPU, and keep the table for the library.

    Arguments:
        sets: names of sets, in a list or with commas between them; `tilewright tune --help` lists them.
        seconds, candidates: the time, and the number of kernels that are measured, for one problem.
        time_budget: no problem is started after that many seconds. The next call resumes.
        output: the file of the table; by default one in the cache folder of the user, where the library finds it.
        watch: gets each problem's outcome. Without it a notebook shows one line of progress.
        keep: gets the name of the table's file if the call is interrupted. The file holds the outcomes until then.

    InvalidInput for a CPU, whose blocking the library computes from its caches; UnknownName for a set that does not exist.
    """
    check_functions(keep=keep, **({} if watch is None else {"watch": watch}))
    check_object("precision", precision, str, "a name, such as tf32, or leave it out")
    effort = tuning.Effort(
        checked_seconds("seconds", seconds),
        checked_count("candidates", candidates),
        checked_seconds("time_budget", time_budget, endless=True),
    )
    place = None if output is None else checked_path("output", output)
    names = [each for text in checked_names("sets", sets, "llm-decode") for each in text.split(",")]
    problems = [each for name in names for each in problems_of(name, dtype)]
    wanted = device_name(device)
    info = opencl.open_device(wanted).info
    if info.kind == "cpu":
        raise InvalidInput(
            f"{info.label}: tables are for GPUs; on CPUs the library computes its blocking from the caches"
        )
    path = place or own_folder() / file_name(info.name)
    products = [replace(each, precision=precision) for each in problems if isinstance(each, Gemm)]
    with progress_line("tune") as line:
        try:
            table = tuning.tune(products, info, wanted, path, effort, watch or (lambda each: line(Phase(each.problem))))
        except KeyboardInterrupt:
            keep(path)
            raise
    return Tuned(path, table)
