"""The compiler's state, shared by the parts that compile places, expressions, declarations and statements."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..clc.lexer import Position
from ..clc.tree import Expression, Function, Program, Statement
from ..clc.types import Type
from .compiled_code import Code, Place, Step, Symbol
from .machine import Machine
from .off_chip import OffChip


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
        self.compiled: dict[str, FunctionCode] = {}
        self.compiling: list[FunctionState] = []
        self.off_chip: Mapping[int, OffChip] = {}  # private arrays, by the id of their declaration
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
        for scope in reversed(self.state.scopes):
            if name in scope:
                return scope[name]
        if name in self.globals:
            return self.globals[name]
        raise position.error(f"{name!r} is not declared")

    def value(self, expression: Expression) -> Code:
        raise NotImplementedError

    def place(self, expression: Expression) -> Place:
        raise NotImplementedError

    def statement(self, statement: Statement) -> Step:
        raise NotImplementedError

    def function(self, name: str, position: Position) -> FunctionCode:
        raise NotImplementedError

    def type_of(self, expression: Expression) -> Type:
        """The type of an expression that is not evaluated (sizeof)."""
        return self.value(expression).type
