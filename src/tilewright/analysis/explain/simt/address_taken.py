"""Finds the variables of a function that need an address, scope by scope."""

from typing import Any

from ..clc.tree import (
    Block,
    Declaration,
    Expression,
    Function,
    Index,
    Loop,
    Member,
    Name,
    Node,
    SizeOf,
    Switch,
    Unary,
)
from ..clc.types import Array, Type
from ..clc.walk import children


def addressed_variables(function: Function) -> set[int]:
    """The ids of the Variable and Parameter nodes whose address is taken, and of arrays that are used other than element
    by element."""
    usage = _Usage()
    usage.scopes.append({parameter.name: (id(parameter), 0) for parameter in function.parameters})
    usage.visit(function.body)
    return usage.found


class _Usage:
    """`scopes` map a name to its declaration and to how many subscripts its type takes."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, tuple[int, int]]] = []
        self.found: set[int] = set()

    def visit(self, node: Any) -> None:
        if isinstance(node, tuple):
            for child in node:
                if isinstance(child, Node | tuple):
                    self.visit(child)
        elif isinstance(node, Index):
            self.visit_index(node)
        elif isinstance(node, Name):
            declared = self.look_up(node.name)
            if declared is not None and declared[1]:
                self.found.add(declared[0])
        elif isinstance(node, Declaration):
            self.visit_declaration(node)
        elif isinstance(node, Node) and not isinstance(node, SizeOf):
            if isinstance(node, Unary) and node.operator == "&":
                self.take_address(node.operand)
            scoped = isinstance(node, Block | Loop | Switch)
            self.scopes += [{}] * scoped
            for child in children(node):
                self.visit(child)
            if scoped:
                self.scopes.pop()

    def visit_declaration(self, node: Declaration) -> None:
        for variable in node.variables:
            self.scopes[-1] = {**self.scopes[-1], variable.name: (id(variable), _depth(variable.type))}
            self.visit(variable.initial)

    def visit_index(self, node: Index) -> None:
        """`a[i][j]` on an array of two lengths leaves `a` in registers. Fewer subscripts give it an address."""
        subscripts = 0
        base: Expression = node
        while isinstance(base, Index):
            self.visit(base.index)
            base = base.base
            subscripts += 1
        if isinstance(base, Name):
            declared = self.look_up(base.name)
            if declared is not None and subscripts < declared[1]:
                self.found.add(declared[0])
        else:
            self.visit(base)

    def take_address(self, expression: Expression) -> None:
        """`&v`, `&v.x`, `&a[i]` need v and a in memory; `&p[i]` and `&p->x` of a pointer p do not."""
        subscripted = False
        while isinstance(expression, Index | Member):
            if isinstance(expression, Member) and expression.arrow:
                return
            subscripted = subscripted or isinstance(expression, Index)
            expression = expression.base
        declared = self.look_up(expression.name) if isinstance(expression, Name) else None
        if declared is not None and (declared[1] or not subscripted):
            self.found.add(declared[0])

    def look_up(self, name: str) -> tuple[int, int] | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)


def _depth(kind: Type) -> int:
    depth = 0
    while isinstance(kind, Array):
        depth, kind = depth + 1, kind.element
    return depth
