"""Which variables of a function need an address, found by walking its tree."""

from collections.abc import Iterator
from typing import Any

from ..clc.tree import Assembly, Declaration, Expression, Function, Index, Member, Name, Node, SizeOf, Unary, Variable
from ..clc.types import Array


def addressed_names(function: Function) -> set[str]:
    """Names whose address is taken, and arrays that are used other than element by element. Names are taken for the
    whole function, whatever their scope: too many is safe."""
    depths: dict[str, int] = {}
    for node in _walk(function.body):
        if isinstance(node, Declaration):
            for variable in node.variables:
                _note_depth(variable, depths)
    found: set[str] = set()
    _visit(function.body, depths, found)
    return found


def has_assembly(function: Function) -> bool:
    """Does the function's body hold inline assembly?"""
    return any(isinstance(node, Assembly) for node in _walk(function.body))


def _note_depth(variable: Variable, depths: dict[str, int]) -> None:
    depth, kind = 0, variable.type
    while isinstance(kind, Array):
        depth, kind = depth + 1, kind.element
    if depth:
        depths[variable.name] = min(depth, depths.get(variable.name, depth))


def _walk(node: Any) -> Iterator[Node]:
    if isinstance(node, Node):
        yield node
        for child in vars(node).values():
            if isinstance(child, Node | tuple):
                yield from _walk(child)
    elif isinstance(node, tuple):
        for child in node:
            if isinstance(child, Node | tuple):
                yield from _walk(child)


def _visit(node: Any, depths: dict[str, int], found: set[str]) -> None:
    if isinstance(node, tuple):
        for child in node:
            _visit(child, depths, found)
    elif isinstance(node, Index):
        _visit_index(node, depths, found)
    elif isinstance(node, Unary) and node.operator == "&":
        found.add(_root(node.operand))
        _visit(node.operand, depths, found)
    elif isinstance(node, Name):
        if node.name in depths:
            found.add(node.name)
    elif isinstance(node, SizeOf):
        return
    elif isinstance(node, Node):
        for child in vars(node).values():
            if isinstance(child, Node | tuple):
                _visit(child, depths, found)


def _visit_index(node: Index, depths: dict[str, int], found: set[str]) -> None:
    """`a[i][j]` on an array of two lengths leaves `a` in registers; anything less gives its address away."""
    subscripts = 0
    base: Expression = node
    while isinstance(base, Index):
        _visit(base.index, depths, found)
        base = base.base
        subscripts += 1
    if isinstance(base, Name):
        if subscripts < depths.get(base.name, 0):
            found.add(base.name)
    else:
        _visit(base, depths, found)


def _root(expression: Expression) -> str:
    while isinstance(expression, Index | Member):
        expression = expression.base
    return expression.name if isinstance(expression, Name) else ""
