"""The types of OpenCL C: sizes, alignments, names; 6.1 of the OpenCL C 1.2 specification."""

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import numpy as np

from .lexer import Position


class Space(IntEnum):
    """Address spaces."""

    PRIVATE = 0
    GLOBAL = 1
    CONSTANT = 2
    LOCAL = 3
    IMAGE = 4  # what images lie in: no pointer points there

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Type:
    """Base of all types; `size` and `alignment` in bytes."""

    @property
    def size(self) -> int:
        raise NotImplementedError

    @property
    def alignment(self) -> int:
        return self.size


@dataclass(frozen=True)
class Void(Type):
    @property
    def size(self) -> int:
        return 1

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True)
class Scalar(Type):
    """`aligned` is the alignment that an attribute set, 0 for the natural one; it does not make another type. `own` names the
    enumeration or the atomic type whose values are of this type: pointers tell them apart."""

    name: str
    dtype: "np.dtype[Any]" = field(compare=False)
    aligned: int = field(default=0, compare=False)
    own: str = field(default="", compare=False)

    @property
    def is_atomic(self) -> bool:
        return self.own.startswith("atomic_")

    @property
    def size(self) -> int:
        return self.dtype.itemsize

    @property
    def alignment(self) -> int:
        return self.aligned or self.size

    @property
    def is_float(self) -> bool:
        return self.dtype.kind == "f"

    @property
    def is_signed(self) -> bool:
        return self.dtype.kind == "i"

    def __str__(self) -> str:
        return self.own or self.name


@dataclass(frozen=True)
class Vector(Type):
    """`width` is 2, 3, 4, 8 or 16; three elements take the room of four."""

    element: Scalar
    width: int
    aligned: int = field(default=0, compare=False)

    @property
    def size(self) -> int:
        return self.element.size * (4 if self.width == 3 else self.width)

    @property
    def alignment(self) -> int:
        return self.aligned or self.size

    def __str__(self) -> str:
        return f"{self.element.name}{self.width}"


@dataclass(frozen=True)
class Pointer(Type):
    target: Type
    space: Space = Space.PRIVATE
    constant: bool = False  # what it points to must not be written
    aligned: int = field(default=0, compare=False)
    volatile: bool = field(default=False, compare=False)  # says something to overloaded functions alone

    @property
    def size(self) -> int:
        return 8

    @property
    def alignment(self) -> int:
        return self.aligned or self.size

    def __str__(self) -> str:
        qualifiers = f"{'const ' if self.constant else ''}{'volatile ' if self.volatile else ''}"
        return f"{self.space.word} {qualifiers}{self.target} *"


@dataclass(frozen=True)
class Array(Type):
    element: Type
    length: int

    @property
    def size(self) -> int:
        return self.element.size * self.length

    @property
    def alignment(self) -> int:
        return self.element.alignment

    def __str__(self) -> str:
        return f"{self.element}[{self.length}]"


@dataclass(frozen=True)
class Field:
    """A member at `offset` bytes; an anonymous struct or union has the name "". A bit-field has `bits` bits from bit `shift`
    of the `container` there."""

    name: str
    type: Type
    offset: int
    bits: int = 0
    shift: int = 0
    container: "Scalar | None" = None
    volatile: bool = False


@dataclass
class Layout:
    """What the braces of a struct say. Pointers to it may be declared before, and inside of them."""

    fields: tuple[Field, ...] = ()
    size: int = 0
    alignment: int = 1
    complete: bool = False


@dataclass(frozen=True)
class Struct(Type):
    """A struct or a union; `identity` tells two of the same tag apart. `aligned` is a smaller alignment than its own, inside a
    packed struct."""

    tag: str
    layout: Layout = field(compare=False, repr=False)
    identity: int
    union: bool = field(compare=False, default=False)
    aligned: int = field(compare=False, default=0)

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.layout.fields

    @property
    def is_complete(self) -> bool:
        return self.layout.complete

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def alignment(self) -> int:
        return self.aligned or self.layout.alignment

    def field_of(self, name: str) -> Field | None:
        """The member of that name, also one of an anonymous member."""
        for each in self.fields:
            if each.name == name:
                return each
            inner = each.type.field_of(name) if not each.name and isinstance(each.type, Struct) else None
            if inner is not None:
                return replace(inner, offset=each.offset + inner.offset)
        return None

    def __str__(self) -> str:
        return f"{'union' if self.union else 'struct'} {self.tag}".rstrip()


@dataclass(frozen=True)
class Event(Type):
    @property
    def size(self) -> int:
        return 8

    def __str__(self) -> str:
        return "event_t"


def _scalar(name: str, code: str) -> Scalar:
    return Scalar(name, np.dtype(code))


BOOL = _scalar("bool", "u1")
CHAR, UCHAR = _scalar("char", "i1"), _scalar("uchar", "u1")
SHORT, USHORT = _scalar("short", "i2"), _scalar("ushort", "u2")
INT, UINT = _scalar("int", "i4"), _scalar("uint", "u4")
LONG, ULONG = _scalar("long", "i8"), _scalar("ulong", "u8")
HALF, FLOAT, DOUBLE = _scalar("half", "f2"), _scalar("float", "f4"), _scalar("double", "f8")
VOID, EVENT = Void(), Event()
SIZE_T = ULONG

_VECTOR_ELEMENTS = (CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE)
SCALARS = (BOOL, *_VECTOR_ELEMENTS)
WIDTHS = (2, 3, 4, 8, 16)

NAMED: dict[str, Type] = {
    "void": VOID,
    "event_t": EVENT,
    "size_t": ULONG,
    "uintptr_t": ULONG,
    "ptrdiff_t": LONG,
    "intptr_t": LONG,
    **{scalar.name: scalar for scalar in SCALARS},
    **{f"{scalar.name}{width}": Vector(scalar, width) for scalar in _VECTOR_ELEMENTS for width in WIDTHS},
}

UNSIGNED_OF = {CHAR: UCHAR, SHORT: USHORT, INT: UINT, LONG: ULONG}


LARGEST = 1 << 38  # bytes of one type or one step of a pointer: half of a segment's addresses in the interpreter


def sized_array(element: Type, length: int, position: Position) -> Array:
    """An array, if it is not larger than any memory."""
    check_size("an array", element.size * length, position)
    return Array(element, length)


def check_size(what: str, size: int, position: Position) -> None:
    if size > LARGEST:
        raise position.error(f"{what} of {size:,} bytes; {LARGEST:,} are the most")


def with_alignment(kind: Type, aligned: int) -> Type:
    """`kind` with the alignment of an `aligned` attribute; a plain variable's alignment only ever grows."""
    if isinstance(kind, Scalar | Vector):
        return replace(kind, aligned=aligned)
    return kind


def lying_at(kind: Type, offset: int, outer: Type) -> Type:
    """`kind` as a part of `outer`, `offset` bytes from its start: inside a packed struct it may lie at any byte."""
    bits = offset | outer.alignment
    return _at_most_aligned(kind, bits & -bits)


def _at_most_aligned(kind: Type, aligned: int) -> Type:
    if kind.alignment <= aligned:
        return kind
    if isinstance(kind, Array):
        return replace(kind, element=_at_most_aligned(kind.element, aligned))
    return replace(kind, aligned=aligned) if isinstance(kind, Scalar | Vector | Pointer | Struct) else kind


def volatiles(kind: Type) -> tuple[bool, ...]:
    """What is volatile behind a pointer, and behind the pointer there."""
    return (kind.volatile, *volatiles(kind.target)) if isinstance(kind, Pointer) else ()


def element_of(kind: Type) -> Scalar | None:
    """The scalar that a scalar or vector is made of."""
    if isinstance(kind, Scalar):
        return kind
    return kind.element if isinstance(kind, Vector) else None


def vector_of(element: Scalar, width: int) -> Scalar | Vector:
    return element if width == 1 else Vector(element, width)


def width_of(kind: Type) -> int:
    return kind.width if isinstance(kind, Vector) else 1


def signed_integer(size: int) -> Scalar:
    """The signed integer of `size` bytes: what a vector comparison gives."""
    return {1: CHAR, 2: SHORT, 4: INT, 8: LONG}[size]


def promoted(kind: Scalar) -> Scalar:
    """The integer promotions: whatever is smaller than int becomes int."""
    plain = replace(kind, own="") if kind.own else kind
    return INT if not kind.is_float and kind.size < 4 else plain


def usual(left: Scalar, right: Scalar) -> Scalar:
    """The usual arithmetic conversions of two scalars (C99, 6.3.1.8)."""
    if left.is_float or right.is_float:
        return promoted(max((each for each in (left, right) if each.is_float), key=lambda each: each.size))
    left, right = promoted(left), promoted(right)
    if left == right:
        return left
    if left.size == right.size:
        return left if not left.is_signed else right
    return left if left.size > right.size else right
