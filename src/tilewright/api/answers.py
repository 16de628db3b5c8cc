"""Why a kernel is slow or wrong: `why`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from ..advice.answer import Answer
from ..advice.ask import why_kernel
from ..advice.page import save_page
from ..core.checked import check_functions, checked_path, checked_seconds, checked_switch
from ..core.launch_options import LaunchOptions
from ..core.sizes import FilePath, Sides, Size, as_size
from ..kernels.settings import KernelName, Settings
from ..measurement.progress import Announce
from ..runtime.device import opened_or_name
from ..runtime.opencl.device import Device
from .progress import progress_line
from .records import Record, shown_record


def why(
    kernel: KernelName,
    size: Size = (),
    *,
    device: str | int | Device | None = None,
    device_model: str | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 2.0,
    baselines: bool = True,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    html: FilePath | None = None,
    announce: Announce | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    **own: Unpack[LaunchOptions],
) -> Answer:
    """Why a kernel is slow or wrong: its causes, ranked by what fixing each could gain at most. `print` it to read it.

    Arguments:
        kernel: a rung's name, a `.cl` file with its `global_size` and `local_size`, or a Kernel.
        size: n, (m, n, k) or (rows, columns); by default that at which ladders are measured.
        device: an index, "cpu", "gpu", part of a name, or an opened device.
        device_model: "h100", "nvidia", "amd64", "cpu" or another model of `explain`. Nothing is run then: counts, machine
            code and the rates of a typical device rank the causes.
        seconds: the time for measuring.
        html: a file for the answer as a page.

    The other arguments, `own` too, are those of `run`. A kernel that is wrong gets its faults, and nothing about its speed.
    NoDevice without a device; InvalidInput for a device beside a model; Unsupported for a type that the kernel does not
    have.
    """
    opened = opened_or_name(device)
    seconds, baselines = checked_seconds("seconds", seconds), checked_switch("baselines", baselines)
    place = None if html is None else checked_path("html", html)
    size = as_size(size)
    check_functions(announce=announce, keep=keep)
    with progress_line("why") as line:
        answer = why_kernel(
            kernel, size, device=opened, device_model=device_model, dtype=dtype, offset=offset, seconds=seconds,
            baselines=baselines, settings=settings, global_size=global_size, local_size=local_size,
            announce=announce or line, keep=lambda early: keep(shown_record(early)), **own,
        )  # fmt: skip
    if place is not None:
        save_page(answer, place)
    return answer
