"""Ready calls on CUDA arrays: what is left of a call is to compare arrays, to set addresses and to launch, two or three
microseconds of Python.

See `ready.py`. A ready call belongs to one thread, one stream, and one capture of it. While it has its thread's turn
(`engine.Turn`), a destructor's call has kernels and scratch memory of its own.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from ...core.kernel import NDRange
from ...runtime.cuda.device import Device, check_launch
from ..cuda_arrays.array import ALIGNED, UNCAPTURED, Framework
from ..engine import Call, kept_on
from ..scratch import Scratch
from .cuda_streams import StreamKey, capture_of, change_watch, stream_number
from .ready import REFUSED, Ready, Recipe

OFFSET = ALIGNED - 1  # a mask: what an address is above a multiple of ALIGNED

PlainRun = Callable[[Any, Any, Any], Any]


class ReadyMemory(Protocol):
    """What a ready call needs of its memory."""

    device: Device
    framework: Framework
    queue: int
    scratch_key: StreamKey

    def assign(self, target: Any, source: Any) -> None: ...


class Seat(NamedTuple):
    """Where an array of a call lies, as far as its ready call depends on it."""

    offset: int  # of its address above a multiple of ALIGNED
    shift: int  # from its address to what kernels get
    begin: int  # from its address to its first byte
    end: int  # and to that after its last

    def distances(self, out: "Seat | None") -> tuple[int, int]:
        """The distances of the array's address from that of `out` between which both share memory."""
        return (0, 0) if out is None else (out.begin - self.end, out.end - self.begin)


class CudaReady(Ready):
    """A call that is ready for the arrays of one framework, on one stream.

    `run_plain(a, b, out)` is `run((a, b), out)` for a product of two operands.
    """

    def __init__(self, memory: ReadyMemory, recipe: Recipe, scratch: Sequence[Scratch]) -> None:
        super().__init__(recipe)
        self._memory, self._device, self._added = memory, memory.device, recipe.added
        framework, like, given = memory.framework, recipe.like, recipe.given
        self._address, self._written = framework.address, framework.written
        self._ordinal, self._stream_of = like.ordinal, framework.stream_of
        # Memory for results is of the current stream, whatever the queue.
        self._stream = framework.stream_of(like.ordinal)
        self._capture = memory.scratch_key.capture
        self._has_scratch = any(plan.scratch for plan in recipe.call.plans)
        # The launches have addresses of scratch memory, which are right until one more buffer is dropped.
        self._kept_scratch = kept_on(memory.device).scratch
        self._dropped = self._kept_scratch.dropped
        self._empty = framework.maker(like.shape, like.dtype, like.ordinal, memory.queue)
        self._shift = like.base - like.pointer
        places, self._launches = _bound(recipe.call, scratch, memory)
        self._output = places.get(recipe.output, ctypes.c_uint64())
        self._out = None if given.out is None else (framework.alike(given.out), self._seat(given.out))
        read = {position: places.get(name, ctypes.c_uint64()) for position, name in recipe.operands}
        if recipe.added is not None:
            read[recipe.added] = ctypes.c_uint64()
        self._operands = tuple(self._operand(position, given.arrays[position]) for position in read)
        self._places = tuple(read.values())
        self._one_place = _one_place({position: framework.address(given.arrays[position]) for position in read})
        self._plain = self._plain_run(given.arrays, given.out)
        self.run_plain: PlainRun = self._plain or (lambda a, b, out: self._run((a, b), out))

    def _seat(self, array: Any) -> Seat:
        seen = self._memory.framework.read(array, "an array", self._memory.queue)
        begin, end = (each - seen.pointer for each in seen.span)
        return Seat(seen.pointer % ALIGNED, seen.base - seen.pointer, begin, end)

    def _operand(self, position: int, array: Any) -> tuple[int, Callable[[Any], bool], int, int, int, int]:
        """What `_run` needs of an operand."""
        seat = self._seat(array)
        low, high = seat.distances(None if self._out is None else self._out[1])
        return position, self._memory.framework.alike(array), seat.offset, seat.shift, low, high

    def run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        return self._run(arrays, out) if self._plain is None else self._plain(arrays[0], arrays[1], out)

    def _run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        if self.call.turn.taken or self._stream_of(self._ordinal) != self._stream:
            return REFUSED
        if capture_of(self._device, self._memory.queue) != self._capture:
            return REFUSED
        if self._has_scratch:
            if self._kept_scratch.dropped != self._dropped:
                return REFUSED
            number = self._memory.scratch_key.number  # 0 in a capture
            if number and stream_number(self._device, self._memory.queue) != number:
                return REFUSED
        address, origin, result = self._address, 0, 0
        if self._out is not None:
            alike, seat = self._out
            if not alike(out):
                return REFUSED
            origin = address(out)
            if origin & OFFSET != seat.offset or not origin:
                return REFUSED
            result = origin + seat.shift
        before, one_place, values = 0, 0, []
        for position, alike, offset, shift, low, high in self._operands:
            array = arrays[position]
            if not alike(array):
                return REFUSED
            pointer = address(array)
            if pointer & OFFSET != offset or not pointer or low < pointer - origin < high:
                return REFUSED
            if pointer == before:
                one_place |= 1 << position
            before = pointer
            values.append(pointer + shift)
        if one_place != self._one_place:
            return REFUSED
        target = out
        if out is None:
            target = self._empty()
            result = address(target) + self._shift
        if self._added is not None:
            self._add(target, arrays[self._added])
        if not self._launched(values, result):
            return REFUSED
        if out is not None:
            self._written(out)
        return target

    def _plain_run(self, arrays: Sequence[Any], out: Any) -> PlainRun | None:
        """`_run` written out for what most small products are: two operands at aligned addresses, one launch, no capture.

        It takes at most three fifths of the time. None for other calls.
        """
        seats = [self._seat(each) for each in arrays[:2]] + [
            Seat(0, self._shift, 0, 0) if self._out is None else self._out[1]
        ]
        plain = [position for position, *_ in self._operands] == [0, 1] and len(self._launches) == 1
        if not plain or self._added is not None or self._one_place or self._capture:
            return None
        if any(seat.offset or seat.shift for seat in seats):
            return None
        alike, first, second = self._memory.framework.alike, *arrays[:2]
        return self._run_new(alike(first, second)) if out is None else self._run_into(alike(first, second, out), seats)

    def _watch(self) -> Callable[[], bool] | None:
        """What tells whether the stream has changed, or scratch memory may have; None if neither can."""
        stream = None
        if self._memory.queue not in UNCAPTURED:
            stream = change_watch(self._device, self._memory.scratch_key, self._has_scratch)
        if not self._has_scratch:
            return stream
        kept, dropped = self._kept_scratch, self._dropped
        if stream is None:
            return lambda: kept.dropped != dropped
        return lambda: kept.dropped != dropped or stream()

    def _run_new(self, alike: Callable[[Any, Any], bool]) -> PlainRun:
        """The plain run whose result is a new array."""
        (launch, what, ndrange), launch_again, call = self._launches[0], self._launch_again, self.call
        (place_a, place_b), place_c, watch = self._places, self._output, self._watch()
        address, empty, stream_of, ordinal, stream = (
            self._address, self._empty, self._stream_of, self._ordinal, self._stream,
        )  # fmt: skip

        turn = call.turn

        def run(a: Any, b: Any, out: Any) -> Any:
            if turn.taken or stream_of(ordinal) != stream or not alike(a, b):
                return REFUSED
            first, second = address(a), address(b)
            if (first | second) & OFFSET or first == second or not (first and second):
                return REFUSED
            target = empty()
            third = address(target)
            turn.taken = True
            try:
                if watch is not None and watch():
                    return REFUSED
                call.used = True
                place_a.value = first
                place_b.value = second
                place_c.value = third
                if status := launch():
                    launch_again(status, launch, what, ndrange)
            finally:
                turn.taken = False
            return target

        return run

    def _run_into(self, alike: Callable[[Any, Any, Any], bool], seats: Sequence[Seat]) -> PlainRun:
        """The plain run into `out`. Addresses that passed last time pass again: to check them takes a sixth of the call."""
        (launch, what, ndrange), launch_again, call = self._launches[0], self._launch_again, self.call
        (place_a, place_b), place_c, watch = self._places, self._output, self._watch()
        (low_a, high_a), (low_b, high_b) = (seat.distances(seats[2]) for seat in seats[:2])
        address, written, stream_of, ordinal, stream = (
            self._address, self._written, self._stream_of, self._ordinal, self._stream,
        )  # fmt: skip
        turn = call.turn
        passed_a = passed_b = passed_c = -1  # no array has this address

        def run(a: Any, b: Any, out: Any) -> Any:
            nonlocal passed_a, passed_b, passed_c
            if turn.taken or stream_of(ordinal) != stream or not alike(a, b, out):
                return REFUSED
            first, second, third = address(a), address(b), address(out)
            if first != passed_a or second != passed_b or third != passed_c:
                if (first | second | third) & OFFSET or first == second or not (first and second and third):
                    return REFUSED
                if low_a < first - third < high_a or low_b < second - third < high_b:
                    return REFUSED
                passed_a, passed_b, passed_c = first, second, third
            turn.taken = True
            try:
                if watch is not None and watch():
                    return REFUSED
                call.used = True
                place_a.value = first
                place_b.value = second
                place_c.value = third
                if status := launch():
                    launch_again(status, launch, what, ndrange)
            finally:
                turn.taken = False
            written(out)
            return out

        return run

    def _launched(self, values: Sequence[int], result: int) -> bool:
        """Launch with these addresses; False, and nothing done, if a call in between had scratch memory dropped."""
        turn = self.call.turn
        turn.taken = True
        try:
            if self._has_scratch and self._kept_scratch.dropped != self._dropped:
                return False
            self.call.used = True
            for place, value in zip(self._places, values, strict=True):
                place.value = value
            self._output.value = result
            self._launch()
        finally:
            turn.taken = False
        return True

    def _launch(self) -> None:
        if self._capture:  # a launch that is refused may spoil a capture
            with self._device.current():
                for launch, what, ndrange in self._launches:
                    check_launch(launch(), what, ndrange)
            return
        for launch, what, ndrange in self._launches:
            if status := launch():
                self._launch_again(status, launch, what, ndrange)

    def _launch_again(self, status: int, launch: Callable[[], int], what: str, ndrange: NDRange) -> None:
        """In our context, if this thread has another one, or none.

        CUDA refuses a launch on a default stream then; other streams have their own context. To ask before each launch would take
        a tenth of the call's Python.
        """
        before = ctypes.c_void_p()
        if not self._device.driver.cuCtxGetCurrent(ctypes.byref(before)) and before.value != self._device.context:
            with self._device.current():
                status = launch()
        check_launch(status, what, ndrange)

    def _add(self, target: Any, added: Any) -> None:
        """Copy `c` to the result. The places of this call's addresses are its own, so they stay."""
        read, stream = self._memory.framework.read, self._memory.queue
        self._memory.assign(read(target, "out", stream), read(added, "c", stream))


def _one_place(addresses: Mapping[int, int]) -> int:
    """Which operands begin where the one before does, by bits: A times its own transpose is another plan."""
    positions = pairwise(addresses)
    return sum(1 << position for before, position in positions if addresses[before] == addresses[position])


Launches = tuple[tuple[Callable[[], int], str, NDRange], ...]


def _bound(call: Call, scratch: Sequence[Scratch], memory: ReadyMemory) -> tuple[dict[str, Any], Launches]:
    """The places of the caller's addresses, by the names of kernel arguments, and all launches. Scratch memory is bound."""
    places: dict[str, Any] = {}
    launches = []
    for loaded, own in zip(call.loaded, scratch, strict=True):
        for launch in loaded.launches:
            for index, name in launch.slots:
                if name in own:
                    launch.kernel.set_arg(index, own[name])
                else:
                    places[name] = launch.kernel.pointer(index, places.get(name))
            launcher = memory.device.launcher(launch.kernel, launch.ndrange, launch.what, memory.queue)
            launches.append((launcher, launch.what, launch.ndrange))
    return places, tuple(launches)
