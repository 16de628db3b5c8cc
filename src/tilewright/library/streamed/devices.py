"""The devices of a call that names several."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from ...errors import InvalidInput
from ...runtime.icd.preference import NEVER_BY_DEFAULT, preference
from ...runtime.opencl.device import Device, list_devices, no_device
from ..engine import default_device

ALL = "all"


def several(device: Any) -> bool:
    """Whether `device=` names more than one device, or all."""
    return isinstance(device, list | tuple) or (isinstance(device, str) and device == ALL)


def opened(device: Any) -> tuple[Device, ...]:
    """The devices of `device=`: an index or a name, a list of them, or "all"."""
    if not several(device):
        return (default_device(device),)
    wanted: Sequence[Any] = _every() if device == ALL else device
    if not wanted:
        raise InvalidInput(f"device={device!r} names no device: name one or more, or write {ALL!r}")
    found = tuple(default_device(each) for each in wanted)
    if len(set(map(id, found))) < len(found):
        labels = ", ".join(each.info.label for each in found)
        raise InvalidInput(f"device={device!r} names a device twice: {labels}")
    return found


@cache
def _every() -> tuple[int, ...]:
    """All devices that are used by default. A processor or a GPU that two drivers offer counts once, as the preferred one.

    Drivers are asked once for each process, which takes 16 ms for one processor and longer for GPUs.
    """
    found: list[int] = []
    infos = list_devices()
    for number, info in enumerate(infos):
        twice = any(
            infos[other].platform != info.platform
            and infos[other].kind == info.kind
            and (info.kind == "cpu" or infos[other].name == info.name)
            for other in found
        )
        if not twice and preference(info.platform, info.version, info.kind) < NEVER_BY_DEFAULT:
            found.append(number)
    if not found:
        raise no_device()  # which is not kept
    return tuple(found)
