"""Pinned memory of a call in tiles: what the caller has pinned, and what several devices load from."""

from collections.abc import Sequence

from ...runtime.opencl.broadcast import KEPT, Broadcast
from ...runtime.opencl.device import Device
from ...runtime.opencl.direct_copies import range_copied_directly
from ...runtime.opencl.pinned import PinnedRange
from .budget import Budget
from .operations import Operation
from .planning import Chosen
from .quickest import Devices


def pinned_ranges(operation: Operation, separate: Sequence[Device]) -> list[PinnedRange]:
    """The pinned memory of all operands and results, if every device with memory of its own copies all of it by itself."""
    arrays = [
        stack.memory if stack.memory is not None and stack.memory.dtype == dtype else None
        for stack, dtype in zip(operation.stacks, operation.dtypes, strict=True)
    ]
    found = [None if array is None else range_copied_directly(device, array) for device in separate for array in arrays]
    return [each for each in found if each is not None] if None not in found else []


def broadcast_for(devices: Devices, shared: Sequence[bool], budget: Budget, chosen: Chosen) -> Broadcast | None:
    """Pinned memory for what several devices load. Where there is none in a call with a limit, what earlier calls kept goes."""
    if chosen.broadcast_bytes:
        return Broadcast.begun(
            [each for each, own in zip(devices, shared, strict=True) if not own], chosen.broadcast_bytes
        )
    if budget.asked_host_bytes is not None:
        for device in devices:
            device.kept.pop(KEPT, None)
    return None
