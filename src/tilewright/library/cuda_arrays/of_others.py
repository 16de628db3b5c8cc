"""Arrays that CUDA's array interface or DLPack describes: those of Numba, JAX and others."""

import ctypes
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InvalidInput, UnsupportedType
from ...runtime.cuda.driver import EVENT_WITHOUT_TIME, POINTERS_DEVICE, answer, check, driver_calls
from ...runtime.cuda.opening import library_device
from ...runtime.opencl.copy_threads import taken_from
from ..shapes import Shape
from .array import CudaArray, dense_strides
from .dlpack import CUDA, CUDA_MANAGED, read_capsule
from .exported import LEGACY_STREAM, CudaResult, order_streams


class OtherArrays:
    """Arrays of other packages. Memory for results is allocated for each, and given back by its last owner."""

    name = "CUDA arrays"
    has_ready = False

    def __init__(self) -> None:
        # By stream: events, and what lives until they have happened. Without a lock: where an array ends here, its owner's
        # destructor may make a call of its own, which comes here, too.
        self._pending: dict[int, deque[tuple[int, Any]]] = {}
        self._captured: list[Any] = []  # what graphs use whenever they run

    def empty(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> CudaArray:
        buffer = library_device(ordinal).allocate(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
        return CudaArray(buffer.pointer, shape, dense_strides(shape), dtype, ordinal, buffer.owner)

    def result(self, array: CudaArray, stream: int) -> Any:
        return CudaResult(array, library_device(array.ordinal), stream)

    def permuted(self, value: Any, order: Sequence[int]) -> Any:
        raise InvalidInput(f"axes= of the result are not for {self.name}: transpose the result")

    def enqueued(self, arrays: Sequence[CudaArray], stream: int, captured: bool) -> None:
        """Keep the arrays until the work is done: their owner may not know of the stream."""
        given, driver = [each.given for each in arrays], driver_calls()
        if captured:
            self._captured.append(given)
            return
        pending = self._pending.setdefault(stream, deque())
        while _ended(pending, driver):
            pass
        event = answer("making an event", driver.cuEventCreate, EVENT_WITHOUT_TIME)
        check("recording an event", driver.cuEventRecord(event, stream))
        pending.append((event, given))

    def written(self, value: Any) -> None:
        """Nothing to do."""


def _ended(pending: deque[tuple[int, Any]], driver: Any) -> bool:
    """Let go of the first arrays if their event has happened. Whether it had: nobody else sees them meanwhile."""
    first = taken_from(pending)
    if first is None:
        return False
    happened = False
    try:
        happened = bool(driver.cuEventQuery(first[0]) == 0)
    finally:
        if not happened:
            pending.appendleft(first)
    if happened:
        driver.cuEventDestroy_v2(first[0])
    return happened


class InterfaceArrays(OtherArrays):
    """Arrays with `__cuda_array_interface__`: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html."""

    name = "CUDA arrays"

    def holds(self, value: Any) -> bool:
        return True

    def ordinal(self, value: Any) -> int:
        pointer = value.__cuda_array_interface__["data"][0]
        if not pointer:
            return 0
        function = driver_calls().cuPointerGetAttribute
        return int(answer("asking for an array's GPU", function, POINTERS_DEVICE, pointer, kind=ctypes.c_int))

    def read(self, value: Any, name: str, stream: int) -> CudaArray:
        found = value.__cuda_array_interface__
        if found.get("mask") is not None:
            raise UnsupportedType(f"{name} has a mask, which kernels ignore")
        dtype, ordinal = np.dtype(found["typestr"]), self.ordinal(value)
        shape = tuple(found["shape"])
        given = found.get("strides")
        if given is not None and any(stride % dtype.itemsize for stride in given):
            raise UnsupportedType(f"{name} has strides of {given} bytes, which are no multiples of {dtype.itemsize}")
        strides = dense_strides(shape) if given is None else tuple(stride // dtype.itemsize for stride in given)
        if found.get("stream") is not None:
            order_streams(library_device(ordinal), int(found["stream"]), stream)
        return CudaArray(int(found["data"][0] or 0), shape, strides, dtype, ordinal, value)

    def read_out(self, value: Any, stream: int) -> CudaArray:
        if value.__cuda_array_interface__["data"][1]:
            raise InvalidInput("out is read-only: pass a writable array")
        return self.read(value, "out", stream)

    def current_stream(self, ordinal: int, values: Sequence[Any]) -> int:
        """The stream that an array names; the legacy default stream otherwise."""
        for value in values:
            try:
                found = getattr(value, "__cuda_array_interface__", {}).get("stream")
            except RuntimeError:  # a tensor of PyTorch that requires grad
                continue
            if found is not None:
                return int(found)
        return LEGACY_STREAM


class NumbaArrays(InterfaceArrays):
    """Numba's device arrays."""

    name = "Numba"

    def result(self, array: CudaArray, stream: int) -> Any:
        from numba import cuda

        return cuda.as_cuda_array(super().result(array, stream), sync=False)

    def permuted(self, value: Any, order: Sequence[int]) -> Any:
        return value.transpose(tuple(order))


class DlpackArrays(OtherArrays):
    """Arrays with DLPack alone. Work runs on a stream of our own, for which their producer waits."""

    name = "DLPack arrays"

    def holds(self, value: Any) -> bool:
        place = getattr(value, "__dlpack_device__", None)
        if place is None:  # a tracer of JAX
            raise UnsupportedType(
                f"a {type(value).__name__} stands for an array without values: multiply outside of jit, grad and vmap"
            )
        return place()[0] in (CUDA, CUDA_MANAGED)

    def ordinal(self, value: Any) -> int:
        return int(value.__dlpack_device__()[1])

    def read(self, value: Any, name: str, stream: int) -> CudaArray:
        return read_capsule(value.__dlpack__(stream=stream or LEGACY_STREAM), name, value)

    def read_out(self, value: Any, stream: int) -> CudaArray:
        return self.read(value, "out", stream)

    def current_stream(self, ordinal: int, values: Sequence[Any]) -> int:
        return library_device(ordinal).stream


class JaxArrays(DlpackArrays):
    """JAX's arrays, which cannot be written to."""

    name = "JAX"

    def read_out(self, value: Any, stream: int) -> CudaArray:
        raise InvalidInput("out is a JAX array, which cannot be written to: leave out= away")

    def result(self, array: CudaArray, stream: int) -> Any:
        from jax.dlpack import from_dlpack

        return from_dlpack(super().result(array, stream))

    def permuted(self, value: Any, order: Sequence[int]) -> Any:
        return value.transpose(order)
