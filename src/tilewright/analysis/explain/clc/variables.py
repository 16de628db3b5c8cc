"""Variables, initialisers and static assertions of OpenCL C."""

from .constant import constant_integer, try_constant
from .declarations import DeclarationParser, Declarator, Specifiers
from .expression_types import type_of
from .lexer import Position
from .stream import TYPE, VARIABLE, Qualified, describe
from .tree import Designators, Expression, InitList, Name, Number, Span, Text, Variable
from .typed_constants import NotConstant, converted
from .types import Array, Scalar, Space, Struct, Type, sized_array


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
                self.qualified[each.name] = Qualified(each.space, each.constant)
            elif self.current.text == "(":
                self.prototype(each)
            else:
                out.append(self.variable(each, spec))
            if not self.accept(","):
                break
            each = self.declarator(spec)
        self.expect(";")
        return out

    def variable(self, head: Declarator, spec: Specifiers) -> Variable:
        self.declare(head.name, VARIABLE, head.position)
        self.variable_names.add(head.name)  # it is known in its own initialiser
        self.variable_types[head.name] = head.type
        initial = self.initializer() if self.accept("=") else None
        kind = self.with_length(head.type, initial, head.position)
        if isinstance(kind, Array) and kind.length == 0:
            raise head.position.error(f"array {head.name} has no length")
        if isinstance(kind, Struct) and not kind.is_complete:
            raise head.position.error(f"{kind} is not defined")
        if head.space is Space.CONSTANT and initial is None and not spec.is_extern:
            raise head.position.error(
                f"{head.name!r} is in constant memory, which nothing can write: give it an initialiser"
            )
        self.hide(head.name)
        self.variable_types[head.name] = kind
        if head.constant and isinstance(kind, Scalar) and not kind.is_float and initial is not None:
            value = try_constant(initial, self.constants)
            if isinstance(value, int):
                self.constants[head.name] = converted(Number(head.position, value, kind), kind)
        return Variable(
            head.position, head.name, kind, head.space, initial, head.constant, spec.is_static, head.volatile
        )

    def with_length(self, kind: Type, initial: Expression | None, position: Position) -> Type:
        """An array without a length gets that of its initialiser."""
        if not isinstance(kind, Array) or kind.length:
            return kind
        if isinstance(initial, InitList) and isinstance(kind.element, Scalar) and initial.items:
            designators, first = initial.items[0]
            initial = first if isinstance(first, Text) and not designators else initial
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
        flat, names = scalars_of(kind.element), self.types_of_names
        at = most = 0  # values before the next one, if elements had no inner braces
        for designators, item in items.items:
            part = part_at(kind.element, at % flat, isinstance(item, Text))
            if designators:
                at, part = place_in(kind, designators)
            known = part if isinstance(item, InitList | Text) else type_of(item, names)
            at += 1 if known is None or (isinstance(item, Name) and isinstance(known, Array)) else scalars_of(known)
            most = max(most, -(-at // flat))
        return most

    def designated(self) -> tuple[Designators, Expression]:
        """`.name = x`, `[3] = x`, `[0 ... 3] = x`, `.a.b[2] = x`, or a value alone."""
        designators: list[str | Span] = []
        while self.current.text in (".", "["):
            position = self.take().position
            if self.tokens[self.at - 1].text == ".":
                designators.append(self.identifier("a member's name").text)
                continue
            first = last = self.integer(self.conditional())
            if self.accept("..."):
                last = self.integer(self.conditional())
            if last < first:
                raise position.error(f"the range [{first} ... {last}] is empty")
            designators.append(Span(first, last))
            self.expect("]")
        if designators:
            self.expect("=")
        return tuple(designators), self.initializer()


def part_at(kind: Type, before: int, text: bool) -> Type:
    """The largest part of `kind` that begins after `before` values; a `text` fills the array of characters there."""
    while isinstance(kind, Array | Struct):
        parts = [kind.element] if isinstance(kind, Array) else [each.type for each in kind.fields]
        if not parts or (before == 0 and not (text and isinstance(parts[0], Array | Struct))):
            return kind
        kind = parts[0]
        if len(parts) == 1:
            before %= scalars_of(kind)
        while before >= scalars_of(kind):
            before -= scalars_of(kind)
            kind = parts.pop(1)
    return kind


def place_in(kind: Type, designators: Designators) -> tuple[int, Type]:
    """How many values stand before a part of `kind`, and the type of that part."""
    before = 0
    for each in designators:
        if isinstance(each, Span) and isinstance(kind, Array):
            kind = kind.element
            before += each.last * scalars_of(kind)
        elif isinstance(each, str) and isinstance(kind, Struct):
            inner, kind = _member_in(kind, each)
            before += inner
    return before, kind


def _member_in(kind: Struct, name: str) -> tuple[int, Type]:
    before = 0
    for field in kind.fields:
        if field.name == name:
            return before, field.type
        if not field.name and isinstance(field.type, Struct) and field.type.field_of(name) is not None:
            inner, part = _member_in(field.type, name)
            return before + inner, part
        before += 0 if kind.union else scalars_of(field.type)
    return before, kind


def scalars_of(kind: Type) -> int:
    """How many values fill it, one after the other."""
    if isinstance(kind, Array):
        return kind.length * scalars_of(kind.element)
    if isinstance(kind, Struct):
        inner = [scalars_of(each.type) for each in kind.fields]
        return max(1, inner[0] if kind.union and inner else sum(inner))
    return 1
