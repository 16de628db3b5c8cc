"""Parser of inline assembly, as GCC and Clang take it: a text, outputs, inputs, and what else it changes."""

from ....errors import SourceError
from .lexer import Position
from .literals import read_string
from .tree import Assembly, AssemblyOperand
from .variables import VariableParser

_QUALIFIERS = ("volatile", "__volatile__", "__volatile", "inline", "goto")
UNREADABLE = "?"  # the text of assembly in a form that is not read


class AssemblyParser(VariableParser):
    """Adds inline assembly."""

    def assembly(self, position: Position) -> Assembly:
        """A statement of assembly. A form that is not read here is no mistake where nobody executes it: it is read over."""
        begin = self.at
        try:
            return self._assembly(position)
        except SourceError:
            self.at = begin
        while self.current.text != ";" and self.current.kind != "end":
            self.take()
        self.expect(";")
        return Assembly(position, UNREADABLE, (), ())

    def _assembly(self, position: Position) -> Assembly:
        self.take()
        while self.current.text in _QUALIFIERS:
            self.take()
        self.expect("(")
        template = self._text()
        lists = [self._operands() if self.accept(":") else () for _ in range(2)]
        while self.accept(":") or self.accept(",") or self.current.kind == "string":
            if self.current.kind == "string":
                self.take()  # a clobber
        self.expect(")")
        self.expect(";")
        return Assembly(position, template, lists[0], lists[1])

    def _text(self) -> str:
        if self.current.kind != "string":
            raise self.position.error("expected the text of an assembly")
        pieces = []
        while self.current.kind == "string":
            pieces.append(read_string(self.take()))
        return "".join(pieces)

    def _operands(self) -> tuple[AssemblyOperand, ...]:
        found = []
        while self.current.text == "[" or self.current.kind == "string":
            position, name = self.position, ""
            if self.accept("["):
                name = self.take().text
                self.expect("]")
            self._text()  # the constraint, which no known instruction needs
            self.expect("(")
            found.append(AssemblyOperand(position, name, self.expression()))
            self.expect(")")
            if not self.accept(","):
                break
        return tuple(found)
