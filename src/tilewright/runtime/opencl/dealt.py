"""The devices of a host, dealt to the processes that work together on it."""

from collections.abc import Sequence

from ...core.device import DeviceInfo
from .device import default_index, list_devices


def dealt_device(place: int) -> str | None:
    """The device of the process with this place on its host, from 0 on, as `device=` takes it: those that are alike, in turn."""
    alike = alike_devices(list_devices())
    return alike[place % len(alike)] if alike else None


def alike_devices(infos: Sequence[DeviceInfo]) -> list[str]:
    """The indices of the default device and of those of its driver and kind; empty if there is no default."""
    default = default_index(infos)
    if default is None:
        return []
    wanted = infos[default].platform, infos[default].kind
    return [str(index) for index, info in enumerate(infos) if (info.platform, info.kind) == wanted]
