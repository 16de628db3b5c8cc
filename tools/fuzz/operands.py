"""The arrays of a case in host memory: placed in blocks, filled, and wrapped in the types that a caller may pass."""

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import pairs
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
    lodgers = _lodgers(case, places, shared)
    for name, given in wanted.items():
        if name in lodgers:
            continue
        own = {other: distance for other, (host, distance) in lodgers.items() if host == name}
        block, begins = _block([places[each] for each in (name, *own)], [0, *own.values()], given.lie, on_device)
        for each, begin in zip((name, *own), begins, strict=True):
            laid[each] = Laid(wanted[each], places[each], block, begin, np.empty(0))
    laid = {name: laid[name] for name in wanted}
    for name in sorted(laid, key="a".__eq__) if case.pair else laid:  # a lies over a part of b's memory
        if name != "out" or not shared:
            _fill(case, laid[name], generator)
    if (
        case.pair == "copy" and laid["a"].view.dtype.kind != "V"
    ):  # such arrays are refused, and have no elements to convert
        laid["b"].view[...] = pairs.copied(case, laid["a"].view)
    for array in laid.values():
        array.held = np.array(array.view)
        array.block.freeze()
    return laid


def _lodgers(case: Case, places: dict[str, Geometry], shared: str) -> dict[str, tuple[str, int]]:
    """The arrays that have no block of their own: in whose block they lie, and how many bytes behind the beginning of that
    one's span. The places of pairs are changed to what they are."""
    found: dict[str, tuple[str, int]] = {}
    if case.pair in pairs.SHARED:
        places["b"], distance = pairs.placed(case, places["a"])
        found["b"] = "a", distance
    if shared:
        widest = _widest(places[shared], places["out"])
        host, before = found.get(shared, (shared, 0))
        found["out"] = host, before // widest * widest + case.out.distance * widest
    return found


def _place(case: Case, name: str, given: Given) -> Geometry:
    shape = faulty_shape(case, name, case.result_shape if name == "out" else case.shape_of(name))
    dtype = dtype_of("int64" if is_object_like(dtype_of(given.dtype)) else given.dtype)
    return geometry(shape, dtype, given.lie)


def _block(places: list[Geometry], distances: list[int], lie: Lie, on_device: bool) -> tuple[Block, list[int]]:
    """A block for arrays whose spans begin at these distances from the first one's, and where they begin in it."""
    itemsize = _widest(*places)
    lead = lie.offset * itemsize - min(distances) // itemsize * itemsize
    begins = [lead + distance for distance in distances]
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
