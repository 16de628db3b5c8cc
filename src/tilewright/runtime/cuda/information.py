"""Reads CUDA's facts about devices into DeviceInfo, and finds the compiler for them."""

from ...core.device import DeviceInfo
from ...errors import LaunchFailed, NoDevice
from .calls import ADVICE, check, driver_calls
from .nvrtc import Nvrtc, find_nvrtc


def list_devices() -> tuple[DeviceInfo, ...]:
    """The GPUs that CUDA's driver offers. NoDevice if the driver or the packages of the extra `cuda` are missing."""
    driver = driver_calls()
    try:
        check("starting CUDA", driver.cuInit(0))
    except (RuntimeError, LaunchFailed) as missing:  # RuntimeError: cuda-pathfinder found no driver
        raise NoDevice(f"no CUDA device: {str(missing).strip().splitlines()[0]}") from missing
    return tuple(map(describe, range(check("counting devices", driver.cuDeviceGetCount()))))


def describe(ordinal: int) -> DeviceInfo:
    """A GPU's facts as plain data, by the names of OpenCL."""
    driver = driver_calls()
    handle = check("finding the device", driver.cuDeviceGet(ordinal))

    def ask(name: str) -> int:
        wanted = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(check(f"asking for {name}", driver.cuDeviceGetAttribute(wanted, handle)))

    compute_capability = (ask("COMPUTE_CAPABILITY_MAJOR"), ask("COMPUTE_CAPABILITY_MINOR"))
    version = check("asking for the version", driver.cuDriverGetVersion())
    total = int(check("asking for the memory", driver.cuDeviceTotalMem(handle)))
    return DeviceInfo(
        name=check("asking for the name", driver.cuDeviceGetName(256, handle)).split(b"\0")[0].decode(),
        platform="NVIDIA CUDA",
        vendor="NVIDIA Corporation",
        driver=f"CUDA {version // 1000}.{version % 1000 // 10}",
        version=compiler_for(architecture(compute_capability)).version,
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
        compute_capability=compute_capability,
        fp64=True,
        features=frozenset({"gpu", "nvidia"}),
    )


def architecture(compute_capability: tuple[int, int] | None) -> str:
    """NVRTC's name for a device's architecture: "sm_90"."""
    major, minor = compute_capability or (0, 0)
    return f"sm_{major}{minor}"


def compiler_for(target: str) -> Nvrtc:
    """An NVRTC that compiles for an architecture; NoDevice says what to install."""
    compiler = find_nvrtc(target)
    if compiler is None:
        raise NoDevice(f"{ADVICE} (no NVRTC that compiles for {target})")
    return compiler
