"""Ready calls on CUDA arrays: what is left of a call is to set addresses and to launch, some microseconds of Python.

See `ready.py`. A ready call belongs to one thread, one stream, and one capture of it.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Protocol

from ...core.kernel import NDRange
from ...errors import InvalidInput
from ...runtime.cuda.device import Device, check_launch
from ...runtime.cuda.opening import library_device
from ..cuda_arrays.array import ALIGNED, UNCAPTURED, CudaArray, Framework
from ..cuda_arrays.frameworks import framework_of
from ..engine import Call
from .cuda_streams import capture_of, stream_handle
from .ready import REFUSED, Ready, Recipe

_ROUNDED = -ALIGNED  # a mask


class CudaKeys:
    """How ready calls are found for the arrays of one framework."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._call_key, self._address = framework.call_key, framework.address

    def call_key(
        self, arrays: tuple[Any, ...], out: Any, device: Any, queue: Any
    ) -> tuple[Device, tuple[Any, ...]] | None:
        """The device of a call, and what its ready call depends on; None if only the general way can say."""
        if device is not None:
            return None
        key = self._call_key(arrays, out)
        if key is None:
            return None
        opened, stream = library_device(key[0]), key[1]
        if len(arrays) > 1 and self._address(arrays[0]) == self._address(arrays[1]):
            key = (*key, "one place")  # A times its own transpose is another plan
        if queue is not None:
            stream = stream_handle(queue)
        elif stream in UNCAPTURED:  # most calls: nothing is added to the key
            return opened, key
        return opened, (key, stream, capture_of(opened, stream))

    def layout_of(self, array: Any) -> tuple[Any, ...]:
        framework = framework_of(array)
        if framework is None:
            raise InvalidInput(
                f"an array of {type(array).__module__.partition('.')[0]} lies in the host's memory: move it"
            )
        ordinal = framework.ordinal(array)
        seen = framework.read(array, "an array", framework.current_stream(ordinal, (array,)))
        return seen.shape, tuple(stride * seen.dtype.itemsize for stride in seen.strides), seen.dtype

    def settled(self, array: Any) -> bool:
        return framework_of(array) is self._framework and self._framework.settled(array)


_keys: dict[int, CudaKeys] = {}


def keys_of(framework: Framework) -> CudaKeys:
    """The one of a framework, of which there is one object: its classes share it."""
    return _keys.setdefault(id(framework), CudaKeys(framework))


class ReadyMemory(Protocol):
    """What a ready call needs of its memory."""

    device: Device
    framework: Framework
    queue: int
    scratch_key: tuple[int, int]

    def assign(self, target: Any, source: Any) -> None: ...


class CudaReady(Ready):
    """A call that is ready for the arrays of one framework, on one stream."""

    def __init__(self, memory: ReadyMemory, recipe: Recipe) -> None:
        super().__init__(recipe)
        self._memory, self._device, self._operands = memory, memory.device, recipe.operands
        framework, like, self._added = memory.framework, recipe.like, recipe.added
        self._address, self._written = framework.address, framework.written
        self._places, self._launches = _bound(recipe.call, memory)
        self._inputs: tuple[tuple[int, int, int, list[Any]], ...] | None = None  # known when the first arrays come
        self._output = (*_reach(like), self._places.get(recipe.output, []))
        self._empty = framework.maker(like.shape, like.dtype, like.ordinal, memory.queue)
        self._before = ctypes.c_void_p()
        self._before_place = ctypes.byref(self._before)
        self._current, self._context = memory.device.driver.cuCtxGetCurrent, memory.device.context

    def run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        address = self._address
        target = self._empty() if out is None else out
        low, high, own = self._output
        begin = address(target)
        end, begin = begin + high, begin + low
        for position, low, high, places in self._inputs or self._first(arrays):
            pointer = address(arrays[position])
            if pointer + low < end and begin < pointer + high:
                return REFUSED
            for place in places:
                place.value = (pointer + low) & _ROUNDED
        for place in own:
            place.value = begin & _ROUNDED
        self.call.used = True
        if self._added is not None:
            self._add(target, arrays[self._added])
        if self._current(self._before_place) or self._before.value != self._context:
            with self._device.current():
                self._launch()
        else:
            self._launch()
        if out is not None:
            self._written(out)
        return target

    def _launch(self) -> None:
        for launch, what, ndrange in self._launches:
            status = launch()
            if status:
                check_launch(status, what, ndrange)

    def _first(self, arrays: tuple[Any, ...]) -> tuple[tuple[int, int, int, list[Any]], ...]:
        """For each operand its position, how far it reaches from its address, and the places of that. Arrays of equal keys reach
        equally far."""
        found = []
        added = [] if self._added is None else [(self._added, "c")]
        for position, name in (*self._operands, *added):
            array = self._memory.framework.read(arrays[position], name, self._memory.queue)
            found.append((position, *_reach(array), self._places.get(name, [])))
        self._inputs = tuple(found)
        return self._inputs

    def _add(self, target: Any, added: Any) -> None:
        """Copy `c` to the result. The places of this call's addresses are its own, so they stay."""
        read, stream = self._memory.framework.read, self._memory.queue
        self._memory.assign(read(target, "out", stream), read(added, "c", stream))


Launches = tuple[tuple[Callable[[], int], str, NDRange], ...]


def _bound(call: Call, memory: ReadyMemory) -> tuple[dict[str, list[Any]], Launches]:
    """The places of the caller's addresses, by the names of kernel arguments, and all launches. Scratch memory is bound."""
    places: dict[str, list[Any]] = {}
    launches = []
    for loaded, scratch in call.with_scratch(memory.scratch_key):
        for launch in loaded.launches:
            for index, name in launch.slots:
                if name in scratch:
                    launch.kernel.set_arg(index, scratch[name])
                else:
                    places.setdefault(name, []).append(launch.kernel.pointer(index))
            launcher = memory.device.launcher(launch.kernel, launch.ndrange, launch.what, memory.queue)
            launches.append((launcher, launch.what, launch.ndrange))
    return places, tuple(launches)


def _reach(array: CudaArray) -> tuple[int, int]:
    """The first byte of an array, and that after its last, from its address on."""
    begin, end = array.span
    return begin - array.pointer, end - array.pointer
