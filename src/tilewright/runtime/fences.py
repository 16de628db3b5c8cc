"""Buffers between fences: poisoned bytes that show what a kernel reads or writes beyond its operands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.plan import Plan
from ..core.types import element_type
from .device import Device

POISON = 0xFF  # floats of such bytes are NaN: elements that were not written, or read beyond an operand, show
INTEGER_POISON = 0xA5  # not 0xFF: -1 is a frequent result


@dataclass(frozen=True)
class Fenced:
    """A buffer between two fences: poisoned bytes that no kernel may change."""

    whole: Any
    inner: Any
    fence: int
    nbytes: int
    tail: int
    poison: int

    def overwritten(self, device: Device) -> str:
        """The fence that a kernel has written to, "before" or "after" the buffer; "" if none."""
        after = device.read(self.whole, self.tail, np.dtype(np.uint8), self.fence + self.nbytes)
        if not (after == self.poison).all():
            return "after"
        before = device.read(self.whole, self.fence, np.dtype(np.uint8))
        return "" if (before == self.poison).all() else "before"


def fenced_buffer(device: Device, nbytes: int, dtype: str, fence_bytes: int = 0) -> Fenced:
    """A buffer of `nbytes` between two fences of at least `fence_bytes`. All of it is poisoned."""
    align = max(device.info.base_align_bytes, 256)
    fence = max(align, -(-fence_bytes // align) * align)
    poison = INTEGER_POISON if element_type(dtype).exact else POISON
    tail = fence + -nbytes % 16  # whole chunks of 16 bytes are filled
    whole = device.allocate(fence + nbytes + tail)
    device.fill(whole, poison, 0, fence + nbytes + tail)
    return Fenced(whole, device.part(whole, fence, nbytes), fence, nbytes, tail, poison)


def outside(plan: Plan, hit: Sequence[tuple[str, str]]) -> str:
    """A sentence about writes outside of buffers: the fences that were hit, as (buffer, "before" or "after"), the output's
    first, and the arguments through which kernels write. A store far beyond the end of C may hit the fence of B, so the
    fences alone do not determine the argument."""
    writable = {
        step.kernel.name: [
            each.name for each in step.kernel.signature.parameters if each.pointer == "global" and not each.readonly
        ]
        for step in plan.steps
    }
    writers = {name: names for name, names in writable.items() if names}
    places = " and ".join(f"{place} {name}" for name, place in hit)
    changed = f"memory {places} was overwritten"
    only = {name for names in writers.values() for name in names}
    if len(only) == 1:
        return f"it wrote outside of {next(iter(only))}, the only buffer that it can write: {changed}"
    known = "; ".join(f"{name} can write through {', '.join(names)}" for name, names in writers.items())
    return f"it wrote outside of its buffers: {changed}; {known or 'no argument lets a kernel write'}"
