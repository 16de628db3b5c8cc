"""The context in which products of Dask arrays are tilewright's.

`@`, `da.matmul` and `numpy.matmul` of Dask arrays all call one function of Dask, which has no way to register another. The
context puts `_matmul` in its place, and the last context that ends puts it back.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import isnan
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.array import routines

from ..core.precision import PRECISIONS
from ..core.types import ELEMENT_TYPES, FLOAT8
from ..library.requests import checked_precision, precision_for
from .products import checked_bytes, matmul

PLACES = (routines, da)  # whose attribute `matmul` is looked up by Dask and by callers
_dask_matmul = routines.matmul


class _Choice(NamedTuple):
    precision: str | None
    memory: int | str | None


# Of each thread and coroutine: those that are not within a context get Dask's own products.
_choice: ContextVar[_Choice | None] = ContextVar("tilewright.dask.products", default=None)
_changing = threading.RLock()  # a destructor, or a signal's handler, may have a context of its own meanwhile
_contexts = 0


@contextmanager
def products(*, precision: str | None = None, memory: int | str | None = None) -> Iterator[None]:
    """Within this context, `@`, `da.matmul` and `numpy.matmul` of Dask arrays make tilewright's tasks.

    Products are routed when they are written, not when they are computed: `compute` may come after the context. Types are
    NumPy's: int8 gives int8, where Dask gives int64 if k has several chunks. Arrays that `matmul` refuses stay Dask's: sparse
    ones and those of CuPy, unknown chunk sizes, other types, or types without the precision; so do `dot`, `tensordot`,
    `einsum`, and a `matmul` that was imported from Dask by its name. Contexts nest, and are of one thread.

    Arguments: `precision` and `memory` as in `matmul`.

    Raises:
        UnknownName: no precision has that name.
        InvalidInput: `memory` is no amount of bytes.

    >>> import dask.array as da, tilewright.dask
    >>> a = da.ones((100, 100), chunks=50)
    >>> with tilewright.dask.products():
    ...     c = (a + 1) @ a
    >>> c
    dask.array<tilewright-matmul-tile, shape=(100, 100), dtype=float64, chunksize=(50, 50), chunktype=numpy.ndarray>
    """
    checked_precision(precision)
    if memory is not None:
        checked_bytes(memory)
    before = _choice.set(_Choice(precision, memory))
    _count(1)
    try:
        yield
    finally:
        _count(-1)
        _choice.reset(before)


def _count(change: int) -> None:
    """One context more or less; the first puts `_matmul` into Dask's places, the last one takes it out."""
    global _contexts
    with _changing:
        _contexts += change
        for each in PLACES:
            each.matmul = _matmul if _contexts else _dask_matmul


def _matmul(a: Any, b: Any) -> Any:
    choice = _choice.get()
    if choice is None or not (_takes(a, choice.precision) and _takes(b, choice.precision)):
        return _dask_matmul(a, b)
    return matmul(a, b, dtype=np.result_type(a.dtype, b.dtype), precision=choice.precision, memory=choice.memory)


def _takes(value: Any, precision: str | None) -> bool:
    """Whether `matmul` multiplies such arrays. Others are left to Dask, which also raises what is to be raised for them."""
    meta = value._meta if isinstance(value, da.Array) else value
    if type(meta) is not np.ndarray or not value.ndim or any(map(isnan, value.shape)):
        return False
    name = value.dtype.name
    if name not in ELEMENT_TYPES or name in FLOAT8:
        return False
    return name in PRECISIONS.get(precision_for(name, precision), ELEMENT_TYPES)
