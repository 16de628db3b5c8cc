"""Measures a shape on PyTorch's tensors on an NVIDIA GPU: the library's call, other candidates of its plan, and cuBLAS.

Each is verified against float64 on the GPU, then timed in CUDA graphs of several calls, in turns: the host's time does not count.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from statistics import median
from typing import Any

from tilewright.core.plan import Plan
from tilewright.core.problem import Gemm
from tilewright.core.types import element_type
from tilewright.errors import WrongResult
from tilewright.measurement.library import layout_letters
from tilewright.runtime.run import LoadedPlan

from .plans import Other, Shape, named, plans_of
from .shapes import drawn

DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "complex128")
ROUNDS = 7
GRAPH_S, MOST_CALLS = 2e-4, 20  # of one graph

Call = Callable[[], Any]


class Tensors:
    """Random operands of a product in their layouts, room for the result, and what it should be."""

    def __init__(self, problem: Gemm) -> None:
        import torch

        self._torch, self._dtype = torch, problem.dtype
        kind = getattr(torch, problem.dtype)
        self.a, self.b = (
            self._matrices(problem.batch, *sides, order, kind)
            for sides, order in (
                ((problem.m, problem.k), problem.a_order),
                ((problem.k, problem.n), problem.b_order),
            )
        )
        self.out = torch.empty(self.a.shape[:-1] + self.b.shape[-1:], device="cuda", dtype=kind)
        wide = torch.complex128 if kind.is_complex else torch.float64
        a, b = self.a.to(wide), self.b.to(wide)
        self._wanted = a @ b
        own = element_type(problem.dtype)
        self._bound = (problem.k + 2) * own.epsilon * (a.abs() @ b.abs())
        if own.itemsize == 2:
            self._bound += 2.0**-own.fraction * self._wanted.abs() + own.least

    def _matrices(self, batch: int, rows: int, columns: int, order: str, kind: Any) -> Any:
        stack = (batch,) if batch > 1 else ()
        sides = (rows, columns) if order == "row" else (columns, rows)
        part = self._torch.float64 if kind in (self._torch.float64, self._torch.complex128) else self._torch.float32
        drawn_as = {8: self._torch.complex64, 16: self._torch.complex128}[kind.itemsize] if kind.is_complex else part
        made = self._torch.randn((*stack, *sides), device="cuda", dtype=drawn_as).to(kind)
        return made if order == "row" else made.mT

    def is_right_after(self, call: Call) -> bool:
        """Whether the call leaves the product in `out`, each element within its bound."""
        self.out.fill_(float("nan"))
        call()
        return bool(((self.out - self._wanted).abs() <= self._bound).all())


def takes(dtype: str, features: frozenset[str]) -> bool:
    """Whether there is an NVIDIA GPU, and PyTorch that multiplies the type there."""
    if dtype not in DTYPES or "nvidia" not in features:
        return False
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def measured_shape(kind: str, problem: Gemm, candidates: int) -> Shape:
    """Everything about one shape. WrongResult if a plan of ours is wrong; a wrong cuBLAS is left out."""
    import torch

    import tilewright
    from tilewright.runtime.cuda.opening import library_device

    tensors = Tensors(problem)
    first, *plans = plans_of(problem, library_device(0), candidates)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        calls: dict[str, Call] = {"": lambda: tilewright.matmul(tensors.a, tensors.b, tensors.out)}
        calls |= {named(plan): _launched(plan, tensors, stream.cuda_stream) for plan in plans}
        for name, call in calls.items():
            if not tensors.is_right_after(call):
                raise WrongResult(f"{name or named(first)} is wrong for {problem.title} {layout_letters(problem)}")
        baseline: Call = lambda: torch.matmul(tensors.a, tensors.b, out=tensors.out)  # noqa: E731
        calls |= {"cuBLAS": baseline} if tensors.is_right_after(baseline) else {}
        times = timed(calls, stream)
    of_ours = {
        name: round(median(one / own for one, own in zip(found, times[""], strict=True)), 4)
        for name, found in times.items()
    }
    return Shape(
        kind, problem.title, layout_letters(problem), named(first), median(times[""]), ROUNDS,
        tuple(Other(name, part) for name, part in of_ours.items() if name not in ("", "cuBLAS")),
        tuple(Other(name, part) for name, part in of_ours.items() if name == "cuBLAS"),
    )  # fmt: skip


def _launched(plan: Plan, tensors: Tensors, stream: int) -> Call:
    """The plan's launches on the stream, with scratch memory of their own, which graphs may keep."""
    from tilewright.runtime.cuda.opening import library_device
    from tilewright.runtime.cuda.programs import Buffer

    device = library_device(0)
    loaded = LoadedPlan(plan, device)
    buffers = {
        name: Buffer(tensor.data_ptr(), 0)
        for name, tensor in zip("ABC", (tensors.a, tensors.b, tensors.out), strict=True)
    }
    for name, nbytes in plan.scratch.items():
        buffers[name] = device.zeroed(nbytes) if name in plan.zeroed else device.allocate(nbytes)
    loaded.bind(buffers)
    return lambda: loaded.enqueue(stream, event=False)


def timed(calls: dict[str, Call], stream: Any) -> dict[str, list[float]]:
    """Device seconds of each call, one number for each round."""
    import torch

    def between(enqueue: Call) -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        enqueue()  # meanwhile the second one is enqueued
        begin.record(stream)
        enqueue()
        end.record(stream)
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3

    counts = {name: max(1, min(MOST_CALLS, round(GRAPH_S / between(call)))) for name, call in calls.items()}
    graphs: dict[str, Any] = {}
    for name, call in calls.items():
        graphs[name] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[name], stream=stream):
            for _ in range(counts[name]):
                call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS):
        for name in graphs if number % 2 else reversed(graphs):
            found[name].append(between(graphs[name].replay) / counts[name])
    return found


def build_all(arguments: Sequence[str], processes: int) -> None:
    """Build the programs of all shapes in several processes, each every so many-th: they are on disk afterwards."""
    own = [sys.executable, "-m", "tools.regret", *arguments]
    children = [
        subprocess.Popen([*own, "--share", f"{place}/{processes}"], stdout=subprocess.DEVNULL, env=os.environ)
        for place in range(processes)
    ]
    if failed := [child.args for child in children if child.wait()]:
        print(
            f"{len(failed)} of {processes} processes that build programs failed; what they lack is built when it is measured"
        )


def build_share(dtype: str, seed: int, shapes: int, candidates: int, share: str) -> None:
    """Build the programs of every so many-th shape."""
    from tilewright.runtime.cuda.opening import library_device

    place, of = map(int, share.split("/"))
    for _, problem in islice(drawn(dtype, "gpu", seed), place, shapes, of):
        for plan in plans_of(problem, library_device(0), candidates):
            LoadedPlan(plan, library_device(0))
