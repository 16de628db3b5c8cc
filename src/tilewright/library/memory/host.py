"""NumPy arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl

from ...errors import InvalidInput, OutOfDeviceMemory
from ...runtime.opencl.adopted import adopt
from ...runtime.opencl.callers_processor import leave_bound_processor
from ...runtime.opencl.device import Device
from ...runtime.opencl.finishing import finish_before_raising
from ...runtime.opencl.staging import Staging, keep_staging, take_staging
from ..engine import Call, default_device
from ..shapes import Shape, View, distinct
from ..views import as_host_array, has_gaps, host_view, lent_buffer, packed, whole_elements
from .ready import NOTHING_GIVEN, REFUSED, Ready, Recipe

Place = tuple[Device, Any]  # where a call runs: its device, and its queue, or whether the device was named


class HostMemory:
    """NumPy arrays. A CPU device uses their memory; for others they are copied to the device and back."""

    has_plain = False
    binds_scratch = False

    def __init__(self, device: Device, queue: Any, asked: bool = True) -> None:
        """`asked` means that the caller named the device or the queue, and so wants kernels: see `numpy_call.py`."""
        self.device = device
        self.queue = queue or device.plain_queue
        self.shares_memory = device.info.kind == "cpu"
        self.may_call_numpy = self.shares_memory and not asked
        self.key = ("host", id(device), self.queue.int_ptr, self.may_call_numpy)

    def as_array(self, value: Any, name: str) -> np.ndarray:
        """The caller's value as an array of any type and layout. `name` is the argument's, for errors."""
        return as_host_array(value, name)

    def as_operand(self, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The operand in that type and in a layout that kernels can read, or that is copied to the device."""
        if array.dtype != dtype:
            array = array.astype(dtype)
        if not self.shares_memory or whole_elements(array):
            return array
        return np.array(array, order="C", copy=True)

    def check_conversion(self, source: np.dtype, target: np.dtype) -> None:
        """NumPy has all conversions that the rules allow."""

    def as_out(self, out: Any) -> np.ndarray:
        """The caller's array for the result. InvalidInput if it is not a NumPy array, or read-only."""
        if not isinstance(out, np.ndarray):
            raise InvalidInput(f"out is a {type(out).__name__}; for NumPy operands, pass a NumPy array")
        if not out.flags.writeable:
            raise InvalidInput(f"out ({out.shape} {out.dtype}) is read-only: pass a writable array")
        return as_host_array(out, "out")

    def writable_by_kernels(self, out: np.ndarray) -> bool:
        """Whether results can be written to the array itself. Kernels write whole elements, NumPy the fields of a structure."""
        if has_gaps(out.dtype):
            return False
        if not whole_elements(out):
            return out.flags.forc and not self.shares_memory
        return out.flags.forc or distinct(host_view(out)[0])

    def signature(self, array: np.ndarray | None) -> tuple[Any, ...] | None:
        if array is None:
            return None
        dense = self.shares_memory or array.flags.forc
        return array.shape, array.strides if dense else self.view(array).strides, array.dtype

    def view(self, array: np.ndarray) -> View:
        """How kernels see the array: in its own memory, or in a buffer into which it was copied without gaps."""
        return host_view(array)[0] if self.shares_memory or array.flags.forc else packed(array)[0]

    def dense(self, array: np.ndarray, shape: Shape) -> np.ndarray:
        """The array broadcast to a shape, as a dense copy."""
        return np.array(np.broadcast_to(array, shape), order="C", copy=True)

    def as_vector(self, array: np.ndarray) -> np.ndarray:
        """The array, or a copy, with contiguous elements."""
        return np.ascontiguousarray(array)

    def empty(self, shape: Shape, dtype: np.dtype) -> np.ndarray:
        return np.empty(shape, dtype)

    @staticmethod
    def place_of(array: np.ndarray, device: Any, queue: Any) -> Place | None:
        if queue is None:
            return default_device(device), device is not None
        return (adopt(queue), queue) if device is None and type(queue) is cl.CommandQueue else None

    @staticmethod
    def key_of(array: np.ndarray) -> tuple[Any, ...]:
        return array.shape, array.strides, array.dtype, array.flags.num

    @staticmethod
    def layout_of(array: np.ndarray) -> tuple[Any, ...]:
        return array.shape, array.strides, array.dtype

    @staticmethod
    def one_place(one: np.ndarray, other: np.ndarray) -> bool:
        if one is other:
            return True
        base, other_base = one.base, other.base
        if base is None is other_base:
            return False  # each has memory of its own
        # Asking for addresses takes a microsecond, so that it comes last, and whether bytes overlap 0.2. Bases do not tell: a
        # matrix and its transpose have different ones if they are views of a subclass, such as `memmap`, or came by DLPack.
        if other_base is one or base is other:
            # All of the other's memory, without gaps, in its order or its transpose's.
            if one.nbytes == other.nbytes and one.flags.forc and other.flags.forc:
                return True
        elif not np.may_share_memory(one, other):
            return False
        return bool(one.__array_interface__["data"][0] == other.__array_interface__["data"][0])

    @staticmethod
    def settled(array: np.ndarray) -> bool:
        """Not where `whole_elements` looks at the address."""
        return bool(array.size) and (array.flags.owndata or array.dtype.alignment == array.dtype.itemsize)

    def ready(self, recipe: Recipe) -> Ready:
        return HostReady(self, recipe)

    def overlap(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether the byte ranges of two arrays overlap. Interleaved arrays count as overlapping: the exact test is slow."""
        return np.may_share_memory(one, other)

    def same_elements(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two arrays have the same elements at the same addresses."""
        if one is other:
            return True
        begins = (each.__array_interface__["data"][0] for each in (one, other))
        return len(set(begins)) == 1 and self.signature(one) == self.signature(other)

    def assign(self, target: np.ndarray, source: np.ndarray) -> None:
        """Copy elements into `target` and convert them to its type. The rules have allowed the conversion."""
        np.copyto(target, source, casting="unsafe")

    def run(self, call: Call, arrays: Mapping[str, np.ndarray], output: str, reads_output: bool) -> None:
        """Run and wait: the result is in `arrays[output]`. After it has returned or raised, nothing is written."""
        if call.host is not None:
            call.host(arrays)
            return
        if not self.shares_memory:
            self._run_on_copies(call, arrays, output, reads_output)
            return
        if call.is_long:
            leave_bound_processor()
        context = self.device.context
        buffers = {name: lent_buffer(context, array) for name, array in arrays.items()}
        try:
            event = call.enqueue(buffers, self.queue)
            if event is not None:
                self.device.wait("a call on host arrays", event)  # for the queue Intel's CPU runtime takes 3 us longer
        except BaseException:
            finish_before_raising(self.queue)
            raise

    def _run_on_copies(self, call: Call, arrays: Mapping[str, np.ndarray], output: str, reads_output: bool) -> None:
        """The same on a device with separate memory: by buffers of its pool, and pinned memory on the way."""
        pool, staging, taken = self.device.pool, take_staging(self.device), dict[str, tuple[int, Any]]()
        sent = {name: array for name, array in arrays.items() if name != output or reads_output}
        try:
            try:
                self._send(call, arrays, sent, taken, staging)
            except OutOfDeviceMemory:  # some drivers allocate when a buffer is first used
                finish_before_raising(self.queue)
                staging.forget()
                taken.clear()
                if not pool.release():
                    raise
                self._send(call, arrays, sent, taken, staging)
            if not arrays[output].nbytes:  # nothing is read, which would wait
                self.device.finish("operands of an empty result", self.queue)
            staging.read(self.queue, taken[output][1], packed(arrays[output])[1])
        except BaseException:
            finish_before_raising(self.queue)
            staging.forget()
            raise
        finally:
            keep_staging(self.device, staging)
            pool.give(taken.values())

    def _send(
        self,
        call: Call,
        arrays: Mapping[str, np.ndarray],
        sent: Mapping[str, np.ndarray],
        taken: dict[str, tuple[int, Any]],
        staging: Staging,
    ) -> None:
        """Take a buffer for each array, copy those to be `sent`, and enqueue the call."""
        for name, array in arrays.items():
            taken[name] = self.device.pool.take(array.nbytes, self.device.allocate)
        copies = [(taken[name][1], packed(array)[1]) for name, array in sent.items()]
        staging.write(self.queue, copies)
        call.enqueue({name: buffer for name, (_, buffer) in taken.items()}, self.queue, event=False)

    def result(self, array: np.ndarray) -> np.ndarray:
        return array

    def permuted(self, result: Any, order: Sequence[int]) -> Any:
        """A view of a result with its dimensions in another order."""
        return result.transpose(order)


class HostReady(Ready):
    """A call that is ready for NumPy arrays."""

    def __init__(self, memory: HostMemory, recipe: Recipe) -> None:
        super().__init__(recipe)
        self._memory, self._recipe = memory, recipe._replace(like=None, given=NOTHING_GIVEN)  # no array is kept
        self._shape, self.result_type = recipe.like.shape, recipe.like.dtype

    def run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        memory, (call, operands, output, _, _, reads_output, place, transposed) = self._memory, self._recipe
        taken = {name: arrays[position] for position, name in operands}
        if transposed and call.host is not None:
            taken |= {name: taken[name].swapaxes(-1, -2) for name in transposed}
        added = None if place is None else arrays[place]
        if out is not None:
            for array in taken.values() if added is None else (*taken.values(), added):
                if np.may_share_memory(array, out):
                    return REFUSED
        call.used = True
        target = taken[output] = np.empty(self._shape, self.result_type) if out is None else out
        if added is not None:
            memory.assign(target, added)
        memory.run(call, taken, output, reads_output)
        return target if out is not None or self._shape else target[()]
