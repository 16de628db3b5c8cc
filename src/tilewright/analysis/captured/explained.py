"""Explains one captured launch with its real arguments."""

from dataclasses import dataclass, replace
from time import monotonic

from ...core.build_options import read_options
from ...core.captured import CapturedLaunch
from ...core.custom import likely_local
from ...errors import InvalidInput
from ..explain import NVIDIA, Model, PrintedExplanation, explain_source
from ..explain.clc import parse_program
from ..explain.explain import choose_entry
from ..explain.models import CPU
from .arguments import arguments_of

RAGGED = ("CL2", "CL3")  # versions of the language whose launches may have smaller work-groups at the edges


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
    filename, options = f"{kernel.entry}.cl", read_options(kernel.options)
    program = parse_program(kernel.source, filename, options.macros, options.include, options.standard)
    function = program.functions[choose_entry(program, kernel.entry, filename)]
    local_size, notes = launch.local_size, []
    if local_size is None:
        required = function.work_group
        local_size = required[: len(launch.global_size)] if required else likely_local(launch.global_size)
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
        offset=launch.offset,
        ragged=(options.standard or "").startswith(RAGGED),
    )
    return Explained(replace(found, outputs={}), tuple(notes))  # copies of buffers that nobody asks for
