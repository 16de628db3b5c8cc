"""What is computed for a tile: the parts of operands that it needs, and the problem that kernels solve."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...core.device import DeviceInfo
from ...core.operands import Layout
from ...core.plan import Plan
from ..shapes import Shape
from .device_memory import Form
from .files import FileMatrix
from .matrices import Matrix, Part
from .rates import Sizes
from .tiles import Tile, TilePlan


class Stack:
    """The matrices of an operand, by their place in the batch of the product, with which its leading dimensions broadcast.

    `memory` has all of them, if they lie in memory.
    """

    def __init__(
        self, leading: Shape, batch: Shape, make: Callable[[Shape], Matrix], memory: np.ndarray | None = None
    ) -> None:
        self._leading, self._batch, self._make, self.memory = leading, batch, make, memory
        self._made: dict[Shape, Matrix] = {}

    @property
    def broadcast(self) -> list[list[int]]:
        """The leading dimensions, and those of the product: which matrix each product of the batch has."""
        return [list(self._leading), list(self._batch)]

    def at(self, number: int) -> tuple[Shape, Matrix]:
        """The matrix for a place in the batch, and its own place."""
        index = np.unravel_index(number, self._batch)[len(self._batch) - len(self._leading) :] if self._batch else ()
        own = tuple(0 if side == 1 else int(place) for side, place in zip(self._leading, index, strict=True))
        if own not in self._made:
            self._made[own] = self._make(own)
        return own, self._made[own]

    def every(self) -> Iterator[Matrix]:
        """Each matrix once."""
        yield from (self._made.get(index) or self._make(index) for index in np.ndindex(self._leading))


@dataclass(frozen=True)
class Need:
    """A part of a matrix that a step reads, under the name of a kernel argument. Equal keys mean equal contents."""

    name: str
    key: Hashable
    matrix: Matrix
    part: Part
    form: Form


@dataclass(frozen=True)
class Shaped:
    """All that the launches of a step depend on: its sizes, and whether it is a tile's first and last step."""

    m: int
    n: int
    k: int
    first: bool
    last: bool


class Operation(Protocol):
    """A product or a transpose."""

    out: Stack

    @property
    def sizes(self) -> Sizes: ...

    @property
    def in_place(self) -> bool:
        """Whether what is written replaces what is read, so that no tile can be computed twice."""

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """All that is read and written."""

    @property
    def dtypes(self) -> tuple[np.dtype, ...]:
        """The element types that the stacks have on a device, in their order. Arrays of others are converted."""

    @property
    def planned_by(self) -> Hashable:
        """All of it that its plan depends on, except the memory that reading and writing take."""

    def result_form(self, plan: TilePlan) -> Form: ...

    def same_bits(self, plan: TilePlan, plans: Mapping[Shaped, Plan], info: DeviceInfo) -> bool:
        """Whether tiles are known to have the bits of the whole product in one piece."""

    def may_have_same_bits(self, plan: TilePlan, info: DeviceInfo) -> bool:
        """The same of an inner tile alone, which is soon known."""

    def carried(self, tile: Tile) -> Matrix | None:
        """The matrix that a tile of the result begins with."""

    def needs(self, plan: TilePlan, tile: Tile, panel: int) -> tuple[Need, ...]: ...

    def slot_bytes(self, plan: TilePlan) -> Mapping[str, tuple[int, int]]:
        """How many buffers there are of each kind of operand, and how large they are."""

    def plans(self, plan: TilePlan, info: DeviceInfo) -> Mapping[Shaped, Plan]:
        """The launches of each kind of step."""

    def describe(self) -> dict[str, Any]:
        """What a journal knows the operation by."""


def shaped(plan: TilePlan, part: Part, panel: int) -> Shaped:
    depth = plan.panel(panel)[1] if plan.sizes.k else 0
    return Shaped(part.rows, part.columns, depth, panel == 0, panel == plan.panels - 1)


def every_shape(plan: TilePlan) -> Iterator[Shaped]:
    """Each kind of step once, that of an inner tile first."""
    sizes = plan.sizes
    rows = dict.fromkeys((min(plan.m, sizes.m), sizes.m - (plan.rows - 1) * plan.m))
    columns = dict.fromkeys((min(plan.n, sizes.n), sizes.n - (plan.columns - 1) * plan.n))
    panels = dict.fromkeys((0, min(1, plan.panels - 1), plan.panels - 1))
    for m in rows:
        for n in columns:
            for panel in panels:
                yield shaped(plan, Part(0, m, 0, n), panel)


def known_by(operand: Stack, out: Stack) -> list[Any]:
    """What a journal knows an operand by: in the file of the result, whose time changes with each tile, by its contents."""
    written = out.at(0)[1]
    file = written.file.path if isinstance(written, FileMatrix) else None
    matrices = [
        [*each.place, each.contents] if isinstance(each, FileMatrix) and each.file.path == file else each.identity()
        for each in operand.every()
    ]
    return [*operand.broadcast, matrices]


def dense(rows: int, columns: int, by_columns: bool) -> Layout:
    return Layout(0, 1, rows) if by_columns else Layout(0, columns, 1)
