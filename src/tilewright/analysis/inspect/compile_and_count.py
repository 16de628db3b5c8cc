"""Inspects a kernel: chooses the toolchain for an architecture, compiles, and counts instructions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Unpack

from ...core.binding import Local
from ...core.defaults import INSPECT_SIDE
from ...core.device import DeviceInfo
from ...core.images import image_parameters
from ...core.kernel import Dialect, Step, notes_on, render
from ...core.launch_options import LaunchOptions
from ...core.plan import Plan, plan_kernel
from ...core.problems import make_problem
from ...core.sizes import Sides, Size
from ...core.types import element_type
from ...errors import BuildFailed, UnknownName, Unsupported
from ...kernels.settings import KernelName, Settings, chosen_kernel
from ...runtime.cuda.counterparts import CUDA_FEATURES
from ...runtime.opencl.device import list_devices, open_device
from ..arguments import ready_kernel
from . import amd, driver, intel, nvidia, x86
from .counts import Resources, loop_record, mix_of
from .driver import INTEL_LEVELS, code_from_driver
from .gcn import parse_gcn
from .loops import loops_of, main_loop
from .machine_code import Listing, calls
from .occupancy import MULTIPROCESSORS, Multiprocessor, Occupancy, find_multiprocessor, occupancy
from .ptx import parse_ptx
from .record import Inspection
from .sass import parse_sass
from .toolchain_output import Compiled
from .x86_code import parse_x86
from .xe import parse_xe

DEVICE = "device"  # the architecture of the device at hand, by its own driver
PARSERS: dict[str, Callable[[str, str], Listing]] = {
    nvidia.SASS: parse_sass,
    amd.FORM: parse_gcn,
    intel.FORM: parse_xe,
    driver.FORM: lambda text, entry: parse_x86(text),
    nvidia.PTX: parse_ptx,
}
ARCHITECTURES = (DEVICE, *MULTIPROCESSORS, *INTEL_LEVELS)


@dataclass(frozen=True)
class Target:
    """An architecture: its row in the table of multiprocessors, if it has one, and the limits that plans must keep."""

    name: str
    title: str
    info: DeviceInfo
    chip: Multiprocessor | None = None
    driven: bool = False  # compiled by the driver of the device `info`


def find_target(arch: str, device: str | None = None) -> Target:
    """The target of that name; "device" is the device that `device` names as in `open_device`. UnknownName if neither."""
    if not isinstance(arch, str):
        raise UnknownName("architecture", arch, ARCHITECTURES)
    if arch == DEVICE:
        return _device_target(open_device(device).info)
    if arch in INTEL_LEVELS:
        info = DeviceInfo(
            arch, "offline", kind="cpu", max_work_group_size=8192, max_work_item_sizes=(8192,) * 3, local_bytes=262144,
            local_type="global", native_widths=native_widths(arch), fp64=True, features=frozenset({"cpu"}),
        )  # fmt: skip
        return Target(arch, "x86-64 processors of that level", info)
    if not arch.startswith(("sm_", "gfx")) and arch not in MULTIPROCESSORS:
        raise UnknownName("architecture", arch, ARCHITECTURES)
    chip = find_multiprocessor(arch)
    capability = (int(arch.rstrip("af")[3:-1]), int(arch.rstrip("af")[-1])) if chip.family == "nvidia" else None
    info = DeviceInfo(
        arch, "offline", kind="gpu", max_work_group_size=chip.group_items, max_work_item_sizes=(chip.group_items,) * 3,
        local_bytes=chip.group_local_bytes, sub_group_width=chip.lanes, compute_capability=capability, fp64=chip.fp64,
        features=frozenset({"gpu", chip.family}),
    )  # fmt: skip
    return Target(arch, chip.title, info, chip)


def native_widths(level: str) -> dict[str, int]:
    """Elements in a vector register of an x86-64 level: SSE, AVX2 or AVX-512."""
    registers = {"x86-64-v2": 16, "x86-64-v3": 32, "x86-64-v4": 64}[level]
    return {dtype: registers // element_type(dtype).itemsize for dtype in ("float32", "float64", "int32")}


def _device_target(info: DeviceInfo) -> Target:
    name, chip = DEVICE, None
    if info.compute_capability:
        name = f"sm_{info.compute_capability[0]}{info.compute_capability[1]}"
        chip = MULTIPROCESSORS.get(name)
    return Target(name, info.label, info, chip, driven=True)


def inspect(
    kernel: KernelName,
    arch: str = DEVICE,
    size: Size = INSPECT_SIDE,
    *,
    dtype: str | None = None,
    offset: int = 0,
    device: str | None = None,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    **own_arguments: Unpack[LaunchOptions],
) -> Inspection:
    """What a compiler makes of a kernel for `arch`, one of `inspection.ARCHITECTURES`: "sm_90", "gfx90a", "dg2", "x86-64-v4" ...,
    or "device", the device that `device` names as in `open_device`, by its own driver. `print` it to read it.

    `kernel` is a rung's name, a `.cl` file with its `global_size` and `local_size` in work-items, or a Kernel. `size` is n,
    (m, n, k) or (rows, columns); it decides the launch, which a CPU driver may have to run once, and what is cut to fit it.
    `own_arguments` are those of a file (`LaunchOptions`). `dtype` is the kernel's usual one if left out. `offset` are
    the columns that a transpose or copy leaves out. `settings` change fields of a rung's configuration or macros of a file.

    Unsupported says why the architecture cannot run the kernel, BuildFailed holds a compiler's log; a tool that is not
    installed is no error, but a sentence in `missing`.
    """
    kernel = ready_kernel(chosen_kernel(kernel, settings, global_size, local_size, **own_arguments), size, dtype)
    target = find_target(arch, device)
    problem = make_problem(kernel, size, dtype, offset)
    # Some features, such as matrix instructions, are proved only by a run on a device. Without a device they are assumed.
    nvidias = target.chip is not None and target.chip.family == "nvidia"
    own = frozenset(feature for feature, _ in kernel.requires if nvidias and feature != "cpu")
    info = target.info if target.driven else replace(target.info, features=target.info.features | own)
    plan = plan_kernel(kernel, problem, info)
    step = next(each for each in plan.steps if each.kernel.source == kernel.source)
    try:
        compiled = _compile(target, plan, step)
    except Unsupported as missing:
        if str(missing) != x86.NO_DISASSEMBLER:
            raise
        compiled = Compiled("", step.kernel.signature.entry, missing=(str(missing),))
    return record_of(compiled, target, step, (*plan.notes, *notes_on(kernel)))


def inspect_step(step: Step, arch: str) -> Inspection:
    """One launch of a plan, compiled for a GPU's architecture without a device."""
    target = find_target(arch)
    if target.chip is None:
        raise UnknownName("architecture of a GPU", arch, MULTIPROCESSORS)
    return record_of(_compile_for_gpu(target, target.chip, step), target, step)


def _compile(target: Target, plan: Plan, step: Step) -> Compiled:
    if target.driven:
        return code_from_driver(plan, step, target.info)
    if target.chip is None:
        return x86.compile_for_x86(plan, step, target.name, list_devices())
    return _compile_for_gpu(target, target.chip, step)


def _compile_for_gpu(target: Target, chip: Multiprocessor, step: Step) -> Compiled:
    """Offline, by the toolchain of the chip's vendor."""
    if chip.family == "nvidia":
        return _compile_for_nvidia(target, step)
    compiler = {"amd": amd.compile_for_amd, "intel": intel.compile_for_intel}[chip.family]
    kernel = step.kernel
    return compiler(render(kernel, step.config, step.problem), kernel.signature.entry, target.name, kernel.options)


def _compile_for_nvidia(target: Target, step: Step) -> Compiled:
    """By NVRTC from the CUDA counterpart. If there is none, or it does not compile: by clang and ptxas, if they are here."""
    kernel, entry = step.kernel, step.kernel.signature.entry
    if objects := image_parameters(kernel.signature):
        raise Unsupported(
            f"{kernel.name} cannot be compiled for {target.name} without a GPU, because of {', '.join(objects)}: CUDA, which "
            "NVRTC compiles, has no images and samplers of OpenCL, and only NVIDIA's driver has the functions that read and "
            "write them; with such a GPU, --arch device shows the driver's code"
        )
    source = render(kernel, step.config, step.problem)
    group = step.config.ndrange(step.problem).local_size
    if {feature for feature, _ in kernel.requires} - CUDA_FEATURES:
        return nvidia.compile_opencl_for_nvidia(source, entry, target.name, kernel.target, group, kernel.options)
    try:
        counterpart = render(kernel, step.config, step.problem, Dialect.CUDA)
        found = nvidia.compile_for_nvidia(counterpart, entry, kernel.target or target.name, kernel.options)
    except (BuildFailed, Unsupported) as failed:
        other = nvidia.compile_opencl_for_nvidia(source, entry, target.name, kernel.target, group, kernel.options)
        if not other.texts and other.missing:
            log = failed.log if isinstance(failed, BuildFailed) else str(failed)
            raise BuildFailed(entry, target.name, "\n".join((log.strip(), *other.missing))) from failed
        if not other.texts:
            raise
        return other
    unheeded = tuple(
        f"NVRTC does not have the option {each}: it was ignored" for each in kernel.options if each[:4] == "-cl-"
    )
    return replace(found, notes=(*found.notes, *unheeded))


def record_of(compiled: Compiled, target: Target, step: Step, notes: tuple[str, ...] = ()) -> Inspection:
    """Count the instructions of the compiled code."""
    items = step.config.ndrange(step.problem).group_items
    form = next((each for each in PARSERS if each in compiled.texts), "")
    listing = PARSERS[form](compiled.texts[form], compiled.entry) if form else None
    loops = loops_of(listing) if listing else ()
    working = main_loop(loops)
    hidden = calls(listing) if listing else ()
    if hidden and form != amd.FORM:  # those are named in a note already
        notes = (*notes, f"{len(hidden)} called functions are not in the counts")
    resources, words = with_local_arguments(compiled.resources, step)
    notes = (*notes, *words)
    return Inspection(
        kernel=step.kernel.name,
        config=str(step.config),
        dtype=step.problem.dtype,
        arch=target.name,
        title=target.title,
        group_items=items,
        origin=compiled.origin,
        form=form,
        resources=resources,
        occupancy=_occupancy(target, items, resources) if not words else None,
        mix=mix_of(listing.instructions) if listing else None,
        loop=loop_record(working) if working else None,
        loops=len(loops),
        notes=(*notes, *compiled.notes),
        missing=compiled.missing,
        texts=compiled.texts,
        entry=compiled.entry,
    )


def listing_of(inspection: Inspection) -> Listing | None:
    """The instructions that were counted; None if no tool was there to make any."""
    if not inspection.form:
        return None
    return PARSERS[inspection.form](inspection.texts[inspection.form], inspection.entry)


def with_local_arguments(resources: Resources | None, step: Step) -> tuple[Resources | None, tuple[str, ...]]:
    """The resources with the local memory that the launch hands over as arguments, and a note if their bytes are not known."""
    given = dict(step.pointers)
    names = [each.name for each in step.kernel.signature.parameters if each.pointer == "local"]
    sizes = {name: found.nbytes for name in names if isinstance(found := given.get(name), Local)}
    unknown = [name for name in names if name not in sizes]
    if resources is None or not names:
        return resources, ()
    if unknown:
        example = f"--arg {unknown[0]}=local:1024"
        return resources, (
            f"occupancy is unknown without the bytes of the local memory {', '.join(unknown)}: give {example}",
        )
    return replace(resources, local_bytes=resources.local_bytes + sum(sizes.values())), ()


def _occupancy(target: Target, items: int, resources: Resources | None) -> Occupancy | None:
    if target.chip is None or resources is None:
        return None
    # The compilers of Intel's GPUs choose how many work-items a hardware thread runs.
    chip = replace(target.chip, lanes=resources.sub_group or target.chip.lanes)
    return occupancy(chip, items, resources.registers, resources.local_bytes)
