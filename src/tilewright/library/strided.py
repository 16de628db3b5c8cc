"""Moves between two views of one shape, as a call of the engine: what transposes are made of, and assignments."""

from ..backend.opencl import Device
from ..choice import plan_move
from ..kernels.moves import Move
from ..kernels.moves.swaps import Swap
from .engine import Call
from .shapes import View, batches, blocks

# Moves look at no element: any type of the same size stands for it.
STANDS_FOR = {1: "int8", 2: "float16", 4: "float32", 8: "complex64", 16: "complex128"}


def strided_move(device: Device, source: View, target: View, dtype: str) -> Call:
    """A call that moves the elements of "input", seen as `source`, to "output", seen as `target`."""
    moves = (
        Move(block.rows, block.columns, dtype, block.source, block.target, block.count)
        for block in blocks(source, target)
    )
    return Call([plan_move(move, device.info) for move in moves], device)


def in_place_transpose(device: Device, matrix: View, dtype: str) -> Call:
    """A call that swaps the last two dimensions, of equal length, of "matrix", seen as a View."""
    swaps = (Swap(matrix.shape[-1], dtype, batch.layouts[0], batch.count) for batch in batches((matrix,)))
    return Call([plan_move(swap, device.info) for swap in swaps], device)
