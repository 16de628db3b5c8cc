"""The syntax tree of OpenCL C as plain records; every node knows its place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .lexer import Position
from .types import Scalar, Space, Type


@dataclass(frozen=True)
class Node:
    position: Position


class Expression(Node):
    """Base of all expressions."""


@dataclass(frozen=True)
class Number(Expression):
    """`wide` says that it has the suffix ll, or is too large for long: it has 128 bits in OpenCL C."""

    value: int | float
    type: Scalar
    wide: bool = False


@dataclass(frozen=True)
class Text(Expression):
    text: str


@dataclass(frozen=True)
class Name(Expression):
    name: str


@dataclass(frozen=True)
class Unary(Expression):
    """`operator` is one of + - ! ~ * & and ++ or -- written before the operand."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Postfix(Expression):
    """`operand++` or `operand--`."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary(Expression):
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Assign(Expression):
    """`target operator= value`; a plain assignment has the operator ""."""

    operator: str
    target: Expression
    value: Expression


@dataclass(frozen=True)
class Conditional(Expression):
    condition: Expression
    chosen: Expression
    other: Expression


@dataclass(frozen=True)
class Comma(Expression):
    first: Expression
    second: Expression


@dataclass(frozen=True)
class Cast(Expression):
    type: Type
    operand: Expression


@dataclass(frozen=True)
class VectorLiteral(Expression):
    """`(float4)(a, b, c, d)`."""

    type: Type
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Index(Expression):
    base: Expression
    index: Expression


@dataclass(frozen=True)
class Member(Expression):
    """`base.name` or, with `arrow`, `base->name`."""

    base: Expression
    name: str
    arrow: bool = False


@dataclass(frozen=True)
class Heading:
    """A function as it is declared; `key` names it among those of one name."""

    key: str
    parameters: tuple[Type, ...]
    result: Type
    overloadable: bool


@dataclass(frozen=True)
class Call(Expression):
    """`headings` are the functions of that name that are declared before the call, one unless they are overloaded."""

    name: str
    arguments: tuple[Expression, ...]
    headings: tuple[Heading, ...] = ()


@dataclass(frozen=True)
class SizeOf(Expression):
    """What is asked of a type or of an expression's type: its size, its alignment, or the components of a vector."""

    asks: str
    type: Type | None
    operand: Expression | None


@dataclass(frozen=True)
class TypeArgument(Expression):
    """A type where a builtin takes one."""

    type: Type


@dataclass(frozen=True)
class Span:
    """`[first]` or `[first ... last]` in an initialiser."""

    first: int
    last: int


Designators = tuple[str | Span, ...]  # `.name[3]`; () for a value that comes after the one before


@dataclass(frozen=True)
class InitList(Expression):
    """`{a, b, .x = c, [3].y = d}`."""

    items: tuple[tuple[Designators, Expression], ...]


@dataclass(frozen=True)
class StatementExpression(Expression):
    """`({ ... })`, whose value is that of the last statement."""

    block: "Block"


@dataclass(frozen=True)
class TypeOf(Type):
    """`typeof(expression)`, until the types of variables are known."""

    expression: Expression

    @property
    def size(self) -> int:
        return 1


class Statement(Node):
    """Base of all statements."""


@dataclass(frozen=True)
class Variable(Node):
    name: str
    type: Type
    space: Space | None
    initial: Expression | None
    constant: bool = False
    static: bool = False
    volatile: bool = False


@dataclass(frozen=True)
class Block(Statement):
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Declaration(Statement):
    variables: tuple[Variable, ...]


@dataclass(frozen=True)
class ExpressionStatement(Statement):
    expression: Expression


@dataclass(frozen=True)
class If(Statement):
    condition: Expression
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True)
class Loop(Statement):
    """for, while and do; `test_first` is false for do."""

    initial: Statement | None
    condition: Expression | None
    step: Expression | None
    body: Statement
    test_first: bool = True


@dataclass(frozen=True)
class Case(Statement):
    """A label, which may stand anywhere in the body of its switch; `values` None is the default."""

    values: Span | None


@dataclass(frozen=True)
class Switch(Statement):
    subject: Expression
    body: Statement


@dataclass(frozen=True)
class AssemblyOperand(Node):
    """`[name] "constraint" (value)`; the name is "" if the template counts its operands."""

    name: str
    value: Expression


@dataclass(frozen=True)
class Assembly(Statement):
    """Inline assembly: its text with `%0` or `%[name]` for its operands. Most of it is refused where it would be executed."""

    template: str
    outputs: tuple[AssemblyOperand, ...]
    inputs: tuple[AssemblyOperand, ...]


@dataclass(frozen=True)
class Break(Statement):
    pass


@dataclass(frozen=True)
class Continue(Statement):
    pass


@dataclass(frozen=True)
class Goto(Statement):
    name: str


@dataclass(frozen=True)
class Label(Statement):
    """`name:`; the statement that it marks comes after it."""

    name: str


@dataclass(frozen=True)
class Return(Statement):
    value: Expression | None


@dataclass(frozen=True)
class Parameter(Node):
    """`constant` says that the parameter itself, or what it points to, must not be written."""

    name: str
    type: Type
    constant: bool = False


@dataclass(frozen=True)
class Function(Node):
    """`read` gives the body, which is parsed when it is first asked for if the function stands in an included file. `key` is the
    name, or tells functions of one name apart."""

    name: str
    key: str
    result: Type
    parameters: tuple[Parameter, ...]
    is_kernel: bool
    read: Callable[[], Block]
    work_group: tuple[int, ...] | None = None  # reqd_work_group_size
    sub_group: int = 0  # intel_reqd_sub_group_size; 0 if the device chooses

    @cached_property
    def body(self) -> Block:
        return self.read()


@dataclass(frozen=True)
class Program:
    """`functions` go by their keys."""

    functions: Mapping[str, Function]
    variables: tuple[Variable, ...]
    contract: bool | None = None

    def called(self, call: Call) -> tuple[Function, ...]:
        """The functions that a call may mean, as far as the types of its arguments are not known."""
        keys = [each.key for each in call.headings]
        return tuple(self.functions[key] for key in keys if key in self.functions)

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(name for name, function in self.functions.items() if function.is_kernel)
