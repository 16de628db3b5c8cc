"""Checks a function's tree for what only its scopes tell: names declared twice, address spaces that variables cannot have there,
and break and continue with nothing to leave."""

from collections.abc import Iterable, Iterator, Sequence

from .layout import check_has_values
from .placed import check_program_variable
from .tree import (
    Block,
    Break,
    Continue,
    Declaration,
    Expression,
    If,
    Label,
    Loop,
    Node,
    Parameter,
    Statement,
    StatementExpression,
    Switch,
    Variable,
)
from .types import Space
from .walk import nodes_below

# Where a function that is no kernel gets such a variable from.
_INSTEAD = {
    Space.LOCAL: "declare it in the kernel, and give this function a pointer to it",
    Space.CONSTANT: "declare it before the functions",
}


def check_scopes(parameters: Sequence[Parameter], body: Block, is_kernel: bool) -> None:
    """The parameters share their scope with the outermost block."""
    for each in parameters:
        check_has_values(each.type, each.position)
    outermost = {each.name for each in parameters}
    _Scopes(outermost if is_kernel else None).visit_all(body.statements, outermost)


def check_parameters(parameters: Iterable[Parameter]) -> None:
    known: set[str] = set()
    for each in parameters:
        if each.name and each.name in known:
            raise each.position.error(f"there are two parameters {each.name!r}")
        known.add(each.name)


def check_program_scope(variables: Iterable[Variable]) -> None:
    """A variable may be declared again there, but has one value."""
    known: set[str] = set()
    for each in variables:
        check_has_values(each.type, each.position)
        check_program_variable(each)
        if each.initial is not None:
            if each.name in known:
                raise each.position.error(f"{each.name!r} is defined twice")
            known.add(each.name)


class _Scopes:
    """`leaves` and `repeats` say whether a break and a continue have something to refer to. `kernels_own` are the names of the
    outermost scope of a kernel; other functions have none."""

    def __init__(self, kernels_own: set[str] | None) -> None:
        self.kernels_own = kernels_own
        self.leaves = self.repeats = False
        self.labels: set[str] = set()  # of the whole function

    def visit_all(self, statements: Iterable[Node], names: set[str]) -> None:
        for each in statements:
            self.visit(each, names)

    def visit(self, node: Node, names: set[str]) -> None:
        """A statement, case or variable in a scope where `names` are declared."""
        match node:
            case Expression():
                for block in _blocks_in(node):
                    self.visit(block, set())
            case Variable():
                self.declare(node, names)
            case Block():
                self.visit_all(node.statements, set())
            case If():
                self.visit(node.condition, names)
                self.visit_branch(node.then)
                if node.otherwise is not None:
                    self.visit_branch(node.otherwise)
            case Loop():
                self.visit_loop(node)
            case Switch():
                self.visit(node.subject, names)
                outer, self.leaves = self.leaves, True
                self.visit_branch(node.body)
                self.leaves = outer
            case Label():
                if node.name in self.labels:
                    raise node.position.error(f"there are two labels {node.name!r}")
                self.labels.add(node.name)
            case Break() if not self.leaves:
                raise node.position.error("break stands in no loop and no switch")
            case Continue() if not self.repeats:
                raise node.position.error("continue stands in no loop")
            case _:
                self.visit_all(nodes_below(node), names)

    def declare(self, variable: Variable, names: set[str]) -> None:
        if variable.name in names:
            raise variable.position.error(f"{variable.name!r} is declared twice in one scope")
        check_has_values(variable.type, variable.position)
        self.check_space(variable, names)
        names.add(variable.name)
        if variable.initial is not None:
            self.visit(variable.initial, names)

    def check_space(self, variable: Variable, names: set[str]) -> None:
        """Where variables of local, constant and global memory may stand in a function."""
        name, space = repr(variable.name), variable.space
        if variable.static and space is Space.LOCAL:
            raise variable.position.error(
                f"{name} is static, and in local memory: leave out static, which it cannot be"
            )
        if variable.static or space in (None, Space.PRIVATE):
            return
        if space is Space.GLOBAL:
            raise variable.position.error(
                f"{name} is in global memory, which only static variables of a function are: make it static, or a parameter"
            )
        if self.kernels_own is None:
            raise variable.position.error(
                f"{name} is in {space.word} memory, which is declared in kernels alone: {_INSTEAD[space]}"
            )
        if names is not self.kernels_own:
            raise variable.position.error(
                f"{name} is in {space.word} memory, which is declared in the outermost braces of a kernel alone: declare it there"
            )

    def visit_branch(self, statement: Statement) -> None:
        if isinstance(statement, Declaration):
            raise statement.position.error("a declaration alone is no branch and no body: put it in braces")
        self.visit(statement, set())

    def visit_loop(self, loop: Loop) -> None:
        outer, names = (self.leaves, self.repeats), set[str]()
        self.leaves = self.repeats = True
        self.visit_all((each for each in (loop.initial, loop.condition, loop.step) if each is not None), names)
        self.visit_branch(loop.body)
        self.leaves, self.repeats = outer


def _blocks_in(expression: Expression) -> Iterator[Block]:
    """The blocks of the statement expressions in an expression. It may be a sum of thousands, too deep for a recursion."""
    waiting: list[object] = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, StatementExpression):
            yield node.block
        elif isinstance(node, Node):
            waiting += vars(node).values()
        elif isinstance(node, tuple):
            waiting += node
