"""`transpose` of Dask arrays."""

from typing import Any

import dask.array as da

from ..library.copy_calls import check_elements
from .operands import checked_array
from .tasks import transposed_chunk


def transpose(a: Any) -> da.Array:
    """Reverse the dimensions of a Dask array. The result is a Dask array with dense chunks; the call computes nothing.

    Dask's own `a.T` gives views: whoever reads them reads memory in the other order. This moves the elements, on the device of
    the worker that has the chunk. For an operand of `matmul` it is not needed: that reads views as fast.

    Raises:
        InvalidInput: chunks have unknown sizes.
        UnsupportedType: elements have a size that no kernel copies, or point to Python objects.

    >>> import dask.array as da, tilewright.dask
    >>> tilewright.dask.transpose(da.arange(6, chunks=3).reshape(2, 3)).compute().tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    array = checked_array(a, "a")
    check_elements(array.dtype)
    order = tuple(range(array.ndim))
    return da.blockwise(
        transposed_chunk, order[::-1], array, order, dtype=array.dtype, meta=array._meta.T, name=None,
        token="tilewright-transpose-tile",
    )  # fmt: skip
