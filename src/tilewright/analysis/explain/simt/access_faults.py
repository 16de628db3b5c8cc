"""Findings about single accesses: bounds, alignment, unset values, read-only memory, wild pointers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ....core.language import Sentence
from ..clc.types import LARGEST, Space
from ..terms import term
from .findings import BOUNDS, MISALIGNED, READ_ONLY, UNINITIALISED, WILD
from .machine_state import MachineState
from .readers import Touch
from .segments import ORIGIN, Access, Offsets, Segment


class Complaints:
    """Adds findings to a machine's."""

    def __init__(self, machine: MachineState) -> None:
        self.machine = machine

    def who(self, lanes: Any, index: int) -> str:
        return self.machine.item_name(index if lanes is None else int(lanes[index]))

    def byte(self, offset: int, lanes: Any, index: int) -> Sentence:
        """An example: the byte, and who asked for it."""
        if abs(offset) > LARGEST // 2:
            return Sentence(
                "at least {distance} bytes away, {item}", distance=LARGEST // 2, item=self.who(lanes, index)
            )
        return Sentence("byte {offset}, {item}", offset=offset, item=self.who(lanes, index))

    def out_of_bounds(self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, operation: str) -> None:
        text = Sentence(
            "{operation} of {size} bytes outside {space} '{name}' of {room} bytes", operation=term(operation),
            size=access.size, space=term(segment.space.word), name=segment.name, room=segment.size,
        )  # fmt: skip
        example = self.byte(int(offsets[0]), lanes, 0)
        self.machine.findings.add(BOUNDS, access.site.position, text, example, count=len(lanes))

    def misaligned(self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, operation: str) -> None:
        bad = np.flatnonzero(offsets & (access.alignment - 1))
        text = Sentence(
            "{operation} of {size} bytes in {space} '{name}' at an address that is not a multiple of {alignment}",
            operation=term(operation), size=access.size, space=term(segment.space.word), name=segment.name,
            alignment=access.alignment,
        )  # fmt: skip
        example = self.byte(int(offsets[bad[0]]), lanes, int(bad[0]))
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
        text = Sentence(
            "load from {space} '{name}' before anything was stored there",
            space=term(segment.space.word), name=segment.name,
        )  # fmt: skip
        example = self.byte(offset, touch.lanes, first)
        self.machine.findings.add(UNINITIALISED, touch.site.position, text, example, count=int(which.sum()))

    def read_only(self, segment: Segment, lanes: Any, access: Access, operation: str, count: int) -> None:
        text = Sentence(
            "{operation} into {space} '{name}', which the kernel may only read",
            operation=term(operation), space=term(segment.space.word), name=segment.name,
        )  # fmt: skip
        self.machine.findings.add(READ_ONLY, access.site.position, text, self.who(lanes, 0), count=count)

    def wild(self, addresses: Offsets, lanes: Any, access: Access, operation: str) -> None:
        who: Sentence | str = self.who(lanes, 0)
        if ((addresses >= 0) & (addresses < ORIGIN)).all():
            text = Sentence("{operation} through a null pointer", operation=term(operation))
        else:
            text = Sentence("{operation} through a pointer to nothing", operation=term(operation))
        if addresses[0]:
            who = Sentence("address {address}, {item}", address=f"{int(addresses[0]) % (1 << 64):#x}", item=who)
        self.machine.findings.add(WILD, access.site.position, text, who, count=len(lanes))
