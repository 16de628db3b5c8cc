"""How many of all devices a call takes: where copies through the host limit it, one device can be faster than several."""

from collections.abc import Callable, Iterator
from operator import itemgetter

from ...runtime.opencl.device import Device
from .budget import Budget
from .device_memory import shares_memory
from .operations import Operation
from .planning import StreamedPlan, choose

Devices = tuple[Device, ...]


def quickest(operation: Operation, devices: Devices, budget_of: Callable[[Devices], Budget], what: str) -> Devices:
    """Those of the devices that are predicted to end first: all of them, or 1, 2, 4 ... of those that are the fastest alone.

    Several devices each load the operand that passes by, and the host moves the copies of all of them.
    """
    if len(devices) == 1:
        return devices

    def planned(some: Devices) -> StreamedPlan:
        infos, shared = [device.info for device in some], [shares_memory(device) for device in some]
        return choose(operation, infos, shared, budget_of(some), what).shown

    every = planned(devices)
    alone = [each.seconds for each in every.shares]
    fastest = [devices[place] for place in sorted(range(len(devices)), key=alone.__getitem__)]
    tried = [(planned(some).seconds, some) for some in _firsts(tuple(fastest))]
    return min([*tried, (every.seconds, devices)], key=itemgetter(0))[1]


def _firsts(devices: Devices) -> Iterator[Devices]:
    """The first 1, 2, 4 ... of some devices, but not all."""
    count = 1
    while count < len(devices):
        yield devices[:count]
        count *= 2
