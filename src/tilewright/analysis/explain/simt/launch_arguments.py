"""Binds a kernel's arguments: buffers become segments, also where several parameters share one; numbers become values."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....errors import InvalidInput
from ..clc.image_types import ImageType
from ..clc.tree import Function, Parameter
from ..clc.types import Pointer, Scalar, Space, Struct, Type, Vector
from .compiled_code import Value
from .images import Image, Sampler, bound
from .machine import Machine
from .registers import value_of_bytes
from .segments import Segment

NULL = np.int64(0)


@dataclass(frozen=True)
class LocalMemory:
    """The argument for a `__local` pointer: its bytes for each work-group."""

    size: int


Array = npt.NDArray[Any]
Argument = Array | LocalMemory | Image | Sampler | complex | Sequence[float] | bytes | None
Bound = tuple[Segment, Array, int]  # the segment, the argument's array, and where in the segment it begins


@dataclass
class _Shared:
    """The bytes from address `begin` to `end` of this machine, and the parameters whose arrays lie there."""

    begin: int
    end: int
    names: list[str]


def bind(
    machine: Machine, function: Function, arguments: Mapping[str, Argument], unset: Collection[str] = ()
) -> tuple[list[Value], dict[str, Bound]]:
    """The values of the kernel's parameters, and the segments behind its buffers. Arrays that share memory share a segment;
    None is a null pointer."""
    names = [parameter.name for parameter in function.parameters]
    missing = [name for name in names if name not in arguments]
    unknown = [name for name in arguments if name not in names]
    if missing or unknown:
        said = [f"no value for {', '.join(missing)}"] if missing else []
        said += [f"no parameter called {', '.join(unknown)}"] if unknown else []
        raise InvalidInput(f"{function.name}({', '.join(names)}): {'; '.join(said)}")
    arrays = {each.name: _contiguous(each, arguments[each.name]) for each in function.parameters if _is_buffer(each)}
    buffers = _buffers(machine, function, {name: array for name, array in arrays.items() if array is not None}, unset)
    values: list[Value] = []
    for parameter in function.parameters:
        given, kind = arguments[parameter.name], parameter.type
        if parameter.name in buffers:
            segment, _, begin = buffers[parameter.name]
            values.append(segment.address + np.int64(begin))
        elif parameter.name in arrays:
            values.append(NULL)
        elif isinstance(kind, Pointer):
            values.append(_local(machine, parameter.name, given).address)
        elif isinstance(kind, ImageType):
            segment, array = _image(machine, parameter.name, kind, given)
            values.append(segment.address)
            buffers[parameter.name] = (segment, array, 0)
        else:
            values.append(_number(parameter.name, kind, given))
    return values, buffers


def _image(machine: Machine, name: str, kind: ImageType, given: Argument) -> tuple[Segment, Array]:
    image = Image(given) if isinstance(given, np.ndarray) else given
    if not isinstance(image, Image):
        raise InvalidInput(f"argument {name!r} is an {kind}: give an Image, not {type(given).__name__}")
    raw = np.ascontiguousarray(image.array).reshape(-1).view(np.uint8)
    segment = machine.memory.buffer(name, raw, Space.IMAGE, image.array.flags.writeable)
    machine.memory.images[int(segment.address)] = bound(segment, name, image, kind)
    return segment, image.array


def _is_buffer(parameter: Parameter) -> bool:
    return isinstance(parameter.type, Pointer) and parameter.type.space is not Space.LOCAL


def _contiguous(parameter: Parameter, given: Argument) -> Array | None:
    if given is None:
        return None
    if not isinstance(given, np.ndarray):
        raise InvalidInput(f"argument {parameter.name!r} is a buffer: give a NumPy array, not {type(given).__name__}")
    return np.ascontiguousarray(given) if given.flags.writeable else _frozen(np.ascontiguousarray(given))


def _frozen(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def check_arrays(function: Function, arguments: Mapping[str, Argument]) -> None:
    """`check_elements` of every array."""
    for parameter in function.parameters:
        given = arguments.get(parameter.name)
        if isinstance(given, np.ndarray) and isinstance(parameter.type, Pointer):
            check_elements(parameter.name, parameter.type, given)


def check_elements(name: str, kind: Type, array: Array) -> None:
    """InvalidInput for floats where the kernel reads integers, integers where it reads floats, and elements of another size.
    Bytes and records may be anything; so may elements of a pointer to void. 16-bit floats may be ushort, which stores them."""
    assert isinstance(kind, Pointer)
    target = kind.target.element if isinstance(kind.target, Vector) else kind.target
    own = array.dtype
    if not isinstance(target, Scalar) or own.kind not in "fiuc" or own.itemsize == 1:
        return
    parts = 2 if own.kind == "c" else 1
    same_size = own.itemsize // parts == target.dtype.itemsize
    if same_size and ((own.kind in "fc") == target.is_float or own.itemsize == 2):
        return
    if own.kind in "iu" and target.dtype.itemsize == 1:
        return
    raise InvalidInput(
        f"argument {name!r} is a {kind.target} *, and the array has the type {own}: convert it, such as by "
        f".astype({str(target.dtype)!r}), or give its bytes by .view('uint8')"
    )


def _buffers(
    machine: Machine, function: Function, arrays: Mapping[str, Array], unset: Collection[str]
) -> dict[str, Bound]:
    """A segment for each stretch of memory that the arrays lie in, and its place in it for each parameter."""
    kinds = {each.name: each.type for each in function.parameters}
    stretches: list[_Shared] = []
    for name, array in sorted(arrays.items(), key=lambda item: _address(item[1])):
        begin = _address(array)
        if array.nbytes and stretches and begin < stretches[-1].end:
            stretches[-1].end = max(stretches[-1].end, begin + array.nbytes)
            stretches[-1].names.append(name)
        else:
            stretches.append(_Shared(begin, begin + array.nbytes, [name]))
    order = list(arrays)
    found: dict[str, Bound] = {}
    for stretch in sorted(stretches, key=lambda each: min(map(order.index, each.names))):
        names = sorted(stretch.names, key=order.index)
        segment = _segment(machine, names, kinds, arrays, stretch, not set(names) <= set(unset))
        for name in names:
            found[name] = segment, arrays[name], _address(arrays[name]) - stretch.begin
        machine.recorder.follow(segment, max((arrays[name] for name in names), key=lambda each: each.nbytes))
    return {name: found[name] for name in order}


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _segment(
    machine: Machine, names: Sequence[str], kinds: Mapping[str, Type], arrays: Mapping[str, Array], stretch: _Shared,
    initialised: bool,
) -> Segment:  # fmt: skip
    spaces, writable = set(), False
    for name in names:
        kind = kinds[name]
        assert isinstance(kind, Pointer)
        spaces.add(kind.space)
        writable |= kind.space is Space.GLOBAL and not kind.constant and bool(arrays[name].flags.writeable)
    raw = np.zeros(stretch.end - stretch.begin, np.uint8) if len(names) > 1 else _bytes(arrays[names[0]])
    if len(names) > 1:
        for name in names:
            begin = _address(arrays[name]) - stretch.begin
            raw[begin : begin + arrays[name].nbytes] = _bytes(arrays[name])
    space = Space.GLOBAL if Space.GLOBAL in spaces else next(iter(spaces))
    return machine.memory.buffer("=".join(names), raw, space, writable, initialised)


def _bytes(array: Array) -> npt.NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _local(machine: Machine, name: str, given: Argument) -> Segment:
    size = given.size if isinstance(given, LocalMemory) else given
    if not isinstance(size, int | np.integer) or isinstance(size, bool) or size <= 0:
        raise InvalidInput(f"argument {name!r} is local memory: give its bytes for each work-group")
    return machine.memory.local(name, int(size))


def _number(name: str, kind: Type, given: Argument) -> Value:
    if isinstance(given, Sampler):
        given = given.bits
    if given is None:
        raise InvalidInput(f"argument {name!r} is a {kind}: null is for pointers, so give a number")
    if isinstance(given, bytes):
        return _from_bytes(name, kind, given)
    if isinstance(kind, Struct):
        raw = np.ascontiguousarray(given).reshape(-1).view(np.uint8)
        return _from_bytes(name, kind, raw.tobytes())
    if isinstance(given, np.ndarray | LocalMemory) and not isinstance(kind, Vector):
        raise InvalidInput(f"argument {name!r} is a {kind}: give a number, not {type(given).__name__}")
    if isinstance(kind, Vector):
        if isinstance(given, complex):
            given = [given.real, given.imag]
        elements = np.asarray(given).reshape(-1).astype(kind.element.dtype)
        if elements.size != kind.width:
            raise InvalidInput(f"argument {name!r} is a {kind}: give {kind.width} numbers, not {elements.size}")
        return elements.reshape(-1, 1)
    if not isinstance(kind, Scalar):
        raise InvalidInput(f"argument {name!r} of type {kind} cannot be given")
    return np.asarray(given).astype(kind.dtype)[()]


def _from_bytes(name: str, kind: Type, given: bytes) -> Value:
    """A value as it lies in memory."""
    if len(given) != kind.size:
        raise InvalidInput(f"argument {name!r} is a {kind} of {kind.size} bytes, but {len(given)} were given")
    raw = np.frombuffer(given, np.uint8)
    if isinstance(kind, Vector):
        return raw.view(kind.element.dtype)[: kind.width].reshape(-1, 1)
    if isinstance(kind, Scalar):
        return raw.view(kind.dtype)[0]
    return value_of_bytes(raw)
