"""How many bytes of each buffer a kernel touches: found by running some of its work-groups over large empty buffers."""

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.kernel import NDRange
from ...errors import TilewrightError
from ..explain.clc.lexer import Position
from ..explain.clc.tree import Program
from ..explain.group_choice import choose_groups
from ..explain.simt import run_kernel
from ..explain.simt.compiled_code import Site
from ..explain.simt.findings import BOUNDS
from ..explain.simt.launch_arguments import Argument, LocalMemory
from ..explain.simt.machine_state import Group, Rows
from ..explain.simt.masks import Mask
from ..explain.simt.segments import Segment

ROOM = 1 << 22  # bytes of a buffer whose size nobody knows
LOCAL_ROOM = 1 << 15  # most devices have as much local memory
STEPS, TIME_LIMIT_S = 10_000, 1.0


class Reach:
    """Records the highest byte that is touched of each segment, by its name."""

    lanes = 1
    private_room: int | None = None  # private memory is not observed

    def __init__(self) -> None:
        self.end: dict[str, int] = {}

    def begin(self, groups: list[Group], items: int) -> None:
        """Groups do not matter."""

    def record(self, site: Site, segment: Segment, offsets: npt.NDArray[np.int64], mask: Mask) -> None:
        self._touched(segment.name, int(offsets.max(initial=0)) + site.size)

    def record_same(self, site: Site, segment: Segment, offset: int, mask: Mask) -> None:
        self._touched(segment.name, offset + site.size)

    def record_rows(self, loads: Sequence[Rows], count: int, mask: Mask) -> None:
        for site, segment, offsets, _ in loads:
            self._touched(segment.name, int(offsets.max(initial=0)) + site.size)

    def follow(self, segment: Segment, array: npt.NDArray[Any]) -> None:
        """Elements do not matter."""

    def barrier(self, position: Position) -> None:
        """Barriers do not matter."""

    def iterations(self, position: Position, mask: Mask, count: int) -> None:
        """Loops do not matter."""

    def multiplied(self, position: Position, product: Any, a: Any, b: Any, mask: Mask) -> None:
        """Products do not matter."""

    def arrived(self, segment: Segment, offsets: npt.NDArray[np.int64], size: int) -> None:
        """Local memory does not matter."""

    def _touched(self, name: str, end: int) -> None:
        self.end[name] = max(self.end.get(name, 0), end)


def touched_bytes(
    program: Program, entry: str, ndrange: NDRange, arguments: Mapping[str, Argument], unknown: Mapping[str, bool]
) -> dict[str, int]:
    """The bytes that some work-groups touch of each `unknown` buffer (True: local memory), as far as they came within
    `STEPS` and `TIME_LIMIT_S`. A buffer that was overrun, and all if the kernel cannot be run, are left out."""
    room = {name: LocalMemory(LOCAL_ROOM) if local else np.zeros(ROOM, np.uint8) for name, local in unknown.items()}
    reach, end = Reach(), monotonic() + TIME_LIMIT_S
    groups: Sequence[Group] = choose_groups(ndrange.global_size, ndrange.local_size)
    try:
        launch = run_kernel(
            program, entry, ndrange.global_size, ndrange.local_size, {**arguments, **room}, groups, reach,
            step_limit=STEPS, partial=True, watch=lambda steps, begun: monotonic() > end, offset=ndrange.offset,
        )  # fmt: skip
    except (TilewrightError, MemoryError, RecursionError):
        return {}
    overrun = [each.text for each in launch.findings if each.kind == BOUNDS]
    return {
        name: bytes_
        for name, bytes_ in reach.end.items()
        if name in unknown and not any(f"'{name}'" in text for text in overrun)
    }
