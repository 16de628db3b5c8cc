"""Program parser of OpenCL C: functions and variables at program scope."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .attributes import Attributes
from .declarations import Declarator, Specifiers
from .lexer import Token
from .placed import check_kernel_pointer
from .preprocess import Body, preprocess
from .scopes import check_program_scope, check_scopes
from .statements import StatementParser
from .stream import FUNCTION, VARIABLE, describe
from .tree import Block, Function, Parameter, Program, Variable

_NOT_OVERLOADED = "; functions of one name differ by their parameters, and have __attribute__((overloadable))"


def parse_program(
    source: str,
    file: str = "kernel.cl",
    macros: Mapping[str, str | int] | None = None,
    include: Sequence[Path | str] = (),
    standard: str | None = None,
) -> Program:
    """The tree of an OpenCL C source; a SourceError names file, line and column of what cannot be read. `standard` is the
    value of `-cl-std`.

    The file itself is read whole, unless it is longer than LONG_FILE. Functions of included files are read when they are
    needed, so that a mistake in a function that no kernel calls may stay unsaid."""
    read = preprocess(source, file, macros, include, standard)
    parser = Parser(read.tokens)
    try:
        return parser.program(read.contract)
    except RecursionError:
        raise parser.position.error("this is nested too deeply") from None


class Parser(StatementParser):
    """Adds functions and programs."""

    def program(self, contract: bool | None) -> Program:
        functions: dict[str, Function] = {}
        variables: list[Variable] = []
        while self.current.kind != "end":
            if self.accept(";") or self.static_assertion():
                continue
            spec = self.specifiers()
            if self.accept(";"):
                continue
            first = self.declarator(spec)
            if self.current.text == "(" and not spec.is_typedef:
                function = self.function(spec, first)
                if function is not None:
                    if function.key in functions:
                        raise function.position.error(f"there are two functions {function.name!r}{_NOT_OVERLOADED}")
                    functions[function.key] = function
                continue
            variables += self.variables(spec, first)
        check_program_scope(variables)
        return Program(functions, tuple(variables), contract)

    def function(self, spec: Specifiers, head: Declarator) -> Function | None:
        if not head.name:
            raise head.position.error(f"expected a function's name, found {describe(self.current)}")
        self.declare(head.name, FUNCTION, head.position)
        self.expect("(")
        parameters = self.parameters()
        attributes = Attributes(work_group=spec.attributes.work_group, sub_group=spec.attributes.sub_group)
        self.attributes(attributes)
        heading = self.heading(head, parameters, attributes.overloadable or head.overloadable)
        while self.accept(","):  # `int f(int), g(int);`
            self.prototype(self.declarator(spec))
        for each in parameters if spec.is_kernel else ():
            check_kernel_pointer(each)
        if self.accept(";"):
            return None
        return Function(
            head.position, head.name, heading.key, head.type, parameters, spec.is_kernel,
            self.body_of(head.name, parameters, spec.is_kernel), attributes.work_group, attributes.sub_group,
        )  # fmt: skip

    def body_of(self, name: str, parameters: tuple[Parameter, ...], is_kernel: bool) -> Callable[[], Block]:
        """What gives the function's body: at once in the file itself, later in an included one."""
        kept = self.current.body
        if isinstance(kept, Body):
            last = self.take()
            later = Parser([])
            later.types, later.constants = dict(self.types), dict(self.constants)
            later.enumerators, later.variable_types = dict(self.enumerators), dict(self.variable_types)
            later.functions, later.qualified = dict(self.functions), dict(self.qualified)
            later.struct_ids = self.struct_ids
            return lambda: later.read_body(kept, last, name, parameters, is_kernel)
        if self.current.text != "{":
            raise self.position.error(f"expected the body of {name}, found {describe(self.current)}")
        with self.scope():
            block = self.function_block(name, parameters, is_kernel)
        return lambda: block

    def read_body(
        self, kept: Body, last: Token, name: str, parameters: tuple[Parameter, ...], is_kernel: bool
    ) -> Block:
        """The body of a function in an included file."""
        self.tokens = [*kept.tokens(), Token("end", "", last.origin, last.at)]
        try:
            return self.function_block(name, parameters, is_kernel)
        except RecursionError:
            raise self.position.error("this is nested too deeply") from None

    def function_block(self, name: str, parameters: tuple[Parameter, ...], is_kernel: bool) -> Block:
        self.function_name = name
        for each in parameters:
            self.hide(each.name)
            self.declare(each.name, VARIABLE, each.position)
            self.variable_names.add(each.name)
            self.variable_types[each.name] = each.type
        block = self.braces()
        check_scopes(parameters, block, is_kernel)
        return block
