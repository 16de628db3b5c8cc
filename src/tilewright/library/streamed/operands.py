"""The caller's arrays as matrices of files, of memory, or of slices."""

from numbers import Integral
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided
from pyopencl.array import Array

from ...errors import InvalidInput
from ..cuda_arrays.frameworks import framework_of
from ..shapes import Shape, View, share_elements
from ..views import as_host_array, made_dense_by
from .files import FileMatrix, OpenFiles, file_matrix
from .mappings import span_of
from .matrices import Matrix, MemoryMatrix, SlicedMatrix, place_of, told
from .operations import Stack

Overlap = Literal["none", "same", "part"]


class Given:
    """An array of the caller's: NumPy's, what NumPy converts, or anything else with a shape, a dtype and slices."""

    def __init__(self, value: Any, name: str) -> None:
        refuse_on_device(value, name)
        self.name, self.value = name, value
        with told(value, "reading the shape and type of"):
            sliced = _only_sliced(value)
        self.array: np.ndarray | None = None if sliced else as_host_array(value, name)
        self._lock = Lock()

    @property
    def stand_in(self) -> np.ndarray:
        """An array of the same shape and type without memory, to be checked by the rules."""
        if self.array is not None:
            return self.array
        shape = tuple(map(int, self.value.shape))
        return as_strided(np.empty((), np.dtype(self.value.dtype)), shape, (0,) * len(shape))

    @property
    def nbytes(self) -> int:
        return self.stand_in.nbytes

    def stack(
        self, batch: Shape, files: OpenFiles, side: str = "", transposed: bool = False, out: bool = False
    ) -> Stack:
        """The matrices of this array. `side` says what a 1-D array is: a "row" or a "column"."""
        if self.array is None:
            value = self.value
            return Stack(
                tuple(map(int, value.shape[:-2])),
                batch,
                lambda index: SlicedMatrix(value, self._lock, index, transposed),
            )
        array = self.array
        if side:
            array = array[..., None, :] if side == "row" else array[..., None]
        if transposed:
            array = array.swapaxes(-1, -2)
        whole = array

        def make(index: Shape) -> Matrix:
            found = whole[index]
            return file_matrix(found, files, out) or MemoryMatrix(found)

        return Stack(whole.shape[:-2], batch, make, whole)


def refuse_on_device(value: Any, name: str) -> None:
    """InvalidInput for an array in the memory of a device."""
    if isinstance(value, Array) or framework_of(value) is not None:
        raise InvalidInput(
            f"{name} lies on a device; limits of memory and lists of devices are for arrays of the host and in files"
        )


def given_out(out: Any) -> Given | None:
    """The caller's array for the result, if there is one. InvalidInput for what NumPy would copy: the copy would be written."""
    if out is None:
        return None
    target = None if made_dense_by(out) else Given(out, "out")
    if target is None or (target.array is not None and not isinstance(out, np.ndarray)):
        raise InvalidInput(
            f"out is a {type(out).__name__}: pass a NumPy array, or a matrix or stack that is written by slices"
        )
    if target.array is None and not hasattr(out, "__setitem__"):
        raise InvalidInput(f"out is a {type(out).__name__}, which has slices to read, and none to write")
    return target


def refuse_shared_elements(result: Given) -> None:
    """InvalidInput if elements of a result share memory: which of them stays would depend on who writes its tile last."""
    array = result.array
    if array is None or array.flags.forc or not share_elements(View(array.shape, array.strides, 0), array.itemsize):
        return
    raise InvalidInput(
        f"elements of out share memory: its shape is {array.shape}, its strides are {array.strides} bytes; in tiles any of "
        "them could be written last: pass another out"
    )


def _only_sliced(value: Any) -> bool:
    """Whether a value has slices but is nothing that NumPy has in memory."""
    if isinstance(value, np.ndarray | np.generic) or not all(
        hasattr(value, name) for name in ("shape", "dtype", "__getitem__")
    ):
        return False
    if made_dense_by(value):  # the general way refuses it
        return False
    if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        return False
    if not isinstance(value.shape, tuple) or len(value.shape) < 2:  # less is small enough for a copy
        return False
    try:
        np.dtype(value.dtype)
    except TypeError:  # a type of another package
        return False
    return all(isinstance(side, Integral) for side in value.shape)  # Dask does not know all lengths


def overlap(one: Given, one_stack: Stack, other: Given, other_stack: Stack) -> Overlap:
    """Whether an operand and the result share elements: none, each its own place, or others."""
    if one.array is None or other.array is None:
        return "same" if same_array(one, other) else "none"
    first, second = one_stack.at(0)[1], other_stack.at(0)[1]
    if isinstance(first, FileMatrix) and isinstance(second, FileMatrix):
        spans = [(mine.span(), theirs.span()) for mine, theirs in _pairs(one_stack, other_stack)]
        if all(mine == theirs for mine, theirs in spans) and one.array.strides == other.array.strides:
            return "same"
        every = [matrix.span() for matrix in other_stack.every() if isinstance(matrix, FileMatrix)]
        return "part" if any(mine.overlaps(theirs) for mine, _ in spans for theirs in every) else "none"
    return _overlap_in_memory(one.array, other.array)


def _overlap_in_memory(one: np.ndarray, other: np.ndarray) -> Overlap:
    mine, theirs = span_of(one), span_of(other)
    if mine is not None and theirs is not None:  # perhaps by two mappings, which are two places to NumPy
        shared, begins_alike = mine.overlaps(theirs), mine == theirs
    else:
        shared = np.may_share_memory(one, other)
        begins_alike = one.__array_interface__["data"][0] == other.__array_interface__["data"][0]
    alike = begins_alike and (one.shape, one.strides) == (other.shape, other.strides)
    return ("same" if alike else "part") if shared else "none"


def same_array(one: Given, other: Given) -> bool:
    """Whether two objects with slices are one array, which h5py and zarr open as often as it is asked for."""
    if one.value is other.value or one.array is not None or other.array is not None:
        return one.value is other.value
    if type(one.value) is not type(other.value):
        return False
    if type(one.value).__module__.startswith("h5py") and one.value.id == other.value.id:  # by two names, or links
        return True
    places = [place_of(each.value) for each in (one, other)]
    return places[0] == places[1] and any(places[0])


def _pairs(one: Stack, other: Stack) -> list[tuple[FileMatrix, FileMatrix]]:
    found = zip(one.every(), other.every(), strict=False)
    return [(mine, theirs) for mine, theirs in found if isinstance(mine, FileMatrix) and isinstance(theirs, FileMatrix)]
