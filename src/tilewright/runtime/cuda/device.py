"""The CUDA backend: the same kernels, compiled by NVRTC and run by CUDA's driver API.

It needs the packages of the extra `cuda`. Each launch is timed by events around it.
"""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from ...core.images import ImageValue, SamplerValue
from ...core.kernel import MOST_GROUPS, Dialect, NDRange
from ...core.source import Parameter, Signature
from ...core.tensor_map import TensorMap
from ...errors import InvalidInput, LaunchFailed, NoDevice, UnknownName, Unsupported
from ..argument_types import argument_types
from ..cache import BinaryCache, cache_folder, content_key
from ..device import DEVICE_VARIABLE, preset_device
from .calls import check, driver_calls
from .information import architecture, compiler_for, describe, list_devices
from .timing import GATE, Event, Gate, Mark

HELD_LAUNCHES = 64  # launches that may wait at the gate: the driver blocks when its queue of about 1000 entries is full


@dataclass(frozen=True)
class Buffer:
    """Device memory from `pointer` on. The owner frees it when no buffer refers to it."""

    pointer: int
    nbytes: int
    owner: object


class Allocation:
    """Memory that is freed when its last buffer is gone."""

    def __init__(self, pointer: Any) -> None:
        driver = driver_calls()
        weakref.finalize(self, driver.cuMemFree, pointer)


class BoundKernel:
    """A function with its arguments."""

    def __init__(self, function: Any, count: int) -> None:
        self.function = function
        self._values: list[np.ndarray | None] = [None] * count
        self._addresses = np.zeros(max(count, 1), np.uint64)

    def set_arg(self, index: int, value: Any) -> None:
        """Bind a buffer, or a scalar of a NumPy type."""
        kept = np.array([value.pointer], np.uint64) if isinstance(value, Buffer) else np.atleast_1d(np.asarray(value))
        self._values[index] = kept  # the driver reads arguments from the address of the array
        self._addresses[index] = kept.ctypes.data

    @property
    def arguments(self) -> int:
        """The address of the array of the arguments' addresses."""
        return int(self._addresses.ctypes.data)


@dataclass(frozen=True)
class Program:
    """A loaded program, and the types of its kernel's arguments."""

    module: Any
    signature: Signature
    argument_types: tuple[Any, ...]
    log: str

    def new_kernel(self) -> BoundKernel:
        driver = driver_calls()
        entry = self.signature.entry
        function = check(f"finding {entry!r}", driver.cuModuleGetFunction(self.module, entry.encode()))
        return BoundKernel(function, len(self.signature.parameters))


class Device:
    """An opened GPU with the operations of `runtime.device.Device`."""

    backend = "cuda"
    dialect = Dialect.CUDA
    supports_timestamps = False  # `timed` measures a burst here
    plain_queue = None  # one stream, without profiling

    def __init__(self, ordinal: int) -> None:
        driver = driver_calls()
        handle = check("finding the device", driver.cuDeviceGet(ordinal))
        self.info = describe(ordinal)
        self._context = check(f"opening {self.info.label}", driver.cuDevicePrimaryCtxRetain(handle))
        self.enter()
        flags = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        self._stream = check("making a stream", driver.cuStreamCreate(flags))
        self._origin: Mark | None = None
        self._launched = 0  # since the stream was last empty
        self._programs: dict[tuple[str, str, tuple[str, ...]], Program] = {}
        self._lock = Lock()
        self._disk = BinaryCache(cache_folder() / "programs")
        signature = Signature(
            "wait_for", (Parameter("flag", "ulong"), Parameter("turn", "int"), Parameter("most_ns", "ulong"))
        )
        self._gate = Gate(self._stream, self.build(GATE, "the gate", signature, "float32").new_kernel())

    def __repr__(self) -> str:
        return f"<Device: {self.info.label}, {self.backend}>"

    def enter(self) -> Any:
        """Make the context current in this thread, and return the driver's functions."""
        driver = driver_calls()
        check(f"entering the context of {self.info.label}", driver.cuCtxSetCurrent(self._context))
        return driver

    def build(
        self, source: str, name: str, signature: Signature, dtype: str, options: Sequence[str] = (), target: str = ""
    ) -> Program:
        """Compile `source` for this device or for `target`, unless it is in memory or on disk. BuildFailed holds the log."""
        key = (source, signature.entry, (*options, target))
        with self._lock:
            if key not in self._programs:
                cubin, log = self._compile(source, name, options, target or architecture(self.info.compute_capability))
                module = check(f"loading {name}", self.enter().cuModuleLoadData(cubin))
                self._programs[key] = Program(module, signature, argument_types(name, signature, dtype), log)
            return self._programs[key]

    def _compile(self, source: str, name: str, options: Sequence[str], target: str) -> tuple[bytes, str]:
        compiler = compiler_for(target)
        key = content_key(source, *options, target, compiler.version)
        cubin = self._disk.get(key)
        if cubin is not None:
            return cubin, "(from the cache of built programs)"
        built = compiler.compile(source, name, target, options)
        self._disk.put(key, built.cubin)
        return built.cubin, built.log

    def allocate(self, nbytes: int) -> Buffer:
        """A buffer of at least one byte; OutOfDeviceMemory says how many bytes were requested and how many there are."""
        size = max(int(nbytes), 1)
        what = f"allocating {size:,} bytes of {self.info.global_bytes:,} on {self.info.label}"
        pointer = check(what, self.enter().cuMemAlloc(size))
        return Buffer(int(pointer), size, Allocation(pointer))

    def tensor_map(self, map_: TensorMap) -> Any:
        raise Unsupported("tensor maps are passed to kernels of the OpenCL dialect only")

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
            driver = self.enter()
            self._gate.open()
            check(
                f"filling {nbytes:,} bytes", driver.cuMemsetD8Async(buffer.pointer + origin, byte, nbytes, self._stream)
            )

    def write(self, buffer: Buffer, array: np.ndarray) -> None:
        if array.nbytes:
            driver, whole = self.enter(), np.ascontiguousarray(array)
            self._gate.open()
            copied = driver.cuMemcpyHtoDAsync(buffer.pointer, whole.ctypes.data, whole.nbytes, self._stream)
            check(f"writing {array.nbytes:,} bytes to {self.info.label}", copied)
            self.finish("a write")

    def read(self, buffer: Buffer, count: int, dtype: np.dtype, origin: int = 0) -> np.ndarray:
        """`count` elements of a buffer from byte `origin` on."""
        host = np.empty(count, dtype)
        if count:
            driver = self.enter()
            self._gate.open()
            copied = driver.cuMemcpyDtoHAsync(host.ctypes.data, buffer.pointer + origin, host.nbytes, self._stream)
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
    ) -> Event:
        """Enqueue one launch and return its event. Launches wait at the gate until `finish`. Errors name `what`."""
        if queue is not None or wait_for is not None:
            raise Unsupported(f"{what}: a CUDA device launches on its own stream, in order")
        driver, (groups, items) = self.enter(), grid(ndrange, what)
        if self._origin is None:
            self._gate.close()
            self._origin = Mark(self._stream)
        before = Mark(self._stream)
        launched = driver.cuLaunchKernel(kernel.function, *groups, *items, 0, self._stream, kernel.arguments, 0)
        check(f"launching {what} over {ndrange}", launched)
        self._launched += 1
        if self._launched == HELD_LAUNCHES:
            self._gate.open()
        return Event(self._origin, before, Mark(self._stream))

    @property
    def stream(self) -> int:
        """The handle of the stream, for libraries that enqueue on it."""
        return int(self._stream)

    def timed(self, enqueue: Callable[[], object], what: str) -> float:
        """Device seconds of the work that `enqueue` puts on the empty stream. Waits for its end."""
        self.finish(what)
        self._gate.close()
        before = Mark(self._stream)
        enqueue()
        after = Mark(self._stream)
        self.finish(what)
        return after.since(before) * 1e-9

    def finish(self, what: str, queue: Any = None) -> None:
        driver = self.enter()
        self._gate.open()
        check(f"waiting for {what}", driver.cuStreamSynchronize(self._stream))
        self._origin, self._launched = None, 0


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


@cache
def opened(ordinal: int) -> Device:
    return Device(ordinal)


def open_device(wanted: str | None = None) -> Device:
    """Open a GPU by its index in CUDA's order, or by a part of its name. NoDevice if there is none.

    None means the GPU that TILEWRIGHT_DEVICE names; without that variable the first one.
    """
    infos = list_devices()
    kind = "CUDA device"
    if wanted is None and (wanted := preset_device()) is not None:
        kind = f"CUDA device ({DEVICE_VARIABLE})"
    if not infos:
        raise NoDevice("no CUDA device: the driver offers none")
    for place, info in enumerate(infos):
        if wanted is None or wanted in ("gpu", str(place)) or wanted.lower() in info.label.lower():
            return opened(place)
    raise UnknownName(kind, str(wanted), [*map(str, range(len(infos))), *(info.label for info in infos)])


def open_counterpart(bus: int) -> Device:
    """The GPU with this PCI bus number: the counterpart of an OpenCL device."""
    places = range(len(list_devices()))
    driver = driver_calls()
    wanted = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID
    for place in places:
        handle = check("finding the device", driver.cuDeviceGet(place))
        if check("asking for the bus", driver.cuDeviceGetAttribute(wanted, handle)) == bus:
            return opened(place)
    raise NoDevice(f"CUDA has no device with the PCI bus number {bus}")
