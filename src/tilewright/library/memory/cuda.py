"""Arrays of CUDA's frameworks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...runtime.cuda.device import Device
from ...runtime.cuda.driver import check
from ...runtime.cuda.opening import library_device
from ...runtime.cuda.programs import Buffer
from ..cuda_arrays.array import CudaArray, Framework
from ..cuda_arrays.exported import check_stream, order_streams
from ..cuda_arrays.frameworks import framework_of
from ..engine import Call
from ..scratch import Scratch
from ..shapes import Shape, View, share_elements
from ..views import as_host_array
from .cuda_ready import CudaReady
from .cuda_streams import stream_handle, stream_key
from .on_device import DeviceCopies
from .ready import Recipe


class CudaMemory(DeviceCopies):
    """CUDA arrays. Nothing is copied: work goes to the caller's current stream, and is captured with it. No call waits, but for
    those with more scratch memory than is kept, which is freed after them.

    Results are arrays of the framework of the first CUDA array among the arguments.
    """

    binds_scratch = True

    def __init__(self, device: Device, framework: Framework, stream: int) -> None:
        self.device = device
        self.framework = framework
        self.queue = self._stream = stream
        self.scratch_key = stream_key(device, stream)
        self._capture = self.scratch_key.capture
        # A graph that was captured has launches of its own: they run whenever the graph does.
        self.key = ("cuda", id(device), *self.scratch_key)

    @property
    def captured(self) -> bool:
        """Whether a graph is made of what is enqueued."""
        return bool(self._capture)

    def holds(self, value: Any) -> bool:
        return isinstance(value, CudaArray)

    def as_array(self, value: Any, name: str) -> Any:
        """The caller's array as a CudaArray. A number becomes a NumPy array, which `as_operand` brings to the device.

        A CudaArray, such as a part of the caller's array, has been read already.
        """
        if isinstance(value, CudaArray):
            return value
        framework = framework_of(value)
        if framework is None:
            return self._number(value, name)
        ordinal = framework.ordinal(value)
        if ordinal != self.device.info.place:
            raise InvalidInput(
                f"{name} ({tuple(value.shape)}) is on GPU {ordinal}, other arrays are on GPU {self.device.info.place}: "
                "copy it there"
            )
        self._follow(framework, value)
        seen = framework.read(value, name, self._stream)
        seen.framework = framework
        return seen

    def _follow(self, framework: Framework, value: Any) -> None:
        """Wait on the device for what another framework does with its array in its own stream."""
        if framework is not self.framework:
            order_streams(self.device, framework.current_stream(self.device.info.place, [value]), self._stream)

    def _number(self, value: Any, name: str) -> np.ndarray:
        array = as_host_array(value, name)
        if array.size == 1:
            return array
        raise InvalidInput(
            f"{name} ({array.shape} {array.dtype}) lies in the host's memory, other arrays on GPU {self.device.info.place}: "
            "copy it there"
        )

    def as_operand(self, array: Any, dtype: np.dtype) -> Any:
        """The operand in that type, in memory of the device."""
        if isinstance(array, np.ndarray):
            return self._filled(array.astype(dtype, copy=False))
        return array if array.dtype == dtype else self._cast(array, dtype)

    def _filled(self, number: np.ndarray) -> Any:
        """A number in the device's memory, which was filled byte by byte: such work can be captured."""
        made = self.empty(number.shape, number.dtype)
        with self.device.current() as driver:
            for place, byte in enumerate(number.tobytes()):
                check("writing a number", driver.cuMemsetD8Async(made.pointer + place, byte, 1, self._stream))
        return made

    def as_out(self, out: Any) -> Any:
        """The caller's array for the result. InvalidInput if it is no CUDA array, or cannot be written to."""
        if isinstance(out, CudaArray):
            return out
        framework = framework_of(out)
        if framework is None:
            raise InvalidInput(
                f"out is a {type(out).__name__} in the host's memory; for CUDA operands, pass a CUDA array"
            )
        if framework.ordinal(out) != self.device.info.place:
            raise InvalidInput(f"out is on GPU {framework.ordinal(out)}, the operands on GPU {self.device.info.place}")
        self._follow(framework, out)
        seen = framework.read_out(out, self._stream)
        seen.framework = framework
        if share_elements(View(seen.shape, seen.strides, 0)):
            raise InvalidInput(
                f"elements of out share memory: its shape is {seen.shape}, its strides are {seen.strides} elements"
            )
        return seen

    def writable_by_kernels(self, out: Any) -> bool:
        """Kernels can write to any array on the device."""
        return True

    def signature(self, array: Any) -> tuple[Any, ...] | None:
        return None if array is None else (array.shape, array.strides, array.view.offset, array.dtype)

    def view(self, array: Any) -> View:
        seen: View = array.view
        return seen

    def as_vector(self, array: Any) -> Any:
        """The array, or a copy, with contiguous elements at offset 0."""
        if array.view.offset == 0 and array.strides == (1,) * array.ndim:
            return array
        copied = self.empty(array.shape, array.dtype)
        self.assign(copied, array)
        return copied

    def empty(self, shape: Shape, dtype: np.dtype) -> Any:
        return self.framework.empty(shape, dtype, self.device.info.place, self._stream)

    def overlap(self, one: Any, other: Any) -> bool:
        """Whether the bytes that two arrays span overlap. Interleaved arrays count as overlapping."""
        if not isinstance(one, CudaArray):
            return False
        (begin, end), (other_begin, other_end) = one.span, other.span
        return bool(begin < other_end and other_begin < end)

    @staticmethod
    def one_place(one: CudaArray, other: CudaArray) -> bool:
        return one.pointer == other.pointer

    def same_elements(self, one: Any, other: Any) -> bool:
        """Whether two arrays, the caller's or read already, have the same elements at the same addresses."""
        if one is other:
            return True
        seen = [each if isinstance(each, CudaArray) else self._read_again(each) for each in (one, other)]
        places = [each and (each.pointer, each.shape, each.strides, each.dtype) for each in seen]
        return places[0] is not None and places[0] == places[1]

    def _read_again(self, value: Any) -> CudaArray | None:
        framework = framework_of(value)
        return None if framework is None else framework.read(value, "out", self._stream)

    def run(self, call: Call, arrays: Mapping[str, Any], output: str, reads_output: bool) -> None:
        """Enqueue on the stream."""
        buffers = {name: Buffer(array.base, 0) for name, array in arrays.items()}
        with self.device.current():
            call = call.apart() if call.turn.taken else call
            scratch = self._scratch_of(call)
            call.enqueue(buffers, self._stream, event=False, scratch=lent(scratch))
            self._enqueued(tuple(arrays.values()))
        written = arrays[output]
        (written.framework or self.framework).written(written.given)

    def _enqueued(self, arrays: tuple[Any, ...]) -> None:
        """Tell every framework; those with another stream wait on the device for what was done to their arrays."""
        for framework in {id(each.framework): each.framework for each in arrays}.values():
            own = [each for each in arrays if each.framework is framework]
            (framework or self.framework).enqueued(own, self._stream, bool(self._capture))
            if framework not in (None, self.framework):
                theirs = framework.current_stream(self.device.info.place, [each.given for each in own])
                order_streams(self.device, self._stream, theirs)

    def _scratch_of(self, call: Call) -> Sequence[Scratch]:
        """Scratch memory for a call. What the launches of a captured one use is kept: the graph runs whenever it likes."""
        scratch = call.scratch(self.scratch_key, keep=self.captured)
        if self._capture:
            self.device.captured.append((call, scratch))
        return scratch

    def ready(self, recipe: Recipe) -> CudaReady:
        with self.device.current():
            return CudaReady(self, recipe, lent(self._scratch_of(recipe.call)))

    def result(self, array: Any) -> Any:
        return self.framework.result(array, self._stream)

    def permuted(self, result: Any, order: Sequence[int]) -> Any:
        return self.framework.permuted(result, order)


def cuda_memory(values: Sequence[Any], framework: Framework, first: Any, queue: Any, wait_for: Any) -> CudaMemory:
    """The memory of a call whose first CUDA array is `first`. `queue` may be another stream than the current one."""
    if wait_for is not None:
        raise InvalidInput("wait_for takes OpenCL's events; let the stream wait for CUDA's, and leave it out")
    ordinal = framework.ordinal(first)
    device = library_device(ordinal)
    if queue is None:
        return CudaMemory(device, framework, framework.current_stream(ordinal, values))
    stream = stream_handle(queue)
    check_stream(device, stream)
    return CudaMemory(device, framework, stream)


def lent(scratch: Sequence[Scratch]) -> list[Scratch]:
    """The same memory for the arguments of kernels, which must not keep it longer than `library/scratch.py` does."""
    return [{name: buffer._replace(owner=None) for name, buffer in own.items()} for own in scratch]
