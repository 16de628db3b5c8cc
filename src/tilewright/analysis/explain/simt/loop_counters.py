"""Counters of loops: where they begin, what they are compared with, and by how much they change."""

from collections.abc import Iterator

from ..clc.constant import try_constant
from ..clc.tree import (
    Assign,
    Binary,
    Declaration,
    Expression,
    ExpressionStatement,
    Loop,
    Name,
    Postfix,
    Statement,
    Unary,
)
from ..clc.walk import nodes_of

_STEPS = ("+", "-", "*", "/", "<<", ">>")


def assigned(body: Statement) -> set[str]:
    """The names of variables that are assigned as a whole, or whose address is taken."""
    found: set[str] = set()
    for node in nodes_of(body):
        if isinstance(node, Assign) and isinstance(node.target, Name):
            found.add(node.target.name)
        elif (
            isinstance(node, Postfix | Unary) and node.operator in ("++", "--", "&") and isinstance(node.operand, Name)
        ):
            found.add(node.operand.name)
    return found


def counters(loop: Loop) -> list[str]:
    """The names that a loop's step changes."""
    return [] if loop.step is None else sorted(assigned(ExpressionStatement(loop.position, loop.step)))


def initial_value(initial: Statement | None, name: str) -> Expression | None:
    """The value with which a counter begins."""
    if isinstance(initial, Declaration):
        return next((each.initial for each in initial.variables if each.name == name), None)
    if isinstance(initial, ExpressionStatement) and isinstance(initial.expression, Assign):
        target = initial.expression.target
        return initial.expression.value if isinstance(target, Name) and target.name == name else None
    return None


def bounds_of(condition: Expression | None, name: str) -> Iterator[Expression]:
    """What a counter is compared with. A loop with `i < 8 && more` makes 8 iterations at most: NVIDIA's compiler unrolls it."""
    if isinstance(condition, Binary) and condition.operator == "&&":
        yield from bounds_of(condition.left, name)
        yield from bounds_of(condition.right, name)
    elif isinstance(condition, Binary) and condition.operator in ("<", "<=", ">", ">=", "!="):
        for own, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(own, Name) and own.name == name:
                yield other
                return


def step_of(step: Expression | None, name: str) -> tuple[str, int] | None:
    """The operator and number of `name += number`, `name++` and the like."""
    if isinstance(step, Postfix | Unary) and isinstance(step.operand, Name) and step.operand.name == name:
        return step.operator[0], 1
    if isinstance(step, Assign) and isinstance(step.target, Name) and step.target.name == name:
        amount = try_constant(step.value, {})
        if step.operator in _STEPS and isinstance(amount, int):
            return step.operator, amount
    return None
