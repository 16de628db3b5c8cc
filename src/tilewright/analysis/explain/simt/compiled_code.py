"""Compiled code: typed closures over lanes, and records that describe names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..clc.lexer import Position
from ..clc.types import Array, Space, Type
from .masks import Mask

# A value is a NumPy scalar if it is the same in all lanes, else an array (lanes,);
# a vector is an array (width, 1) or (width, lanes). Pointers are int64 virtual addresses.
Value = Any


class Frame:
    """The variables of one activation of a function."""

    __slots__ = ("breaks", "continues", "entries", "jumps", "result", "slots", "unset")

    def __init__(self, size: int) -> None:
        self.slots: list[Value] = [None] * size
        self.unset: list[Any] = [None] * size
        self.result: Value = None
        self.breaks: Mask | None = None
        self.continues: Mask | None = None
        self.jumps: dict[str, Mask] = {}
        self.entries: dict[int, Mask] = {}  # who enters a switch at a case, by the id of its node


Run = Callable[[Frame, Mask], Value]
Step = Callable[[Frame, Mask], Mask]


@dataclass(frozen=True, slots=True)
class Code:
    """An expression. `boolean` says that its value is stored as NumPy booleans though its type is int. `constant` is the value
    if it is known at compile time. `wide` and `beyond` are about constants with ll (`wide_constants`)."""

    type: Type
    run: Run
    boolean: bool = False
    constant: Value = None
    wide: bool = False
    beyond: bool = False


class Place:
    """A storage location that can be assigned to. `locate` finds it once; `load` and `store` use the result. The parts are
    components of a vector, by number."""

    space = Space.PRIVATE

    def __init__(self, kind: Type, constant: bool) -> None:
        self.type = kind
        self.constant = constant
        self.volatile = False

    def locate(self, frame: Frame, mask: Mask) -> Value:
        return None

    def load(self, frame: Frame, mask: Mask, where: Value) -> Value:
        raise NotImplementedError

    def store(self, frame: Frame, mask: Mask, where: Value, value: Value) -> None:
        raise NotImplementedError

    def load_parts(self, frame: Frame, mask: Mask, where: Value, parts: tuple[int, ...]) -> Value:
        raise NotImplementedError

    def store_parts(self, frame: Frame, mask: Mask, where: Value, parts: tuple[int, ...], value: Value) -> None:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Register:
    """A variable that lives in a frame's slot. `tracked`: it may be read before it is written."""

    slot: int
    type: Type
    tracked: bool
    constant: bool = False


@dataclass(frozen=True, slots=True)
class RegisterArray:
    """A private array that is only used through full subscripts, element by element. `segment` counts its traffic if a
    compiler cannot keep it in registers."""

    slot: int
    element: Type
    lengths: tuple[int, ...]
    constant: bool = False
    segment: Any = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A variable with an address; `address` gives it."""

    type: Type
    address: Run
    space: Space
    constant: bool = False
    volatile: bool = False


Symbol = Register | RegisterArray | Memory


class Site:
    """One access in the source: its position, the bytes that each lane moves, and the known alignment of their address. A `bulk`
    one is one instruction however many bytes it moves."""

    __slots__ = ("alignment", "bulk", "number", "operation", "position", "size")

    def __init__(
        self, number: int, position: Position, operation: str, size: int, alignment: int, bulk: bool = False
    ) -> None:
        self.number = number
        self.position = position
        self.operation = operation
        self.size = size
        self.alignment = alignment
        self.bulk = bulk


def flat_length(kind: Array) -> tuple[Type, tuple[int, ...]]:
    """The innermost element and all lengths of an array of arrays."""
    lengths: list[int] = []
    element: Type = kind
    while isinstance(element, Array):
        lengths.append(element.length)
        element = element.element
    return element, tuple(lengths)
