"""Program and statement parser of OpenCL C."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from .attributes import Attributes
from .constant import try_constant
from .declarations import DeclarationParser, Declarator, Specifiers
from .lexer import Position
from .preprocess import preprocess
from .stream import describe
from .tree import (
    Assembly,
    Block,
    Break,
    Case,
    Continue,
    Declaration,
    ExpressionStatement,
    Function,
    If,
    InitList,
    Loop,
    Program,
    Return,
    Statement,
    Switch,
    Text,
    Variable,
)
from .types import Array, Scalar, Struct, sized_array


def parse_program(
    source: str,
    file: str = "kernel.cl",
    macros: Mapping[str, str | int] | None = None,
    include: Sequence[Path | str] = (),
) -> Program:
    """The tree of an OpenCL C source; a SourceError names file, line and column of what cannot be read."""
    read = preprocess(source, file, macros, include)
    parser = Parser(read.tokens)
    try:
        return parser.program(read.contract)
    except RecursionError:
        raise parser.position.error("this is nested too deeply") from None


class Parser(DeclarationParser):
    """Adds functions and statements."""

    def program(self, contract: bool | None) -> Program:
        functions: dict[str, Function] = {}
        variables: list[Variable] = []
        while self.current.kind != "end":
            if self.accept(";"):
                continue
            spec = self.specifiers()
            if self.accept(";"):
                continue
            first = self.declarator(spec)
            if self.current.text == "(" and not spec.is_typedef:
                function = self.function(spec, first)
                if function is not None:
                    functions[function.name] = function
                continue
            variables += self.variables(spec, first)
        return Program(functions, tuple(variables), contract)

    def function(self, spec: Specifiers, head: Declarator) -> Function | None:
        if not head.name:
            raise head.position.error(f"expected a function's name, found {describe(self.current)}")
        self.expect("(")
        parameters = self.parameters()
        attributes = Attributes(work_group=spec.attributes.work_group, sub_group=spec.attributes.sub_group)
        self.attributes(attributes)
        if self.accept(";"):
            return None
        if self.current.text != "{":
            raise self.position.error(f"expected the body of {head.name}, found {describe(self.current)}")
        outer = dict(self.constants)
        for each in parameters:
            self.constants.pop(each.name, None)
        body = self.block()
        self.constants = outer
        required = attributes.work_group, attributes.sub_group
        return Function(head.position, head.name, head.type, parameters, spec.is_kernel, body, *required)

    def variables(self, spec: Specifiers, first: Declarator | None = None) -> list[Variable]:
        """The declarators of one declaration up to its semicolon; typedefs go into the table of types."""
        out: list[Variable] = []
        each = first or self.declarator(spec)
        while True:
            if not each.name:
                raise each.position.error(f"expected a name, found {describe(self.current)}")
            if spec.is_typedef:
                self.types[each.name] = each.type
            else:
                out.append(self.variable(each))
            if not self.accept(","):
                break
            each = self.declarator(spec)
        self.expect(";")
        return out

    def variable(self, head: Declarator) -> Variable:
        initial = self.initializer() if self.accept("=") else None
        kind = head.type
        if isinstance(kind, Array) and kind.length == 0:
            if isinstance(initial, Text):
                kind = sized_array(kind.element, len(initial.text) + 1, head.position)
            elif isinstance(initial, InitList):
                kind = sized_array(kind.element, self.length_of(initial), head.position)
            else:
                raise head.position.error(f"array {head.name} has no length")
        if isinstance(kind, Struct) and kind.identity < 0:
            raise head.position.error(f"{kind} is not defined")
        self.constants.pop(head.name, None)
        self.types.pop(head.name, None)
        if head.constant and isinstance(kind, Scalar) and not kind.is_float and initial is not None:
            value = try_constant(initial, self.constants)
            if isinstance(value, int):
                self.constants[head.name] = value
        return Variable(head.position, head.name, kind, head.space, initial, head.constant)

    def length_of(self, items: InitList) -> int:
        at = longest = 0
        for designator, _ in items.items:
            at = (designator if isinstance(designator, int) else at) + 1
            longest = max(longest, at)
        return longest

    def designator(self) -> str | int | None:
        """`.name =` or `[3] =` inside braces."""
        if self.current.text == ".":
            self.take()
            name = self.identifier("a member's name").text
            self.expect("=")
            return name
        if self.current.text == "[":
            self.take()
            index = self.integer(self.conditional())
            self.expect("]")
            self.expect("=")
            return index
        return None

    def block(self) -> Block:
        position = self.expect("{").position
        types, constants = dict(self.types), dict(self.constants)
        statements: list[Statement] = []
        while not self.accept("}"):
            if self.current.kind == "end":
                raise position.error("this brace is not closed")
            statements.append(self.statement())
        self.types, self.constants = types, constants
        return Block(position, tuple(statements))

    def statement(self) -> Statement:
        token = self.current
        position = token.position
        if token.kind == "name":
            read = getattr(self, f"{token.text}_statement", None) if token.text in _KEYWORDS else None
            if read is not None:
                self.take()
                statement: Statement = read(position)
                return statement
            self.refuse(token.text, position)
        if token.text == "{":
            return self.block()
        if self.accept(";"):
            return Block(position, ())
        if token.text == "__attribute__" and not self.starts_declaration():
            self.attributes(Attributes())
            return self.statement()
        if token.text in ("asm", "__asm__", "__asm"):
            return self.assembly(position)
        if self.starts_type():
            spec = self.specifiers()
            if self.accept(";"):
                return Block(position, ())
            return Declaration(position, tuple(self.variables(spec)))
        expression = self.expression()
        self.expect(";")
        return ExpressionStatement(expression.position, expression)

    def assembly(self, position: Position) -> Assembly:
        while self.current.text != ";" and self.current.kind != "end":
            self.take()
        self.expect(";")
        return Assembly(position)

    def starts_declaration(self) -> bool:
        """After an attribute: does a declaration follow, or a statement?"""
        at, depth = 1, 0
        while True:
            text = self.ahead(at).text
            if self.ahead(at).kind == "end":
                raise self.position.error("this attribute's parentheses are not closed")
            depth += {"(": 1, ")": -1}.get(text, 0)
            at += 1
            if depth == 0:
                return self.starts_type(at)

    def refuse(self, word: str, position: Position) -> None:
        if word == "goto":
            raise position.error("goto is not supported: lanes that jump have no common place to meet again")
        if word in ("case", "default"):
            raise position.error(f"{word} stands outside the braces of its switch")
        if self.ahead().text == ":" and word not in self.types:
            raise position.error("labels are not supported")

    def if_statement(self, position: Position) -> If:
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        then = self.statement()
        otherwise = self.statement() if self.accept("else") else None
        return If(position, condition, then, otherwise)

    def for_statement(self, position: Position) -> Loop:
        self.expect("(")
        constants, types = dict(self.constants), dict(self.types)
        initial: Statement | None = None
        if self.starts_type():
            initial = Declaration(self.position, tuple(self.variables(self.specifiers())))
        elif not self.accept(";"):
            expression = self.expression()
            initial = ExpressionStatement(expression.position, expression)
            self.expect(";")
        condition = None if self.current.text == ";" else self.expression()
        self.expect(";")
        step = None if self.current.text == ")" else self.expression()
        self.expect(")")
        body = self.statement()
        self.constants, self.types = constants, types
        return Loop(position, initial, condition, step, body)

    def while_statement(self, position: Position) -> Loop:
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        return Loop(position, None, condition, None, self.statement())

    def do_statement(self, position: Position) -> Loop:
        body = self.statement()
        self.expect("while")
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        self.expect(";")
        return Loop(position, None, condition, None, body, test_first=False)

    def return_statement(self, position: Position) -> Return:
        value = None if self.current.text == ";" else self.expression()
        self.expect(";")
        return Return(position, value)

    def break_statement(self, position: Position) -> Break:
        self.expect(";")
        return Break(position)

    def continue_statement(self, position: Position) -> Continue:
        self.expect(";")
        return Continue(position)

    def switch_statement(self, position: Position) -> Switch:
        self.expect("(")
        subject = self.expression()
        self.expect(")")
        self.expect("{")
        cases: list[tuple[Position, int | None, list[Statement]]] = []
        while not self.accept("}"):
            here = self.position
            if self.accept("case"):
                value = self.integer(self.conditional())
                if any(known == value for _, known, _ in cases):
                    raise here.error(f"there are two cases for {value}")
                cases.append((here, value, []))
                self.expect(":")
            elif self.accept("default"):
                if any(known is None for _, known, _ in cases):
                    raise here.error("there are two defaults")
                cases.append((here, None, []))
                self.expect(":")
            elif cases:
                cases[-1][2].append(self.statement())
            else:
                raise here.error("a statement before the first case is never reached")
        return Switch(position, subject, tuple(Case(at, value, tuple(body)) for at, value, body in cases))


_KEYWORDS = {"if", "for", "while", "do", "return", "break", "continue", "switch"}
