"""Statement parser of OpenCL C."""

from .assembly import AssemblyParser
from .attributes import Attributes
from .lexer import Position
from .refused import REFUSED_WORDS
from .stream import KEYWORDS
from .tree import (
    Block,
    Break,
    Case,
    Continue,
    Declaration,
    Expression,
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
            statements.append(self.case_label() or self.label() or self.statement())
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
            label = self.case_label() or self.label()
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
                return Declaration(position, ())
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
        if token.kind != "name" or self.ahead().text != ":" or token.text in KEYWORDS:
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
        self.switches.append([])
        body = self.statement()
        self.switches.pop()
        return Switch(position, subject, body)

    def case_label(self) -> Case | None:
        """`case 1:`, `case 1 ... 3:` or `default:`, anywhere in the body of a switch."""
        token = self.current
        if token.kind != "name" or token.text not in ("case", "default"):
            return None
        if not self.switches:
            raise token.position.error(f"{token.text} stands in no switch")
        self.take()
        known, values = self.switches[-1], None
        if token.text == "case":
            first = self.integer(self.conditional())
            values = Span(first, self.integer(self.conditional()) if self.accept("...") else first)
        if values in known:
            raise token.position.error(
                f"there are two cases for {values.first}" if values else "there are two defaults"
            )
        known.append(values)
        self.expect(":")
        return Case(token.position, values)

    def statement_expression(self) -> Expression:
        """Its own cases belong to no switch around it."""
        outer, self.switches = self.switches, []
        expression = super().statement_expression()
        self.switches = outer
        return expression


_KEYWORDS = {"if", "for", "while", "do", "return", "break", "continue", "switch", "goto"}
