"""Views into memory: NumPy arrays, PyOpenCL arrays, and objects that NumPy converts."""

import ctypes
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.array import Array

from ..core.types import ELEMENT_TYPES
from ..errors import InvalidInput, Unsupported, UnsupportedType
from .shapes import View


@dataclass(frozen=True)
class HostBlock:
    """The bytes that a NumPy array's elements span. `keep` keeps the memory alive."""

    address: int
    nbytes: int
    keep: np.ndarray

    def bytes(self) -> Any:
        """The span as a writable buffer object, also for a read-only array."""
        return (ctypes.c_char * max(self.nbytes, 1)).from_address(self.address)


def is_device_array(value: object) -> bool:
    return isinstance(value, Array)


def as_host_array(value: object, name: str) -> np.ndarray:
    """The caller's value as a plain NumPy array: by `__array__`, by DLPack for host memory, or by its elements.

    Subclasses become plain arrays. Masked arrays are refused, because kernels would ignore the mask. `name` is the argument's,
    for the sentence of an UnsupportedType or InvalidInput.
    """
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.ndarray):
        if isinstance(value, np.ma.MaskedArray):
            raise UnsupportedType(
                f"{name} is a masked array, and kernels ignore masks: pass {name}.filled(...) or {name}.data"
            )
        return value.view(np.ndarray)
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError) as error:
            raise InvalidInput(
                f"{name} is a {type(value).__name__} that NumPy cannot read by DLPack ({error}): pass a NumPy array, or "
                "a PyOpenCL array if it lies on a device"
            ) from error
    return as_host_array(_converted(value, name), name)


def _converted(value: object, name: str) -> np.ndarray:
    """What NumPy makes of a value. UnsupportedType for None, text and other objects; InvalidInput for ragged lists."""
    if value is None or isinstance(value, str | bytes):
        raise UnsupportedType(f"{name} is {value!r:.40}: pass an array of numbers")
    refuse_sparse(value, name)
    if _holds_masks(value):  # NumPy drops them
        raise _masked(f"{name} is a {type(value).__name__}")
    try:
        # Variables of netCDF4 give masked arrays, whether or not elements are masked. Dask's own conversion drops masks.
        given = value.compute() if hasattr(value, "__dask_graph__") and hasattr(value, "compute") else value
        found = np.asanyarray(given)
    except NotImplementedError:  # an object's own answer, which NumPy passes on
        raise
    except (ValueError, RuntimeError) as error:  # rows of several lengths; a tensor of PyTorch that requires grad
        raise InvalidInput(f"{name} is a {type(value).__name__} of which NumPy makes no array: {error}") from error
    except TypeError as error:  # a sparse tensor of PyTorch, or one without memory
        raise UnsupportedType(f"{name} is a {type(value).__name__} of which NumPy makes no array: {error}") from error
    if found.dtype.hasobject:
        raise UnsupportedType(f"{name} is of type {type(value).__name__} and holds no array of numbers: pass one")
    return unmasked(found, f"{name} is a {type(value).__name__}")


def _holds_masks(value: object) -> bool:
    """Whether a list has masked arrays with masked elements among its rows, or in lists of rows."""
    if not isinstance(value, list | tuple) or (value and isinstance(value[0], int | float | complex)):
        return False  # NumPy itself warns of single elements that are masked, and makes NaNs of them
    return any(np.ma.is_masked(each) if isinstance(each, np.ndarray) else _holds_masks(each) for each in value)


def made_dense_by(value: object) -> str:
    """The method by which a sparse matrix of SciPy, CuPy, JAX or `sparse` gives a dense array; "" for what is not sparse.

    NumPy makes one object of a sparse matrix of SciPy, and parts of it may look like those of an array on disk.
    """
    kind = type(value)
    if not hasattr(kind, "nnz") and not hasattr(kind, "nse"):  # the count of stored elements; JAX calls it nse
        return ""
    return next((name for name in ("toarray", "todense") if hasattr(kind, name)), "")


def refuse_sparse(value: object, name: str) -> None:
    """UnsupportedType for a sparse matrix. `name` is the argument's."""
    method = made_dense_by(value)
    if method:
        raise UnsupportedType(
            f"{name} is a sparse matrix ({type(value).__name__}), and kernels take dense arrays: pass {name}.{method}()"
        )


def unmasked(found: np.ndarray, what: str) -> np.ndarray:
    """What was read from somewhere as a plain array. UnsupportedType if elements are masked; `what` begins the sentence."""
    if np.ma.is_masked(found):
        raise _masked(what)
    return np.asarray(found)


def _masked(what: str) -> UnsupportedType:
    return UnsupportedType(f"{what} with masked elements, and kernels ignore masks: fill them first")


def native_dtype(dtype: np.dtype) -> str:
    """The element type's name; UnsupportedType for types that no kernel has."""
    if dtype.name not in ELEMENT_TYPES:
        raise UnsupportedType(f"no kernel multiplies {dtype.name}; convert to one of {', '.join(ELEMENT_TYPES)}")
    return dtype.name


def whole_elements(array: np.ndarray) -> bool:
    """Whether every element is aligned to its own size, so that a kernel can load it by one instruction.

    NumPy's `aligned` is weaker: it aligns a complex128 as two float64. Memory that NumPy has allocated counts as aligned to
    16 bytes, as malloc's is; the address of a view is checked.
    """
    flags, dtype = array.flags, array.dtype
    itemsize = dtype.itemsize
    if not flags.aligned:
        return False
    if dtype.alignment < itemsize and array.base is not None and array.__array_interface__["data"][0] % itemsize:
        return False
    return flags.forc or not any(stride % itemsize for stride in array.strides)


def has_gaps(dtype: np.dtype) -> bool:
    """Whether a structure has bytes that belong to none of its fields: a view of some fields has those of the others there."""
    return dtype.names is not None and len(_bytes_of_fields(dtype)) < dtype.itemsize


def _bytes_of_fields(dtype: np.dtype) -> set[int]:
    """The places of the bytes in an element that hold its numbers."""
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        own = _bytes_of_fields(inner)
        return {place * inner.itemsize + byte for place in range(prod(shape)) for byte in own}
    if dtype.names is None or dtype.fields is None:
        return set(range(dtype.itemsize))
    fields = (dtype.fields[name] for name in dtype.names)
    return {offset + byte for inner, offset, *_ in fields for byte in _bytes_of_fields(inner)}


def host_view(array: np.ndarray) -> tuple[View, HostBlock]:
    """A NumPy array of `whole_elements` as a view into the bytes that it spans."""
    itemsize = array.dtype.itemsize
    address = array.__array_interface__["data"][0]
    if array.flags.c_contiguous or array.size == 0:
        low, nbytes = 0, array.nbytes
    else:
        reach = [(side - 1) * stride for side, stride in zip(array.shape, array.strides, strict=True)]
        low = sum(min(step, 0) for step in reach)
        nbytes = sum(abs(step) for step in reach) + itemsize
    strides = tuple(stride // itemsize for stride in array.strides)
    view = View(array.shape, strides, -low // itemsize)
    return view, HostBlock(address + low, nbytes, array)


def packed(array: np.ndarray) -> tuple[View, np.ndarray]:
    """A copy of an array without gaps, as a view, and the array with its dimensions in the order of that copy.

    The order is that of the array's own memory, so that both are read along it; repeated dimensions come first.
    """
    if array.flags.c_contiguous:
        return host_view(array)[0], array
    if array.flags.f_contiguous:
        return host_view(array)[0], array.T
    steps = [abs(stride) if side > 1 else 0 for side, stride in zip(array.shape, array.strides, strict=True)]
    order = sorted(range(array.ndim), key=lambda place: -steps[place] if steps[place] else -array.nbytes - max(steps))
    strides, reach = [0] * array.ndim, 1
    for place in reversed(order):
        strides[place] = reach
        reach *= array.shape[place]
    return View(array.shape, tuple(strides), 0), array.transpose(order)


LENT = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR


def lent_buffer(context: Any, array: np.ndarray) -> Any:
    """The bytes that an array spans as a buffer of a device that shares the host's memory: nothing is copied.

    PyOpenCL takes dense writeable arrays of plain numbers as they are; for others the span is named by its address.
    """
    try:
        return cl.Buffer(context, LENT, 0, array)
    except (BufferError, TypeError, ValueError, cl.Error):  # asking the array beforehand takes as long as the buffer
        pass
    block = host_view(array)[1]
    return cl.Buffer(context, LENT, max(block.nbytes, 1), hostbuf=block.bytes())


def device_view(array: Array) -> View:
    """A PyOpenCL array as a view into its buffer, honouring its offset and strides."""
    itemsize = array.dtype.itemsize
    if array.offset % itemsize or any(stride % itemsize for stride in array.strides):
        raise Unsupported(f"offset {array.offset} and strides {array.strides} bytes are no multiple of {itemsize}")
    strides = tuple(stride // itemsize for stride in array.strides)
    return View(array.shape, strides, array.offset // itemsize)
