"""Finds and opens CUDA's devices. Each is opened once for the ladders' counterparts, and once for the library."""

from functools import cache

from ...errors import NoDevice, UnknownName
from ..device import DEVICE_VARIABLE, preset_device
from ..pci import PciPlace
from .compilers import NvrtcCompiler, compiler_of
from .device import Device
from .information import architecture, count_devices, describe, library_info, list_devices, pci_place_of


@cache
def opened(ordinal: int) -> Device:
    info = describe(ordinal)
    return Device(info, NvrtcCompiler(architecture(info.compute_capability)))


def open_device(wanted: str | None = None) -> Device:
    """Open a GPU by its index in CUDA's order, or by a part of its name. NoDevice if there is none.

    None means the GPU that TILEWRIGHT_DEVICE names; without that variable the first one.
    """
    infos = list_devices()
    kind = "CUDA device"
    if wanted is None and (wanted := preset_device()) is not None:
        kind = f"CUDA device ({DEVICE_VARIABLE})"
    if not infos:
        raise NoDevice("no CUDA device: the driver offers none")
    for place, info in enumerate(infos):
        if wanted is None or wanted in ("gpu", str(place)) or wanted.lower() in info.label.lower():
            return opened(place)
    raise UnknownName(kind, str(wanted), [*map(str, range(len(infos))), *(info.label for info in infos)])


def open_counterpart(place: PciPlace) -> Device:
    """The GPU at this place on the PCI bus: the counterpart of an OpenCL device."""
    for ordinal in range(count_devices()):
        if pci_place_of(ordinal) == place:
            return opened(ordinal)
    raise NoDevice(f"CUDA has no device at {place}: look at CUDA_VISIBLE_DEVICES")


@cache
def library_device(ordinal: int) -> Device:
    """The GPU for arrays of CUDA's frameworks: all instructions of its architecture, by the compiler that is here."""
    info = library_info(ordinal)
    return Device(info, compiler_of(pci_place_of(ordinal), architecture(info.compute_capability)))
