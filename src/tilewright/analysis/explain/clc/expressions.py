"""Expression parser: precedence climbing over tokens."""

from .condition import PRECEDENCE
from .expression_types import sized_type, type_of
from .layout import SIZE, VECTOR_STEP, check_has_size, check_has_values
from .lexer import Position, Token
from .literals import read_character, read_number, read_string
from .overloads import check_has_overloads
from .refused import REFUSED_WORDS
from .stream import KEYWORDS, TRUTH_VALUES, TokenStream, describe
from .tree import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Comma,
    Conditional,
    Designators,
    Expression,
    Index,
    InitList,
    Member,
    Name,
    Number,
    Postfix,
    SizeOf,
    StatementExpression,
    Text,
    TypeArgument,
    Unary,
    VectorLiteral,
)
from .types import BOOL, SIZE_T, Array, Scalar, Struct, Type, Vector
from .walk import has_wide_constant

_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_UNARY = {"+", "-", "!", "~", "*", "&", "++", "--"}
_TYPE_TAKING = {"__builtin_convertvector", "__builtin_astype"}
_OFFSET = "__builtin_offsetof"
_ALIGNMENT_OF = {"_Alignof", "__alignof", "__alignof__"}


class ExpressionParser(TokenStream):
    """Parses expressions; a subclass tells how a type's name reads."""

    def type_name(self) -> Type:
        raise NotImplementedError

    def block(self) -> Block:
        raise NotImplementedError

    def expression(self) -> Expression:
        left = self.assignment()
        while self.current.text == "," and self.current.kind == "operator":
            position = self.take().position
            left = Comma(position, left, self.assignment())
        return left

    def assignment(self) -> Expression:
        left = self.conditional()
        token = self.current
        if token.kind == "operator" and token.text in _ASSIGNMENTS:
            self.take()
            return Assign(token.position, token.text[:-1], left, self.assignment())
        return left

    def conditional(self) -> Expression:
        condition = self.binary(1)
        if self.current.text != "?":
            return condition
        position = self.take().position
        if self.accept(":"):  # GNU's `a ?: b`
            return Conditional(position, condition, condition, self.conditional())
        chosen = self.expression()
        self.expect(":")
        return Conditional(position, condition, chosen, self.conditional())

    def binary(self, level: int) -> Expression:
        left = self.unary()
        while self.current.kind == "operator" and PRECEDENCE.get(self.current.text, 0) >= level:
            operator = self.take()
            left = Binary(operator.position, operator.text, left, self.binary(PRECEDENCE[operator.text] + 1))
        return left

    def unary(self) -> Expression:
        token = self.current
        if token.kind == "operator":
            if token.text in _UNARY:
                self.take()
                return Unary(token.position, token.text, self.unary())
            if token.text == "(" and self.starts_type(1):
                return self.cast()
            if token.text == "^":
                raise token.position.error(REFUSED_WORDS["^"])
        if token.kind == "name" and (token.text == SIZE or token.text in _ALIGNMENT_OF or self.asks_vector_step()):
            return self.size_of()
        return self.postfix(self.primary())

    def cast(self) -> Expression:
        position = self.expect("(").position
        kind = self.type_name()
        self.expect(")")
        if self.current.text == "{":
            items = self.initializer()
            assert isinstance(items, InitList)
            return self.postfix(Cast(position, self.with_length(kind, items, position), items))
        if self.current.text == "(" and isinstance(kind, Vector) and not self.starts_type(1):
            self.take()
            elements = [self.assignment()]
            while self.accept(","):
                elements.append(self.assignment())
            self.expect(")")
            return self.postfix(VectorLiteral(position, kind, tuple(elements)))
        return Cast(position, kind, self.unary())

    def with_length(self, kind: Type, initial: Expression | None, position: Position) -> Type:
        raise NotImplementedError

    def size_of(self) -> Expression:
        token = self.take()
        asks = token.text
        if self.current.text == "(" and self.starts_type(1):
            self.take()
            kind = self.type_name()
            self.expect(")")
            check_has_size(kind, token.position)
            return SizeOf(token.position, asks, kind, None)
        operand = self.unary()
        unknown = asks in _ALIGNMENT_OF or has_wide_constant(operand)
        known = None if unknown else sized_type(operand, self.types_of_names)
        return SizeOf(token.position, asks, known, operand)

    def asks_vector_step(self) -> bool:
        return self.current.text == VECTOR_STEP and self.ahead().text == "(" and VECTOR_STEP not in self.functions

    def primary(self) -> Expression:
        token = self.take()
        if token.kind == "number":
            return read_number(token)
        if token.kind == "character":
            return read_character(token)
        if token.kind == "string":
            return self.text(token)
        if token.text == "(" and token.kind == "operator":
            inner = self.statement_expression() if self.current.text in ("{", "{...}") else self.expression()
            self.expect(")")
            return inner
        if token.text == "__extension__":
            return self.unary()
        if token.kind == "name":
            return self.named(token)
        raise token.position.error(f"expected an expression, found {describe(token)}")

    def named(self, token: Token) -> Expression:
        """A variable, an enumerator, a call."""
        if token.text in ("asm", "__asm__", "__asm"):
            raise token.position.error(REFUSED_WORDS[token.text])
        if token.text in TRUTH_VALUES:
            return Number(token.position, TRUTH_VALUES[token.text], BOOL)
        if token.text in KEYWORDS:
            raise token.position.error(f"expected an expression, found the keyword {describe(token)}")
        if self.current.text == "(":
            return self.offset(token.position) if token.text == _OFFSET else self.call(token.position, token.text)
        known = self.enumerators.get(token.text)
        if known is not None:
            return Number(token.position, known.value, known.type)
        if token.text in ("__func__", "__FUNCTION__"):
            return Text(token.position, self.function_name)
        return Name(token.position, token.text)

    def offset(self, position: Position) -> Expression:
        """`__builtin_offsetof(type, member.part[index])`, as a sum of bytes. Indices need not be constant."""
        self.expect("(")
        kind = self.type_name()
        self.expect(",")
        bytes_before: Expression = Number(position, 0, SIZE_T)
        first = True
        while first or self.current.text in (".", "["):
            if self.accept("["):
                kind, step = self.element_offset(kind)
            else:
                first = first or self.accept(".")
                kind, step = self.member_offset(kind)
            first = False
            bytes_before = Binary(position, "+", bytes_before, step)
        self.expect(")")
        return bytes_before

    def member_offset(self, kind: Type) -> tuple[Type, Expression]:
        """The type of a member, and the bytes before it."""
        name = self.identifier("a member's name")
        check_has_values(kind, name.position)
        field = kind.field_of(name.text) if isinstance(kind, Struct) else None
        if field is None or field.bits:
            what = "is a bit-field of" if field else "is no member of"
            raise name.position.error(f"{name.text!r} {what} {kind}, so it has no offset")
        return field.type, Number(name.position, field.offset, SIZE_T)

    def element_offset(self, kind: Type) -> tuple[Type, Expression]:
        """The type of an array's elements, and the bytes before one."""
        position = self.position
        if not isinstance(kind, Array):
            raise position.error(f"{kind} is no array, so its parts have no offset")
        index = self.expression()
        self.expect("]")
        known = type_of(index, self.types_of_names)
        if isinstance(known, Scalar) and known.is_float:
            raise position.error(f"a subscript must be an integer, not {known}")
        return kind.element, Binary(
            position, "*", Cast(position, SIZE_T, index), Number(position, kind.element.size, SIZE_T)
        )

    def statement_expression(self) -> Expression:
        position = self.position
        return StatementExpression(position, self.block())

    def text(self, token: Token) -> Text:
        pieces = [read_string(token)]
        while self.current.kind == "string":
            pieces.append(read_string(self.take()))
        return Text(token.position, "".join(pieces))

    def call(self, position: Position, name: str) -> Call:
        self.expect("(")
        arguments: list[Expression] = []
        while not self.accept(")"):
            if arguments:
                self.expect(",")
            if name in _TYPE_TAKING and arguments:
                arguments.append(TypeArgument(self.position, self.type_name()))
            else:
                arguments.append(self.assignment())
        return Call(position, name, tuple(arguments), self.functions.get(name, ()))

    def postfix(self, expression: Expression) -> Expression:
        while True:
            token = self.current
            if token.kind != "operator":
                return expression
            if token.text == "(" and isinstance(expression, Name):  # (f)(x)
                check_has_overloads(expression, self.functions.get(expression.name, ()))
                expression = self.call(expression.position, expression.name)
            elif token.text == "[":
                self.take()
                index = self.expression()
                self.expect("]")
                expression = Index(token.position, expression, index)
            elif token.text in (".", "->"):
                self.take()
                name = self.identifier("a member's name")
                expression = Member(token.position, expression, name.text, token.text == "->")
            elif token.text in ("++", "--"):
                self.take()
                expression = Postfix(token.position, token.text, expression)
            else:
                return expression

    def initializer(self) -> Expression:
        """An assignment expression or a braced list."""
        if self.current.text != "{":
            return self.assignment()
        position = self.take().position
        items: list[tuple[Designators, Expression]] = []
        while not self.accept("}"):
            if items:
                self.expect(",")
                if self.accept("}"):
                    break
            items.append(self.designated())
        return InitList(position, tuple(items))

    def designated(self) -> tuple[Designators, Expression]:
        """One item of a braced list, with what it is for."""
        raise NotImplementedError
