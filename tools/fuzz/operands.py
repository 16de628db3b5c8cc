"""The arrays of a case in host memory: placed in blocks, filled, and wrapped in the types that a caller may pass."""

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cases import Case, Given, Lie
from .faults import faulty_shape
from .memory import Block, Geometry, device_block, geometry, host_block
from .types import dtype_of, is_object_like, moved, multiplied, poison_of


@dataclass
class Laid:
    """One array of a case: where it lies, and what it held before the call."""

    given: Given
    place: Geometry
    block: Block
    begin: int
    held: np.ndarray

    @property
    def view(self) -> np.ndarray:
        return self.place.view(self.block.data, self.block.origin + self.begin)


def lay(case: Case, on_device: bool) -> dict[str, Laid]:
    """Every array of the case, filled; "out" among them if it is no operand itself and no new array."""
    generator = np.random.default_rng(case.seed)
    laid: dict[str, Laid] = {}
    wanted = dict(case.operands)
    shared = case.out.where if case.out.where in wanted else ""
    if case.out.where == "own" or shared:
        wanted["out"] = case.out.given
    places = {name: _place(case, name, given) for name, given in wanted.items()}
    for name, given in wanted.items():
        if name == "out" and shared:
            continue
        together = (places[name], places["out"]) if name == shared else (places[name],)
        distance = case.out.distance * _widest(places[name], places["out"]) if name == shared else 0
        block, begins = _block(together, distance, given.lie, on_device)
        laid[name] = Laid(given, places[name], block, begins[0], np.empty(0))
        if name == shared:
            laid["out"] = Laid(case.out.given, places["out"], block, begins[1], np.empty(0))
    for name, each in laid.items():
        if name != "out" or not shared:
            _fill(case, each, generator)
    for each in laid.values():
        each.held = np.array(each.view)
        each.block.freeze()
    return laid


def _place(case: Case, name: str, given: Given) -> Geometry:
    shape = faulty_shape(case, name, case.result_shape if name == "out" else case.shape_of(name))
    dtype = dtype_of("int64" if is_object_like(dtype_of(given.dtype)) else given.dtype)
    return geometry(shape, dtype, given.lie)


def _block(places: tuple[Geometry, ...], distance: int, lie: Lie, on_device: bool) -> tuple[Block, list[int]]:
    """A block for the arrays, the second `distance` bytes behind the first, and where they begin in it."""
    itemsize = _widest(*places)
    lead = lie.offset * itemsize
    begins = [lead + max(0, -distance), lead + max(0, distance)][: len(places)]
    nbytes = max(begin + place.span for begin, place in zip(begins, places, strict=True))
    if len(places) > 1:
        nbytes = -(-nbytes // itemsize) * itemsize
    poison = poison_of(places[0].dtype)
    if on_device:
        return device_block(nbytes, poison), begins
    return host_block(nbytes, poison, lie.at_end, lie.shift), begins


def _widest(*places: Geometry) -> int:
    return max(place.dtype.itemsize for place in places)


def _fill(case: Case, laid: Laid, generator: np.random.Generator) -> None:
    place = laid.place
    if case.is_product:
        laid.view[...] = multiplied(generator, place.shape, place.dtype, laid.given.values)
    else:
        laid.view[...] = moved(generator, place.shape, place.dtype)


class Tagged(np.ndarray):
    """A subclass of NumPy's array, as other packages have them."""


class Protocol:
    """What only says what array it is."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._array if dtype is None else self._array.astype(dtype)


class Exported:
    """What only lends its memory by DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def passed(laid: Laid) -> Any:
    """The array as the kind of object that the case names."""
    array, form = laid.view, laid.given.form
    dtype = dtype_of(laid.given.dtype)
    if is_object_like(dtype):
        return moved(np.random.default_rng(0), array.shape, dtype)
    if form == "readonly":
        array.flags.writeable = False
    elif form == "memmap" and array.size:
        return _mapped(array)
    elif form == "matrix" and array.ndim == 2:
        return array.view(np.matrix)
    elif form == "masked":
        return np.ma.masked_array(array, np.zeros(array.shape, bool))
    elif form == "subclass":
        return array.view(Tagged)
    elif form == "list":
        return array.tolist()
    elif form == "protocol":
        return Protocol(array)
    elif form == "dlpack":
        return Exported(array)
    return array


def _mapped(array: np.ndarray) -> np.ndarray:
    """The elements in a file that is mapped into memory for reading alone."""
    with tempfile.TemporaryFile() as file:
        file.write(np.ascontiguousarray(array).tobytes())
        file.flush()
        return np.memmap(file, array.dtype, "r", shape=array.shape)
