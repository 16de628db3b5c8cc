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


def plain_launcher(
    driver: Driver, function: int, grid: tuple[Sequence[int], Sequence[int]], dynamic_bytes: int, stream: int, arguments: int
) -> Callable[[], int]:  # fmt: skip
    """A function that launches a kernel and returns CUDA's status."""
    sizes = map(ctypes.c_uint, (*grid[0], *grid[1], dynamic_bytes))
    call = driver.library["cuLaunchKernel"]  # without types of arguments, which would be checked at each call
    return partial(call, ctypes.c_void_p(function), *sizes, ctypes.c_void_p(stream), ctypes.c_void_p(arguments), None)


def extended_launcher(
    driver: Driver, function: int, grid: tuple[Sequence[int], Sequence[int]], dynamic_bytes: int, stream: int, arguments: int,
    attributes: Mapping[int, Sequence[int]],
) -> Callable[[], int]:  # fmt: skip
    """The same with attributes, each with its value: up to three numbers."""
    values = (_Attribute(id_, b"", (ctypes.c_uint * 3)(*value)) for id_, value in attributes.items())
    each = (_Attribute * len(attributes))(*values)
    config = _Config(
        (ctypes.c_uint * 3)(*grid[0]), (ctypes.c_uint * 3)(*grid[1]), dynamic_bytes, stream, each, len(attributes)
    )
    call = driver.library["cuLaunchKernelEx"]
    launch: Callable[[], Any] = partial(
        call, ctypes.byref(config), ctypes.c_void_p(function), ctypes.c_void_p(arguments), None
    )
    return launch
