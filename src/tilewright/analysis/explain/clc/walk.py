"""Walks over the tree: all nodes below one, the names among them, and the functions that a kernel calls."""

from collections.abc import Iterator
from typing import Any

from .tree import (
    Assembly,
    Assign,
    Call,
    Case,
    Expression,
    Function,
    Name,
    Node,
    Number,
    Postfix,
    Program,
    Statement,
    StatementExpression,
    Switch,
    Unary,
)


def children(node: Node) -> Iterator[Any]:
    """The nodes, and tuples of nodes, right below a node."""
    return (child for child in vars(node).values() if isinstance(child, Node | tuple))


def nodes_below(node: Node) -> Iterator[Node]:
    """The nodes right below a node, those of tuples among them."""
    for child in children(node):
        yield from (each for each in (child if isinstance(child, tuple) else (child,)) if isinstance(each, Node))


def nodes_of(node: Any) -> Iterator[Node]:
    """A node of the tree and all nodes below it, or those of a tuple of nodes."""
    if isinstance(node, Node):
        yield node
        for child in children(node):
            yield from nodes_of(child)
    elif isinstance(node, tuple):
        for child in node:
            if isinstance(child, Node | tuple):
                yield from nodes_of(child)


def has_wide_constant(node: Node) -> bool:
    """Whether a constant with ll, which means 128 bits in OpenCL C, occurs in it."""
    return any(isinstance(each, Number) and each.wide for each in nodes_of(node))


def may_change_variables(value: Expression) -> bool:
    """Whether a variable may have another value after an expression: it assigns, steps, or calls a function of the source."""
    return any(
        isinstance(node, Assign | Postfix | StatementExpression)
        or _steps(node)
        or (isinstance(node, Call) and node.arguments and node.headings)
        for node in nodes_of(value)
    )


def _steps(node: Node) -> bool:
    return isinstance(node, Unary) and node.operator in ("++", "--")


def has_assembly(function: Function) -> bool:
    """Whether the function's body contains inline assembly."""
    return any(isinstance(node, Assembly) for node in nodes_of(function.body))


def cases_of(node: Node) -> Iterator[Case]:
    """The labels in a statement that belong to a switch around it."""
    if isinstance(node, Case):
        yield node
    elif not isinstance(node, Switch | Expression):
        for each in nodes_below(node):
            if isinstance(each, Statement):
                yield from cases_of(each)


def names(expression: Expression, name: str) -> bool:
    """Whether a variable of that name occurs in the expression."""
    return any(isinstance(node, Name) and node.name == name for node in nodes_of(expression))


def called_functions(program: Program, entry: str) -> Iterator[Function]:
    """The function `entry` and all functions that it calls, directly or not, each once."""
    function = program.functions[entry]
    yield function
    yield from (each for each in called_from(program, function.body) if each.key != entry)


def called_from(program: Program, node: Node) -> list[Function]:
    """The functions that a part of the program calls, directly or not."""
    found: dict[str, Function] = {}
    waiting = [node]
    while waiting:
        calls = (program.called(each) for each in nodes_of(waiting.pop(0)) if isinstance(each, Call))
        fresh = {each.key: each for called in calls for each in called if each.key not in found}
        found |= fresh
        waiting += [each.body for each in fresh.values()]
    return list(found.values())
