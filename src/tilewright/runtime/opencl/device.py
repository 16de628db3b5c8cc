"""The OpenCL backend: list devices, open one, build, allocate, copy data, launch."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np
import pyopencl as cl

from ...core.device import DeviceInfo
from ...core.images import ImageValue, SamplerValue
from ...core.kernel import Dialect, NDRange
from ...core.source import Signature, name_lines
from ...core.tensor_map import TensorMap
from ...errors import BuildFailed, NoDevice, OutOfDeviceMemory, UnknownName, Unsupported
from ..argument_types import argument_types
from ..cache import BinaryCache, cache_folder, content_key
from ..children import loops_that_end_early
from ..device import DEVICE_VARIABLE, device_name, place_of, preset_device
from ..icd.preference import NEVER_BY_DEFAULT, UNKNOWN_DRIVER, preference, standing
from ..icd.registration import bind_threads, register
from ..once import MadeOnce
from ..processors import code_facts
from ..tensor_maps import encode
from .callers_processor import BOUND, binds_threads
from .error_codes import NO_MEMORY, code_of, error_sentence, failure
from .images import DeviceImage, make_image, make_sampler
from .information import describe
from .instructions import with_instructions
from .kernel_objects import kernel_object
from .launch_without_event import launch_without_event
from .pinned import PinnedRanges
from .pool import BufferPool
from .retarget import retarget
from .smoke import LOOP_ROUNDS, rounds_of_a_long_loop

READ_WRITE = cl.mem_flags.READ_WRITE
WITHOUT_DEVICE = "list, show, explain, inspect --arch, compare, plot and report"  # commands


@contextmanager
def check(what: str) -> Iterator[None]:
    """Turn a PyOpenCL error into one that names the call, the error code, and what the code usually means."""
    try:
        yield
    except cl.Error as error:
        code = code_of(error)
        raise failure(f"{what}: {error_sentence(code) if code is not None else error}", code) from error


@dataclass(frozen=True)
class Program:
    """A built program, and the types of its kernel's arguments."""

    program: Any
    signature: Signature
    argument_types: tuple[Any, ...]
    log: str

    def new_kernel(self) -> Any:
        """A new kernel object. Bound arguments are its state, so threads must not share one."""
        with check(f"making the kernel {self.signature.entry!r}"):
            return kernel_object(self.program, self.signature.entry)

    def binary(self) -> bytes:
        """The driver's binary: PTX, an ELF file or another format; empty if the driver does not give it."""
        with check(f"asking for the code of {self.signature.entry!r}"):
            binaries = self.program.get_info(cl.program_info.BINARIES)
        return bytes(binaries[0]) if binaries and binaries[0] else b""


def discover_devices() -> list[tuple[DeviceInfo, Any]]:
    """All devices of all platforms in the order of preference; empty if there is no driver."""
    register()
    bind_threads()
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:  # the loader found no driver
        return []
    found = []
    for platform in platforms:
        try:
            devices = platform.get_devices()
        except cl.Error:  # DEVICE_NOT_FOUND: a platform without devices
            continue
        found += [(with_instructions(describe(device, place)), device) for place, device in enumerate(devices)]
    return sorted(found, key=lambda pair: preference(pair[0].platform, pair[0].version, pair[0].kind))


def list_devices() -> tuple[DeviceInfo, ...]:
    """The devices that can be opened, the default one first."""
    return tuple(info for info, _ in discover_devices())


def no_device() -> NoDevice:
    """The error where there is no OpenCL device."""
    cause = f" ({register().problem})" if register().problem else ""
    return NoDevice(
        f"no OpenCL device was found{cause}; `tilewright doctor` says what is missing and how to add it. "
        f"Without a device work: {WITHOUT_DEVICE}"
    )


def choose(infos: Sequence[DeviceInfo], wanted: str | None) -> int:
    """The index of the device that `wanted` names: an index, "cpu" or "gpu", or a part of a name or platform.

    None means the device that TILEWRIGHT_DEVICE names; without that variable the first one.
    """
    if not infos:
        raise no_device()
    kind = "device"
    if wanted is None and (wanted := preset_device()) is not None:
        kind = f"device ({DEVICE_VARIABLE})"
    if wanted is None:
        first = infos[0]
        own = standing(first.platform, first.version, first.kind)
        if own.rank >= NEVER_BY_DEFAULT:
            raise NoDevice(
                f"the only device is {first.label}, which runs only if asked for by --device 0: {own.reason}"
            )
        return 0
    place = place_of(wanted, [(info.kind, info.label) for info in infos])
    if place is not None:
        return place
    raise UnknownName(kind, wanted, [*map(str, range(len(infos))), *(info.label for info in infos)])


def default_index(infos: Sequence[DeviceInfo]) -> int | None:
    """The index of the device that is used if none is named; None if one must be named."""
    try:
        return choose(infos, None)
    except (NoDevice, UnknownName):
        return None


def open_device(wanted: str | int | None = None) -> "Device":
    """Open the device of an index, "cpu", "gpu" or part of a name. NoDevice if there is none, UnknownName if none matches,
    Unsupported if its driver is known to be wrong, InvalidInput for what is no name."""
    pairs = discover_devices()
    info, device = pairs[choose([info for info, _ in pairs], device_name(wanted))]
    with check(f"opening {info.label}"):
        if preference(info.platform, info.version, info.kind) >= UNKNOWN_DRIVER:
            _refuse_short_loops(info, device)
        context = BOUND.note_threads_of(lambda: cl.Context([device])) if binds_threads(info) else cl.Context([device])
    return Device(info, device, context)


def _refuse_short_loops(info: DeviceInfo, device: Any) -> None:
    wrong = loops_that_end_early(rounds_of_a_long_loop(device), LOOP_ROUNDS)
    if wrong:
        raise Unsupported(
            f"{info.label} is not used: {wrong}. `tilewright devices` lists the others; "
            "`tilewright doctor` says how to add a driver"
        )


class Device:
    """An opened device: its facts, and the operations that plans are run with."""

    backend = "opencl"
    dialect = Dialect.OPENCL
    null = np.uintp(0)  # the bytes of a null address: PyOpenCL before 2026.1.1 takes no None

    def __init__(self, info: DeviceInfo, device: Any, context: Any) -> None:
        self.info = info
        self.device = device
        self.context = context
        self.queue = cl.CommandQueue(context, device, cl.command_queue_properties.PROFILING_ENABLE)
        self._plain_queue: Any = None
        self._programs: MadeOnce[tuple[str, str, tuple[str, ...], str], Program] = MadeOnce()
        self.per_thread = threading.local()  # what the library caches for its calls on this device
        self.kept: dict[tuple[Any, ...], Any] = {}  # for all threads: a call takes an entry out while it uses it
        self.pinned = PinnedRanges()
        self.pool = BufferPool(info.global_bytes, info.max_alloc_bytes)
        self._lock = RLock()  # a destructor, or a signal's handler, may make a call meanwhile
        self._disk = BinaryCache(cache_folder() / "programs")

    def __repr__(self) -> str:
        return f"<Device: {self.info.label}, {self.backend}>"

    def build(
        self, source: str, name: str, signature: Signature, dtype: str, options: Sequence[str] = (), target: str = ""
    ) -> Program:
        """Compile `source`, unless it is in memory or on disk. BuildFailed holds the compiler's log.

        With a PTX `target` the driver's PTX is changed to that target; Unsupported if it is for another family.
        """

        def made() -> Program:
            program, log = self._compile(source, name, tuple(options), target)
            return Program(program, signature, argument_types(name, signature, dtype), log)

        return self._programs.get((source, signature.entry, tuple(options), target), made)

    def _compile(self, source: str, name: str, options: tuple[str, ...], target: str) -> tuple[Any, str]:
        info = self.info
        names = (info.platform, info.version, info.driver, info.name)
        key = content_key(source, *options, target, *names, code_facts(info.kind))
        binary = self._disk.get(key)
        if binary is not None:
            program = self._load(binary, options)
            if program is not None:
                return program, "(from the cache of built programs)"
        program = self._from_source(source, name, options)
        if target:
            program = self._retargeted(program, name, target)
        binaries = program.get_info(cl.program_info.BINARIES)
        if binaries and binaries[0]:
            self._disk.put(key, binaries[0])
        return program, self._log(program)

    def _from_source(self, source: str, name: str, options: tuple[str, ...]) -> Any:
        # PyOpenCL's public Program has its own cache, whose entries can be older than the driver. PyOpenCL before 2026.1.1
        # takes no bytes here.
        program = cl.Program(cl._cl._Program(self.context, source))
        try:
            self._finish_build(program, options)
        except cl.Error as error:
            raise BuildFailed(name, self.info.label, name_lines(self._log(program) or str(error), source)) from error
        return program

    def ptx(self, source: str, name: str, options: tuple[str, ...] = (), target: str = "") -> tuple[str, str]:
        """What NVIDIA's compiler makes of `source`, for `target` if there is one, and its log. Nothing is kept."""
        program = self._from_source(source, name, options)
        text = program.get_info(cl.program_info.BINARIES)[0].rstrip(b"\0").decode()
        return retarget(text, target) if target else text, self._log(program)

    def _retargeted(self, program: Any, name: str, target: str) -> Any:
        """The program for `target`, made from the driver's PTX."""
        ptx = program.get_info(cl.program_info.BINARIES)[0].rstrip(b"\0").decode()
        other = cl.Program(self.context, [self.device], [retarget(ptx, target).encode()])
        try:
            self._finish_build(other, ())
        except cl.Error as error:
            raise BuildFailed(name, f"{self.info.label}, {target}", self._log(other) or str(error)) from error
        return other

    def _load(self, binary: bytes, options: tuple[str, ...]) -> Any:
        """A program from its binary, or None if the driver refuses the binary. It is then compiled again."""
        try:
            program = cl.Program(self.context, [self.device], [binary])
            self._finish_build(program, options)
        except cl.Error:
            return None
        return program

    def _finish_build(self, program: Any, options: tuple[str, ...]) -> None:
        # The public `build` warns about every log that is not empty, and warning filters are shared by all threads. The log is
        # kept, and shown on request.
        program._prg._build(options=" ".join(options).encode(), devices=[self.device])

    def _log(self, program: Any) -> str:
        return str(program.get_build_info(self.device, cl.program_build_info.LOG))

    @property
    def supports_timestamps(self) -> bool:
        """Whether the device has the clock that `kernels/clock` reads: NVIDIA's."""
        return "nvidia" in self.info.features

    @property
    def plain_queue(self) -> Any:
        """A second in-order queue for the library, without profiling, which costs some microseconds per launch."""
        with self._lock:
            if self._plain_queue is None:
                self._plain_queue = cl.CommandQueue(self.context, self.device)
            return self._plain_queue

    def allocate(self, nbytes: int, tries: int = 3) -> Any:
        """A buffer of at least one byte; OutOfDeviceMemory says how many bytes were requested and how many there are.

        Idle buffers of the pool and scratch memory are freed before that. Other threads may take them: there are few tries."""
        size = max(int(nbytes), 1)
        limit = self.info.max_alloc_bytes
        if limit and size > limit:
            raise OutOfDeviceMemory(f"{size:,} bytes are too many: {self.info.label} allows {limit:,} in one buffer")
        try:  # for every result on a device: a context manager would cost 2 us
            return cl.Buffer(self.context, READ_WRITE, size)
        except cl.Error as error:
            if tries > 1 and code_of(error) in NO_MEMORY and self.pool.release():
                return self.allocate(size, tries - 1)
            with check(f"allocating {size:,} bytes of {self.info.global_bytes:,} on {self.info.label}"):
                raise

    def tensor_map(self, map_: TensorMap) -> Any:
        """A new buffer with the encoded map, into which kernels write addresses. Unsupported if it cannot be encoded."""
        encoded = np.frombuffer(encode(map_), np.uint8)
        with check(f"allocating a tensor map on {self.info.label}"):
            return cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=encoded.copy())

    def local_memory(self, nbytes: int) -> Any:
        """The value of an argument that points to local memory."""
        return cl.LocalMemory(nbytes)

    def image(self, name: str, ctype: str, value: ImageValue) -> DeviceImage:
        """An image for the parameter `name` of a type such as image2d_t, with its texels. Unsupported, with the device's name, if
        it has no such images."""
        sides = "x".join(map(str, value.sides))
        with check(f"making an {ctype} of {sides} texels of {value.order} {value.type} on {self.info.label}"):
            made = make_image(self.context, self.device, self.info, name, ctype, value)
            made.write(self.queue)
        return made

    def sampler(self, name: str, value: SamplerValue) -> Any:
        """A sampler for the parameter `name`. Unsupported, with the device's name, if it has no images."""
        with check(f"making a sampler on {self.info.label}"):
            return make_sampler(self.context, self.device, self.info, name, value)

    def write_image(self, image: DeviceImage) -> None:
        """Give an image the texels that it was made with, and wait."""
        with check(f"writing {image.value.data.size:,} bytes to an image of {self.info.label}"):
            image.write(self.queue)

    def read_image(self, image: DeviceImage) -> np.ndarray:
        """The bytes of an image's texels, after all commands in the queue."""
        with check(f"reading {image.value.data.size:,} bytes from an image of {self.info.label}"):
            return image.read(self.queue)

    def part(self, buffer: Any, origin: int, nbytes: int) -> Any:
        """A sub-buffer; `origin` must be a multiple of the device's base alignment."""
        with check(f"cutting {nbytes:,} bytes at {origin} out of a buffer"):
            return buffer.get_sub_region(origin, max(int(nbytes), 1))

    def fill(self, buffer: Any, byte: int, origin: int, nbytes: int) -> None:
        if nbytes:
            with check(f"filling {nbytes:,} bytes"):
                cl.enqueue_fill_buffer(self.queue, buffer, np.uint8(byte), origin, nbytes)

    def zeroed(self, nbytes: int) -> Any:
        """A buffer of zeros, complete when this returns: its user may be enqueued on another queue."""
        buffer = self.allocate(nbytes)
        self.fill(buffer, 0, 0, nbytes)
        self.finish("filling scratch memory with zeros")
        return buffer

    def write(self, buffer: Any, array: np.ndarray, queue: Any = None) -> None:
        """Copy an array's elements to a buffer, and wait."""
        if array.nbytes:
            with check(f"writing {array.nbytes:,} bytes to {self.info.label}"):
                cl.enqueue_copy(queue or self.queue, buffer, np.ascontiguousarray(array).view(np.uint8).reshape(-1))

    def read(self, buffer: Any, count: int, dtype: np.dtype, origin: int = 0, queue: Any = None) -> np.ndarray:
        """`count` elements of a buffer from byte `origin` on, after all commands in the queue."""
        host = np.empty(count * dtype.itemsize, np.uint8)
        if count:
            with check(f"reading {host.nbytes:,} bytes from {self.info.label}"):
                cl.enqueue_copy(queue or self.queue, host, buffer, src_offset=origin)
        return host.view(dtype)

    def launch(
        self, kernel: Any, ndrange: NDRange, what: str, queue: Any = None, wait_for: Any = None, event: bool = True
    ) -> Any:
        """Enqueue one launch and return its event. Without a `queue` it goes to the device's own. Errors name `what`.

        Without an `event` the next launch begins sooner, and None is returned if the system supports it.
        """
        if not event and not wait_for:
            code = launch_without_event(queue or self.queue, kernel, ndrange)
            if code:
                raise failure(f"launching {what} over {ndrange}: {error_sentence(code)}", code)
            if code is not None:
                return None
        try:
            local_size = None if ndrange.chosen_by_driver else ndrange.local_size
            return cl.enqueue_nd_range_kernel(
                queue or self.queue, kernel, ndrange.global_size, local_size, ndrange.offset or None, wait_for=wait_for
            )
        except cl.Error:
            with check(f"launching {what} over {ndrange}"):
                raise

    def launcher(self, kernel: Any, ndrange: NDRange, what: str, queue: Any) -> Callable[[list[Any] | None], Any]:
        """`launch` for calls that repeat it: a function of the events to wait for, which returns the launch's event."""
        global_size, offset = ndrange.global_size, ndrange.offset or None
        local_size = None if ndrange.chosen_by_driver else ndrange.local_size

        def start(wait_for: list[Any] | None) -> Any:
            try:
                return cl.enqueue_nd_range_kernel(queue, kernel, global_size, local_size, offset, wait_for)
            except cl.Error:
                with check(f"launching {what} over {ndrange}"):
                    raise

        return start

    def finish(self, what: str, queue: Any = None) -> None:
        with check(f"waiting for {what}"):
            (queue or self.queue).finish()

    def wait(self, what: str, event: Any) -> None:
        """Wait for one event."""
        try:  # every library call on host arrays comes here: a context manager would cost 2 us
            event.wait()
        except cl.Error:
            with check(f"waiting for {what}"):
                raise
