"""Types of OpenCL C as NumPy has them, and values of scalars, vectors and structs as they lie in memory."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from ...core.argument_words import FORMS, NumberWord, StructWord, VectorWord, Word, read_word
from ...core.custom import evaluate
from ...errors import InvalidInput, UnknownName
from ..explain.clc.types import Array, Pointer, Scalar, Struct, Type, Vector

SHORT_NAMES = {
    "char": "i8", "uchar": "u8", "short": "i16", "ushort": "u16", "int": "i32", "uint": "u32", "long": "i64", "ulong": "u64",
    "half": "f16", "float": "f32", "double": "f64",
}  # fmt: skip
Names = Mapping[str, int]


def memory_dtype(kind: Type) -> tuple[Any, tuple[int, ...]]:
    """NumPy's type of one element in memory, and the shape that a vector or array adds; three elements take the room of
    four."""
    if isinstance(kind, Scalar):
        return kind.dtype, ()
    if isinstance(kind, Vector):
        return kind.element.dtype, (kind.size // kind.element.size,)
    if isinstance(kind, Array):
        inner, shape = memory_dtype(kind.element)
        return inner, (kind.length, *shape)
    if isinstance(kind, Struct) and kind.fields:
        formats = [memory_dtype(each.type) for each in kind.fields]
        return np.dtype({
            "names": [each.name for each in kind.fields],
            "formats": [(own, shape) if shape else own for own, shape in formats],
            "offsets": [each.offset for each in kind.fields],
            "itemsize": kind.size,
        }), ()  # fmt: skip
    return (np.dtype(np.uint64) if isinstance(kind, Pointer) else np.dtype(np.uint8)), ()


def short_name(kind: Type) -> str:
    """A type as options print it: f32, float4, or struct."""
    if isinstance(kind, Struct):
        return "struct"
    return SHORT_NAMES.get(str(kind), str(kind) if isinstance(kind, Scalar | Vector) else "u8")


def value_of(name: str, kind: Type, given: object, names: Names) -> int | float | bytes:
    """The value of a scalar argument: a number, or for a vector or struct its bytes. `given` is a word or a Python value.

    InvalidInput for what the type cannot hold, with both.
    """
    if isinstance(kind, Scalar):
        number = _scalar(name, kind, given, names)
        return number if not kind.is_float else float(number)
    return as_memory(name, kind, given, names)


def _scalar(name: str, kind: Scalar, given: object, names: Names) -> int | float:
    number = _number(name, kind, given, names)
    if kind.is_float:
        return number
    if isinstance(number, float):
        raise InvalidInput(f"{name}={given_text(given)}: {name} is a {kind}, which holds whole numbers")
    limits = np.iinfo(kind.dtype)
    if not limits.min <= number <= limits.max:
        raise InvalidInput(f"{name}={number:,}: {name} is a {kind}, from {limits.min:,} to {limits.max:,}")
    return number


def _number(name: str, kind: Type, given: object, names: Names) -> int | float:
    if isinstance(given, str):
        given = read_word(given)
    if isinstance(given, bool | np.bool_):
        return int(given)
    if isinstance(given, Integral):
        return int(given)
    if isinstance(given, Real):
        return float(given)
    if isinstance(given, np.ndarray) and given.ndim == 0:
        return _number(name, kind, given[()], names)
    if not isinstance(given, NumberWord):
        raise InvalidInput(f"{name}={given_text(given)}: {name} is a {kind}, so give a number")
    return number_of(given.text, names, name)


def number_of(text: str, names: Names, name: str = "") -> int | float:
    """A number, with or without a point, or an expression over sizes. InvalidInput for anything else."""
    text = text.strip()
    for kind in (lambda word: int(word, 0), lambda word: float(word.rstrip("fF") if "x" not in word.lower() else word)):
        try:
            found: int | float = kind(text)
            return found
        except ValueError:
            continue
    try:
        return -evaluate(text[1:], names) if text.startswith("-") else evaluate(text, names)
    except (InvalidInput, UnknownName) as error:
        where = f"{name}={text[:80]}: " if name else ""
        raise InvalidInput(f"{where}{error}. An argument is {FORMS}") from error


def as_memory(name: str, kind: Type, given: object, names: Names) -> bytes:
    """A value as it lies in memory. InvalidInput for what does not fit the type."""
    given = read_word(given) if isinstance(given, str) else given
    if isinstance(given, complex | np.complexfloating):
        given = [given.real, given.imag]
    if isinstance(kind, Scalar):
        return np.array(_scalar(name, kind, given, names), kind.dtype).tobytes()
    if isinstance(kind, Struct):
        return _struct_bytes(name, kind, given, names)
    if not isinstance(kind, Vector | Array):
        raise InvalidInput(f"{name}={given_text(given)}: a {kind} cannot be given from outside")
    count = kind.width if isinstance(kind, Vector) else kind.length
    items = _items(name, kind, given, count)
    parts = [as_memory(f"{name}[{place}]", kind.element, item, names) for place, item in enumerate(items)]
    return b"".join(parts).ljust(kind.size, b"\0")


def _items(name: str, kind: Type, given: object, count: int) -> Sequence[object]:
    if isinstance(given, VectorWord):
        items: Sequence[object] = given.items
    elif isinstance(given, NumberWord | int | float | np.number):
        items = [given] * count  # as (float4)(1) does
    elif isinstance(given, Sequence | np.ndarray):
        items = list(given)
    else:
        items = []
    if len(items) != count:
        raise InvalidInput(f"{name}={given_text(given)}: {name} is a {kind}: give {count} numbers, such as (1,2,...)")
    return items


def _struct_bytes(name: str, kind: Struct, given: object, names: Names) -> bytes:
    if isinstance(given, np.void | np.ndarray | bytes):
        raw = given if isinstance(given, bytes) else given.tobytes()
        if len(raw) != kind.size:
            raise InvalidInput(f"{name} is a {kind} of {kind.size} bytes, but {len(raw)} were given")
        return raw
    if isinstance(given, StructWord) and not given.count:
        pairs: list[tuple[str, object]] = [*given.fields]
    elif isinstance(given, Mapping):
        pairs = [(str(key), value) for key, value in given.items()]
    else:
        fields = ",".join(f"{each.name}=..." for each in kind.fields[:4])
        raise InvalidInput(f"{name}={given_text(given)}: {name} is a {kind}: give its fields, {name}={{{fields}}}")
    made = bytearray(kind.size)
    for key, value in pairs:
        own = kind.field_of(key)
        if own is None:
            raise UnknownName(f"field of {kind}", key, [each.name for each in kind.fields])
        made[own.offset : own.offset + own.type.size] = as_memory(f"{name}.{key}", own.type, value, names)
    return bytes(made)


def given_text(given: object) -> str:
    """What was given, in a message."""
    text = given.text if isinstance(given, NumberWord) else given if isinstance(given, str) else type(given).__name__
    if isinstance(given, Word) and not isinstance(given, NumberWord):
        text = type(given).__name__.removesuffix("Word").lower()
    return text[:80]


def default_text(kind: Type, side: int) -> str:
    """A word for a value that nobody gave: sizes are the side of the NDRange, floats 1."""
    if isinstance(kind, Scalar):
        return "1" if kind.is_float or kind.size == 1 else str(side)
    if isinstance(kind, Vector):
        return f"({','.join([default_text(kind.element, side)] * kind.width)})"
    if isinstance(kind, Array):
        return f"({','.join([default_text(kind.element, side)] * min(kind.length, 256))})" if kind.length > 1 else "0"
    if isinstance(kind, Struct):
        known = (each for each in kind.fields if not isinstance(each.type, Pointer))
        return "{" + ",".join(f"{each.name}={default_text(each.type, side)}" for each in known) + "}"
    return "0"
