"""Ready calls on CUDA arrays: what is left of a call is to set addresses and to launch, some microseconds of Python.

See `ready.py`. A ready call belongs to one thread, one stream, and one capture of it.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from ...core.kernel import NDRange
from ...runtime.cuda.device import Device, check_launch
from ...runtime.cuda.driver import check
from ...runtime.cuda.opening import library_device
from ..cuda_arrays.array import ALIGNED, CudaArray, Framework
from ..cuda_arrays.frameworks import framework_of
from ..engine import Call
from ..refused import REFUSED
from .cuda_streams import capture_of, stream_handle

_ROUNDED = -ALIGNED  # a mask


class CudaKeys:
    """How ready calls are found for the arrays of one framework."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self.key_of = framework.key_of

    def place_of(self, array: Any, device: Any, queue: Any) -> tuple[Device, Any] | None:
        framework = framework_of(array)
        if framework is None or device is not None:
            return None
        ordinal = framework.ordinal(array)
        opened = library_device(ordinal)
        stream = framework.current_stream(ordinal, (array,)) if queue is None else stream_handle(queue)
        return opened, (stream, capture_of(opened, stream))

    def settled(self, array: Any) -> bool:
        return framework_of(array) is self._framework and self._framework.settled(array)


_keys: dict[int, CudaKeys] = {}


def keys_of(framework: Framework) -> CudaKeys:
    """The one of a framework, of which there is one object: its classes share it."""
    return _keys.setdefault(id(framework), CudaKeys(framework))


class CudaReady:
    """A direct call. `places` are the positions of the caller's arrays, with the names of kernel arguments that get them."""

    __slots__ = (
        "_address", "_before", "_context", "_device", "_empty", "_inputs", "_launches", "_output", "_written", "call",
    )  # fmt: skip

    def __init__(
        self, device: Device, framework: Framework, stream: int, call: Call, names: Sequence[str | None],
        arrays: dict[str, CudaArray], output: str,
    ) -> None:  # fmt: skip
        self.call = call
        self._device, self._context = device, device.context
        self._before = ctypes.c_void_p()
        self._address, self._written = framework.address, framework.written
        places, self._launches = _bound(call, device, stream)
        self._inputs = tuple(
            (place, *_reach(arrays[name]), places.get(name, ())) for place, name in enumerate(names) if name is not None
        )
        like = arrays[output]
        self._output = (*_reach(like), places.get(output, ()))
        self._empty = framework.maker(like.shape, like.dtype, like.ordinal)

    def run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        """The result, or REFUSED before anything was enqueued."""
        address = self._address
        target = self._empty() if out is None else out
        low, high, own = self._output
        pointer = address(target)
        begin, end = pointer + low, pointer + high
        for place, low, high, cells in self._inputs:
            pointer = address(arrays[place])
            if pointer + low < end and begin < pointer + high:
                return REFUSED
            for cell in cells:
                cell.value = (pointer + low) & _ROUNDED
        for cell in own:
            cell.value = begin & _ROUNDED
        self.call.used = True
        driver, before = self._device.driver, self._before
        check("asking for the current context", driver.cuCtxGetCurrent(ctypes.byref(before)))
        if before.value == self._context:
            self._launch()
        else:
            with self._device.current():
                self._launch()
        if out is not None:
            self._written(out)
        return target

    def _launch(self) -> None:
        for launch, what, ndrange in self._launches:
            status = launch()
            if status:
                check_launch(status, what, ndrange)


Launches = tuple[tuple[Callable[[], int], str, NDRange], ...]


def _bound(call: Call, device: Device, stream: int) -> tuple[dict[str, list[Any]], Launches]:
    """The places of the caller's addresses, by the names of kernel arguments, and all launches. Scratch memory is bound."""
    places: dict[str, list[Any]] = {}
    launches = []
    for loaded, scratch in call.with_scratch(stream):
        for launch in loaded.launches:
            for index, name in launch.slots:
                if name in scratch:
                    launch.kernel.set_arg(index, scratch[name])
                else:
                    places.setdefault(name, []).append(launch.kernel.pointer(index))
            launcher = device.launcher(launch.kernel, launch.ndrange, launch.what, stream)
            launches.append((launcher, launch.what, launch.ndrange))
    return places, tuple(launches)


def _reach(array: CudaArray) -> tuple[int, int]:
    """The first byte of an array, and that after its last, from its address on."""
    begin, end = array.span
    return begin - array.pointer, end - array.pointer
