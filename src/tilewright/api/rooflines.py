"""Which peak limits a kernel, or each rung of a ladder: `roofline`."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Unpack, overload

from ..core import records
from ..core.checked import check_functions, checked_seconds
from ..core.kernel import Kernel, Ladder
from ..core.launch_options import LaunchOptions
from ..core.sizes import FilePath, Sides, Size, as_size
from ..errors import InvalidInput
from ..kernels import LADDERS
from ..kernels.settings import KernelName, Settings
from ..measurement.ladder_roofline import LadderRoofline, roofline_ladder, rooflines_of_record
from ..measurement.progress import Announce
from ..measurement.roofline import Roofline, roofline_kernel
from ..reports.plot import load_drawable
from ..runtime.device import opened_or_name
from ..runtime.opencl.device import Device
from .progress import progress_line
from .records import Record, shown_record

Given = tuple[tuple[str, object], ...]  # arguments and whether each was given


@overload
def roofline(
    subject: Kernel,
    size: Size = (),
    device: str | int | Device | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 2.0,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    announce: Announce | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    **own: Unpack[LaunchOptions],
) -> Roofline: ...


@overload
def roofline(
    subject: Ladder | records.Record,
    size: Size = (),
    device: str | int | Device | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 2.0,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    announce: Announce | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    **own: Unpack[LaunchOptions],
) -> LadderRoofline: ...


@overload
def roofline(
    subject: FilePath,
    size: Size = (),
    device: str | int | Device | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 2.0,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    announce: Announce | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    **own: Unpack[LaunchOptions],
) -> Roofline | LadderRoofline: ...


def roofline(
    subject: KernelName | Ladder | records.Record,
    size: Size = (),
    device: str | int | Device | None = None,
    dtype: str | None = None,
    offset: int = 0,
    seconds: float = 2.0,
    settings: Settings | None = None,
    global_size: Sides | None = None,
    local_size: Sides | None = None,
    announce: Announce | None = None,
    keep: Callable[[Record], None] = lambda record: None,
    **own: Unpack[LaunchOptions],
) -> Roofline | LadderRoofline:
    """Measure a kernel, or each rung of a ladder, and the device's peaks, and count the traffic. `print` the result.

    Arguments:
        subject: a rung's name, a `.cl` file with its `global_size` and `local_size` in work-items, or a Kernel; a ladder or
            its name; or a ladder's record or its .json file, whose times and peaks are taken. The file of a roofline is
            given back as it is.
        size: n, (m, n, k) or (rows, columns); by default one that suits the device.
        device: an index, "cpu", "gpu", part of a name, or an opened device.
        dtype: the element type; the usual one if left out.
        offset: the columns that a transpose or copy leaves out.
        seconds: the time for measuring.
        settings: fields of a rung's configuration, or macros of a file.
        own: what the arguments of a file get: entry, arguments, bind, init ... (`LaunchOptions`).
        announce: gets what is going on. Without it a notebook shows that in one line.
        keep: gets the record of what was measured until then if the call ends early.

    A kernel gives a Roofline, a ladder or its record a LadderRoofline. Unsupported says why the device cannot run a kernel;
    InvalidInput for an empty problem, for a record without peaks, and for arguments that the subject has no use for.
    """
    of_one_kernel: Given = (
        ("offset", offset), ("settings", settings), ("global_size", global_size), ("local_size", local_size),
        *own.items(),
    )  # fmt: skip
    opened, seconds, size = opened_or_name(device), checked_seconds("seconds", seconds), as_size(size)
    check_functions(announce=announce, keep=keep)
    with progress_line(f"roofline {subject if isinstance(subject, str) else ''}".strip()) as line:
        tell = announce or line
        if isinstance(subject, records.Record) or (isinstance(subject, str | PathLike) and _is_record_file(subject)):
            _refuse(
                (*of_one_kernel, ("size", size), ("device", device), ("dtype", dtype)), "a record was measured already"
            )
            return _of_record(subject, tell)
        if isinstance(subject, Ladder) or (isinstance(subject, str) and subject in LADDERS):
            _refuse(of_one_kernel, "a ladder has kernels of its own")
            return roofline_ladder(
                subject,
                size,
                opened,
                dtype,
                seconds,
                announce=tell,
                keep=lambda each: keep(shown_record(each)),
            )
        return roofline_kernel(
            subject, size, opened, dtype, offset, seconds, settings, global_size, local_size, tell,
            lambda each: keep(shown_record(each)), **own,
        )  # fmt: skip


def _is_record_file(subject: FilePath) -> bool:
    return Path(subject).suffix == ".json"


def _of_record(record: records.Record | FilePath, announce: Announce) -> Roofline | LadderRoofline:
    """A saved roofline as it is; of a ladder's record the traffic is counted now."""
    found = record if isinstance(record, records.Record) else load_drawable(Path(record))
    return rooflines_of_record(found, announce) if isinstance(found, records.Record) else found


def _refuse(given: Given, why: str) -> None:
    """InvalidInput for arguments that would be ignored."""
    if unused := [name for name, value in given if value]:
        raise InvalidInput(f"{', '.join(unused)}: {why}, so leave out what it has no use for")
