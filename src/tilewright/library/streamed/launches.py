"""The launches of all kinds of steps on one device: built once, with scratch memory that they share."""

from collections.abc import Mapping
from typing import Any

from ...core.plan import Plan
from ...runtime.opencl.device import Device
from ...runtime.run import LoadedPlan
from .device_memory import Memory
from .operations import Shaped


def scratch_bytes(plans: Mapping[Shaped, Plan]) -> dict[tuple[str, bool], int]:
    """The bytes of each scratch buffer that the plans share, by its name and whether it must hold zeros."""
    found: dict[tuple[str, bool], int] = {}
    for plan in plans.values():
        for name, nbytes in plan.scratch.items():
            key = (name, name in plan.zeroed)
            found[key] = max(found.get(key, 0), nbytes)
    return found


Loaded = list[dict[Shaped, LoadedPlan]]  # of each queue
# A device keeps those of earlier calls by this, the identity of their plans and a number.
LAUNCHES = "launches in tiles"
SAME = 4  # calls of one shape that run at a time, such as tasks of a Dask worker
MOST_KEPT = 16  # of shapes that a program multiplies in turn, and of calls at a time


class Launches:
    """For one thread: arguments are state of its kernel objects. Each queue has kernel objects of its own, because kernels of
    Hopper write the addresses of their operands into memory that belongs to the object."""

    def __init__(self, plans: Mapping[Shaped, Plan], device: Device, memory: Memory) -> None:
        self._memory = memory
        self._slots = {
            key: memory.allocate(nbytes, f"scratch memory {key[0]}") for key, nbytes in scratch_bytes(plans).items()
        }
        for (_, zeroed), slot in self._slots.items():
            if zeroed:
                self._clear(device, slot)
        self._names = {step: self._buffers(plan) for step, plan in plans.items()}
        self._queues = memory.compute[:1] if self._slots else memory.compute  # tiles that share scratch memory have one
        self._plans, self._keys = plans, [(LAUNCHES, id(plans), number) for number in range(SAME)]
        self._loaded = self._kept() or [
            {step: LoadedPlan(plan, device) for step, plan in plans.items()} for _ in self._queues
        ]

    def _kept(self) -> Loaded | None:
        """Those of an earlier call with the same plans: to make the programs' texts takes 0.1 s of Python."""
        for key in self._keys:
            kept: tuple[Mapping[Shaped, Plan], Loaded] | None = self._memory.device.kept.pop(key, None)
            if kept is not None and kept[0] is self._plans and len(kept[1]) == len(self._queues):
                return kept[1]
        return None

    def close(self) -> None:
        """Keep kernels for the next call, without buffers. Nothing may run any more."""
        for loaded in self._loaded:
            for each in loaded.values():
                each.unbind()
        kept, own = self._memory.device.kept, (self._plans, self._loaded)
        for key in self._keys:
            if kept.setdefault(key, own) is own:
                break
        for key in [each for each in list(kept) if each[0] == LAUNCHES][:-MOST_KEPT]:  # the oldest
            kept.pop(key, None)

    def _clear(self, device: Device, slot: Any) -> None:
        if slot.host is not None:
            slot.host[:] = 0
        else:
            device.fill(slot.buffer, 0, 0, slot.nbytes)
            device.finish("filling scratch memory with zeros")

    def _buffers(self, plan: Plan) -> dict[str, Any]:
        return {name: self._slots[name, name in plan.zeroed].buffer for name in plan.scratch}

    def start(self, step: Shaped, buffers: Mapping[str, Any], wait_for: list[Any], turn: int) -> Any:
        """Enqueue a step's launches, and let the device begin. Their last event; None if there is nothing to launch.

        Tiles take turns between queues.
        """
        number = turn % len(self._queues)
        queue, loaded = self._queues[number], self._loaded[number][step]
        event = loaded.start({**buffers, **self._names[step]}, queue, wait_for or None, True)
        queue.flush()
        return event
