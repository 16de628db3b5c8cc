"""Arrays that CUDA's array interface or DLPack describes: those of Numba, JAX and others."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InvalidInput, UnsupportedType
from ...runtime.cuda.driver import EVENT_WITHOUT_TIME, POINTERS_DEVICE, answer, check, driver_calls
from ...runtime.cuda.opening import library_device
from ..shapes import Shape
from .array import CudaArray, dense_strides
from .dlpack import CUDA, CUDA_MANAGED, read_capsule
from .exported import LEGACY_STREAM, CudaResult, order_streams


class OtherArrays:
    """Arrays of other packages. Memory for results is allocated for each, and given back by its last owner."""

    name = "CUDA arrays"
    has_ready = False

    def empty(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> CudaArray:
        buffer = library_device(ordinal).allocate(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
        return CudaArray(buffer.pointer, shape, dense_strides(shape), dtype, ordinal, buffer.owner)

    def result(self, array: CudaArray, stream: int) -> Any:
        return CudaResult(array, library_device(array.ordinal), stream)

    def permuted(self, value: Any, order: Sequence[int]) -> Any:
        raise InvalidInput(f"axes= of the result are not for {self.name}: transpose the result")

    def enqueued(self, arrays: Sequence[CudaArray], written: CudaArray, stream: int) -> None:
        """Nothing to do: memory of CUDA that is freed waits for the device."""


class InterfaceArrays(OtherArrays):
    """Arrays with `__cuda_array_interface__`: https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html."""

    name = "CUDA arrays"

    def holds(self, value: Any) -> bool:
        return True

    def ordinal(self, value: Any) -> int:
        pointer = value.__cuda_array_interface__["data"][0]
        if not pointer:
            return 0
        import ctypes

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
        named = (
            value.__cuda_array_interface__.get("stream")
            for value in values
            if hasattr(value, "__cuda_array_interface__")
        )
        return next((int(each) for each in named if each is not None), LEGACY_STREAM)


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

    def __init__(self) -> None:
        self._pending: deque[tuple[int, Any]] = deque()  # events, and what must live until they have happened

    def holds(self, value: Any) -> bool:
        return value.__dlpack_device__()[0] in (CUDA, CUDA_MANAGED)

    def ordinal(self, value: Any) -> int:
        return int(value.__dlpack_device__()[1])

    def read(self, value: Any, name: str, stream: int) -> CudaArray:
        return read_capsule(value.__dlpack__(stream=stream), name, value)

    def read_out(self, value: Any, stream: int) -> CudaArray:
        return self.read(value, "out", stream)

    def current_stream(self, ordinal: int, values: Sequence[Any]) -> int:
        return library_device(ordinal).stream

    def enqueued(self, arrays: Sequence[CudaArray], written: CudaArray, stream: int) -> None:
        """Keep the operands until the work is done: their owner does not know of our stream."""
        driver = driver_calls()
        while self._pending and driver.cuEventQuery(self._pending[0][0]) == 0:
            driver.cuEventDestroy_v2(self._pending.popleft()[0])
        event = answer("making an event", driver.cuEventCreate, EVENT_WITHOUT_TIME)
        check("recording an event", driver.cuEventRecord(event, stream))
        self._pending.append((event, [each.given for each in arrays]))


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
