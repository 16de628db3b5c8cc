"""TensorMap: how TMA sees a matrix in global memory, as plain data."""

from dataclasses import dataclass

from ..errors import InvalidInput
from .operands import Layout

SWIZZLES = (0, 32, 64, 128)


@dataclass(frozen=True)
class TensorMap:
    """A matrix, or a batch of them, that TMA copies to local memory box by box.

    `sizes` and `box` are in elements of `dtype`, the contiguous dimension first. `strides` are in bytes, of every dimension
    but the first. `swizzle` is the width in bytes of the rows within which 16-byte chunks are permuted, so that the columns
    of a box do not share banks; 0 is none. The address is not part of it: the kernel writes it at each launch. A `dtype` of
    "tf32" is float32 that TMA rounds to a 10-bit fraction, to nearest.

    The limits are those of cuTensorMapEncodeTiled in the CUDA driver API's documentation.
    """

    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int = 0

    def __post_init__(self) -> None:
        rank = len(self.sizes)
        if len(self.box) != rank or len(self.strides) != rank - 1 or self.swizzle not in SWIZZLES:
            raise InvalidInput(f"a tensor map needs as many box sides as sizes, and one stride fewer: {self}")


def layout_violation(name: str, view: Layout, itemsize: int) -> str:
    """Why no tensor map can describe the operand `name`, or "". `itemsize` is the bytes of an element."""
    if view.row != 1 and view.column != 1:
        return f"neither rows nor columns of {name} lie without gaps: strides {view.row}, {view.column}"
    if view.offset * itemsize % 16:
        return f"TMA needs {name} to begin at a multiple of 16 bytes, not at {view.offset * itemsize}"
    return ""


def tensor_map_violation(name: str, map_: TensorMap, itemsize: int) -> str:
    """Why TMA cannot read the operand `name` by this map, or "". `itemsize` is the bytes of an element."""
    for stride in map_.strides:
        if stride % 16 or not 0 < stride < 2**40:
            return f"TMA needs strides of {name} that are multiples of 16 bytes, not {stride}"
    for size in map_.sizes:
        if not 0 < size <= 2**32:
            return f"TMA needs sizes of {name} from 1 to 2^32, not {size}"
    for side in map_.box:
        if not 0 < side <= 256:
            return f"TMA needs boxes of {name} of 1 to 256 elements a side, not {side}"
    width = map_.box[0] * itemsize
    if width % 16:
        return f"TMA needs rows of a box of {name} that are multiples of 16 bytes, not {width}"
    if map_.swizzle and width > map_.swizzle:
        return f"TMA needs rows of a box of {name} that fit into its swizzle of {map_.swizzle} bytes, not {width}"
    return ""
