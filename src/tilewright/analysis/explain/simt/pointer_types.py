"""Which pointers may become which without a cast, as recent versions of Clang have it."""

from dataclasses import replace

from ..clc.lexer import Position
from ..clc.types import VOID, Array, Pointer, Scalar, Space, Type, Void


def check_pointers(source: Pointer, target: Pointer, position: Position) -> None:
    """An assignment of a pointer. A pointer without an address space takes one to any space."""
    if target.space not in (Space.PRIVATE, source.space):
        raise position.error(
            f"{source} cannot become {target}: they point to different address spaces; a cast says that it is meant"
        )
    if not fits(source.target, target.target):
        raise position.error(
            f"{source} cannot become {target}: they point to different types; a cast says that it is meant"
        )


def fits(source: Type, target: Type) -> bool:
    """Whether what is pointed to may change from one type to the other: void, integers that differ in their sign, and an
    enumeration whose values have just that type."""
    if isinstance(source, Void) or isinstance(target, Void):
        return True
    if isinstance(source, Scalar) and isinstance(target, Scalar) and source.own != target.own:
        one_is_plain = not source.own or not target.own
        return source == target and one_is_plain and not source.is_atomic and not target.is_atomic
    if isinstance(source, Scalar) and isinstance(target, Scalar) and not (source.is_float or target.is_float):
        return source.size == target.size and (source.name == "bool") == (target.name == "bool")
    return is_same(source, target)


def is_same(one: Type, other: Type) -> bool:
    """Whether two types are one, whatever is const."""
    return unqualified(one) == unqualified(other)


def unqualified(kind: Type) -> Type:
    if isinstance(kind, Pointer):
        return replace(kind, target=unqualified(kind.target), constant=False)
    return replace(kind, element=unqualified(kind.element)) if isinstance(kind, Array) else kind


def common_pointer(one: Pointer, other: Pointer, position: Position) -> Pointer:
    """The type of `?:` between two pointers: one to void, unless both point to the same type."""
    spaces = {one.space, other.space}
    if len(spaces) > 1 and Space.PRIVATE not in spaces:
        raise position.error(f"{one} and {other} have no type in common: they point to different address spaces")
    target = one.target if is_same(one.target, other.target) else VOID
    return Pointer(target, one.space if len(spaces) == 1 else Space.PRIVATE, one.constant or other.constant)
