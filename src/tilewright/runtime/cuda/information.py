"""Reads CUDA's facts about devices into DeviceInfo."""

import ctypes
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...core.device import DeviceInfo
from ..pci import PciPlace
from .driver import ATTRIBUTES, answer, driver_calls

PLAIN_FEATURES = frozenset({"gpu", "nvidia"})
# Instructions by the compute capability that has them; those of sm_90a are on no later GPU. PTX ISA, "Target ISA Notes".
SINCE = {"ldmatrix": (7, 5), "mma": (8, 0), "mma_f64_m8": (8, 0), "cp_async": (8, 0), "mma_f64": (9, 0), "tma": (9, 0)}
HOPPER = (9, 0)
# The order in which mma.sync adds was seen on an H200. Nobody promises it elsewhere.
OF_HOPPER = {"wgmma", "mma_f64_chain"}
DRIVER_FILE = Path("/proc/driver/nvidia/version")


def count_devices() -> int:
    """The number of GPUs that CUDA's driver offers; NoDevice without a driver."""
    return int(answer("counting devices", driver_calls().cuDeviceGetCount, kind=ctypes.c_int))


def list_devices() -> tuple[DeviceInfo, ...]:
    """The GPUs that CUDA's driver offers. NoDevice if there is no driver."""
    return tuple(map(describe, range(count_devices())))


def handle_of(ordinal: int) -> int:
    """The driver's handle of a GPU."""
    return int(answer("finding the device", driver_calls().cuDeviceGet, ordinal, kind=ctypes.c_int))


def describe(ordinal: int) -> DeviceInfo:
    """A GPU's facts as plain data, by the names of OpenCL. Its features are those that CUDA's dialect has for ladders."""
    driver = driver_calls()
    handle = handle_of(ordinal)
    ask = partial(attribute, handle)
    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGetName(name, 256, handle)
    version = answer("asking for the version", driver.cuDriverGetVersion, kind=ctypes.c_int)
    total = int(answer("asking for the memory", driver.cuDeviceTotalMem_v2, handle, kind=ctypes.c_size_t))
    return DeviceInfo(
        name=name.value.decode(),
        platform="NVIDIA CUDA",
        vendor="NVIDIA Corporation",
        driver=f"CUDA {version // 1000}.{version % 1000 // 10}",
        kind="gpu",
        place=ordinal,
        compute_units=ask("MULTIPROCESSOR_COUNT"),
        clock_mhz=ask("CLOCK_RATE") // 1000,
        max_work_group_size=ask("MAX_THREADS_PER_BLOCK"),
        max_work_item_sizes=tuple(ask(f"MAX_BLOCK_DIM_{axis}") for axis in "XYZ"),
        local_bytes=ask("MAX_SHARED_MEMORY_PER_BLOCK"),
        global_bytes=total,
        max_alloc_bytes=total,
        base_align_bytes=256,
        host_unified=bool(ask("INTEGRATED")),
        sub_group_width=ask("WARP_SIZE"),
        compute_capability=(ask("COMPUTE_CAPABILITY_MAJOR"), ask("COMPUTE_CAPABILITY_MINOR")),
        fp64=True,
        features=PLAIN_FEATURES,
    )


def attribute(handle: int, name: str) -> int:
    """A fact of a device by its name in `ATTRIBUTES`."""
    function = driver_calls().cuDeviceGetAttribute
    return int(answer(f"asking for {name}", function, ATTRIBUTES[name], handle, kind=ctypes.c_int))


def pci_place_of(ordinal: int) -> PciPlace:
    """Where a GPU is, as OpenCL says it too. A virtual machine may have several on one bus, or each in a domain of its own."""
    handle = handle_of(ordinal)
    return PciPlace(*(attribute(handle, f"PCI_{name}_ID") for name in ("DOMAIN", "BUS", "DEVICE")))


def library_info(ordinal: int) -> DeviceInfo:
    """A GPU's facts for the library's own kernels: with all instructions and all local memory of its architecture."""
    found = describe(ordinal)
    handle = handle_of(ordinal)
    local = attribute(handle, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    features = found.features | instructions_of(found.compute_capability)
    return replace(found, features=features, static_local_bytes=local)


def instructions_of(compute_capability: tuple[int, int] | None) -> frozenset[str]:
    """The features of kernels that a GPU's instruction set has."""
    own = compute_capability or (0, 0)
    since = {name for name, first in SINCE.items() if own >= first}
    return frozenset(since | (OF_HOPPER if own == HOPPER else set()))


def driver_version(info: DeviceInfo) -> str:
    """The driver's version as exactly as this system tells it: programs that are kept on disk depend on it."""
    try:
        return DRIVER_FILE.read_text(encoding="utf-8").splitlines()[0].strip()
    except OSError:
        return info.driver


def architecture(compute_capability: tuple[int, int] | None) -> str:
    """NVIDIA's name for a device's architecture: "sm_90"."""
    major, minor = compute_capability or (0, 0)
    return f"sm_{major}{minor}"
