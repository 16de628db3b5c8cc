"""Launches of CUDA's driver with attributes: `cuLaunchKernelEx`."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from .driver import Driver

# CUlaunchAttributeID of `cuda.h`: all work-groups run at a time, or CUDA refuses the launch; they may take their places early.
COOPERATIVE, CLUSTER_DIMENSION, PROGRAMMATIC_STREAM_SERIALIZATION = 2, 4, 6


class _Attribute(ctypes.Structure):
    _fields_: ClassVar = [
        ("id", ctypes.c_int), ("padding", ctypes.c_char * 4), ("value", ctypes.c_uint * 3), ("rest", ctypes.c_char * 52),
    ]  # fmt: skip


class _Config(ctypes.Structure):
    _fields_: ClassVar = [
        ("groups", ctypes.c_uint * 3), ("items", ctypes.c_uint * 3), ("dynamic_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint),
    ]  # fmt: skip


def launcher(
    driver: Driver, function: int, grid: tuple[Sequence[int], Sequence[int]], dynamic_bytes: int, stream: int, arguments: int,
    attributes: Mapping[int, Sequence[int]],
) -> Callable[[], int]:  # fmt: skip
    """A function that launches a kernel with attributes, each with its value of up to three numbers, and returns CUDA's status.

    ctypes converts four arguments here instead of eleven: a launch without attributes, too, takes a microsecond less so.
    """
    values = (_Attribute(id_, b"", (ctypes.c_uint * 3)(*value)) for id_, value in attributes.items())
    each = (_Attribute * len(attributes))(*values)
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
