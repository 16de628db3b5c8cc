"""Memory, loaded programs and bound kernels of CUDA's driver."""

import ctypes
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ...core.source import Signature
from ..argument_types import argument_types
from .driver import CAPTURE_RELAXED, MOST_DYNAMIC_SHARED, answer, check, driver_calls


class Buffer(NamedTuple):
    """Device memory from `pointer` on. The owner frees it when no buffer refers to it."""

    pointer: int
    nbytes: int
    owner: object = None


class Allocation:
    """Memory that is freed when its last buffer is gone, in whatever thread that is, and whatever is being captured."""

    def __init__(self, pointer: int, context: int) -> None:
        weakref.finalize(self, _free, pointer, context).atexit = False  # the driver frees all then


def _free(pointer: int, context: int) -> None:
    driver = driver_calls()
    check("entering a context", driver.cuCtxPushCurrent_v2(context))
    try:
        with relaxed_capture():
            check("freeing memory", driver.cuMemFree_v2(pointer))
    finally:
        driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


@contextmanager
def relaxed_capture() -> Iterator[None]:
    """Allow calls that a stream's capture forbids to its thread: memory and programs are made beside the graph."""
    driver, mode = driver_calls(), ctypes.c_int(CAPTURE_RELAXED)
    check("relaxing captures", driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode)))
    try:
        yield
    finally:
        driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))


class BoundKernel:
    """A function with its arguments. CUDA reads them from the addresses in `arguments` at each launch."""

    def __init__(self, function: int, count: int, dynamic_bytes: int, dependent: bool = False) -> None:
        self.function = function
        self.dependent = dependent  # whether it waits for its predecessor by itself
        self.dynamic_bytes = dynamic_bytes
        self._values: list[Any] = [None] * count
        self._owners: list[Any] = [None] * count  # bound arguments keep memory alive: launches may follow
        self.arguments = (ctypes.c_void_p * max(count, 1))()

    def set_arg(self, index: int, value: Any) -> None:
        """Bind a buffer, or a scalar of a NumPy type."""
        if isinstance(value, Buffer):
            self.pointer(index).value = value.pointer
            self._owners[index] = value.owner
            return
        if value is None:  # a null pointer
            self.pointer(index).value = 0
            self._owners[index] = None
            return
        kept = np.atleast_1d(np.asarray(value))
        self._values[index] = kept
        self.arguments[index] = kept.ctypes.data

    def pointer(self, index: int, place: Any = None) -> Any:
        """The place of a pointer among the arguments: its `value` is what the next launch gets. `place` is that of another
        argument with the same value."""
        if place is not None or not isinstance(self._values[index], ctypes.c_uint64):
            self._values[index] = ctypes.c_uint64() if place is None else place
            self.arguments[index] = ctypes.addressof(self._values[index])
        return self._values[index]


class Program:
    """A loaded program, and the types of its kernel's arguments."""

    def __init__(
        self, module: int, signature: Signature, dtype: str, name: str, dynamic_bytes: int, log: str, dependent: bool = False
    ) -> None:  # fmt: skip
        driver = driver_calls()
        self.log = log
        self.argument_types = argument_types(name, signature, dtype)
        self._dynamic_bytes = dynamic_bytes
        self._dependent = dependent
        self._count = len(signature.parameters)
        self._function = answer(
            f"finding {signature.entry!r}", driver.cuModuleGetFunction, module, signature.entry.encode()
        )
        if dynamic_bytes:
            limit = driver.cuFuncSetAttribute(self._function, MOST_DYNAMIC_SHARED, dynamic_bytes)
            check(f"giving {name} {dynamic_bytes:,} bytes of shared memory", limit)

    def new_kernel(self) -> BoundKernel:
        """A new set of arguments. Threads must not share one."""
        return BoundKernel(self._function, self._count, self._dynamic_bytes, self._dependent)
