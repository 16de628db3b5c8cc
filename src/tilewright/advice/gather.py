"""Gathers the evidence about a kernel: counts at a small size, machine code, and peaks, measured or typical."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from time import monotonic

from ..analysis.diagnosis import smaller
from ..analysis.explain import Explanation, explain_steps
from ..analysis.explain.clc import parse_program
from ..analysis.explain.models import CPU, Model, model_for
from ..analysis.explain.private_arrays import PrivateArray, private_arrays
from ..analysis.explain.simt.machine import Watch
from ..analysis.explain.verdict import stop_sentences
from ..analysis.explanations import ANY_DEVICE, check_launch
from ..analysis.inspect.compile_and_count import DEVICE, inspect
from ..analysis.inspect.record import Inspection
from ..core.defaults import EXPLAIN_STEPS
from ..core.device import DeviceInfo, Peaks
from ..core.kernel import Kernel, render
from ..core.plan import plan_kernel
from ..core.problem import Gemm, Problem
from ..core.types import element_type
from ..errors import TilewrightError, Unsupported
from .evidence import Evidence

SIDES = {"gpu": ((256, 64), (512, 64), (512, 256)), "cpu": ((128, 64), (64, 32), (256, 64), (512, 256))}  # M and N, K
TINY = 16  # for kernels of few work-items that do everything
FEW_ITEMS = 16
TIME_LIMIT_S = 8.0  # of one launch: a user waits for a sentence
# The architecture that is compiled for, by names of device models that mean one; gfx942 and gfx1100 stand for AMD's, dg2
# for Intel's.
ARCHITECTURES = {
    "v100": "sm_70", "t4": "sm_75", "a100": "sm_80", "h100": "sm_90", "h200": "sm_90",
    "amd64": "gfx942", "amd32": "gfx1100", "intel8": "dg2", "intel16": "dg2", "arc": "dg2", "xe": "dg2",
}  # fmt: skip
# Rates for a clock of one compute unit, as recent devices have them: multiply-adds, bytes of the first cache or local
# memory, bytes of memory. Only their ratios count: without a measurement no times are printed.
TYPICAL_GPU, TYPICAL_CPU = (128, 128, 14), (32, 128, 6)


def rules_of(info: DeviceInfo, dtype: str) -> Model:
    """The device's model. That of a CPU runs as many work-items in a vector as its vectors have elements: so its compiler
    does, and strides between neighbouring work-items show."""
    if info.kind != "cpu":
        return model_for(info)
    lanes = info.native_widths.get(dtype) or 32 // element_type(dtype).itemsize
    return replace(CPU, lanes=lanes, title=f"a CPU that runs {lanes} work-items in a vector", sub_group="vector")


def device_like(model: Model) -> DeviceInfo:
    """A device that nobody measured, of a model's kind. Its number of compute units is unknown: 1."""
    kind = "cpu" if model.is_cpu else "gpu"
    width = 0 if model.is_cpu else model.lanes
    vendor = "NVIDIA Corporation" if "nvidia" in model.vendors else (model.vendors[0] if model.vendors else "")
    widths = {"float32": 16, "float64": 8, "int32": 16}
    items = 8192 if model.is_cpu else 1024
    return replace(
        ANY_DEVICE, name=str(model.title), kind=kind, sub_group_width=width, vendor=vendor, native_widths=widths,
        max_work_group_size=items, max_work_item_sizes=(items,) * 3,
    )  # fmt: skip


def typical_peaks(model: Model, dtype: str) -> Peaks:
    """Rates of a typical compute unit at 1 GHz."""
    adds, near, far = TYPICAL_CPU if model.is_cpu else TYPICAL_GPU
    return Peaks({dtype: 2.0 * adds * 4 / max(4, element_type(dtype).itemsize)}, float(far), float(near))


def small_problems(kernel: Kernel, problem: Problem, info: DeviceInfo) -> Iterator[Problem]:
    """Smaller problems with the same remainders, in the order in which they are tried; the problem itself is the last."""
    tiny = smaller(problem, TINY, TINY)
    if prod(kernel.config.ndrange(problem).global_size) <= FEW_ITEMS:
        yield _shallow(tiny, TINY)
    for side, depth in SIDES["cpu" if info.kind == "cpu" else "gpu"]:
        yield _shallow(smaller(problem, side), depth)
    yield _shallow(tiny, TINY)
    yield problem


def _shallow(problem: Problem, depth: int) -> Problem:
    if not isinstance(problem, Gemm) or problem.k <= depth:
        return problem
    return replace(problem, k=depth + problem.k % 32)


def counted(
    kernel: Kernel, problem: Problem, info: DeviceInfo, model: Model
) -> tuple[Problem, tuple[Explanation, ...], str]:
    """The accesses of all launches at a small size, that size, and a sentence if they are not known or not complete."""
    said = ""
    for small in small_problems(kernel, problem, info):
        try:
            check_launch(kernel, small)
            steps = plan_kernel(kernel, small, info).steps
        except Unsupported as refusal:
            said = said or str(refusal)
            continue
        except TilewrightError as reason:
            return problem, (), f"the accesses: {reason}"
        try:
            end = monotonic() + TIME_LIMIT_S
            launches = explain_steps(
                steps, small, model=model, step_limit=EXPLAIN_STEPS, partial=True, watch=_until(end)
            )  # fmt: skip
        except (TilewrightError, MemoryError, RecursionError) as reason:
            return problem, (), f"the accesses, because `explain` cannot run this kernel: {reason}"
        stopped = [sentence for each in launches for sentence in stop_sentences(each)]
        if not stopped or any(each.faults for each in launches):
            return small, launches, ""
        said = f"the accesses: counting {small.title} {stopped[0]}"
    return problem, (), said


def _until(end: float) -> Watch:
    return lambda steps, groups: monotonic() > end


def machine_code(
    kernel: Kernel, size: Sequence[int], dtype: str, offset: int, arch: str = DEVICE, device: str | None = None
) -> tuple[Inspection | None, str]:
    """The machine code's counts, or why there are none."""
    if not arch:
        return None, "the machine code: the device model names no single architecture, as h100 does"
    try:
        found = inspect(kernel, arch, size, dtype=dtype, offset=offset, device=device)
    except (TilewrightError, OSError) as reason:
        return None, f"the machine code: {str(reason).strip().splitlines()[0]}"
    if found.mix is None:
        return found, f"the machine code: {'; '.join(found.missing) or 'no tool here reads it'}"
    return replace(found, texts={}), ""


def launch_facts(kernel: Kernel, problem: Problem, info: DeviceInfo) -> tuple[int, int, tuple[PrivateArray, ...]]:
    """Of the kernel's own launch at the measured size: its work-groups, their work-items, and its private arrays."""
    step = plan_kernel(kernel, problem, info).steps[-1]
    found = step.config.ndrange(step.problem)
    groups = prod(found.global_size) // max(1, found.group_items)
    try:
        program = parse_program(render(step.kernel, step.config, step.problem), step.kernel.name)
        arrays = private_arrays(program, step.kernel.signature.entry)
    except TilewrightError:  # what explain cannot read is said in `not_seen`
        arrays = ()
    return groups, found.group_items, arrays


def evidence_about(
    kernel: Kernel, problem: Problem, info: DeviceInfo, model: Model, peaks: Peaks, inspection: Inspection | None,
    found: tuple[Problem, tuple[Explanation, ...]], seconds: float = 0.0, wall_seconds: float = 0.0,
) -> Evidence:  # fmt: skip
    """All evidence in one record."""
    small, launches = found
    groups, items, arrays = launch_facts(kernel, problem, info)
    return Evidence(
        kernel, problem, small, info, model, peaks, launches, inspection, seconds, wall_seconds,
        groups if info.compute_units > 1 else 0, items, arrays,
    )  # fmt: skip
