"""Copies from one GPU to another, by the driver: over NVLink or PCI Express, or through the host's memory if it must be.

CUDA Driver API, "Peer Context Memory Access" and "Memory Management".
"""

import ctypes
from functools import lru_cache
from typing import ClassVar, NamedTuple

from .device import Device
from .driver import answer, check
from .programs import relaxed_capture

DEVICE_MEMORY = 2  # CU_MEMORYTYPE_DEVICE
# CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, ..._ALREADY_ENABLED (by PyTorch, for example), and TOO_MANY_PEERS. Copies work all the same.
NO_NEWS = (217, 704, 711)

_SIZE, _ADDRESS, _POINTER = ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p


class _Rectangle(ctypes.Structure):
    """CUDA_MEMCPY3D_PEER of `cuda.h`."""

    _fields_: ClassVar = [
        *(
            (end + name, kind)
            for end in ("src", "dst")
            for name, kind in (
                ("XInBytes", _SIZE), ("Y", _SIZE), ("Z", _SIZE), ("LOD", _SIZE), ("MemoryType", ctypes.c_int),
                ("Host", _POINTER), ("Device", _ADDRESS), ("Array", _POINTER), ("Context", _POINTER),
                ("Pitch", _SIZE), ("Height", _SIZE),
            )
        ),
        ("WidthInBytes", _SIZE), ("Height", _SIZE), ("Depth", _SIZE),
    ]  # fmt: skip


class End(NamedTuple):
    """Where a copy begins or ends: the GPU, an address there, and the bytes from one line to the next."""

    device: Device
    pointer: int
    pitch: int


@lru_cache(maxsize=1024)  # pairs: 32 GPUs have 992
def allow_access(device: Device, other: Device) -> bool:
    """Let a GPU reach the memory of another one, so that copies go straight. Whether it can; copies work without, too."""
    driver = device.driver
    can = driver.cuDeviceCanAccessPeer
    if not answer("asking for peers", can, device.info.place, other.info.place, kind=ctypes.c_int):
        return False
    with device.current(), relaxed_capture():
        status = driver.cuCtxEnablePeerAccess(other.context, 0)
    if status not in NO_NEWS:
        check(f"letting {device.info.label} reach {other.info.label}", status)
    return True


def copy_lines(source: End, target: End, width: int, height: int, stream: int) -> None:
    """Enqueue a copy of `height` lines of `width` bytes on a stream of the target's GPU."""
    with target.device.current() as driver:
        if height == 1 or width == source.pitch == target.pitch:
            status = driver.cuMemcpyPeerAsync(
                target.pointer, target.device.context, source.pointer, source.device.context, width * height, stream
            )
        else:
            status = driver.cuMemcpy3DPeerAsync(ctypes.byref(_rectangle(source, target, width, height)), stream)
    what = f"copying {width * height:,} bytes from {_named(source)} to {_named(target)}"
    check(f"{what} (arrays in a list, one on each GPU, need no copy)", status)


def _rectangle(source: End, target: End, width: int, height: int) -> _Rectangle:
    made = _Rectangle(WidthInBytes=width, Height=height, Depth=1)
    made.srcMemoryType = made.dstMemoryType = DEVICE_MEMORY
    made.srcHeight = made.dstHeight = height
    made.srcDevice, made.srcContext, made.srcPitch = source.pointer, source.device.context, source.pitch
    made.dstDevice, made.dstContext, made.dstPitch = target.pointer, target.device.context, target.pitch
    return made


def _named(end: End) -> str:
    return f"GPU {end.device.info.place}"
