"""Measures the library against its rivals: every case verified, entrants interleaved, everything a caller waits for
included (packing, enqueue, waiting)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from .backend.opencl import Device, open_device
from .ceilings import measured_peaks
from .choice import plan_move, plan_product
from .dtypes import numpy_dtype
from .environment import read_environment
from .errors import UnknownName, Unsupported
from .kernels.peaks import CHAINS
from .ladders import Arena, Contender, Watcher, judged, new_row, race_contenders
from .library.moves import copy, transpose
from .library.products import matmul
from .problem import Copy, Gemm, Problem, Transpose, output_of
from .records import Record, Row
from .rivals.child import cublas_present, cublas_rival, numpy_rival
from .run import Times

OURS = "tilewright"
SKINNY = ((64, 4096, 4096), (4096, 64, 4096), (4096, 4096, 64), (8192, 8192, 32), (1, 4096, 4096), (4096, 1, 4096))


def squares(dtype: str) -> Iterator[Problem]:
    """Square products, powers of two and not."""
    for n in (256, 512, 1000, 1024, 2048, 4096):
        yield Gemm(n, n, n, dtype)


def layouts(dtype: str) -> Iterator[Problem]:
    """NN, NT, TN and TT at one size."""
    for a_order in ("row", "column"):
        for b_order in ("row", "column"):
            yield Gemm(1024, 1024, 1024, dtype, a_order, b_order)


def skinny(dtype: str) -> Iterator[Problem]:
    """One short side, and matrix-vector."""
    for m, n, k in SKINNY:
        yield Gemm(m, n, k, dtype)


def large(dtype: str) -> Iterator[Problem]:
    """Squares for a GPU, and ragged sizes."""
    for m, n, k in ((8192,) * 3, (4095,) * 3, (4097,) * 3, (5000,) * 3, (1000, 7777, 333)):
        yield Gemm(m, n, k, dtype)


def random_shapes(dtype: str, count: int = 100, least_flops: int = 2**26) -> Iterator[Problem]:
    """Shapes with sides uniform in 1..2048 and at least `least_flops` flops: the same ones at every run."""
    generator = np.random.default_rng(2048)
    while count:
        m, n, k = (int(side) for side in generator.integers(1, 2049, 3))
        if 2 * m * n * k > least_flops:
            count -= 1
            yield Gemm(m, n, k, dtype)


def transposes(dtype: str) -> Iterator[Problem]:
    """Square transposes, and copies of the same bytes as their yardstick."""
    for n in (1024, 2048, 4096, 8192):
        yield Transpose(n, n, dtype)
        yield Copy(n, n, dtype)


SETS: dict[str, Callable[[str], Iterator[Problem]]] = {
    "squares": squares,
    "layouts": layouts,
    "skinny": skinny,
    "large": large,
    "random": random_shapes,
    "transposes": transposes,
}


class LibraryEntrant:
    """One library call on host arrays, with a result array of its own as `out`."""

    def __init__(self, problem: Problem, arrays: Mapping[str, np.ndarray], device: Device) -> None:
        wanted = output_of(problem)
        self.output = np.full(wanted.shape, 0, numpy_dtype(wanted.dtype))
        self._problem = problem
        self._queue = device.queue
        self._arrays: list[Any] = [
            np.asfortranarray(arrays[each.name]) if each.order == "column" else arrays[each.name]
            for each in problem.operands
            if not each.written
        ]

    def run(self) -> Times:
        """The call's wall-clock time; the device's share is not told apart."""
        begin = perf_counter()
        if self._problem.operation == "gemm":
            a, b = self._arrays
            matmul(a, b, self.output, dtype=self.output.dtype, queue=self._queue)
        else:
            move = transpose if self._problem.operation == "transpose" else copy
            move(self._arrays[0], self.output, queue=self._queue)
        return Times(0.0, perf_counter() - begin)


def run_benchmark(
    sets: Sequence[str] = ("squares", "skinny"),
    dtype: str = "float32",
    device: str | Device | None = None,
    seconds: float = 4.0,
    watch: Watcher = lambda index, row: None,
) -> Record:
    """Race the library against NumPy, or cuBLAS on NVIDIA GPUs, over sets of problems.

    `sets` are names of SETS; `seconds` is the time for one problem. Each row pair of the record has its samples taken
    in turn, so that the i-th of one pairs with the i-th of the other.
    """
    for name in sets:
        if name not in SETS:
            raise UnknownName("benchmark set", name, SETS)
    opened = device if isinstance(device, Device) else open_device(device)
    rows: list[Row] = []
    for problem in (problem for name in sets for problem in SETS[name](dtype)):
        for row in race_library(problem, opened, seconds):
            watch(len(rows), row)
            rows.append(row)
    title = f"benchmark {'+'.join(sets)}"
    peaks = measured_peaks(opened, dtype) if dtype in CHAINS.dtypes else None
    return Record(title, dtype, read_environment(opened.info), peaks, tuple(rows))


def race_library(problem: Problem, device: Device, seconds: float) -> list[Row]:
    """One problem: the rival's row and the library's, both verified before they are timed.

    On a device that shares the host's memory the rival is NumPy and both are timed as a caller sees them. On an NVIDIA
    GPU with PyTorch it is cuBLAS; both run in bursts, timed by the device's events, with their operands in place.
    """
    arena = Arena(device, problem.dtype)
    on_device = "nvidia" in device.info.features and cublas_present()
    with ExitStack() as stack:
        make = cublas_rival if on_device else numpy_rival
        rival = arena.enter_rival("cuBLAS" if on_device else "NumPy", make, problem, stack)
        ours = enter_plan(arena, problem) if on_device else enter_call(arena, problem)
        race_contenders([rival, ours], seconds, True, lambda index, row: None)
    notes = (layout_letters(problem),) if isinstance(problem, Gemm) else ()
    return [replace(contender.row, notes=notes) for contender in (rival, ours)]


def layout_letters(problem: Gemm) -> str:
    """NN, NT, TN or TT, as BLAS says it of row-major operands."""
    return "".join("N" if order == "row" else "T" for order in (problem.a_order, problem.b_order))


def enter_call(arena: Arena, problem: Problem) -> Contender:
    """The library's call on host arrays."""
    row = new_row(OURS, arena.device.info.label, problem)
    reference = arena.reference(problem)
    entrant = LibraryEntrant(problem, reference.arrays, arena.device)
    try:
        entrant.run()
    except Unsupported as refusal:
        return Contender(replace(row, status="refused", reason=str(refusal)))
    return judged(row, entrant, reference.judge(entrant.output))


def enter_plan(arena: Arena, problem: Problem) -> Contender:
    """The launches that the library would make, with their operands on the device."""
    row = new_row(OURS, arena.device.info.label, problem)
    try:
        plan = (plan_product if problem.operation == "gemm" else plan_move)(problem, arena.device.info)
    except Unsupported as refusal:
        return Contender(replace(row, status="refused", reason=str(refusal)))
    return arena.enter_execution(row, plan, arena.device, bursts=True)
