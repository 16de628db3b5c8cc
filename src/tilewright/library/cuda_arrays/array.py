"""One view of CUDA arrays of all frameworks, and what a framework must offer."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ...errors import Unsupported
from ..shapes import Shape, View

UNCAPTURED = (0, 1)  # the legacy default stream's handles: it is never captured
ALIGNED = 16  # bytes: the widest access of a kernel. Addresses are rounded down to it, and the rest is an offset


class CudaArray:
    """An array in a GPU's memory: the address of its first element, strides in elements, and the object that it was read from.

    `ordinal` is the GPU's number among CUDA's devices.
    """

    __slots__ = ("dtype", "framework", "given", "ordinal", "pointer", "shape", "strides")

    def __init__(
        self, pointer: int, shape: Shape, strides: Shape, dtype: np.dtype, ordinal: int, given: Any = None
    ) -> None:
        self.pointer = pointer
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.ordinal = ordinal
        self.given = given
        self.framework: Framework | None = None  # whose array the caller gave; None for one of the call's own

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def transpose(self, order: Sequence[int]) -> "CudaArray":
        """A view with the dimensions in another order."""
        shape, strides = (tuple(sides[side] for side in order) for sides in (self.shape, self.strides))
        return CudaArray(self.pointer, shape, strides, self.dtype, self.ordinal, self.given)

    @property
    def span(self) -> tuple[int, int]:
        """The addresses of the first byte, and of that after the last."""
        if 0 in self.shape:
            return self.pointer, self.pointer
        low = high = 0
        for side, stride in zip(self.shape, self.strides, strict=True):
            reach = (side - 1) * stride
            if reach < 0:
                low += reach
            else:
                high += reach
        itemsize = self.dtype.itemsize
        return self.pointer + low * itemsize, self.pointer + (high + 1) * itemsize

    @property
    def base(self) -> int:
        """The address that kernels get: that of the first byte, rounded down to a multiple of ALIGNED."""
        return self.span[0] // ALIGNED * ALIGNED

    @property
    def view(self) -> View:
        """The elements from `base` on. Unsupported if they are not aligned to their size."""
        offset = self.pointer - self.base
        if offset % self.dtype.itemsize:
            raise Unsupported(
                f"an array of {self.dtype} begins at the address {self.pointer:#x}, which is no multiple of its elements' "
                f"{self.dtype.itemsize} bytes: copy it first"
            )
        return View(self.shape, self.strides, offset // self.dtype.itemsize)


def dense_strides(shape: Shape) -> Shape:
    """The strides of an array in C order, in elements."""
    strides, step = [], 1
    for side in reversed(shape):
        strides.append(step)
        step *= max(side, 1)
    return tuple(reversed(strides))


class Framework(Protocol):
    """A kind of CUDA arrays: how its arrays are read, and how results become arrays of it."""

    name: str
    has_ready: bool  # whether the methods at the end are there

    def holds(self, value: Any) -> bool:
        """Whether an array of this kind lies on a GPU of CUDA."""

    def read(self, value: Any, name: str, stream: int) -> CudaArray:
        """An operand. Its elements are complete for work on `stream`. `name` is the argument's, for errors."""

    def read_out(self, value: Any, stream: int) -> CudaArray:
        """The caller's array for a result; InvalidInput if it cannot be written to."""

    def ordinal(self, value: Any) -> int:
        """The GPU of an array among CUDA's devices."""

    def current_stream(self, ordinal: int, values: Sequence[Any]) -> int:
        """The handle of the stream in which the caller works on that GPU."""

    def empty(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> CudaArray:
        """A new dense array, of the framework's own memory where it has a pool."""

    def result(self, array: CudaArray, stream: int) -> Any:
        """A new array as the caller gets it."""

    def permuted(self, value: Any, order: Sequence[int]) -> Any:
        """A view of a result with its dimensions in another order."""

    def enqueued(self, arrays: Sequence[CudaArray], stream: int, captured: bool) -> None:
        """Called after work on these arrays was enqueued, or captured: what they were read from must outlive it."""

    def written(self, value: Any) -> None:
        """Called after work that writes to the caller's array was enqueued."""

    def stream_of(self, ordinal: int) -> int:
        """The handle of the current stream on that GPU, whatever the arrays."""

    def count(self, value: Any) -> int:
        """The number of elements. AttributeError or TypeError for what is no array of this framework."""

    def alike(self, *values: Any) -> Callable[..., bool]:
        """A function that tells whether as many others can stand in the places of these arrays in a ready call, but for their
        addresses: class, GPU, shape, strides, type, and whatever `read` refuses or changes. It keeps no array. Given one object
        twice, it may say no."""

    def settled(self, value: Any) -> bool:
        """Whether a call with such an array can be ready. `alike` tells the difference."""

    def address(self, value: Any) -> int:
        """The address of the first element."""

    def maker(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> Callable[[], Any]:
        """A function that makes arrays for results, in memory of that stream."""
