"""Variables, initialisers and static assertions of OpenCL C."""

from .constant import constant_integer, try_constant
from .declarations import DeclarationParser, Declarator, Specifiers
from .lexer import Position
from .stream import TYPE, VARIABLE, describe
from .tree import Expression, InitList, Number, Text, Unary, Variable
from .typed_constants import NotConstant, converted
from .types import Array, Scalar, Struct, Type, sized_array


class VariableParser(DeclarationParser):
    """Adds variables and their initialisers."""

    def variables(self, spec: Specifiers, first: Declarator | None = None) -> list[Variable]:
        """The declarators of one declaration up to its semicolon; typedefs go into the table of types."""
        out: list[Variable] = []
        each = first or self.declarator(spec)
        while True:
            if not each.name:
                raise each.position.error(f"expected a name, found {describe(self.current)}")
            if spec.is_typedef:
                self.declare(each.name, TYPE, each.position)
                self.types[each.name] = each.type
            else:
                out.append(self.variable(each, spec.is_static))
            if not self.accept(","):
                break
            each = self.declarator(spec)
        self.expect(";")
        return out

    def variable(self, head: Declarator, static: bool) -> Variable:
        self.declare(head.name, VARIABLE, head.position)
        self.variable_names.add(head.name)  # it is known in its own initialiser
        self.variable_types[head.name] = head.type
        initial = self.initializer() if self.accept("=") else None
        kind = self.with_length(head.type, initial, head.position)
        if isinstance(kind, Array) and kind.length == 0:
            raise head.position.error(f"array {head.name} has no length")
        if isinstance(kind, Struct) and not kind.is_complete:
            raise head.position.error(f"{kind} is not defined")
        self.hide(head.name)
        self.variable_types[head.name] = kind
        if head.constant and isinstance(kind, Scalar) and not kind.is_float and initial is not None:
            value = try_constant(initial, self.constants)
            if isinstance(value, int):
                self.constants[head.name] = converted(Number(head.position, value, kind), kind)
        return Variable(head.position, head.name, kind, head.space, initial, head.constant, static)

    def with_length(self, kind: Type, initial: Expression | None, position: Position) -> Type:
        """An array without a length gets that of its initialiser."""
        if not isinstance(kind, Array) or kind.length:
            return kind
        if isinstance(initial, InitList) and len(initial.items) == 1 and isinstance(initial.items[0][1], Text):
            initial = initial.items[0][1]
        if isinstance(initial, Text):
            return sized_array(kind.element, len(initial.text) + 1, position)
        if isinstance(initial, InitList):
            return sized_array(kind.element, self.length_of(kind, initial), position)
        return kind

    def static_assertion(self) -> bool:
        """`_Static_assert(condition, "text");`"""
        if self.current.text not in ("_Static_assert", "static_assert") or self.ahead().text != "(":
            return False
        position = self.take().position
        self.expect("(")
        condition = self.conditional()
        text = self.text(self.take()).text if self.accept(",") else "a condition"
        self.expect(")")
        self.expect(";")
        try:
            holds = constant_integer(condition, self.constants)
        except NotConstant:
            raise condition.position.error("a constant is needed here, which is known while compiling") from None
        if not holds.value:
            raise position.error(f"_Static_assert: {text}")
        return True

    def length_of(self, kind: Array, items: InitList) -> int:
        """The elements that an initialiser names, or fills with what it lists without inner braces."""
        at = longest = 0
        flat = scalars_of(kind.element)
        plain = 0  # scalars listed since the last element that began at a border
        for designator, item in items.items:
            if isinstance(designator, int):
                at, plain = designator, 0
            scalar = is_number(item) or isinstance(kind.element, Array)
            if flat > 1 and scalar and not isinstance(item, InitList | Text):
                plain += 1
                at, plain = (at + 1, 0) if plain == flat else (at, plain)
                longest = max(longest, at + (plain > 0))
            else:
                at += 1
                longest = max(longest, at)
        return longest

    def designated(self) -> list[tuple[str | int | None, Expression]]:
        """`.name = x`, `[3] = x`, `[0 ... 3] = x`, `.a.b[2] = x`, or a value alone."""
        if self.current.text == ".":
            self.take()
            name = self.identifier("a member's name").text
            return [(name, self.after_designator())]
        if self.current.text == "[":
            self.take()
            first = last = self.integer(self.conditional())
            if self.accept("..."):
                last = self.integer(self.conditional())
            self.expect("]")
            value = self.after_designator()
            return [(index, value) for index in range(first, last + 1)]
        return [(None, self.initializer())]

    def after_designator(self) -> Expression:
        if self.accept("="):
            return self.initializer()
        position = self.position
        if self.current.text not in (".", "["):
            self.expect("=")
        return InitList(position, tuple(self.designated()))


def scalars_of(kind: Type) -> int:
    """How many values fill it, one after the other."""
    if isinstance(kind, Array):
        return kind.length * scalars_of(kind.element)
    if isinstance(kind, Struct):
        inner = [scalars_of(each.type) for each in kind.fields]
        return max(1, inner[0] if kind.union and inner else sum(inner))
    return 1


def is_number(expression: Expression) -> bool:
    """Whether it is surely a scalar: a literal, maybe with a sign."""
    while isinstance(expression, Unary) and expression.operator in ("-", "+", "~", "!"):
        expression = expression.operand
    return isinstance(expression, Number)
