"""Shapes and strides of products: NumPy's matmul rules, and batches folded into as few launches as possible."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np

from ..core.operands import Layout
from ..errors import InvalidInput

Shape = tuple[int, ...]


@dataclass(frozen=True)
class View:
    """An n-dimensional array inside a block of memory: strides and offset in elements."""

    shape: Shape
    strides: Shape
    offset: int

    def broadcast(self, shape: Shape) -> "View":
        """The view repeated over leading or unit dimensions, with stride 0 there, as NumPy broadcasts."""
        missing = len(shape) - len(self.shape)
        own = zip(self.shape, self.strides, shape[missing:], strict=True)
        strides = (0,) * missing + tuple(0 if side == 1 and wanted != 1 else stride for side, stride, wanted in own)
        return View(shape, strides, self.offset)


def distinct(view: View) -> bool:
    """Whether no two elements share a place: false, too, for a few views whose dimensions are interleaved."""
    reach = 0
    for stride, side in sorted((abs(stride), side) for stride, side in zip(view.strides, view.shape, strict=True)):
        if side > 1 and stride <= reach:
            return False
        reach += stride * (side - 1)
    return True


@dataclass(frozen=True)
class ProductShape:
    """The sizes of a matmul: `batch` sides of broadcast matrices, and the shape of the result."""

    m: int
    n: int
    k: int
    batch: Shape
    result: Shape

    @cached_property
    def launches(self) -> int:
        """How many launches the product takes at most: one for each index of all dimensions of a stack but the longest."""
        return prod(self.batch) // max(1, *self.batch, 1)


@lru_cache(maxsize=1024)
def product_shape(a: Shape, b: Shape) -> ProductShape:
    """NumPy's rules for `matmul`: 1-D operands gain a dimension that the result loses, leading ones broadcast."""
    if not a or not b:
        raise InvalidInput(f"matmul needs at least one dimension, got shapes {a} and {b}; use * for scalars")
    rows: Shape = a[-2:-1]
    columns: Shape = b[-1:] if len(b) > 1 else ()
    k_of_b = b[-2] if len(b) > 1 else b[0]
    if a[-1] != k_of_b:
        raise InvalidInput(f"matmul: shapes {a} and {b} do not fit: {a[-1]} (the last of the first) is not {k_of_b}")
    try:
        batch = tuple(np.broadcast_shapes(a[:-2], b[:-2]))
    except ValueError as error:
        raise InvalidInput(f"matmul: the leading dimensions of {a} and {b} do not broadcast") from error
    m, n = rows[0] if rows else 1, columns[0] if columns else 1
    return ProductShape(m, n, a[-1], batch, batch + rows + columns)


def as_matrices(view: View, column: bool = False) -> View:
    """A 1-D view as a row, or as a column; anything else as it is."""
    if len(view.shape) > 1:
        return view
    (side,), (stride,) = view.shape, view.strides
    if column:
        return View((side, 1), (stride, 0), view.offset)
    return View((1, side), (0, stride), view.offset)


@dataclass(frozen=True)
class Batch:
    """Matrices that one launch can do: how many, and where the operands' first one lies."""

    count: int
    layouts: tuple[Layout, ...]


def batches(views: tuple[View, ...]) -> Iterator[Batch]:
    """Cut stacks of matrices (equal leading dimensions, by now) into launches.

    Leading dimensions that lie in memory like one are merged; of what is left, the longest becomes the batch of a
    launch, the others one launch each.
    """
    sides, strides = merged(views[0].shape[:-2], [view.strides[:-2] for view in views])
    if 0 in sides:
        return
    inner = max(range(len(sides)), key=lambda axis: sides[axis]) if sides else None
    count = 1 if inner is None else sides[inner]
    outer = [range(1) if axis == inner else range(side) for axis, side in enumerate(sides)]
    for index in product(*outer):
        layouts = []
        for view, own in zip(views, strides, strict=True):
            offset = view.offset + sum(i * stride for i, stride in zip(index, own, strict=True))
            step = 0 if inner is None else own[inner]
            layouts.append(Layout(offset, view.strides[-2], view.strides[-1], step))
        yield Batch(count, tuple(layouts))


def _roles(sides: list[int], reads: list[int], writes: list[int]) -> tuple[int, int, int | None, list[int]]:
    """Which dimensions become a launch's rows, columns and batch, and those of which every index is a launch of its own."""
    column = min(range(len(sides)), key=lambda axis: (sides[axis] == 1, abs(writes[axis])))
    others = [axis for axis in range(len(sides)) if axis != column]
    row = min(others, key=lambda axis: (sides[axis] == 1, abs(reads[axis])))
    rest = [axis for axis in others if axis != row]
    inner = max(rest, key=lambda axis: sides[axis], default=None)
    return row, column, inner, [axis for axis in rest if axis != inner]


def launches(source: View, target: View) -> int:
    """How many launches `blocks` cuts a move into."""
    sides, (reads, writes) = merged(source.shape, [source.strides, target.strides])
    if 0 in sides or len(sides) < 4:
        return 1
    return prod(sides[axis] for axis in _roles(sides, reads, writes)[-1])


def product_launches(views: tuple[View, ...]) -> int:
    """How many launches `batches` cuts a stack of products into."""
    sides, _ = merged(views[0].shape[:-2], [view.strides[:-2] for view in views])
    return prod(sides) // max(sides, default=1) if 0 not in sides else 0


def merged(sides: Shape, strides: list[Shape]) -> tuple[list[int], list[list[int]]]:
    """Leading dimensions without those of side 1, neighbours merged where all operands step through them evenly."""
    kept: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis, side in enumerate(sides):
        if side == 1:
            continue
        own = [stride[axis] for stride in strides]
        if kept and all(step[-1] == side * stride for step, stride in zip(steps, own, strict=True)):
            kept[-1] *= side
            for step, stride in zip(steps, own, strict=True):
                step[-1] = stride
        else:
            kept.append(side)
            for step, stride in zip(steps, own, strict=True):
                step.append(stride)
    return kept, steps


def folded(batch: Batch, m: int) -> tuple[Batch, int]:
    """A stack of left matrices times one right matrix as a single product of more rows, where memory allows it."""
    a, b, c = batch.layouts
    if batch.count > 1 and b.batch == 0 and a.batch == m * a.row and c.batch == m * c.row:
        return Batch(1, batch.layouts), m * batch.count
    return batch, m


@dataclass(frozen=True)
class Block:
    """Matrices that one launch moves: rows x columns, `count` of them."""

    rows: int
    columns: int
    count: int
    source: Layout
    target: Layout


def blocks(source: View, target: View) -> Iterator[Block]:
    """Cut a move between two views of one shape into launches of batched matrices.

    After merging, the matrix is made of the dimension in which the target's elements are nearest to each other and the
    one in which the source's are; of the rest the longest is the launch's batch.
    """
    sides, (reads, writes) = merged(source.shape, [source.strides, target.strides])
    if 0 in sides:
        return
    while len(sides) < 2:
        sides, reads, writes = [1, *sides], [0, *reads], [0, *writes]
    row, column, inner, outer = _roles(sides, reads, writes)
    for index in product(*(range(sides[axis]) for axis in outer)):
        layouts = []
        for view, steps in ((source, reads), (target, writes)):
            offset = view.offset + sum(i * steps[axis] for i, axis in zip(index, outer, strict=True))
            layouts.append(Layout(offset, steps[row], steps[column], 0 if inner is None else steps[inner]))
        yield Block(sides[row], sides[column], 1 if inner is None else sides[inner], *layouts)
