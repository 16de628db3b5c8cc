"""Plans, builds and keeps the library's calls, so that a repeated call only binds buffers and enqueues."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import Any
from weakref import finalize

from ..core.plan import Plan
from ..core.problem import compulsory_bytes
from ..runtime.device import device_name
from ..runtime.opencl.device import Device, choose, discover_devices, open_device
from ..runtime.run import Launch, LoadedPlan
from .scratch import KeptScratch, Scratch, give_when_lacking, scratch_limit

KEPT_CALLS = 512  # prepared ones for each device and thread: enough for the shapes of a training loop
KEPT_ZEROED_BYTES = 256 * 2**20  # of their scratch memory that holds zeros
LONG_FLOPS, LONG_BYTES = 1e6, 2e5  # more take a CPU 10 us, and gain by places for all threads
PLAIN_CANDIDATES = 4  # ready calls of one short key: each that is asked in vain takes a third of a microsecond
READY_SPELLINGS = 16  # of one call: of its types, numbers and flags of arrays


class Turn:
    """Whether a thread is between the first argument and the last launch of a call on a device.

    A destructor, or the handler of a signal, may run there and call the library, too.
    """

    def __init__(self) -> None:
        self.taken = False


class Call:
    """The loaded plans of one library call, run in order; or a `host` function of arrays, which plans without launches name."""

    def __init__(
        self, plans: Sequence[Plan], device: Device, host: Callable[[Mapping[str, Any]], None] | None = None
    ) -> None:
        self.device = device
        self.turn = kept_on(device).turn
        self.plans = tuple(plans)
        self.host = host
        self._loaded = [LoadedPlan(plan, device) for plan in plans]
        self._shared = [_shared_scratch(plan) for plan in plans]
        self._zeroed = [_zeroed_scratch(plan, device) for plan in plans]
        self.zeroed_bytes = sum(plan.scratch[name] for plan in plans for name in plan.zeroed)
        # One plan without scratch memory is what most small products are: nothing is looked up for it.
        self._single = self._loaded[0] if len(plans) == 1 and not plans[0].scratch else None
        self.is_long = any(
            plan.problem.flops > LONG_FLOPS or compulsory_bytes(plan.problem) > LONG_BYTES for plan in plans
        )
        self._shared_sizes = _largest(self._shared)  # plans run one after the other
        self.keeps_scratch = sum(self._shared_sizes) <= scratch_limit(device.info)
        self._shares_scratch = True  # that of this thread
        self.is_kept = False  # by its thread's `Kept`
        self.used = False  # since `Kept` last looked for a call to drop
        self.forgets: list[Callable[[], None]] = []  # each drops one of its ready calls

    @property
    def only_launch(self) -> Launch | None:
        """The launch of a call that has one, and no scratch memory."""
        launches = [] if self._single is None else self._single.launches
        return launches[0] if len(launches) == 1 else None

    def enqueue(
        self,
        buffers: Mapping[str, Any],
        queue: Any,
        wait_for: Any = None,
        event: bool = True,
        scratch: Sequence[Scratch] | None = None,
    ) -> Any:
        """Bind `buffers`, enqueue everything, and return the last event.

        The first launch waits for the events `wait_for`; the others follow, because queues are in order. The result is None
        if there was nothing to launch, or without `event`: an event costs some microseconds for each launch.
        Calls share scratch memory by the queue, unless they are given it.
        """
        turn = self.turn
        if turn.taken:
            return self.apart().enqueue(buffers, queue, wait_for, event)
        turn.taken = True
        try:
            if self._single is not None:
                return self._single.start(buffers, queue, wait_for, event)
            given = self.scratch(queue) if scratch is None else scratch
            return self._enqueue_all(buffers, given, queue, wait_for, event)
        finally:
            turn.taken = False

    def _enqueue_all(
        self, buffers: Mapping[str, Any], scratch: Sequence[Scratch], queue: Any, wait_for: Any, event: bool
    ) -> Any:
        last = None
        try:
            for loaded, own in zip(self._loaded, scratch, strict=True):
                started = loaded.start({**buffers, **own}, queue, wait_for, event)
                if loaded.launches:
                    last, wait_for = started, None
        finally:
            if not self.keeps_scratch:
                for loaded in self._loaded:
                    loaded.unbind()
        return last

    def apart(self) -> "Call":
        """The same call with kernels and scratch memory of its own: those of this thread are in use."""
        apart = Call(self.plans, self.device)
        apart.turn, apart.keeps_scratch, apart._shares_scratch = Turn(), False, False
        return apart

    def scratch(self, queue: Any, keep: bool = False) -> Sequence[Scratch]:
        """Scratch memory of each plan for a call on that queue. What is not kept is new each time, unless it is to be."""
        sizes = self._shared_sizes
        if not sizes:
            return self._zeroed
        if self._shares_scratch and (self.keeps_scratch or keep):
            shared = kept_on(self.device).scratch.take(queue, sizes, self.device, limited=self.keeps_scratch)
        else:
            shared = [self.device.allocate(nbytes) for nbytes in sizes]
        return [
            {**dict(zip(names, shared, strict=False)), **zeroed}
            for names, zeroed in zip(self._shared, self._zeroed, strict=True)
        ]

    @property
    def loaded(self) -> Sequence[LoadedPlan]:
        """The plans in order, as they are launched."""
        return self._loaded


def _shared_scratch(plan: Plan) -> dict[str, int]:
    """Bytes of the scratch buffers with any initial contents."""
    return {name: nbytes for name, nbytes in plan.scratch.items() if name not in plan.zeroed}


def _largest(scratch: Sequence[Mapping[str, int]]) -> list[int]:
    """The most bytes at each place."""
    return [max(each) for each in zip_longest(*(plan.values() for plan in scratch), fillvalue=0)]


def _zeroed_scratch(plan: Plan, device: Device) -> dict[str, Any]:
    """Scratch buffers that hold zeros before and after each run. Each call has its own."""
    return {name: device.zeroed(plan.scratch[name]) for name in sorted(plan.zeroed)}


class Kept:
    """Calls and scratch memory of one thread on one device. Calls are not shared: arguments are state of kernel objects."""

    def __init__(self) -> None:
        self.calls: OrderedDict[Hashable, Call] = OrderedDict()
        self.ready: dict[Hashable, Any] = {}  # ready calls (`ready.py`) by the caller's arguments
        self.plain: dict[Hashable, list[Any]] = {}  # some of them by less, to be found sooner: they compare the rest
        self.zeroed_bytes = 0
        self.scratch = KeptScratch()
        self.turn = Turn()

    def add(self, key: Hashable, call: Call) -> None:
        """Keep a call. The least recently used are dropped above KEPT_CALLS, or above KEPT_ZEROED_BYTES of zeroed memory."""
        # A destructor, or a signal's handler, may have made an equal call while this one was made.
        replaced = self.calls.pop(key, None)
        if replaced is not None:
            self._drop(replaced)
        call.is_kept = True
        self.calls[key] = call
        self.zeroed_bytes += call.zeroed_bytes
        while len(self.calls) > KEPT_CALLS or (self.zeroed_bytes > KEPT_ZEROED_BYTES and len(self.calls) > 1):
            oldest, dropped = self.calls.popitem(last=False)
            if dropped.used and self.calls:  # by a ready call, which does not move it to the end: that takes longer
                dropped.used = False
                self.calls[oldest] = dropped
                continue
            self._drop(dropped)

    def _drop(self, call: Call) -> None:
        """What is left to do for a call that is no longer among `calls`."""
        call.is_kept = False
        self.zeroed_bytes -= call.zeroed_bytes
        for forget in call.forgets:
            forget()

    def add_ready(self, key: Hashable, ready: Any) -> None:
        """Keep a ready call as long as its call."""
        if answers_for(ready.call, partial(self._forget, key)):
            self.ready[key] = ready

    def _forget(self, key: Hashable) -> None:
        self.ready.pop(key, None)
        self.plain.clear()  # rare, and filled again at once

    def add_plain(self, key: Hashable, ready: Any) -> None:
        """Let a ready call be found by a short key, too, before the others that have it."""
        candidates = self.plain.setdefault(key, [])
        if all(each is not ready for each in candidates):
            candidates.insert(0, ready)
            del candidates[PLAIN_CANDIDATES:]


def answers_for(call: Call, forget: Callable[[], None]) -> bool:
    """Whether the call is kept. `forget` drops a ready call of it, when the call is dropped at the latest.

    Other spellings of the same arguments have ready calls of their own, but not for ever more.
    """
    if not call.is_kept:
        return False
    if len(call.forgets) >= READY_SPELLINGS:
        call.forgets.pop(0)()
    call.forgets.append(forget)
    return True


class _Life:
    """Lives as long as a thread."""


def kept_on(device: Any) -> Kept:
    """This thread's calls and scratch memory. The device owns them: they are freed with it."""
    try:
        kept: Kept = device.per_thread.kept
    except AttributeError:
        kept = device.per_thread.kept = Kept()
        # At the thread's end scratch memory goes at once; calls and ready calls know each other, and go with a collection.
        device.per_thread.life = _Life()
        finalize(device.per_thread.life, kept.scratch.drop).atexit = False
        if isinstance(device, Device):
            give_when_lacking(kept.scratch, device.pool)
    return kept


_devices: dict[int, Device] = {}
_wanted: dict[str | int | None, Device] = {}
_opening = threading.RLock()  # a destructor, or a signal's handler, may want a device meanwhile


def default_device(wanted: Any = None) -> Device:
    """The device of an index, "cpu", "gpu", part of a name, or None for the preferred one.

    Each device is opened once for each process, whatever name is used.
    """
    if wanted is None or type(wanted) is str or type(wanted) is int:  # False is 0 to a dictionary
        found = _wanted.get(wanted)
        if found is not None:
            return found
    name = device_name(wanted)
    with _opening:
        if wanted not in _wanted:
            index = choose([info for info, _ in discover_devices()], name)
            if index not in _devices:
                _devices[index] = open_device(str(index))
            _wanted[wanted] = _devices[index]
        return _wanted[wanted]


def call_for(device: Device, key: Hashable, prepare: Callable[[], Call]) -> Call:
    """This thread's call for `key` on a device. It is prepared if it is new."""
    kept = kept_on(device)
    call = kept.calls.get(key)
    if call is None:
        call = prepare()
        kept.add(key, call)
    else:
        with suppress(KeyError):  # a destructor, or a signal's handler, has made others until this one was dropped
            kept.calls.move_to_end(key)
    return call
