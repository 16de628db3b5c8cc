"""Plans, builds and keeps what the library's calls need, so that a repeated call only sets buffers and enqueues."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ..backend.opencl import Device, open_device
from ..plan import Plan
from ..run import LoadedPlan

KEPT_CALLS = 512  # prepared calls per thread: a training loop's shapes fit, a sweep's do not fill the memory


class Call:
    """Plans made ready, with the scratch memory that they need: run in order, they do what one library call asks."""

    def __init__(self, plans: Sequence[Plan], device: Device) -> None:
        self.device = device
        self.plans = tuple(plans)
        self._loaded = [LoadedPlan(plan, device) for plan in plans]
        self._scratch = [{name: device.allocate(nbytes) for name, nbytes in plan.scratch.items()} for plan in plans]
        for plan, scratch in zip(plans, self._scratch, strict=True):
            for name in plan.zeroed:
                device.fill(scratch[name], 0, 0, plan.scratch[name])
        if any(plan.zeroed for plan in plans):
            device.finish("filling scratch memory with zeros")  # calls may be enqueued elsewhere

    def enqueue(self, buffers: Mapping[str, Any], queue: Any, wait_for: Any = None, event: bool = True) -> Any:
        """Bind `buffers`, enqueue everything, and return the last event; None if there was nothing to launch, or if no
        `event` is asked for, which costs some microseconds a launch."""
        last = None
        for loaded, scratch in zip(self._loaded, self._scratch, strict=True):
            loaded.bind({**buffers, **scratch} if scratch else buffers)
            events = loaded.enqueue(queue, wait_for, event)
            last = events[-1] if events else last
        return last


class _Thread(threading.local):
    """Calls are kept per thread, since kernel objects' arguments and scratch memory are state."""

    def __init__(self) -> None:
        self.calls: OrderedDict[Hashable, Call] = OrderedDict()


_thread = _Thread()
_devices: dict[str | None, Device] = {}
_opening = threading.Lock()


def default_device(wanted: str | None = None) -> Device:
    """The device that `wanted` names, opened once per process."""
    with _opening:
        if wanted not in _devices:
            _devices[wanted] = open_device(wanted)
        return _devices[wanted]


def call_for(key: Hashable, prepare: Callable[[], Call]) -> Call:
    """This thread's call for `key`, prepared now if it is new; the least recently used is forgotten."""
    calls = _thread.calls
    call = calls.get(key)
    if call is None:
        call = calls[key] = prepare()
        if len(calls) > KEPT_CALLS:
            calls.popitem(last=False)
    else:
        calls.move_to_end(key)
    return call
