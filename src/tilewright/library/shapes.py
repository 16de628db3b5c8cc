"""Shapes and strides: NumPy's rules of matmul, and stacks of matrices as few launches."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np

from ..core.operands import Layout
from ..errors import InvalidInput, Unsupported

Shape = tuple[int, ...]
LARGEST_CHECKED = 2**24  # elements of an `out` with interleaved dimensions: their addresses are listed


@dataclass(frozen=True)
class View:
    """An n-dimensional array inside a block of memory: strides and offset in elements."""

    shape: Shape
    strides: Shape
    offset: int

    def broadcast(self, shape: Shape) -> "View":
        """The view broadcast by NumPy's rules: repeated dimensions have stride 0."""
        missing = len(shape) - len(self.shape)
        own = zip(self.shape, self.strides, shape[missing:], strict=True)
        strides = (0,) * missing + tuple(0 if side == 1 and wanted != 1 else stride for side, stride, wanted in own)
        return View(shape, strides, self.offset)


def distinct(view: View, width: int = 1) -> bool:
    """Whether no two elements share memory. Also false for some views with interleaved dimensions.

    `width` is that of an element, in the unit of the strides.
    """
    reach = width - 1
    for stride, side in sorted((abs(stride), side) for stride, side in zip(view.strides, view.shape, strict=True)):
        if side > 1 and stride <= reach:
            return False
        reach += stride * (side - 1)
    return True


def share_elements(view: View, width: int = 1) -> bool:
    """Whether two elements of an `out` share memory. Unsupported if that would take too long to find out.

    `width` is that of an element, in the unit of the strides.
    """
    size = prod(view.shape)
    if size < 2 or distinct(view, width):
        return False
    if size > LARGEST_CHECKED:
        raise Unsupported(
            f"out has {size:,} elements in interleaved dimensions; at most {LARGEST_CHECKED:,} can be checked"
        )
    places = np.zeros((), np.int64)
    for side, stride in zip(view.shape, view.strides, strict=True):
        places = places[..., None] + np.arange(side, dtype=np.int64) * stride
    return bool(np.diff(np.sort(places, axis=None)).min() < width)


@dataclass(frozen=True)
class ProductShape:
    """The sizes of a product: m, n, k, the broadcast leading dimensions `batch`, and the result's shape."""

    m: int
    n: int
    k: int
    batch: Shape
    result: Shape

    @cached_property
    def launches(self) -> int:
        """The largest number of launches: the longest leading dimension is one launch's batch, the others are loops."""
        return prod(self.batch) // max(1, *self.batch, 1)


@lru_cache(maxsize=1024)
def product_shape(a: Shape, b: Shape) -> ProductShape:
    """NumPy's rules of `matmul`: leading dimensions broadcast; 1-D operands gain a dimension that the result loses."""
    if not a or not b:
        raise InvalidInput(f"matmul needs at least one dimension, got shapes {a} and {b}; use * for scalars")
    rows: Shape = a[-2:-1]
    columns: Shape = b[-1:] if len(b) > 1 else ()
    k_of_b = b[-2] if len(b) > 1 else b[0]
    if a[-1] != k_of_b:
        raise InvalidInput(f"shapes {a} and {b} do not fit: the k of a is {a[-1]}, the k of b is {k_of_b}")
    batch = _broadcast(a[:-2], b[:-2])
    if batch is None:
        raise InvalidInput(f"the leading dimensions of shapes {a} and {b} do not broadcast")
    m, n = rows[0] if rows else 1, columns[0] if columns else 1
    return ProductShape(m, n, a[-1], batch, batch + rows + columns)


def _broadcast(a: Shape, b: Shape) -> Shape | None:
    """The common shape by NumPy's rules; None if there is none. NumPy's function takes 32 dimensions, arrays have 64."""
    count = max(len(a), len(b))
    pairs = list(zip((1,) * (count - len(a)) + a, (1,) * (count - len(b)) + b, strict=True))
    if any(one != other and 1 not in (one, other) for one, other in pairs):
        return None
    return tuple(other if one == 1 else one for one, other in pairs)


def as_matrices(view: View, column: bool = False) -> View:
    """A 1-D view as a row, or as a column. Other views are returned unchanged."""
    if len(view.shape) > 1:
        return view
    (side,), (stride,) = view.shape, view.strides
    if column:
        return View((side, 1), (stride, 0), view.offset)
    return View((1, side), (0, stride), view.offset)


@dataclass(frozen=True)
class Batch:
    """The matrices of one launch: their count, and the layout of each operand."""

    count: int
    layouts: tuple[Layout, ...]


def batches(views: tuple[View, ...]) -> Iterator[Batch]:
    """Split stacks of matrices with equal leading dimensions into launches.

    Leading dimensions that are contiguous with each other are merged. The longest of the remaining ones becomes the batch of
    a launch. Each index of the others is a launch.
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
    """The dimensions that become a launch's rows, columns and batch, and those whose indices are separate launches."""
    column = min(range(len(sides)), key=lambda axis: (sides[axis] == 1, abs(writes[axis])))
    others = [axis for axis in range(len(sides)) if axis != column]
    row = min(others, key=lambda axis: (sides[axis] == 1, abs(reads[axis])))
    rest = [axis for axis in others if axis != row]
    inner = max(rest, key=lambda axis: sides[axis], default=None)
    return row, column, inner, [axis for axis in rest if axis != inner]


def launches(source: View, target: View) -> int:
    """The number of launches that `blocks` makes of a copy."""
    sides, (reads, writes) = merged(source.shape, [source.strides, target.strides])
    if 0 in sides or len(sides) < 4:
        return 1
    return prod(sides[axis] for axis in _roles(sides, reads, writes)[-1])


def product_launches(views: tuple[View, ...]) -> int:
    """The number of launches that `batches` makes of a stack of products."""
    sides, _ = merged(views[0].shape[:-2], [view.strides[:-2] for view in views])
    return prod(sides) // max(sides, default=1) if 0 not in sides else 0


def merged(sides: Shape, strides: list[Shape]) -> tuple[list[int], list[list[int]]]:
    """Dimensions without those of length 1. Neighbours are merged if all operands step through them evenly."""
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
    """A stack of left matrices times one right matrix as a single product of more rows, if the strides allow it."""
    a, b, c = batch.layouts
    if batch.count > 1 and b.batch == 0 and a.batch == m * a.row and c.batch == m * c.row:
        return Batch(1, batch.layouts), m * batch.count
    return batch, m


@dataclass(frozen=True)
class Block:
    """The matrices that one launch copies: `count` of rows x columns."""

    rows: int
    columns: int
    count: int
    source: Layout
    target: Layout


def blocks(source: View, target: View) -> Iterator[Block]:
    """Split a copy between two views of one shape into launches of batched matrices.

    After merging, the columns of the matrix are the dimension with the target's smallest stride, and its rows the one with
    the source's smallest stride. The longest of the others is the launch's batch.
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
