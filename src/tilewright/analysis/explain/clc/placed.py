"""Where what is declared may lie: address spaces that parameters, members, results and variables at program scope cannot have."""

from .lexer import Position
from .tree import Parameter, Variable
from .types import Pointer, Space


def one_space(known: Space | None, added: Space, position: Position) -> Space:
    """The address space of a type that names `added` after `known`."""
    if known not in (None, added):
        raise position.error(
            f"a type has one address space, and this one would have two: {known.word} and {added.word}"
        )
    return added


def check_parameter(name: str, space: Space | None, position: Position) -> None:
    """A value that is passed lies in private memory. What a pointer points to may lie elsewhere."""
    if space not in (None, Space.PRIVATE):
        which = f"parameter {name!r}" if name else "a parameter"
        raise position.error(
            f"{which} is passed by value, and cannot be in {space.word} memory: "
            f"leave out {space.word}, or pass a pointer to {space.word} memory"
        )


def check_kernel_pointer(parameter: Parameter) -> None:
    """Nothing that a host program passes lies in the memory of a work-item."""
    kind = parameter.type
    if isinstance(kind, Pointer) and kind.space is Space.PRIVATE:
        raise parameter.position.error(
            f"parameter {parameter.name!r} of a kernel points to no address space that a host program can pass: "
            "make it a pointer to global, constant or local memory"
        )


def check_member(name: str, space: Space | None, position: Position) -> None:
    """A member lies where its struct lies."""
    if space is not None:
        raise position.error(f"member {name!r} lies where its struct or union lies: leave out {space.word}")


def check_program_variable(variable: Variable) -> None:
    """At program scope there is neither a work-group nor a work-item."""
    if variable.space is Space.LOCAL:
        raise variable.position.error(f"local memory belongs to a kernel: declare {variable.name!r} inside of one")
    if variable.space is Space.PRIVATE:
        raise variable.position.error(f"{variable.name!r} cannot be private here: it belongs to no work-item")


def check_result(name: str, space: Space | None, position: Position) -> None:
    """A result is a value."""
    if space is not None:
        raise position.error(f"function {name!r} gives a value, which has no address space: leave out {space.word}")
