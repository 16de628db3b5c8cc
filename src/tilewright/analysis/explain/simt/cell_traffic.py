"""Counts the traffic of a private array that lies off-chip, but whose values the interpreter keeps element by element."""

from typing import TYPE_CHECKING

import numpy as np

from ..clc.lexer import Position
from ..clc.types import Type
from .compiled_code import Site, Value
from .masks import Mask
from .registers import dtype_of
from .segments import Access, Segment

if TYPE_CHECKING:
    from .machine import Machine


class CellTraffic:
    """One subscripted use of the array in the source."""

    def __init__(self, machine: "Machine", segment: Segment, element: Type, position: Position) -> None:
        self.machine, self.segment, self.element, self.position = machine, segment, element, position
        self.accesses: dict[str, Access] = {}

    def count(self, operation: str, index: Value, mask: Mask) -> None:
        """Every lane of `mask` loads or stores the element at its `index`: one for all, one each, or a row for each
        iteration of a batch."""
        if not mask.any:
            return
        access = self.accesses.get(operation) or self._access(operation)
        batch, size = self.machine.memory.batch, self.element.size
        if np.ndim(index) == 0:
            if batch is None:
                self.machine.recorder.record_same(access.site, self.segment, int(index) * size, mask)
            else:
                batch.note(access, self.segment, np.array([[int(index) * size]]))
        elif batch is not None:
            batch.note(
                access, self.segment, np.asarray(index).reshape(len(index) if np.ndim(index) == 2 else 1, -1) * size
            )
        else:
            self.machine.recorder.record(access.site, self.segment, np.asarray(index)[mask.indices] * size, mask)

    def count_all(self, length: int, mask: Mask) -> None:
        """An initialiser stores every element."""
        for index in range(length):
            self.count("store", index, mask)

    def _access(self, operation: str) -> Access:
        size = self.element.size
        site: Site = self.machine.memory.site(self.position, operation, size, self.element.alignment)
        access = self.accesses[operation] = Access(dtype_of(self.element), 1, size, site)
        return access
