"""Chooses among functions of one name by the types of a call's arguments, as Clang does for OpenCL C."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from ..clc.tree import Call, Heading
from ..clc.types import DOUBLE, FLOAT, Event, Pointer, Scalar, Space, Type, Vector, Void, promoted, volatiles


class Given(NamedTuple):
    """An argument: its type, whether it is a constant 0, which may be a pointer, and whether it has 128 bits in OpenCL C."""

    type: Type
    null: bool
    wide: bool


class Rank(IntEnum):
    """How much a conversion changes, the least first."""

    SAME = 0  # or volatile alone is added
    QUALIFIED = 1  # a pointer to something more general: const, or without an address space; 0 for an event
    PROMOTION = 2
    CONVERSION = 3
    POINTER_TO_BOOL = 4
    WIDENING = 5  # a scalar for a vector
    NOT_IN_CXX = 6  # a pointer that loses its const, or to void before
    OTHER_POINTER = 7


class Conversion(NamedTuple):
    rank: Rank
    qualifiers: frozenset[str] = frozenset()  # that the parameter adds to a pointer


def chosen_overload(headings: Sequence[Heading], given: Sequence[Given], call: Call, builtin: bool) -> Heading | None:
    """The heading that fits best. None if OpenCL C has a `builtin` of that name, and no heading fits exactly."""
    found = {each.key: conversions(each.parameters, given) for each in headings}
    fitting = [(each, ways) for each in headings if (ways := found[each.key]) is not None]
    if builtin and not any(all(way.rank is Rank.SAME for way in ways) for _, ways in fitting):
        return None
    best = [each for each, ways in fitting if all(is_better(ways, other) for _, other in fitting if other is not ways)]
    if len(best) == 1:
        return best[0]
    types = signature(call.name, [each.type for each in given])
    listed = ", ".join(signature(call.name, each.parameters) for each in headings)
    if not fitting:
        raise call.position.error(f"no function fits {types}: there are {listed}")
    raise call.position.error(f"{types} is ambiguous: cast an argument to choose one of {listed}")


def signature(name: str, types: Sequence[Type]) -> str:
    return f"{name}({', '.join(map(str, types))})"


def conversions(parameters: Sequence[Type], given: Sequence[Given]) -> list[Conversion] | None:
    """How each argument becomes its parameter; None if one cannot."""
    if len(parameters) != len(given):
        return None
    ways = [conversion(own, kind) for own, kind in zip(given, parameters, strict=True)]
    return None if None in ways else [way for way in ways if way is not None]


def is_better(ways: Sequence[Conversion], others: Sequence[Conversion]) -> bool:
    """Whether no argument fits worse than for the other function, and one fits better."""
    pairs = list(zip(ways, others, strict=True))
    return all(not _less(other, own) for own, other in pairs) and any(_less(own, other) for own, other in pairs)


def _less(own: Conversion, other: Conversion) -> bool:
    """Whether a conversion is better than another of the same argument."""
    if own.rank != other.rank:
        return own.rank < other.rank
    return own.qualifiers < other.qualifiers


def conversion(given: Given, target: Type) -> Conversion | None:
    source = given.type
    if given.wide and isinstance(target, Scalar):
        return Conversion(Rank.CONVERSION)
    if source == target and volatiles(source) == volatiles(target):
        return Conversion(Rank.SAME)
    if given.null and isinstance(target, Pointer):
        return Conversion(Rank.CONVERSION)
    if isinstance(source, Pointer):
        return _of_pointer(source, target)
    if not isinstance(source, Scalar):
        return None
    if isinstance(target, Scalar):
        promotes = target == promoted(source) or (source == FLOAT and target == DOUBLE)
        return Conversion(Rank.PROMOTION if promotes else Rank.CONVERSION)
    if isinstance(target, Vector):
        return Conversion(Rank.WIDENING)
    return Conversion(Rank.QUALIFIED) if given.null and isinstance(target, Event) else None


def _of_pointer(source: Pointer, target: Type) -> Conversion | None:
    if isinstance(target, Scalar) and target.name == "bool":
        return Conversion(Rank.POINTER_TO_BOOL)
    if not isinstance(target, Pointer):
        return None
    generic = target.space is Space.PRIVATE and source.space is not Space.CONSTANT
    if source.space is not target.space and not generic:
        return None
    added = {"const"} if target.constant and not source.constant else set[str]()
    added |= {"volatile"} if target.volatile and not source.volatile else set()
    added |= {"generic"} if source.space is not target.space else set()
    rank = Rank.OTHER_POINTER
    loses = (source.constant and not target.constant) or (source.volatile and not target.volatile)
    if loses or (source.target == target.target and volatiles(source.target) != volatiles(target.target)):
        rank = Rank.NOT_IN_CXX
    elif source == target:
        rank = Rank.SAME
    elif source.target == target.target:
        rank = Rank.QUALIFIED
    elif isinstance(target.target, Void):
        rank = Rank.CONVERSION
    elif isinstance(source.target, Void):
        rank = Rank.NOT_IN_CXX
    return Conversion(rank, frozenset(added) if rank <= Rank.CONVERSION else frozenset())
