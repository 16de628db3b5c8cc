"""Words the findings about single accesses: where they lie, how they are aligned, whether anything was stored there."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .findings import BOUNDS, MISALIGNED, READ_ONLY, UNINITIALISED, WILD
from .segments import Access, Offsets, Segment
from .shadow import Touch

if TYPE_CHECKING:
    from .machine import Machine


class Complaints:
    """Adds findings to a machine's."""

    def __init__(self, machine: "Machine") -> None:
        self.machine = machine

    def _who(self, lanes: Any, index: int) -> str:
        return self.machine.item_name(index if lanes is None else int(lanes[index]))

    def _out_of_bounds(self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, operation: str) -> None:
        text = (
            f"{operation} of {access.size} bytes outside {segment.space.word} '{segment.name}' of {segment.size} bytes"
        )
        example = f"byte {int(offsets[0])}, {self._who(lanes, 0)}"
        self.machine.findings.add(BOUNDS, access.site.position, text, example, count=len(lanes))

    def _misaligned(self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, operation: str) -> None:
        bad = np.flatnonzero(offsets & (access.alignment - 1))
        text = (
            f"{operation} of {access.size} bytes in {segment.space.word} '{segment.name}' "
            f"at an address that is no multiple of {access.alignment}"
        )
        example = f"byte {int(offsets[bad[0]])}, {self._who(lanes, int(bad[0]))}"
        self.machine.findings.add(MISALIGNED, access.site.position, text, example, count=len(bad))

    def _uninitialised(self, segment: Segment, touch: Touch, missing: npt.NDArray[np.bool_]) -> None:
        # A vector of which a part was stored is no fault by itself: the rest may be read over and never used.
        which = missing.all(axis=0) if missing.ndim == 2 else missing
        if not which.any():
            return
        first = int(np.flatnonzero(which)[0])
        offset = int(touch.offsets[first])
        if segment.base is not None:
            offset -= int(segment.base[first if touch.lanes is None else touch.lanes[first]])
        text = f"load from {segment.space.word} '{segment.name}' before anything was stored there"
        example = f"byte {offset}, {self._who(touch.lanes, first)}"
        self.machine.findings.add(UNINITIALISED, touch.site.position, text, example, count=int(which.sum()))
