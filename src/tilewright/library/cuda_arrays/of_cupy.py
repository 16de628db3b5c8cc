"""Arrays of CuPy. Imported when the first one comes, so CuPy is loaded already."""

from collections.abc import Callable, Sequence
from typing import Any

import cupy
import numpy as np

from ...errors import UnsupportedType
from ..shapes import Shape
from .array import UNCAPTURED, CudaArray


class CupyArrays:
    """CuPy's arrays. Results come from its memory pool, on the caller's current stream."""

    name = "CuPy"
    has_ready = True

    def holds(self, value: Any) -> bool:
        return True

    def ordinal(self, value: Any) -> int:
        return int(value.device.id)

    def read(self, value: Any, name: str, stream: int) -> CudaArray:
        return _array(value)

    def read_out(self, value: Any, stream: int) -> CudaArray:
        return _array(value)

    def current_stream(self, ordinal: int, values: Sequence[Any]) -> int:
        return self.stream_of(ordinal)

    def empty(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> CudaArray:
        return _array(self.maker(shape, dtype, ordinal, stream)())

    def result(self, array: CudaArray, stream: int) -> Any:
        return array.given

    def permuted(self, value: Any, order: Sequence[int]) -> Any:
        return value.transpose(order)

    def enqueued(self, arrays: Sequence[CudaArray], stream: int, captured: bool) -> None:
        """Nothing to do: the pool gives memory back in the order of the stream that it was made on."""

    def written(self, value: Any) -> None:
        """Nothing to do."""

    def stream_of(self, ordinal: int) -> int:
        return int(cupy.cuda.get_current_stream(ordinal).ptr)

    def count(self, value: Any) -> int:
        return int(value.size)

    def alike(self, *values: Any) -> Callable[..., bool]:
        wanted = tuple(map(_layout, values))

        def compared(*others: Any) -> bool:
            return all(type(each) is cupy.ndarray for each in others) and tuple(map(_layout, others)) == wanted

        return compared

    def settled(self, value: Any) -> bool:
        return type(value) is cupy.ndarray and bool(value.size)

    def address(self, value: Any) -> int:
        return int(value.data.ptr)

    def maker(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> Callable[[], Any]:
        own = None
        if stream != self.current_stream(ordinal, ()):
            own = cupy.cuda.Stream.null if stream in UNCAPTURED else cupy.cuda.ExternalStream(stream, ordinal)

        def make() -> Any:
            with cupy.cuda.Device(ordinal):
                if own is None:
                    return cupy.empty(shape, dtype)
                with own:
                    return cupy.empty(shape, dtype)

        return make


def _layout(value: Any) -> tuple[Any, ...]:
    return value.shape, value.strides, value.dtype, value.data.device_id


def _array(value: Any) -> CudaArray:
    dtype = np.dtype(value.dtype)
    if any(stride % dtype.itemsize for stride in value.strides):
        raise UnsupportedType(
            f"an array has strides of {value.strides} bytes, no multiples of {dtype.itemsize}: copy it"
        )
    strides = tuple(stride // dtype.itemsize for stride in value.strides)
    return CudaArray(int(value.data.ptr), tuple(value.shape), strides, dtype, int(value.device.id), value)
