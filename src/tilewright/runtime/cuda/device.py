"""The CUDA runtime: kernels of either dialect, compiled for CUDA's driver, on its own stream or on a caller's.

Launches on its own stream are timed by events around each.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache
from threading import local
from typing import Any

import numpy as np

from ...core.device import DeviceInfo
from ...core.images import ImageValue, SamplerValue
from ...core.kernel import MOST_GROUPS, NDRange
from ...core.source import Parameter, Signature
from ...core.tensor_map import TensorMap
from ...errors import InvalidInput, LaunchFailed, Unsupported
from ..cache import BinaryCache, cache_folder, content_key
from ..once import MadeOnce
from ..tensor_maps import encode
from .compilers import Compiler, NvrtcCompiler
from .dependent import dependent
from .driver import STREAM_NON_BLOCKING, Driver, answer, check, driver_calls
from .information import architecture, driver_version, handle_of
from .launches import CLUSTER_DIMENSION, COOPERATIVE, PROGRAMMATIC_STREAM_SERIALIZATION, launcher
from .programs import Allocation, BoundKernel, Buffer, Program, relaxed_capture
from .timing import GATE, Event, Gate, Mark

HELD_LAUNCHES = 64  # launches that may wait at the gate: the driver blocks when its queue of about 1000 entries is full
LENGTH_BYTES = 8  # of a kept program: its dynamic shared memory comes first


class Device:
    """An opened GPU with the operations of `runtime.device.Device`. Programs are made by `compiler`."""

    backend = "cuda"
    supports_timestamps = False  # `timed` measures a burst here
    plain_queue = None  # one stream, without profiling
    null = None

    def __init__(self, info: DeviceInfo, compiler: Compiler) -> None:
        driver = driver_calls()
        handle = handle_of(info.place)
        self.compiler = compiler
        self.info = replace(info, version=compiler.version)
        self.context: int = answer(f"opening {info.label}", driver.cuDevicePrimaryCtxRetain, handle)
        self.driver = driver
        with self.current(), relaxed_capture():  # its own stream, for libraries that enqueue on it, too
            self.stream: int = answer("making a stream", driver.cuStreamCreate, STREAM_NON_BLOCKING)
        self._origin: Mark | None = None
        self._launched = 0  # since the stream was last empty
        self._programs: MadeOnce[tuple[str, str, tuple[str, ...]], Program] = MadeOnce()
        self.per_thread = local()  # what the library caches for its calls on this device
        self.captured: list[Any] = []  # calls whose launches are in graphs, and their scratch memory
        self._disk = BinaryCache(cache_folder() / "programs")

    def __repr__(self) -> str:
        return f"<Device: {self.info.label}, {self.backend}>"

    @property
    def dialect(self) -> str:
        return self.compiler.dialect

    @contextmanager
    def current(self) -> Iterator[Driver]:
        """Make the context current in this thread meanwhile: the caller's framework may have set another one.

        In a thread without one it stays, as after the first call of CUDA's runtime: PyTorch's cuBLAS warns of threads without.
        """
        driver, before = self.driver, ctypes.c_void_p()
        check("asking for the current context", driver.cuCtxGetCurrent(ctypes.byref(before)))
        if before.value is None:
            check(f"entering the context of {self.info.label}", driver.cuCtxSetCurrent(self.context))
        if before.value in (None, self.context):
            yield driver
            return
        check(f"entering the context of {self.info.label}", driver.cuCtxPushCurrent_v2(self.context))
        try:
            yield driver
        finally:
            driver.cuCtxPopCurrent_v2(ctypes.byref(before))

    @cached_property
    def copy_stream(self) -> int:
        """A stream for copies beside kernels. All threads share it: it never waits for work that is enqueued later."""
        with self.current(), relaxed_capture():
            return int(answer("making a stream", self.driver.cuStreamCreate, STREAM_NON_BLOCKING))

    @cached_property
    def _gate(self) -> Gate:
        signature = Signature(
            "wait_for", (Parameter("flag", "ulong"), Parameter("turn", "int"), Parameter("most_ns", "ulong"))
        )
        nvrtc = NvrtcCompiler(architecture(self.info.compute_capability))
        program = self._program(nvrtc, GATE, "the gate", signature, "float32", (), "")
        with self.current():
            return Gate(self.stream, program.new_kernel())

    def build(
        self, source: str, name: str, signature: Signature, dtype: str, options: Sequence[str] = (), target: str = ""
    ) -> Program:
        """Compile `source` for this device or for `target`, unless it is in memory or on disk. BuildFailed holds the log."""
        return self._program(self.compiler, source, name, signature, dtype, options, target)

    def _program(
        self, compiler: Compiler, source: str, name: str, signature: Signature, dtype: str, options: Sequence[str], target: str
    ) -> Program:  # fmt: skip
        def made() -> Program:
            dynamic_bytes, image, log = self._compiled(compiler, source, name, options, target)
            waits = None if image.startswith(b"\x7fELF") else dependent(image.rstrip(b"\0").decode())
            image = image if waits is None else waits.encode() + b"\0"
            with self.current() as driver, relaxed_capture():
                module = answer(f"loading {name}", driver.cuModuleLoadData, image)
                return Program(module, signature, dtype, name, dynamic_bytes, log, waits is not None)

        return self._programs.get((source, signature.entry, (*options, target)), made)

    def _compiled(
        self, compiler: Compiler, source: str, name: str, options: Sequence[str], target: str
    ) -> tuple[int, bytes, str]:
        """The bytes of dynamic shared memory, what the driver loads, and the compiler's log.

        PTX is kept as PTX: the driver keeps the machine code that it makes of it. CUDA's linker would make machine code to be
        kept here, but without setmaxnreg: a kernel for fp64 took three times as long.
        """
        capability = architecture(self.info.compute_capability)
        key = content_key("cuda", source, *options, target, capability, compiler.version, driver_version(self.info))
        kept = self._disk.get(key)
        if kept is not None:
            dynamic_bytes = int.from_bytes(kept[:LENGTH_BYTES], "little")
            return dynamic_bytes, kept[LENGTH_BYTES:], "(from the cache of built programs)"
        built = compiler.compile(source, name, options, target)
        self._disk.put(key, built.dynamic_bytes.to_bytes(LENGTH_BYTES, "little") + built.image)
        return built.dynamic_bytes, built.image, built.log

    def allocate(self, nbytes: int) -> Buffer:
        """A buffer of at least one byte; OutOfDeviceMemory says how many bytes were requested and how many there are."""
        size = max(int(nbytes), 1)
        what = f"allocating {size:,} bytes of {self.info.global_bytes:,} on {self.info.label}"
        with self.current() as driver, relaxed_capture():
            pointer = answer(what, driver.cuMemAlloc_v2, size, kind=ctypes.c_uint64)
        return Buffer(pointer, size, Allocation(pointer, self.context))

    def tensor_map(self, map_: TensorMap) -> Buffer:
        """A new buffer with the encoded map, into which kernels write addresses. Unsupported if it cannot be encoded."""
        with self.current():
            encoded = encode(map_)
        buffer = self.allocate(len(encoded))
        with relaxed_capture():
            self.write(buffer, np.frombuffer(encoded, np.uint8))
        return buffer

    def zeroed(self, nbytes: int) -> Buffer:
        """A buffer of zeros, complete when this returns; also while a stream is being captured."""
        buffer = self.allocate(nbytes)
        with relaxed_capture():
            self.fill(buffer, 0, 0, buffer.nbytes)
            self.finish("filling scratch memory with zeros")
        return buffer

    def local_memory(self, nbytes: int) -> Any:
        """Unsupported: CUDA has one block of dynamic shared memory, not one for each argument."""
        raise Unsupported(f"CUDA cannot give an argument {nbytes:,} bytes of local memory; use --backend opencl")

    def image(self, name: str, ctype: str, value: ImageValue) -> Any:
        """Unsupported: CUDA's textures and surfaces are not OpenCL's images."""
        raise Unsupported(f"the argument {name!r} is an {ctype}, which CUDA does not have; use --backend opencl")

    def sampler(self, name: str, value: SamplerValue) -> Any:
        """Unsupported, as images."""
        raise Unsupported(f"the argument {name!r} is a sampler_t, which CUDA does not have; use --backend opencl")

    def write_image(self, image: Any) -> None:
        raise Unsupported("CUDA has no images of OpenCL; use --backend opencl")

    def read_image(self, image: Any) -> np.ndarray:
        raise Unsupported("CUDA has no images of OpenCL; use --backend opencl")

    def part(self, buffer: Buffer, origin: int, nbytes: int) -> Buffer:
        """A part of a buffer. It keeps the buffer alive."""
        size = max(int(nbytes), 1)
        if origin + size > buffer.nbytes:
            raise InvalidInput(f"{size:,} bytes at {origin:,} do not fit into a buffer of {buffer.nbytes:,}")
        return Buffer(buffer.pointer + origin, size, buffer.owner)

    def fill(self, buffer: Buffer, byte: int, origin: int, nbytes: int) -> None:
        if nbytes:
            with self.current() as driver:
                self._open_gate()
                filled = driver.cuMemsetD8Async(buffer.pointer + origin, byte, nbytes, self.stream)
            check(f"filling {nbytes:,} bytes", filled)

    def write(self, buffer: Buffer, array: np.ndarray) -> None:
        if array.nbytes:
            whole = np.ascontiguousarray(array)
            with self.current() as driver:
                self._open_gate()
                copied = driver.cuMemcpyHtoDAsync_v2(buffer.pointer, whole.ctypes.data, whole.nbytes, self.stream)
            check(f"writing {array.nbytes:,} bytes to {self.info.label}", copied)
            self.finish("a write")

    def read(self, buffer: Buffer, count: int, dtype: np.dtype, origin: int = 0) -> np.ndarray:
        """`count` elements of a buffer from byte `origin` on."""
        host = np.empty(count, dtype)
        if count:
            with self.current() as driver:
                self._open_gate()
                copied = driver.cuMemcpyDtoHAsync_v2(
                    host.ctypes.data, buffer.pointer + origin, host.nbytes, self.stream
                )
            check(f"reading {host.nbytes:,} bytes from {self.info.label}", copied)
            self.finish("a read")
        return host

    def launch(
        self,
        kernel: BoundKernel,
        ndrange: NDRange,
        what: str,
        queue: Any = None,
        wait_for: Any = None,
        event: bool = True,
    ) -> Event | None:
        """Enqueue one launch and return its event. Launches wait at the gate until `finish`. Errors name `what`.

        On a `queue`, the handle of a caller's stream, it is launched at once and has no event.
        """
        if wait_for is not None:
            raise Unsupported(f"{what}: a stream of CUDA runs in order, and waits for no events here")
        with self.current():
            if queue is not None:
                check_launch(self.launcher(kernel, ndrange, what, queue)(), what, ndrange)
                return None
            if self._origin is None:
                self._gate.close()
                self._origin = Mark(self.stream)
            before = Mark(self.stream)
            check_launch(self.launcher(kernel, ndrange, what, self.stream)(), what, ndrange)
            after = Mark(self.stream)
        self._launched += 1
        if self._launched == HELD_LAUNCHES:
            self._open_gate()
        return Event(self._origin, before, after)

    def launcher(self, kernel: BoundKernel, ndrange: NDRange, what: str, stream: int) -> Callable[[], int]:
        """A function that launches the kernel with its arguments as they are then, and returns CUDA's status. The context must be
        current."""
        arguments = ctypes.addressof(kernel.arguments)
        early = kernel.dependent and ndrange.early
        attributes: dict[int, Sequence[int]] = {}
        if early:
            attributes[PROGRAMMATIC_STREAM_SERIALIZATION] = (1,)
        if ndrange.together:
            attributes[COOPERATIVE] = (1,)
        if ndrange.cluster:
            attributes[CLUSTER_DIMENSION] = (*ndrange.cluster, 1, 1)[:3]
        own = (kernel.function, grid(ndrange, what), kernel.dynamic_bytes, stream, arguments)
        return launcher(self.driver, *own, attributes)

    def timed(self, enqueue: Callable[[], object], what: str) -> float:
        """Device seconds of the work that `enqueue` puts on the empty stream. Waits for its end."""
        self.finish(what)
        with self.current():
            self._gate.close()
            before = Mark(self.stream)
            enqueue()
            after = Mark(self.stream)
        self.finish(what)
        return after.since(before) * 1e-9

    def finish(self, what: str, queue: Any = None) -> None:
        """Wait for all work on the device's own stream, or on the stream `queue`."""
        with self.current() as driver:
            self._open_gate()
            check(f"waiting for {what}", driver.cuStreamSynchronize(self.stream if queue is None else queue))
        if queue is None:
            self._origin, self._launched = None, 0

    def _open_gate(self) -> None:
        if "_gate" in self.__dict__:
            self._gate.open()


def check_launch(status: int, what: str, ndrange: NDRange) -> None:
    if status:
        check(f"launching {what} over {ndrange}", status)


@lru_cache(maxsize=1024)
def grid(ndrange: NDRange, what: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Work-groups, and work-items of a group, in CUDA's three dimensions; LaunchFailed if there are too many groups."""
    if any(ndrange.offset) or any(a % b for a, b in zip(ndrange.global_size, ndrange.local_size, strict=True)):
        raise LaunchFailed(f"{what} over {ndrange}: CUDA has no global offset and no smaller groups at the edges")
    pairs = zip(ndrange.global_size, ndrange.local_size, strict=True)
    groups, items = [whole // own for whole, own in pairs], list(ndrange.local_size)
    groups, items = (each + [1] * (3 - len(each)) for each in (groups, items))
    if max(groups[1:]) > MOST_GROUPS:
        raise LaunchFailed(f"{what} over {ndrange}: CUDA allows {MOST_GROUPS:,} work-groups along dimensions 1 and 2")
    return tuple(groups), tuple(items)
