"""Ready calls on PyOpenCL arrays. See `ready.py`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import pyopencl as cl
from pyopencl.array import Array

from ...runtime.opencl.device import READ_WRITE, Device
from ..engine import Call
from .opencl_arrays import ORDER, are_apart, facts_of, may_be_written
from .ready import REFUSED, Ready, Recipe

Start = Callable[[list[Any] | None], Any]  # launches after some events, and returns the launch's own


class ReadyMemory(Protocol):
    """What a ready call needs of its memory."""

    device: Device
    queue: Any

    def is_here(self, array: Array) -> bool: ...

    def assign(self, target: Any, source: Any) -> None: ...

    def enqueue(self, call: Call, buffers: Mapping[str, Any], arrays: Collection[Array]) -> None: ...

    def launch(self, start: Start, a: Array, b: Array, target: Array) -> None: ...


# Arguments of a kernel with the places of their arrays in (a, b, out), how to set them, and how to launch then.
Binding = tuple[tuple[tuple[int, int], ...], Callable[[int, Any], None], Start]


class OpenCLReady(Ready):
    """A call that is ready for PyOpenCL arrays."""

    def __init__(self, memory: ReadyMemory, recipe: Recipe) -> None:
        super().__init__(recipe)
        self._memory, self._operands, self._output = memory, recipe.operands, recipe.output
        self._added = recipe.added
        self.queue, self._context = memory.queue, memory.device.context
        self._bytes = max(recipe.like.nbytes, 1)
        _ = recipe.like.flags.forc  # PyOpenCL keeps the flags on the array
        self._like = {**vars(recipe.like), "base_data": None, "events": ()}
        self._plain = _binding(recipe, memory)
        self.is_plain = self._plain is not None
        if self.is_plain:
            a, b = recipe.given.arrays[:2]
            self._wanted, self._one_offset = (*_layout(a), *_layout(b)), a.offset == b.offset
            self._wanted_out = None if recipe.given.out is None else _layout(recipe.given.out)

    def run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        buffers, taken, queue = {}, [], self.queue
        for position, name in self._operands:
            array = arrays[position]
            if array.queue is not queue and not self._memory.is_here(array):
                return REFUSED
            facts_of(array)  # that it fits its buffer
            taken.append(array)
            buffers[name] = array.base_data
        added = None if self._added is None else arrays[self._added]
        if added is not None:
            if added.queue is not queue and not self._memory.is_here(added):
                return REFUSED
            facts_of(added)
        if out is None:
            target = self._new(taken)
        elif (out.queue is queue or self._memory.is_here(out)) and may_be_written(
            out, taken if added is None else [*taken, added]
        ):
            target = out
        else:
            return REFUSED
        self.call.used = True
        if added is not None:
            self._memory.assign(target, added)
        taken.append(target)
        buffers[self._output] = target.base_data
        self._memory.enqueue(self.call, buffers, taken)
        return target

    def run_plain(self, a: Any, b: Any, out: Any) -> Any:
        """`run` written out for what most small products are: two operands, one launch, the arrays' own queue.

        It takes arrays of any kind and layout, and compares what a key would hold, which takes less time than to make one.
        """
        plain, queue = self._plain, self.queue
        if plain is None or type(a) is not Array or type(b) is not Array:
            return REFUSED
        if a.queue is not queue or b.queue is not queue:
            return REFUSED
        seen = (a.shape, a.strides, a.offset, a.dtype, b.shape, b.strides, b.offset, b.dtype)  # `_layout` written out
        left, right = a.base_data, b.base_data
        if seen != self._wanted or (left is right and self._one_offset):
            return REFUSED
        if out is None:
            facts_of(a)  # that they fit their buffers
            facts_of(b)
            target = self._new((a, b))
        elif (
            type(out) is Array
            and out.queue is queue
            and (out.shape, out.strides, out.offset, out.dtype) == self._wanted_out
            and (are_apart(out, a, b) or may_be_written(out, (a, b)))
        ):
            target = out
        else:
            return REFUSED
        self.call.used = True
        buffers, (arguments, set_argument, start) = (left, right, target.base_data), plain
        turn = self.call.turn
        with ORDER.lock:
            if turn.taken:
                return REFUSED
            turn.taken = True
            try:
                for index, place in arguments:
                    set_argument(index, buffers[place])
                self._memory.launch(start, a, b, target)
            finally:
                turn.taken = False
        return target

    def _new(self, operands: Sequence[Array]) -> Array:
        """A new result, with memory from an operand's allocator. PyOpenCL's constructor takes ten times as long."""
        allocator = None
        for operand in operands:
            if operand.allocator is not None:
                allocator = operand.allocator
                break
        try:
            base = cl.Buffer(self._context, READ_WRITE, self._bytes) if allocator is None else allocator(self._bytes)
        except cl.Error:
            if allocator is not None:
                raise
            # Which tries again without idle buffers, or says what is missing.
            base = self._memory.device.allocate(self._bytes)
        made = Array.__new__(Array)
        made.__dict__.update(self._like)
        made.events, made.allocator, made.base_data = [], allocator, base
        return made


def _layout(array: Array) -> tuple[Any, ...]:
    return array.shape, array.strides, array.offset, array.dtype


def _binding(recipe: Recipe, memory: ReadyMemory) -> Binding | None:
    """How the buffers of `run_plain` are bound, and what launches the kernel; None for calls of another kind."""
    launch = recipe.call.only_launch
    if recipe.operands != ((0, "A"), (1, "B")) or recipe.added is not None or launch is None:
        return None
    a, b = recipe.given.arrays[:2]
    if a.base_data is b.base_data and a.offset == b.offset:
        return None
    names = ("A", "B", recipe.output)
    if any(name not in names for _, name in launch.slots):
        return None
    arguments = tuple((index, names.index(name)) for index, name in launch.slots)
    return (
        arguments,
        launch.kernel.set_arg,
        memory.device.launcher(launch.kernel, launch.ndrange, launch.what, memory.queue),
    )
