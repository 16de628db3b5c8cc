"""Calls that copy between two views of one shape, with any strides: transposes and assignments are made of them."""

from dataclasses import replace
from math import prod

import numpy as np

from ..dispatch.choice import plan_copy
from ..errors import UnsupportedType
from ..kernels.copy import StridedCopy
from ..kernels.copy.copy_nd import StridedCopyND
from ..kernels.copy.transpose_in_place import StridedInPlaceTranspose
from ..runtime.opencl.device import Device
from .engine import Call
from .shapes import View, batches, blocks, launches, merged

# A copy does not interpret elements: any type of the same size works.
STANDS_FOR = {1: "int8", 2: "float16", 4: "float32", 8: "complex64", 16: "complex128"}


def check_elements(dtype: np.dtype) -> None:
    """UnsupportedType for elements that point to Python objects, or of a size that no kernel copies."""
    if dtype.hasobject:
        raise UnsupportedType(
            f"a has elements of {dtype}, which point to Python objects; kernels cannot count their references: use NumPy's copy"
        )
    if dtype.itemsize not in STANDS_FOR:
        raise UnsupportedType(
            f"a has elements of {dtype}, of {dtype.itemsize} bytes; kernels copy elements of 1, 2, 4, 8 and 16"
        )


# Above MOST_LAUNCHES, one kernel for many dimensions is faster, unless each launch copies LONG_LAUNCH elements: a launch takes
# milliseconds to prepare and microseconds to enqueue; that kernel takes some nanoseconds an element.
MOST_LAUNCHES = 16
LONG_LAUNCH = 2**18  # elements


def strided_copy(device: Device, source: View, target: View, dtype: str) -> Call:
    """A call that copies the buffer "input" in the view `source` to the buffer "output" in the view `target`."""
    needed = launches(source, target)
    if needed > MOST_LAUNCHES and prod(source.shape) < LONG_LAUNCH * needed:
        return Call([plan_copy(_many(source, target, dtype), device.info)], device)
    copies = (
        StridedCopy(block.rows, block.columns, dtype, block.source, block.target, block.count)
        for block in blocks(source, target)
    )
    return Call([plan_copy(each, device.info) for each in copies], device)


def converting_copy(device: Device, source: View, target: View, dtypes: tuple[np.dtype, np.dtype]) -> Call:
    """The same, with every element converted from the first type to the second."""
    names = (dtypes[0].name, dtypes[1].name)
    stand_ins = [STANDS_FOR[dtype.itemsize] for dtype in dtypes]
    if 0 in source.shape:
        return Call((), device)
    copy = replace(_many(source, target, stand_ins[0]), result=stand_ins[1], converts=names)
    return Call([plan_copy(copy, device.info)], device)


def _many(source: View, target: View, dtype: str) -> StridedCopyND:
    """The copy as one problem of many dimensions. The target's smallest strides come last."""
    sides, (reads, writes) = merged(source.shape, [source.strides, target.strides])
    if not sides:  # a single element
        sides, reads, writes = [1], [0], [0]
    order = sorted(range(len(sides)), key=lambda axis: -abs(writes[axis]))
    sides, reads, writes = ([values[axis] for axis in order] for values in (sides, reads, writes))
    return StridedCopyND(tuple(sides), tuple(reads), tuple(writes), dtype, source.offset, target.offset)


def in_place_transpose(device: Device, matrix: View, dtype: str) -> Call:
    """A call that transposes the square matrices of the buffer "matrix" in place."""
    squares = (
        StridedInPlaceTranspose(matrix.shape[-1], dtype, batch.layouts[0], batch.count) for batch in batches((matrix,))
    )
    return Call([plan_copy(each, device.info) for each in squares], device)
