"""Several pretended GPUs, whose streams run late and in any order that CUDA allows: only events order unlike streams.

What is enqueued waits until `run`, which takes the next command of a random stream. So a call that forgot an event gives wrong
results for some seed. Memory comes from a pool for each GPU and stream, which hands memory out again as soon as an array is gone,
as PyTorch's and CuPy's do.
"""

import ctypes
import random
import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pretended_cuda import PretendedArray, PretendedDevice

from tilewright.core.kernel import NDRange
from tilewright.library.cuda_arrays.array import ALIGNED, CudaArray
from tilewright.library.cuda_arrays.of_others import InterfaceArrays
from tilewright.runtime.opencl.device import Device

FIRST_STREAM, FIRST_CONTEXT, FIRST_COPY_STREAM = 10, 100, 1000


class Happening:
    """One recording of an event."""

    def __init__(self) -> None:
        self.over = False


class GpuArray(PretendedArray):
    """An array on one of the GPUs. Its memory goes back to the pool with it."""

    def __init__(self, array: np.ndarray, ordinal: int, read_only: bool = False) -> None:
        super().__init__(array, read_only)
        self.ordinal = ordinal


class Gpus:
    """The driver of all GPUs, and their streams. `log` has the names of calls that copy or wait, with streams."""

    def __init__(self, device: Device, count: int) -> None:
        self.streams: dict[int, deque[Callable[[], bool]]] = defaultdict(deque)  # commands; false if one has to wait
        self.events: dict[int, Happening] = {}
        self.made = 0  # events
        self.log: list[tuple[Any, ...]] = []
        self.contexts: list[int] = []
        self.capturing: set[int] = set()
        self.peers = True
        self.refused: dict[int, int] = {}  # the status of copies, by their number
        self.copies = 0
        self.pool: dict[tuple[int, int, int], list[np.ndarray]] = defaultdict(list)
        self.devices = [GpuDevice(self, device, ordinal) for ordinal in range(count)]
        self.framework = GpuArrays(self)

    def enqueue(self, stream: int, work: Callable[[], object]) -> None:
        def command() -> bool:
            work()
            return True

        self.streams[stream].append(command)

    def run(self, seed: int) -> None:
        """Run all commands."""
        chooser, waiting = random.Random(seed), 0
        while busy := [stream for stream, commands in self.streams.items() if commands]:
            commands = self.streams[chooser.choice(busy)]
            if commands[0]():
                commands.popleft()
                waiting = 0
            else:
                waiting += 1
                assert waiting < 1000 * len(busy), "streams wait for each other"

    def own(self, array: np.ndarray, ordinal: int, read_only: bool = False) -> GpuArray:
        self.devices[ordinal].own(array)
        return GpuArray(array, ordinal, read_only)

    def stream(self, ordinal: int) -> int:
        """The caller's current stream."""
        return FIRST_STREAM + ordinal

    def cuCtxGetCurrent(self, answer: Any) -> int:
        answer._obj.value = self.contexts[-1] if self.contexts else None
        return 0

    def cuEventCreate(self, answer: Any, flags: int) -> int:
        self.made += 1
        self.events[self.made] = Happening()
        answer._obj.value = self.made
        return 0

    def cuEventRecord(self, event: int, stream: int) -> int:
        happening = self.events[event] = Happening()
        self.enqueue(stream, lambda: setattr(happening, "over", True))
        self.log.append(("record", stream))
        return 0

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> int:
        happening = self.events[event]
        self.streams[stream].append(lambda: happening.over)
        self.log.append(("wait", stream))
        return 0

    def cuEventQuery(self, event: int) -> int:
        return 0 if self.events[event].over else 600  # CUDA_ERROR_NOT_READY

    def cuEventDestroy_v2(self, event: int) -> int:
        del self.events[event]
        return 0

    def cuDeviceCanAccessPeer(self, answer: Any, one: int, other: int) -> int:
        answer._obj.value = int(self.peers)
        return 0

    def cuCtxEnablePeerAccess(self, context: int, flags: int) -> int:
        self.log.append(("peer", self.contexts[-1], context))
        return 704  # CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED

    def cuMemcpyPeerAsync(self, target: int, to: int, source: int, of: int, nbytes: int, stream: int) -> int:
        return self._copy(source, target, of, to, (nbytes, nbytes), (nbytes, 1), stream)

    def cuMemcpy3DPeerAsync(self, described: Any, stream: int) -> int:
        it = described._obj
        assert (it.srcMemoryType, it.dstMemoryType, it.Depth) == (2, 2, 1)
        pitches = it.srcPitch, it.dstPitch
        assert min(pitches) >= it.WidthInBytes
        sizes = it.WidthInBytes, it.Height
        return self._copy(it.srcDevice, it.dstDevice, it.srcContext, it.dstContext, pitches, sizes, stream)

    def _copy(
        self, source: int, target: int, of: int, to: int, pitches: tuple[int, int], sizes: tuple[int, int], stream: int
    ) -> int:
        self.copies += 1
        if self.copies in self.refused:
            return self.refused[self.copies]
        self.log.append(("copy", of - FIRST_CONTEXT, to - FIRST_CONTEXT, stream))

        def work() -> None:
            for line in range(sizes[1]):
                places = target + line * pitches[1], source + line * pitches[0]
                for context, place in zip((to, of), places, strict=True):
                    assert self.devices[context - FIRST_CONTEXT].knows(place, sizes[0])
                ctypes.memmove(*places, sizes[0])

        self.enqueue(stream, work)
        return 0

    def cuMemsetD8Async(self, pointer: int, byte: int, count: int, stream: int) -> int:
        self.enqueue(stream, lambda: ctypes.memset(pointer, byte, count))
        return 0

    def cuStreamIsCapturing(self, stream: int, status: Any) -> int:
        status._obj.value = int(stream in self.capturing)
        return 0

    def cuStreamGetId(self, stream: int, number: Any) -> int:
        assert stream not in self.capturing, "CUDA ends the capture"
        number._obj.value = stream
        return 0

    def cuStreamGetCaptureInfo_v2(self, stream: int, status: Any, number: Any, *rest: Any) -> int:
        status._obj.value = number._obj.value = int(stream in self.capturing)
        return 0


class GpuDevice(PretendedDevice):
    """One of them. It refuses addresses of another one."""

    def __init__(self, gpus: Gpus, device: Device, ordinal: int) -> None:
        super().__init__(device)
        self.info = type(self.info)(**{**vars(self.info), "place": ordinal})
        self.driver = gpus  # type: ignore[assignment]
        self.context = FIRST_CONTEXT + ordinal
        self.copy_stream = FIRST_COPY_STREAM + ordinal
        self._gpus = gpus

    def current(self) -> Any:
        return _Current(self._gpus, self.context)

    def knows(self, pointer: int, nbytes: int) -> bool:
        spans = ((each.__array_interface__["data"][0], each.nbytes) for each in self.known)
        return any(begin <= pointer and pointer + nbytes <= begin + size for begin, size in spans)

    def launcher(self, kernel: Any, ndrange: NDRange, what: str, stream: int) -> Callable[[], int]:
        def launch() -> int:
            places = {index: pointer.value for index, pointer in kernel._pointers.items()}

            def work() -> None:
                lent = [self.lent(place) for place in places.values()]  # OpenCL's arguments keep no buffers alive
                for index, buffer in zip(places, lent, strict=True):
                    kernel.kernel.set_arg(index, buffer)
                self._device.launch(kernel.kernel, ndrange, what)
                self._device.finish(what)

            self._gpus.log.append(("product" if "copy" not in what else "conversion", stream))
            self._gpus.enqueue(stream, work)
            return 0

        return launch


class _Current:
    def __init__(self, gpus: Gpus, context: int) -> None:
        self._gpus, self._context = gpus, context

    def __enter__(self) -> Gpus:
        self._gpus.contexts.append(self._context)
        return self._gpus

    def __exit__(self, *raised: object) -> None:
        self._gpus.contexts.pop()


class GpuArrays(InterfaceArrays):
    """Their framework, with a pool for each GPU and stream."""

    name = "pretended"

    def __init__(self, gpus: Gpus) -> None:
        super().__init__()
        self._gpus = gpus
        self.kept: list[Any] = []

    def ordinal(self, value: Any) -> int:
        return int(value.ordinal)

    def current_stream(self, ordinal: int, values: Sequence[Any]) -> int:
        return self._gpus.stream(ordinal)

    def empty(self, shape: Any, dtype: np.dtype, ordinal: int, stream: int) -> CudaArray:
        nbytes = max(int(np.prod(shape)) * dtype.itemsize, 1)
        key = ordinal, stream, nbytes
        if self._gpus.pool[key]:
            memory = self._gpus.pool[key].pop()
        else:
            memory = np.full(nbytes + ALIGNED, 0xCD, np.uint8)
            self._gpus.devices[ordinal].known.append(memory)
        begin = -memory.__array_interface__["data"][0] % ALIGNED
        made = GpuArray(
            memory[begin : begin + nbytes][: int(np.prod(shape)) * dtype.itemsize].view(dtype).reshape(shape), ordinal
        )
        weakref.finalize(made, self._gpus.pool[key].append, memory)
        return self.read(made, "result", stream)

    def result(self, array: CudaArray, stream: int) -> Any:
        return array.given

    def enqueued(self, arrays: Sequence[CudaArray], stream: int, captured: bool) -> None:
        """Nothing is kept: the pool alone orders the uses of its memory."""
