"""Plans, builds and keeps the library's calls, so that a repeated call only binds buffers and enqueues."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any
from weakref import WeakMethod, finalize

from ..core.device import DeviceInfo
from ..core.plan import Plan
from ..core.problem import compulsory_bytes
from ..runtime.device import device_name
from ..runtime.opencl.device import Device, choose, discover_devices, open_device
from ..runtime.opencl.pool import BufferPool
from ..runtime.run import Launch, LoadedPlan

# For each device and thread: prepared calls, enough for the shapes of a training loop, and bytes of scratch memory. A device
# with memory of its own may keep a larger part of that: what is not kept is freed after the call, and NVIDIA's drivers wait for
# the call's end first. A product of float32 has a copy of A, 1 GiB of 16384 x 16384.
KEPT_CALLS = 512
KEPT_SCRATCH_BYTES = 256 * 2**20
KEPT_SCRATCH_SHARE = 32
GROWTH = 1.5  # of scratch memory that is too small: calls that are ready may still have the smaller buffers
LONG_FLOPS, LONG_BYTES = 1e6, 2e5  # more take a CPU 10 us, and gain by places for all threads
PLAIN_CANDIDATES = 4  # ready calls of one short key: each that is asked in vain takes a third of a microsecond
READY_SPELLINGS = 16  # of one call: of its types, numbers and flags of arrays


Scratch = Mapping[str, Any]  # a plan's buffers of scratch memory, by their names


class Call:
    """The loaded plans of one library call, run in order; or a `host` function of arrays, which plans without launches name."""

    def __init__(
        self, plans: Sequence[Plan], device: Device, host: Callable[[Mapping[str, Any]], None] | None = None
    ) -> None:
        self.device = device
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
        self.keeps_scratch = sum(max_sizes(self._shared)) <= scratch_limit(device.info)
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
        scratch: "Sequence[Scratch] | None" = None,
    ) -> Any:
        """Bind `buffers`, enqueue everything, and return the last event.

        The first launch waits for the events `wait_for`; the others follow, because queues are in order. The result is None
        if there was nothing to launch, or without `event`: an event costs some microseconds for each launch.
        Calls share scratch memory by the queue, unless they are given it.
        """
        if self._single is not None:
            return self._single.start(buffers, queue, wait_for, event)
        last = None
        for loaded, own in zip(self._loaded, self.scratch(queue) if scratch is None else scratch, strict=True):
            started = loaded.start({**buffers, **own}, queue, wait_for, event)
            if loaded.launches:
                last, wait_for = started, None
            if not self.keeps_scratch:
                loaded.unbind()
        return last

    def scratch(self, queue: Any) -> "list[Scratch]":
        """Scratch memory of each plan for a call on that queue. What is not kept is another buffer each time."""
        kept = kept_on(self.device)
        return [
            {**kept.scratch(queue, shared, self.device), **zeroed}
            for shared, zeroed in zip(self._shared, self._zeroed, strict=True)
        ]

    @property
    def loaded(self) -> Sequence[LoadedPlan]:
        """The plans in order, as they are launched."""
        return self._loaded


def _shared_scratch(plan: Plan) -> dict[str, int]:
    """Bytes of the scratch buffers with any initial contents. Calls on one queue share them."""
    return {name: nbytes for name, nbytes in plan.scratch.items() if name not in plan.zeroed}


def max_sizes(sizes: Sequence[Mapping[str, int]]) -> list[int]:
    """The most bytes at each place, which plans of one call share."""
    return [max(each) for each in zip_longest(*(plan.values() for plan in sizes), fillvalue=0)]


def scratch_limit(info: DeviceInfo) -> int:
    """The bytes of scratch memory that a thread may keep on a device."""
    own = 0 if info.host_unified else info.global_bytes // KEPT_SCRATCH_SHARE
    return max(KEPT_SCRATCH_BYTES, own)


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
        self._scratch: OrderedDict[tuple[int, int], tuple[Any, int]] = OrderedDict()

    def scratch(self, queue: Any, sizes: Mapping[str, int], device: Device) -> dict[str, Any]:
        """A buffer of at least each size.

        Calls on one queue share them, because they run one after the other. The least recently used buffers are dropped
        above `scratch_limit`.
        """
        if not sizes:
            return {}
        kept, limit = self._scratch, scratch_limit(device.info)
        found = {}
        for position, (name, nbytes) in enumerate(sizes.items()):
            key = (getattr(queue, "int_ptr", queue), position)  # a queue of OpenCL, or the handle of CUDA's stream
            buffer, held = kept.pop(key, (None, 0))
            if held < nbytes:
                held = max(nbytes, min(int(held * GROWTH), limit, device.info.max_alloc_bytes or limit))
                buffer = device.allocate(held)
            kept[key] = (buffer, held)
            found[name] = buffer
        while kept and sum(held for _, held in kept.values()) > limit:
            kept.popitem(last=False)
        return found

    def drop_scratch(self) -> bool:
        """Drop all scratch memory, because memory is lacking; also in another thread than ours. Whether there was any."""
        dropped, self._scratch = self._scratch, OrderedDict()
        return bool(dropped)

    def add(self, key: Hashable, call: Call) -> None:
        """Keep a call. The least recently used are dropped above KEPT_CALLS, or above KEPT_SCRATCH_BYTES of zeroed memory."""
        self.calls[key] = call
        self.zeroed_bytes += call.zeroed_bytes
        while len(self.calls) > KEPT_CALLS or (self.zeroed_bytes > KEPT_SCRATCH_BYTES and len(self.calls) > 1):
            oldest, dropped = self.calls.popitem(last=False)
            if dropped.used and self.calls:  # by a ready call, which does not move it to the end: that takes longer
                dropped.used = False
                self.calls[oldest] = dropped
                continue
            self.zeroed_bytes -= dropped.zeroed_bytes
            for forget in dropped.forgets:
                forget()

    def add_ready(self, key: Hashable, ready: Any) -> None:
        """Keep a ready call as long as its call."""
        if self.answers_for(ready.call, partial(self._forget, key)):
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

    def answers_for(self, call: Call, forget: Callable[[], None]) -> bool:
        """Whether the call is kept. `forget` drops a ready call of it, when the call is dropped at the latest.

        Other spellings of the same arguments have ready calls of their own, but not for ever more.
        """
        if all(each is not call for each in self.calls.values()):
            return False
        if len(call.forgets) == READY_SPELLINGS:
            call.forgets.pop(0)()
        call.forgets.append(forget)
        return True


def kept_on(device: Any) -> Kept:
    """This thread's calls and scratch memory. The device owns them: they are freed with it."""
    try:
        kept: Kept = device.per_thread.kept
    except AttributeError:
        kept = device.per_thread.kept = Kept()
        if isinstance(device, Device):
            _give_when_lacking(kept, device.pool)
    return kept


def _give_when_lacking(kept: Kept, pool: BufferPool) -> None:
    """Let the pool ask for scratch memory before it says that there is no memory, as long as this thread lives."""
    drop = WeakMethod(kept.drop_scratch)

    def given() -> bool:
        found = drop()
        return found is not None and found()

    pool.holders.append(given)
    finalize(kept, pool.holders.remove, given).atexit = False


_devices: dict[int, Device] = {}
_wanted: dict[str | int | None, Device] = {}
_opening = threading.Lock()


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
        kept.calls.move_to_end(key)
    return call
