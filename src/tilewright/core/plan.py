"""From a problem and a device's facts to a Plan: enumerate configurations, reject each with a sentence, take the first.

Planning touches no device and no runtime.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidInput, MissingFeature, Unsupported, quoted
from .checked import check_object
from .device import DeviceInfo
from .kernel import Config, Kernel, Step, Steps
from .precision import REPRODUCIBLE
from .problem import Gemm, Problem, has_scales, precision_of
from .problems import dtype_refusal
from .shown import Shown
from .types import DOUBLES, element_type

# Operations of the library's that look at no element: their kernels move unsigned integers of its size.
BYTES_ONLY = ("strided copy", "copy of many dimensions", "in-place transpose")
# Types of arguments that hold sizes, and the least size that is too large for each. Strides and offsets have 64 bits.
COUNTERS = {"int": 2**31, "uint": 2**32, "unsigned": 2**32, "unsigned int": 2**32}


@dataclass(frozen=True)
class Rejection:
    """A candidate that was rejected, and one sentence that says why."""

    kernel: str
    config: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kernel} ({self.config}): {self.reason}"


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """The launches that solve a problem on a device, why other candidates were rejected, and notes on the choice."""

    problem: Problem
    steps: Steps
    notes: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    host_call: str = ""  # the function on the host that is called instead of launches

    @property
    def scratch(self) -> dict[str, int]:
        """Bytes of every buffer that is not an operand of the problem, by name."""
        own = {each.name for each in self.problem.operands}
        sizes: dict[str, int] = {}
        for step in self.steps:
            needed = [(step.buffer_of(each.name), each.nbytes) for each in step.problem.operands]
            for name, nbytes in (*needed, *step.scratch):
                if name not in own:
                    sizes[name] = max(sizes.get(name, 0), nbytes)
        return sizes

    @property
    def zeroed(self) -> frozenset[str]:
        """The scratch buffers that must hold zeros before the first run."""
        return frozenset(name for step in self.steps for name in step.zeroed)

    @property
    def initial(self) -> dict[str, float]:
        """The outputs that hold a number before the launch."""
        return {name: value for step in self.steps for name, value in step.initial}

    def one_line(self) -> str:
        launches = self.host_call or ", ".join(f"{step.kernel.name} ({step.config})" for step in self.steps)
        return f"{self.problem.title}: {launches}; {len(self.rejected)} candidates not taken"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each launch, with its global and local size in work-items; one for a call on the host, which has neither."""
        if self.host_call:
            return [
                {
                    "kernel": self.host_call,
                    "config": "",
                    "problem": self.problem.title,
                    "global_size": (),
                    "local_size": (),
                }
            ]
        geometries = [step.config.ndrange(step.problem) for step in self.steps]
        return [
            {"kernel": step.kernel.name, "config": str(step.config), "problem": step.problem.title,
             "global_size": geometry.global_size, "local_size": geometry.local_size}
            for step, geometry in zip(self.steps, geometries, strict=True)
        ]  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.problem.title}", *([f"  calls {self.host_call}"] if self.host_call else [])]
        for number, step in enumerate(self.steps, 1):
            geometry = step.config.ndrange(step.problem)
            lines.append(f"  step {number}: {step.kernel.name} ({step.config}), {geometry}, for {step.problem.title}")
        lines += [f"  scratch {name}: {nbytes:,} bytes" for name, nbytes in self.scratch.items()]
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  not taken: {rejection}" for rejection in self.rejected]
        return "\n".join(lines)


def plan(candidates: Iterable[Kernel], problem: Problem, device: DeviceInfo) -> Plan:
    """The plan of the first configuration without violations; Unsupported with all reasons if there is none,
    MissingFeature if the device lacks something that each candidate needs.

    Candidates are tried in their order, the best first.
    """
    rejected: list[Rejection] = []
    runnable = False  # on this device, at some other size
    for kernel in candidates:
        for place, config in enumerate(each.on(device) for each in kernel.configs):
            reasons = list(violations(kernel, config, problem, device))
            if not reasons:
                steps = kernel.steps(kernel, config, problem)
                notes = _notes(kernel, config, rejected) if place else ()
                return Plan(problem, steps, notes, tuple(rejected))
            rejected += [Rejection(kernel.name, str(config), reason) for reason in reasons]
            if any(_refusals(kernel, problem, device)):
                break  # true of every configuration
        runnable = runnable or not any(_missing(kernel, problem, device))
    sentence = "; ".join(dict.fromkeys(rejection.reason for rejection in rejected))
    raise Unsupported(sentence) if runnable or not rejected else MissingFeature(sentence)


def plan_kernel(kernel: Kernel, problem: Problem, device: DeviceInfo) -> Plan:
    """The plan that runs this kernel, if need be in a smaller configuration.

    Unsupported says why there is none: the device lacks something, or the kernel takes no such sizes, type or memory orders.
    Rungs compute A B alone, without alpha, beta or batch, of matrices in the orders `kernel.orders`.
    """
    check_object("kernel", kernel, Kernel, "a Kernel, such as find_kernel gives")
    if not hasattr(problem, "operands"):
        raise InvalidInput(f"problem={quoted(problem)}: pass a Gemm, Transpose or Copy")
    check_object("device", device, DeviceInfo, "a DeviceInfo, such as open_device(...).info")
    return plan((kernel,), problem, device)


def violations(kernel: Kernel, config: Config, problem: Problem, device: DeviceInfo) -> Iterator[str]:
    """Every reason against running `kernel` in `config`: sentences with their numbers."""
    yield from _refusals(kernel, problem, device)
    if kernel.operation == problem.operation:
        yield from config.violations(problem, device)
        yield from _limits(kernel, config, problem, device)


def _refusals(kernel: Kernel, problem: Problem, device: DeviceInfo) -> Iterator[str]:
    """Reasons that hold for every configuration of this kernel."""
    if kernel.operation != problem.operation:
        yield f"{kernel.name} computes a {kernel.operation}, not a {problem.operation}"
    if refusal := dtype_refusal(kernel, problem.dtype):
        yield refusal
    if kernel.precision and kernel.precision != precision_of(problem):
        yield f"{kernel.name} computes in {kernel.precision}, which was not asked for"
    if precision_of(problem) == REPRODUCIBLE != kernel.precision:
        yield f"reproducible products add in ascending k by fused multiply-adds alone: {kernel.name} adds in other orders"
    if has_scales(problem) and not kernel.scales:
        yield f"{kernel.name} cannot scale rows and columns of the product"
    if isinstance(problem, Gemm) and kernel.operation == "gemm" and not kernel.config.any_gemm:
        yield from _beyond_one_product(kernel, problem)
    yield from _missing(kernel, problem, device)


def _beyond_one_product(kernel: Kernel, problem: Gemm) -> Iterator[str]:
    """What a product has beyond C = A B in the kernel's memory orders, unless an argument of the kernel tells it."""
    for operand, order in zip(problem.operands, kernel.orders, strict=True):
        if operand.order != order and not _has(kernel, f"{operand.name.lower()}_row"):
            yield f"{kernel.name} takes {operand.name} {order}-major; it is {operand.order}-major in {problem.title}"
    for name, usual in (("alpha", 1), ("beta", 0)):
        if getattr(problem, name) != usual and not _has(kernel, name):
            yield f"{kernel.name} has no argument {name}, so it is {usual}; {name}={getattr(problem, name)} was asked for"
    if problem.batch != 1 and not _has(kernel, "c_batch"):
        yield f"{kernel.name} computes one product, not {problem.batch}"
    if problem.out_dtype not in (None, problem.dtype) and _stores_operands_type(kernel, problem.dtype):
        yield f"{kernel.name} stores {problem.dtype}, not {problem.out_dtype}"


def _has(kernel: Kernel, argument: str) -> bool:
    return any(each.name == argument for each in kernel.signature.parameters)


def _stores_operands_type(kernel: Kernel, dtype: str) -> bool:
    """Whether the kernel declares C as elements of the type of A and B. Others are their configuration's."""
    types = (each.ctype.rstrip("0123456789") for each in kernel.signature.parameters if each.name == "C")
    return any(each in ("REAL", element_type(dtype).real) for each in types)


def _missing(kernel: Kernel, problem: Problem, device: DeviceInfo) -> Iterator[str]:
    """What the device lacks."""
    if problem.dtype in DOUBLES and not device.fp64 and kernel.operation not in BYTES_ONLY:
        yield f"{device.name} has no double precision, which {problem.dtype} needs"
    for feature, sentence in kernel.requires:
        if feature not in device.features:
            tried = f" ({device.missing[feature]})" if feature in device.missing else ""
            yield f"needs {feature!r}, which {device.name} lacks{tried}: {sentence}"


def _limits(kernel: Kernel, config: Config, problem: Problem, device: DeviceInfo) -> Iterator[str]:
    """The device's limits that a launch of the kernel exceeds."""
    for step in kernel.steps(kernel, config, problem):
        yield from _step_limits(step, device)


def _step_limits(step: Step, device: DeviceInfo) -> Iterator[str]:
    ndrange = step.config.ndrange(step.problem)
    if not ndrange.empty:  # some configurations have no sizes for an empty problem
        yield from _wide_scalars(step)
    if ndrange.group_items > device.max_work_group_size:
        yield (
            f"a work-group of {'x'.join(map(str, ndrange.local_size))} = {ndrange.group_items} work-items exceeds "
            f"the {device.max_work_group_size} that {device.name} allows"
        )
    for side, limit in zip(ndrange.local_size, device.max_work_item_sizes, strict=False):
        if side > limit:
            yield f"a work-group side of {side} exceeds the {limit} that {device.name} allows"
    local = step.config.local_bytes(step.problem)
    limit = max(device.local_bytes, device.static_local_bytes)
    if local > limit:
        yield f"{local:,} bytes of local memory exceed the {limit:,} that {device.name} has"


def _wide_scalars(step: Step) -> Iterator[str]:
    """Sizes that do not fit into the kernel's 32-bit arguments."""
    values = {**step.problem.scalars, **step.config.scalars(step.problem)}
    wide = {name: value for name, value in values.items() if isinstance(value, int) and not -(2**31) <= value < 2**31}
    if not wide:
        return
    for parameter in step.kernel.signature.parameters:
        limit = 0 if parameter.pointer else COUNTERS.get(parameter.ctype, 0)
        if limit and wide.get(parameter.name, 0) >= limit:
            yield f"{parameter.name}={wide[parameter.name]:,} is more than kernels count ({limit - 1:,}): pass it in parts"


def _notes(kernel: Kernel, config: Config, rejected: Sequence[Rejection]) -> tuple[str, ...]:
    first = next(rejection for rejection in rejected if rejection.kernel == kernel.name)
    return (f"cut from {first.config} to {config}: {first.reason}",)
