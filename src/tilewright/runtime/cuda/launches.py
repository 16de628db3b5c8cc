"""Launches of CUDA's driver with attributes: `cuLaunchKernelEx`."""

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from .driver import Driver

# CUlaunchAttributeID of `cuda.h`: all work-groups run at a time, or CUDA refuses the launch; they may take their places early.
COOPERATIVE, PROGRAMMATIC_STREAM_SERIALIZATION = 2, 6


class _Attribute(ctypes.Structure):
    _fields_: ClassVar = [
        ("id", ctypes.c_int), ("padding", ctypes.c_char * 4), ("value", ctypes.c_int), ("rest", ctypes.c_char * 60),
    ]  # fmt: skip


class _Config(ctypes.Structure):
    _fields_: ClassVar = [
        ("groups", ctypes.c_uint * 3), ("items", ctypes.c_uint * 3), ("dynamic_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint),
    ]  # fmt: skip


def launcher(
    driver: Driver, function: int, grid: tuple[Sequence[int], Sequence[int]], dynamic_bytes: int, stream: int, arguments: int,
    attributes: Sequence[int] = (),
) -> Callable[[], int]:  # fmt: skip
    """A function that launches a kernel with attributes, each of which is set to 1, and returns CUDA's status.

    ctypes converts four arguments here instead of eleven: a launch without attributes, too, takes a microsecond less so.
    """
    each = (_Attribute * len(attributes))(*(_Attribute(id_, b"", 1) for id_ in attributes))
    config = _Config(
        (ctypes.c_uint * 3)(*grid[0]), (ctypes.c_uint * 3)(*grid[1]), dynamic_bytes, stream, each, len(attributes)
    )
    try:
        call = driver.library["cuLaunchKernelEx"]  # without types of arguments, which would be checked at each call
    except AttributeError:  # a driver before CUDA 11.8, for GPUs whose kernels need no attributes
        return _old_launcher(driver, function, grid, dynamic_bytes, stream, arguments)
    launch: Callable[[], Any] = partial(
        call, ctypes.byref(config), ctypes.c_void_p(function), ctypes.c_void_p(arguments), None
    )
    return launch


def _old_launcher(
    driver: Driver, function: int, grid: tuple[Sequence[int], Sequence[int]], dynamic_bytes: int, stream: int, arguments: int
) -> Callable[[], int]:  # fmt: skip
    sizes = map(ctypes.c_uint, (*grid[0], *grid[1], dynamic_bytes))
    call = driver.library["cuLaunchKernel"]
    return partial(call, ctypes.c_void_p(function), *sizes, ctypes.c_void_p(stream), ctypes.c_void_p(arguments), None)
