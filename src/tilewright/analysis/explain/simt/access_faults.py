"""Findings about single accesses: bounds, alignment, unset values, read-only memory, wild pointers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..clc.types import Space
from .findings import BOUNDS, MISALIGNED, READ_ONLY, UNINITIALISED, WILD
from .machine_state import MachineState
from .segments import ORIGIN, Access, Offsets, Segment
from .shadow import Touch


class Complaints:
    """Adds findings to a machine's."""

    def __init__(self, machine: MachineState) -> None:
        self.machine = machine

    def who(self, lanes: Any, index: int) -> str:
        return self.machine.item_name(index if lanes is None else int(lanes[index]))

    def out_of_bounds(self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, operation: str) -> None:
        text = (
            f"{operation} of {access.size} bytes outside {segment.space.word} '{segment.name}' of {segment.size} bytes"
        )
        example = f"byte {int(offsets[0])}, {self.who(lanes, 0)}"
        self.machine.findings.add(BOUNDS, access.site.position, text, example, count=len(lanes))

    def misaligned(self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, operation: str) -> None:
        bad = np.flatnonzero(offsets & (access.alignment - 1))
        text = (
            f"{operation} of {access.size} bytes in {segment.space.word} '{segment.name}' "
            f"at an address that is not a multiple of {access.alignment}"
        )
        example = f"byte {int(offsets[bad[0]])}, {self.who(lanes, int(bad[0]))}"
        self.machine.findings.add(MISALIGNED, access.site.position, text, example, count=len(bad))

    def uninitialised(self, segment: Segment, touch: Touch, missing: npt.NDArray[np.bool_]) -> None:
        which: Any = missing
        if missing.ndim == 2:
            # A partly stored vector in local memory is not a fault: the rest may be read but never used.
            # In private memory, a second run of the kernel decides.
            which = missing.any(axis=0) if segment.space is Space.PRIVATE else missing.all(axis=0)
        if not which.any():
            return
        first = int(np.flatnonzero(which)[0])
        offset = int(touch.offsets[first])
        if segment.base is not None:
            offset -= int(segment.base[first if touch.lanes is None else touch.lanes[first]])
        text = f"load from {segment.space.word} '{segment.name}' before anything was stored there"
        example = f"byte {offset}, {self.who(touch.lanes, first)}"
        self.machine.findings.add(UNINITIALISED, touch.site.position, text, example, count=int(which.sum()))

    def read_only(self, segment: Segment, lanes: Any, access: Access, operation: str, count: int) -> None:
        text = f"{operation} into {segment.space.word} '{segment.name}', which the kernel may only read"
        self.machine.findings.add(READ_ONLY, access.site.position, text, self.who(lanes, 0), count=count)

    def wild(self, addresses: Offsets, lanes: Any, access: Access, operation: str) -> None:
        what = "a null pointer" if (np.abs(addresses) < ORIGIN).all() else "a pointer to nothing"
        text = f"{operation} through {what}"
        self.machine.findings.add(WILD, access.site.position, text, self.who(lanes, 0), count=len(lanes))
