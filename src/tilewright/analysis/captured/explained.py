"""Explains one captured launch with its real arguments."""

from dataclasses import dataclass, replace
from math import gcd, prod
from time import monotonic

from ...core.build_options import read_options
from ...core.captured import CapturedLaunch
from ...errors import InvalidInput
from ..explain import NVIDIA, Model, PrintedExplanation, explain_source
from ..explain.clc import parse_program
from ..explain.explain import choose_entry
from ..explain.models import CPU
from .arguments import arguments_of

LANES = 32  # of a sub-group of most GPUs
MOST_ITEMS = 256  # of the work-groups that we choose where a program leaves them to the driver: any device allows them


@dataclass(frozen=True)
class Explained:
    """An explained launch. `notes` are sentences about what was assumed."""

    explanation: PrintedExplanation
    notes: tuple[str, ...] = ()


def explain_captured(launch: CapturedLaunch, *, model: Model | None = None, seconds: float) -> Explained:
    """Explain a launch in at most about `seconds` s. `model` has the device's rules; None stands for those of a CPU for
    work-groups of one work-item, and of NVIDIA's GPUs for others.

    InvalidInput, UnknownName or SourceError if the launch cannot be explained.
    """
    until = monotonic() + seconds
    kernel = launch.kernel
    if kernel.source is None:
        raise InvalidInput(kernel.missing)
    if any(launch.offset):
        raise InvalidInput(f"the launch has the global offset {launch.offset}; explain counts launches without one")
    filename, options = f"{kernel.entry}.cl", read_options(kernel.options)
    program = parse_program(kernel.source, filename, options.macros, options.include, options.standard)
    function = program.functions[choose_entry(program, kernel.entry, filename)]
    local_size, notes = launch.local_size, []
    if local_size is None:
        local_size = chosen_local_size(launch.global_size, function.work_group)
        notes.append(
            f"the program leaves the work-group to the driver; counted with {'x'.join(map(str, local_size))} work-items"
        )
    found = explain_source(
        kernel.source,
        filename=filename,
        macros=options.macros,
        entry=kernel.entry,
        global_size=launch.global_size,
        local_size=local_size,
        arguments=arguments_of(function, launch.values),
        include=options.include,
        standard=options.standard,
        model=model or (CPU if set(local_size) == {1} else NVIDIA),
        partial=True,
        watch=lambda steps, groups: monotonic() > until,
    )
    return Explained(replace(found, outputs={}), tuple(notes))  # copies of buffers that nobody asks for


def chosen_local_size(global_size: tuple[int, ...], required: tuple[int, ...] | None) -> tuple[int, ...]:
    """A work-group for a launch without one: what the kernel requires, or divisors of the sizes with at most MOST_ITEMS
    work-items in all, x first: the largest of those that fill the most of a sub-group's lanes."""
    if required is not None:
        return tuple(required[: len(global_size)])
    sizes: list[int] = []
    for size in global_size:
        room = MOST_ITEMS // prod(sizes)
        divisors = (each for each in range(1, min(size, room) + 1) if size % each == 0)
        sizes.append(max(divisors, key=lambda each: (gcd(each, LANES), each)))
    return tuple(sizes)
