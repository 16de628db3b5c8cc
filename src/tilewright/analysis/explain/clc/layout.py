"""Where the members of structs and unions lie: as C does it, bit-fields by the rules of the System V ABI."""

from dataclasses import dataclass

from .lexer import Position
from .types import (
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    Array,
    Field,
    Layout,
    Scalar,
    Struct,
    Type,
    Vector,
    Void,
    check_size,
    width_of,
)

SIZE, VECTOR_STEP = "sizeof", "vec_step"


@dataclass(frozen=True)
class Member:
    """A member as it is declared. `bits` is None for what is no bit-field; `packed` lets it lie at any byte."""

    name: str
    type: Type
    aligned: int
    bits: int | None
    position: Position
    packed: bool = False
    volatile: bool = False


def check_has_values(kind: Type, position: Position) -> None:
    """A variable, parameter or member needs a type of known size."""
    while isinstance(kind, Array):
        kind = kind.element
    if isinstance(kind, Void):
        raise position.error("no variable, parameter or member is void; a pointer to void may be one")
    if isinstance(kind, Struct) and not kind.is_complete:
        raise position.error(f"{kind} is not defined")


def check_has_size(kind: Type, position: Position) -> None:
    if isinstance(kind, Void):
        raise position.error("void has no size and no alignment")
    check_has_values(kind, position)


def fact_of(kind: Type, asked: str, position: Position) -> int:
    """The answer of `sizeof`, of `_Alignof`, or of `vec_step`: three components take the room of four."""
    check_has_size(kind, position)
    if asked == VECTOR_STEP:
        if not isinstance(kind, Scalar | Vector):
            raise position.error(f"{VECTOR_STEP} takes a scalar or a vector, not {kind}")
        return 4 if width_of(kind) == 3 else width_of(kind)
    return kind.size if asked == SIZE else kind.alignment


def check_members(members: list[Member]) -> None:
    """Each name once, those of anonymous members included, and each of a type that is complete by then."""
    known: set[str] = set()
    for each in members:
        check_has_values(each.type, each.position)
        for name in [each.name] if each.name else _names_of(each.type):
            if name in known:
                raise each.position.error(f"there are two members {name!r}")
            known.add(name)


def _names_of(kind: Type) -> list[str]:
    fields = kind.fields if isinstance(kind, Struct) else ()
    return [name for each in fields for name in ([each.name] if each.name else _names_of(each.type))]


def lay_out(
    layout: Layout, members: list[Member], packed: bool, union: bool, position: Position, aligned: int = 1
) -> None:
    """Completes the layout of a struct or union by its members."""
    bit, largest, alignment = 0, 0, aligned
    fields: list[Field] = []
    for each in members:
        step = max(1 if packed or each.packed else each.type.alignment, each.aligned)
        if each.bits is None:
            bit = -(-bit // (8 * step)) * 8 * step
            fields.append(Field(each.name, each.type, bit // 8, volatile=each.volatile))
            end = bit + 8 * each.type.size
        else:
            bit = _start_of_bits(bit, each)
            end = bit + each.bits
            if each.name:
                fields.append(_bit_field(each, bit))
        if each.bits is None or each.name:  # a bit-field without a name aligns nothing
            alignment = max(alignment, step)
        largest = max(largest, -(-end // 8))
        bit = 0 if union else end
    check_size("a union" if union else "a struct", largest, position)
    layout.fields, layout.size, layout.alignment = tuple(fields), -(-largest // alignment) * alignment, alignment
    layout.complete = True


def _start_of_bits(bit: int, member: Member) -> int:
    """The next free bit, unless the bit-field would cross a border of its type; one of no bits goes to that border."""
    unit = 8 * member.type.size
    assert member.bits is not None
    crosses = member.bits == 0 or bit // unit != (bit + member.bits - 1) // unit
    return -(-bit // unit) * unit if crosses else bit


def _bit_field(member: Member, bit: int) -> Field:
    """In the smallest aligned integer that holds all its bits, so that its neighbours are touched as little as possible."""
    assert isinstance(member.type, Scalar)
    assert member.bits is not None
    for container in (UCHAR, USHORT, UINT, ULONG):
        room = 8 * container.size
        if bit // room == (bit + member.bits - 1) // room:
            break
    return Field(member.name, member.type, bit // room * container.size, member.bits, bit % room, container)
