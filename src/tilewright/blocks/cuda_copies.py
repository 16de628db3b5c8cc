"""Copies of a matrix from GPU to GPU, in a chain: each GPU passes a panel on while it multiplies it.

The first GPU's link carries the matrix once, however many GPUs there are. Seven copies of 2 GiB from one GPU would take 33 ms
over an NVLink of 450 GB/s, in which its receivers could have multiplied twice: eight GPUs of 750 TFLOP/s take 12 ms for
float16 of 32768 a side. (Both rates are data sheets' or one GPU's. On two
H100s float16 of 32768 a side had 0.95 of one's rate; more GPUs were not measured.) A receiving GPU has a
stream for copies alone.

Who waits for whom, by events:

    the first copy         for what the caller had enqueued on the source's stream
    the copies to a GPU    for what the caller had enqueued on its stream, from whose memory the copy was allocated
    a panel's copy         for its arrival on the GPU before
    a panel's product      for its arrival
    at the end             a GPU's stream for the last copy that reads from it, or writes to it

So memory is written after its last use in its own stream, and later work in that stream comes after all copies: the
allocators of PyTorch and CuPy, which hand memory out in the order of its stream, may have it back at once, and the caller may
free or overwrite what was copied. Arrays without such an allocator are kept until an event, as in every call.
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise

from ..errors import Unsupported
from ..library.cuda_arrays.array import CudaArray
from ..library.cuda_arrays.exported import order_streams
from ..library.memory.cuda import CudaMemory
from ..library.shapes import Shape
from ..runtime.cuda.events import follow, forget, recorded
from ..runtime.cuda.peers import End, allow_access, copy_lines
from .panels import Panel, Stored, stored


def columns_of(array: CudaArray, panel: Panel) -> CudaArray:
    """A view of some of the last dimension's elements."""
    first = array.pointer + panel.begin * array.strides[-1] * array.dtype.itemsize
    return _view(array, first, (*array.shape[:-1], panel.end - panel.begin), array.strides)


def as_row(array: CudaArray) -> CudaArray:
    """A vector as a matrix of one row."""
    return _view(array, array.pointer, (1, *array.shape), (array.shape[0], *array.strides))


def as_vector(array: CudaArray) -> CudaArray:
    """A matrix of one row as a vector."""
    return _view(array, array.pointer, array.shape[1:], array.strides[1:])


def order(earlier: CudaMemory, later: CudaMemory) -> None:
    """Let later work in the stream of one call wait for what another call's stream has, on the same GPU."""
    order_streams(later.device, earlier.queue, later.queue)


def _view(array: CudaArray, pointer: int, shape: Shape, strides: Shape) -> CudaArray:
    made = CudaArray(pointer, shape, strides, array.dtype, array.ordinal, array.given)
    made.framework = array.framework
    return made


class _Stop:
    """A GPU of the chain, its part of the matrix, and the caller's stream there."""

    def __init__(self, memory: CudaMemory, array: CudaArray, lies: Stored) -> None:
        self.memory, self.array, self.lies = memory, array, lies
        self.device, self.stream = memory.device, memory.queue
        self.arrived: dict[Panel, int] = {}  # events
        self.before: int | None = None  # that of what the caller had enqueued

    def end(self, panel: Panel) -> End:
        return End(self.device, self.array.pointer + self.lies.rectangle(panel).origin, self.lies.pitch_bytes)


class CudaCopies:
    """The copies of one CUDA array. Unsupported if a stream is being captured: a graph has one stream's work."""

    def __init__(self, name: str, source: CudaArray, home: CudaMemory, receivers: Sequence[CudaMemory]) -> None:
        for memory in (home, *receivers):
            if memory.captured:
                raise Unsupported(
                    f"{name} is one array for several GPUs, and a stream of GPU {memory.device.info.place} is being captured: "
                    f"pass {name} as a list with one array on each GPU"
                )
        lies = stored(source.shape, source.strides, source.dtype.itemsize)
        if lies is None:
            source = home.dense(source, source.shape)
            lies = stored(source.shape, source.strides, source.dtype.itemsize)
            assert lies is not None
        self._stops = [_Stop(home, source, lies)]
        self._stops += [_Stop(memory, _received(source, lies.copied, memory), lies.copied) for memory in receivers]
        self._by_place: dict[Hashable, _Stop] = {
            memory.device.info.place: stop for memory, stop in zip(receivers, self._stops[1:], strict=True)
        }

    @property
    def places(self) -> Sequence[Hashable]:
        return tuple(self._by_place)

    def whole(self, place: Hashable) -> CudaArray:
        return self._by_place[place].array

    def begin(self) -> None:
        for earlier, later in pairwise(self._stops):
            allow_access(later.device, earlier.device)
            allow_access(earlier.device, later.device)
        for stop in self._stops:
            stop.before = recorded(stop.device, stop.stream)
        first = self._stops[0].before
        assert first is not None
        for place, stop in enumerate(self._stops[1:]):
            assert stop.before is not None
            follow(stop.device, stop.device.copy_stream, stop.before)
            if not place:
                follow(stop.device, stop.device.copy_stream, first)

    def send(self, panel: Panel) -> None:
        for earlier, later in pairwise(self._stops):
            stream = later.device.copy_stream
            if panel in earlier.arrived:
                follow(later.device, stream, earlier.arrived[panel])
            _, width, height = earlier.lies.rectangle(panel)
            copy_lines(earlier.end(panel), later.end(panel), width, height, stream)
            later.arrived[panel] = recorded(later.device, stream)

    def taken(self, panel: Panel, memory: CudaMemory) -> CudaArray:
        stop = self._by_place[memory.device.info.place]
        follow(memory.device, memory.queue, stop.arrived[panel])
        return columns_of(stop.array, panel)

    def finish(self, memories: Sequence[CudaMemory]) -> None:
        """Also after an error, when some panels are on their way and nobody has waited for them."""
        for earlier, later in pairwise(self._stops):
            last = recorded(later.device, later.device.copy_stream)
            follow(earlier.device, earlier.stream, last)
            follow(later.device, later.stream, last)
            forget(later.device, last)
        for stop in self._stops:
            for stream in {each.queue for each in memories if each.device is stop.device} - {stop.stream}:
                order_streams(stop.device, stream, stop.stream)  # products in other streams read the copy, too
            with stop.device.current():
                stop.memory.framework.enqueued([stop.array], stop.stream, False)
            for event in (*stop.arrived.values(), *([] if stop.before is None else [stop.before])):
                forget(stop.device, event)


def _received(source: CudaArray, lies: Stored, memory: CudaMemory) -> CudaArray:
    """Memory of a GPU for a copy, from the allocator and in the order of its call's stream."""
    made = memory.empty(lies.shape, source.dtype)
    shape = (lies.rows, lies.columns)
    return CudaArray(made.pointer, shape, lies.strides, source.dtype, memory.device.info.place, made.given)
