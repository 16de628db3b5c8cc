"""The compiler's state, shared by the parts that compile places, expressions, declarations and statements."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..clc.lexer import Position
from ..clc.refused import LONG_LONG
from ..clc.tree import Cast, Expression, Function, Program, Statement, TypeOf, Variable
from ..clc.types import Array, Pointer, Type
from ..clc.walk import has_wide_constant
from .compiled_code import Code, Place, Run, Step, Symbol
from .machine import Machine
from .off_chip import OffChip
from .segments import Segment


@dataclass
class FunctionCode:
    """A compiled function: where its parameters go, its body, and how many slots a frame of it needs."""

    parameters: list[tuple[str, Symbol]] = field(default_factory=list)
    body: Step | None = None
    slots: int = 0


@dataclass
class FunctionState:
    """The state of the compiler inside one function."""

    function: Function
    addressed: set[int]  # ids of the nodes that declare variables with an address
    scopes: list[dict[str, Symbol]]
    slots: int = 0
    jumps: bool = False  # control may pass a declaration
    switches: int = 0  # that are open
    labels: list[dict[str, int]] = field(default_factory=list)  # of the blocks that are open
    before: list[Run] = field(default_factory=list)  # what runs when the function begins
    kept: list[Variable] = field(default_factory=list)  # nodes made here, whose ids must stay theirs


class Context:
    """Scopes, slots and functions."""

    def __init__(
        self, machine: Machine, program: Program, contract: bool, pitches: Mapping[str, int] | None = None
    ) -> None:
        self.machine = machine
        self.program = program
        self.contract = contract
        self.pitches = dict(pitches or {})
        self.globals: dict[str, Symbol] = {}
        self.later: dict[str, Variable] = {each.name: each for each in program.variables}
        self.compiled: dict[str, FunctionCode] = {}  # by the functions' keys
        self.compiling: list[FunctionState] = []
        self.off_chip: Mapping[int, OffChip] = {}  # private arrays, by the id of their declaration
        self.texts: dict[str, Segment] = {}  # string literals
        self.added: dict[int, Code] = {}  # what a `+=` adds, by the id of its node

    @property
    def state(self) -> FunctionState:
        return self.compiling[-1]

    def declare(self, name: str, symbol: Symbol) -> None:
        self.state.scopes[-1][name] = symbol

    def new_slot(self) -> int:
        self.state.slots += 1
        return self.state.slots - 1

    def find(self, name: str, position: Position) -> Symbol:
        for scope in reversed(self.state.scopes) if self.compiling else ():
            if name in scope:
                return scope[name]
        if name in self.globals:
            return self.globals[name]
        if name in self.later:
            self.program_variable(self.later.pop(name))
            return self.globals[name]
        raise position.error(f"{name!r} is not declared")

    def value(self, expression: Expression) -> Code:
        raise NotImplementedError

    def place(self, expression: Expression) -> Place:
        raise NotImplementedError

    def literal(self, expression: Cast) -> Place:
        raise NotImplementedError

    def initial_value(self, expression: Expression, kind: Type) -> Code:
        raise NotImplementedError

    def program_variable(self, variable: Variable) -> None:
        raise NotImplementedError

    def resolved(self, kind: Type) -> Type:
        """A type whose `typeof` are replaced by the types of their expressions."""
        if isinstance(kind, TypeOf):
            if self.is_wide(kind.expression):
                raise kind.expression.position.error(LONG_LONG)
            return self.type_of(kind.expression)
        if isinstance(kind, Pointer):
            target = self.resolved(kind.target)
            return kind if target is kind.target else replace(kind, target=target)
        if isinstance(kind, Array):
            element = self.resolved(kind.element)
            return kind if element is kind.element else replace(kind, element=element)
        return kind

    def statement(self, statement: Statement) -> Step:
        raise NotImplementedError

    def function(self, function: Function, position: Position) -> FunctionCode:
        raise NotImplementedError

    def is_wide(self, expression: Expression) -> bool:
        """Whether a constant with ll makes it 128 bits wide in OpenCL C."""
        return has_wide_constant(expression) and self.value(expression).wide

    def type_of(self, expression: Expression) -> Type:
        """The type of an expression that is not evaluated (sizeof)."""
        return self.value(expression).type
