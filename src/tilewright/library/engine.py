"""Plans, builds and keeps what the library's calls need, so that a repeated call only sets buffers and enqueues."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ..core.plan import Plan
from ..errors import InvalidInput
from ..runtime.opencl.device import Device, choose, discover_devices, open_device
from ..runtime.run import LoadedPlan

# Kept for each device and thread: prepared calls, as many as a training loop has shapes, and bytes of scratch memory.
KEPT_CALLS = 512
KEPT_SCRATCH_BYTES = 256 * 2**20


class Call:
    """Plans made ready: run in order, they do what one library call asks."""

    def __init__(self, plans: Sequence[Plan], device: Device) -> None:
        self.device = device
        self.plans = tuple(plans)
        self._loaded = [LoadedPlan(plan, device) for plan in plans]
        self._shared = [_shared_scratch(plan) for plan in plans]
        self._zeroed = [_zeroed_scratch(plan, device) for plan in plans]
        self.zeroed_bytes = sum(plan.scratch[name] for plan in plans for name in plan.zeroed)

    def enqueue(self, buffers: Mapping[str, Any], queue: Any, wait_for: Any = None, event: bool = True) -> Any:
        """Bind `buffers`, enqueue everything, and return the last event; None if there was nothing to launch, or if no
        `event` is asked for, which costs some microseconds a launch. The first launch waits for the events `wait_for`;
        the others come after it, since queues are in order."""
        last = None
        for loaded, shared, zeroed in zip(self._loaded, self._shared, self._zeroed, strict=True):
            if shared or zeroed:
                loaded.bind({**buffers, **_kept(self.device).scratch(queue, shared, self.device), **zeroed})
            else:
                loaded.bind(buffers)
            events = loaded.enqueue(queue, wait_for, event)
            if events:
                last, wait_for = events[-1], None
        return last


def _shared_scratch(plan: Plan) -> dict[str, int]:
    """Bytes of the scratch buffers that may hold anything when the plan starts: calls on one queue share them."""
    return {name: nbytes for name, nbytes in plan.scratch.items() if name not in plan.zeroed}


def _zeroed_scratch(plan: Plan, device: Device) -> dict[str, Any]:
    """Scratch buffers that hold zeros before the plan's first run, and after each: they are the call's own."""
    zeroed = {name: device.allocate(plan.scratch[name]) for name in sorted(plan.zeroed)}
    for name, buffer in zeroed.items():
        device.fill(buffer, 0, 0, plan.scratch[name])
    if zeroed:
        device.finish("filling scratch memory with zeros")  # calls may be enqueued elsewhere
    return zeroed


class Kept:
    """What one thread keeps for one device: calls, since kernel objects' arguments are state, and scratch memory."""

    def __init__(self) -> None:
        self.calls: OrderedDict[Hashable, Call] = OrderedDict()
        self.zeroed_bytes = 0
        self._scratch: OrderedDict[tuple[int, int], tuple[Any, int]] = OrderedDict()

    def scratch(self, queue: Any, sizes: Mapping[str, int], device: Device) -> dict[str, Any]:
        """A buffer of at least each size. Calls on one queue run one after the other and share them; on two queues they
        do not. Buffers above KEPT_SCRATCH_BYTES in all are forgotten, the least recently used first."""
        found = {}
        for position, (name, nbytes) in enumerate(sizes.items()):
            key = (queue.int_ptr, position)
            buffer, held = self._scratch.pop(key, (None, 0))
            if held < nbytes:
                buffer, held = device.allocate(nbytes), nbytes
            self._scratch[key] = (buffer, held)
            found[name] = buffer
        while self._scratch and sum(held for _, held in self._scratch.values()) > KEPT_SCRATCH_BYTES:
            self._scratch.popitem(last=False)
        return found

    def add(self, key: Hashable, call: Call) -> None:
        """Keep a call; the least recently used are forgotten where there are too many, or too many bytes of theirs."""
        self.calls[key] = call
        self.zeroed_bytes += call.zeroed_bytes
        while len(self.calls) > KEPT_CALLS or (self.zeroed_bytes > KEPT_SCRATCH_BYTES and len(self.calls) > 1):
            _, dropped = self.calls.popitem(last=False)
            self.zeroed_bytes -= dropped.zeroed_bytes


def _kept(device: Device) -> Kept:
    """This thread's own. The device holds it, so that it goes when the device is let go."""
    kept: Kept | None = getattr(device.per_thread, "kept", None)
    if kept is None:
        kept = device.per_thread.kept = Kept()
    return kept


_devices: dict[int, Device] = {}
_wanted: dict[str | int | None, Device] = {}
_opening = threading.Lock()


def default_device(wanted: Any = None) -> Device:
    """The device that `wanted` names (an index, "cpu", "gpu", part of a name, or None for the preferred one), opened once
    per process under whatever name."""
    try:
        return _wanted[wanted]
    except (KeyError, TypeError):
        pass
    if not isinstance(wanted, (str, int, type(None))) or isinstance(wanted, bool):
        raise InvalidInput(f"device={wanted!r} is a {type(wanted).__name__}; it is an index or a name")
    with _opening:
        if wanted not in _wanted:
            name = None if wanted is None else str(wanted)
            index = choose([info for info, _ in discover_devices()], name)
            if index not in _devices:
                _devices[index] = open_device(str(index))
            _wanted[wanted] = _devices[index]
        return _wanted[wanted]


def call_for(device: Device, key: Hashable, prepare: Callable[[], Call]) -> Call:
    """This thread's call for `key` on a device, prepared now if it is new."""
    kept = _kept(device)
    call = kept.calls.get(key)
    if call is None:
        call = prepare()
        kept.add(key, call)
    else:
        kept.calls.move_to_end(key)
    return call
