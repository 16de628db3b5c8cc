"""A CUDA device that is pretended on an OpenCL device which shares the host's memory: addresses are those of NumPy's arrays.

It tests what the library does with CUDA arrays where there is no GPU; kernels and their arguments are real.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl

from tilewright.core.kernel import NDRange
from tilewright.library.cuda_arrays.array import ALIGNED, CudaArray
from tilewright.library.cuda_arrays.of_others import InterfaceArrays
from tilewright.runtime.cuda.programs import Buffer
from tilewright.runtime.opencl.device import Device


class PretendedArray:
    """A NumPy array that says it lies on a GPU. Its memory is known to the device by its address."""

    def __init__(self, array: np.ndarray, read_only: bool = False) -> None:
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self._read_only = read_only

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        own = self.array.__array_interface__
        return {
            "shape": self.array.shape,
            "strides": self.array.strides,
            "typestr": own["typestr"],
            "data": (own["data"][0], self._read_only),
            "version": 3,
        }


class PretendedArrays(InterfaceArrays):
    """A framework of these arrays, with ready calls. Results are arrays of its own."""

    name = "pretended"
    has_ready = True

    def __init__(self, device: "PretendedDevice") -> None:
        super().__init__()
        self._device = device
        self.overwritten = 0

    def ordinal(self, value: Any) -> int:
        return 0

    def current_stream(self, ordinal: int, values: Any) -> int:
        return 1

    def stream_of(self, ordinal: int) -> int:
        return self.current_stream(ordinal, ())

    def count(self, value: PretendedArray) -> int:
        return value.array.size

    def alike(self, *values: PretendedArray) -> Callable[..., bool]:
        wanted = tuple(map(self.layout, values))
        return lambda *others: tuple(map(self.layout, others)) == wanted and len(set(map(id, others))) == len(others)

    def layout(self, value: Any) -> Any:
        """What a call depends on, but for the address; for arrays of other kinds what no array of this one has."""
        return isinstance(value, PretendedArray) and (value.array.shape, value.array.strides, value.dtype)

    def settled(self, value: PretendedArray) -> bool:
        return bool(value.array.size)

    def address(self, value: PretendedArray) -> int:
        return int(value.array.__array_interface__["data"][0])

    def empty(self, shape: Any, dtype: np.dtype, ordinal: int, stream: int) -> CudaArray:
        return self.read(self._device.own(np.full(shape, 77).astype(dtype)), "result", 1)

    def maker(self, shape: Any, dtype: np.dtype, ordinal: int, stream: int) -> Callable[[], Any]:
        return lambda: self._device.own(np.full(shape, 77).astype(dtype))

    def result(self, array: CudaArray, stream: int) -> Any:
        return array.given

    def written(self, value: Any) -> None:
        self.overwritten += 1


class PretendedDriver:
    """The calls that the library makes itself."""

    def cuCtxGetCurrent(self, answer: Any) -> int:
        answer._obj.value = 1
        return 0

    def cuMemsetD8Async(self, pointer: int, byte: int, count: int, stream: int) -> int:
        ctypes.memset(pointer, byte, count)
        return 0


class PretendedKernel:
    """A kernel that takes addresses for buffers: each is lent to OpenCL, with the bytes that its array has from there on."""

    def __init__(self, kernel: Any, device: "PretendedDevice") -> None:
        self.kernel = kernel
        self._device = device
        self._pointers: dict[int, Any] = {}
        self._owners: dict[int, Any] = {}
        self._lent: dict[int, Any] = {}  # OpenCL's arguments keep no buffers alive

    def set_arg(self, index: int, value: Any) -> None:
        if isinstance(value, Buffer):
            self.pointer(index).value = value.pointer
            self._owners[index] = value.owner
            return
        if value is None and index in self._pointers:
            self._pointers[index].value = 0
            self._owners.pop(index, None)
            return
        self.kernel.set_arg(index, value)

    def pointer(self, index: int, place: Any = None) -> Any:
        if place is not None:
            self._pointers[index] = place
        return self._pointers.setdefault(index, ctypes.c_uint64())

    def lend(self) -> None:
        """Bind what the addresses point to now."""
        for index, pointer in self._pointers.items():
            self._lent[index] = self._device.lent(pointer.value)
            self.kernel.set_arg(index, self._lent[index])


class PretendedProgram:
    def __init__(self, program: Any, device: "PretendedDevice") -> None:
        self._program = program
        self._device = device
        self.argument_types = program.argument_types
        self.log = program.log

    def new_kernel(self) -> PretendedKernel:
        return PretendedKernel(self._program.new_kernel(), self._device)


class PretendedDevice:
    """What `library_device` gives, on an opened OpenCL device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.dialect = device.dialect
        self.info = replace(device.info, place=0)
        self.context = 1
        self.stream = 5
        self.driver = PretendedDriver()
        self.null = None
        self.captured: list[Any] = []
        self.per_thread = threading.local()
        self.known: list[np.ndarray] = []

    @contextmanager
    def current(self) -> Iterator[PretendedDriver]:
        yield self.driver

    def own(self, array: np.ndarray) -> PretendedArray:
        """The array as one of this GPU. It must own its memory, or be a view of one that is known."""
        if array.base is None:
            self.known.append(array)
        return PretendedArray(array)

    def lent(self, pointer: int) -> Any:
        assert pointer % ALIGNED == 0, f"kernels get {pointer:#x}, and may read {ALIGNED} bytes at once there"
        for array in self.known:
            begin = array.__array_interface__["data"][0]
            if begin - 16 < pointer < begin + max(array.nbytes, 1):
                size = begin + max(array.nbytes, 1) - pointer
                memory = (ctypes.c_char * size).from_address(pointer)
                return cl.Buffer(
                    self._device.context, cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR, size, hostbuf=memory
                )
        raise AssertionError(f"{pointer:#x} is in no known array")

    def build(self, *arguments: Any) -> PretendedProgram:
        return PretendedProgram(self._device.build(*arguments), self)

    def allocate(self, nbytes: int) -> Buffer:
        memory = np.full(max(nbytes, 1) + 64, 0xCD, np.uint8)
        self.known.append(memory)
        begin = -(-memory.__array_interface__["data"][0] // 16) * 16
        return Buffer(begin, max(nbytes, 1), memory)

    def zeroed(self, nbytes: int) -> Buffer:
        made = self.allocate(nbytes)
        ctypes.memset(made.pointer, 0, made.nbytes)
        return made

    def tensor_map(self, map_: Any) -> Buffer:
        raise AssertionError("no tensor maps on a CPU")

    def launch(
        self, kernel: PretendedKernel, ndrange: NDRange, what: str, queue: Any, wait_for: Any, event: bool
    ) -> None:
        assert (wait_for, event) == (None, False)
        self.launcher(kernel, ndrange, what, queue)()

    def launcher(self, kernel: PretendedKernel, ndrange: NDRange, what: str, stream: int) -> Callable[[], int]:
        def launch() -> int:
            kernel.lend()
            self._device.launch(kernel.kernel, ndrange, what)
            self._device.finish(what)
            return 0

        return launch
