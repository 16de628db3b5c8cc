"""Statement parser of OpenCL C."""

from .assembly import AssemblyParser
from .attributes import Attributes
from .lexer import Position
from .refused import REFUSED_WORDS
from .tree import (
    Block,
    Break,
    Case,
    Continue,
    Declaration,
    ExpressionStatement,
    Goto,
    If,
    Label,
    Loop,
    Return,
    Span,
    Statement,
    Switch,
)


class StatementParser(AssemblyParser):
    """Adds statements."""

    def block(self) -> Block:
        with self.scope():
            return self.braces()

    def braces(self) -> Block:
        """A block without a scope of its own: a function's parameters share that of its body."""
        position = self.expect("{").position
        statements: list[Statement] = []
        while not self.accept("}"):
            if self.current.kind == "end":
                raise position.error("this brace is not closed")
            statements.append(self.label() or self.statement())
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
            if token.text in ("case", "default"):
                raise position.error(f"{token.text} stands outside the braces of its switch")
            label = self.label()
            if label is not None:
                return Block(position, (label, self.statement()))
            if self.static_assertion():
                return Block(position, ())
        if token.text in ("{", "{...}"):
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
        if token.text in REFUSED_WORDS and self.ahead().kind == "name":
            raise self.no_type(token)
        expression = self.expression()
        self.expect(";")
        return ExpressionStatement(expression.position, expression)

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

    def label(self) -> Label | None:
        """`name:` before a statement."""
        token = self.current
        if token.kind != "name" or self.ahead().text != ":" or token.text in self.types or token.text in _NO_LABELS:
            return None
        self.take()
        self.expect(":")
        self.attributes(Attributes())
        return Label(token.position, token.text)

    def goto_statement(self, position: Position) -> Goto:
        name = self.identifier("a label").text
        self.expect(";")
        return Goto(position, name)

    def if_statement(self, position: Position) -> If:
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        then = self.statement()
        otherwise = self.statement() if self.accept("else") else None
        return If(position, condition, then, otherwise)

    def for_statement(self, position: Position) -> Loop:
        with self.scope():
            return self.for_parts(position)

    def for_parts(self, position: Position) -> Loop:
        self.expect("(")
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
        return Loop(position, initial, condition, step, self.statement())

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
        with self.scope():
            before, cases = self.cases()
        return Switch(position, subject, tuple(before), cases)

    def cases(self) -> tuple[list[Statement], tuple[Case, ...]]:
        """The declarations before the first case, whose initialisers never run; and the cases."""
        before: list[Statement] = []
        cases: list[tuple[Position, Span | None, list[Statement]]] = []
        while not self.accept("}"):
            here = self.position
            if self.accept("case"):
                first = self.integer(self.conditional())
                last = self.integer(self.conditional()) if self.accept("...") else first
                if any(known == Span(first, last) for _, known, _ in cases):
                    raise here.error(f"there are two cases for {first}")
                cases.append((here, Span(first, last), []))
                self.expect(":")
            elif self.accept("default"):
                if any(known is None for _, known, _ in cases):
                    raise here.error("there are two defaults")
                cases.append((here, None, []))
                self.expect(":")
            else:
                statement = self.label() or self.statement()
                if not cases and not isinstance(statement, Declaration) and statement != Block(here, ()):
                    raise here.error("a statement before the first case is never reached")
                (cases[-1][2] if cases else before).append(statement)
        return before, tuple(Case(at, values, tuple(body)) for at, values, body in cases)


_KEYWORDS = {"if", "for", "while", "do", "return", "break", "continue", "switch", "goto"}
_NO_LABELS = {"case", "default"}
