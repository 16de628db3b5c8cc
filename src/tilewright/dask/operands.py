"""Operands: what callers pass, as Dask arrays that tasks can multiply, or a sentence why not."""

from math import isnan
from typing import Any

import dask.array as da
import numpy as np

from ..core.types import FLOAT8
from ..errors import InvalidInput, Unsupported, UnsupportedType
from ..library.views import as_host_array, made_dense_by, refuse_sparse


def checked_array(value: Any, name: str) -> da.Array:
    """The operand as a Dask array of NumPy chunks of known sizes."""
    if da.ARRAY_EXPR_ENABLED:
        raise Unsupported(
            "tilewright.dask makes the tasks of Dask's classic arrays; set the configuration array.query-planning to False "
            "before dask.array is imported"
        )
    if value is None or isinstance(value, str | bytes):
        raise UnsupportedType(f"{name} is {value!r:.40}: pass a Dask array, or a NumPy array")
    refuse_sparse(value, name)
    if isinstance(value, np.ndarray) and not isinstance(value, np.memmap):  # Dask knows memmaps by their files
        value = as_host_array(value, name)
    if isinstance(value, np.ndarray) and not value.size:  # Dask divides by zero when it chooses chunks for some of them
        value = da.from_array(value, chunks=value.shape)
    array = da.asarray(value)
    if type(array._meta) is not np.ndarray:
        kind = f"{type(array._meta).__module__}.{type(array._meta).__qualname__}"
        raise UnsupportedType(
            f"the chunks of {name} are {kind}; tasks multiply NumPy arrays: {name}.map_blocks({_numpys_of(array._meta)}) "
            "makes them"
        )
    if any(isnan(length) for lengths in array.chunks for length in lengths):
        raise InvalidInput(
            f"{name} has chunks of unknown sizes, {array.chunks}; compute them first: {name}.compute_chunk_sizes()"
        )
    if array.dtype.name in FLOAT8:
        raise UnsupportedType(
            f"{name} has elements of {array.dtype}, which Dask cannot send between workers; "
            f"{name}.astype('float16') holds the same values"
        )
    return array


def _numpys_of(chunk: Any) -> str:
    """The function that makes a NumPy array of such a chunk, as Python writes it."""
    dense = made_dense_by(chunk)
    on_gpu = hasattr(chunk, "get") and hasattr(type(chunk), "__cuda_array_interface__")  # NumPy's asarray is refused
    if dense:
        return f"lambda chunk: chunk.{dense}()"
    if isinstance(chunk, np.ma.MaskedArray):
        return "numpy.ma.filled"
    return "cupy.asnumpy" if on_gpu else "numpy.asarray"
