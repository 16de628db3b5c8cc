"""Declaration parser: specifiers, attributes, declarators, structs, enums."""

from dataclasses import dataclass, field

from .attributes import QCOM_SUB_GROUPS, Attributes
from .constant import NotConstant, constant_integer
from .expressions import ExpressionParser
from .lexer import Position, Token
from .stream import QUALIFIERS, SPACES, describe
from .tree import Expression, Parameter
from .types import (
    INT,
    LONG,
    REFUSED,
    SHORT,
    UINT,
    UNSIGNED_OF,
    WIDTHS,
    Array,
    Pointer,
    Scalar,
    Space,
    Struct,
    Type,
    Vector,
    sized_array,
    struct_of,
    with_alignment,
)


@dataclass
class Specifiers:
    """What stands before the declarators."""

    type: Type | None = None
    space: Space | None = None
    constant: bool = False
    is_kernel: bool = False
    is_typedef: bool = False
    is_long: bool = False
    sign: str = ""
    attributes: Attributes = field(default_factory=Attributes)


@dataclass
class Declarator:
    name: str
    type: Type
    space: Space | None
    constant: bool
    position: Position


class DeclarationParser(ExpressionParser):
    """Adds the reading of types and declarations to the expressions."""

    def integer(self, expression: Expression) -> int:
        try:
            return constant_integer(expression, self.constants)
        except NotConstant:
            raise expression.position.error(
                "a constant is needed here: OpenCL C has no variable-length arrays"
            ) from None

    def attributes(self, into: Attributes) -> None:
        while self.current.text in ("__attribute__", "__attribute"):
            self.take()
            self.expect("(")
            self.expect("(")
            while not self.accept(")"):
                if not self.accept(","):
                    self.attribute(into)
            self.expect(")")

    def attribute(self, into: Attributes) -> None:
        name = self.identifier("an attribute's name").text.strip("_")
        values: list[int] = []
        known = name in ("aligned", "reqd_work_group_size", "ext_vector_type", "intel_reqd_sub_group_size")
        words: list[str] = []
        if self.accept("("):
            depth = 1
            while depth:
                if known and self.current.text not in (",", ")"):
                    values.append(self.integer(self.assignment()))
                    continue
                text = self.take().text
                words.append(text.strip('"'))
                depth += {"(": 1, ")": -1, "": -depth}.get(text, 0)
        if known and name != "aligned" and not values:
            raise self.position.error(f"attribute {name} needs a number")
        if name == "aligned":
            into.aligned = values[0] if values else 16
        elif name == "packed":
            into.packed = True
        elif name == "reqd_work_group_size":
            into.work_group = tuple(values)
        elif name == "ext_vector_type":
            into.vector = values[0]
        elif name == "intel_reqd_sub_group_size":
            into.sub_group = values[0]
        elif name == "qcom_reqd_sub_group_size":
            into.sub_group = QCOM_SUB_GROUPS.get(words[0] if words else "", 0)

    def specifiers(self) -> Specifiers:
        spec = Specifiers()
        start = self.current
        while self.specifier(spec):
            pass
        if spec.sign:
            base = spec.type or INT
            if not isinstance(base, Scalar) or base.is_float:
                raise start.position.error(f"{spec.sign} {base} is not a type")
            spec.type = UNSIGNED_OF.get(base, base) if spec.sign == "unsigned" else base
        if spec.type is None:
            raise self.no_type(start if self.at == 0 else self.current)
        spec.type = self.with_attributes(spec.type, spec.attributes, spec.is_typedef)
        return spec

    def no_type(self, token: Token) -> Exception:
        if token.text in REFUSED:
            return token.position.error(f"{token.text}: pipes, queues and multisampled images cannot be interpreted")
        if token.text in ("asm", "__asm__", "__asm"):
            return token.position.error("inline assembly cannot be interpreted")
        return token.position.error(f"expected a type, found {describe(token)}")

    def with_attributes(self, kind: Type, attributes: Attributes, is_typedef: bool) -> Type:
        if attributes.vector and isinstance(kind, Scalar):
            if attributes.vector not in WIDTHS:
                raise self.position.error(
                    f"vectors of {attributes.vector} elements are not supported, only 2, 3, 4, 8, 16"
                )
            kind = Vector(kind, attributes.vector)
            attributes.vector = 0
        if attributes.aligned and is_typedef:
            kind = with_alignment(kind, attributes.aligned)
        return kind

    def specifier(self, spec: Specifiers) -> bool:
        """Takes one specifier if there is one."""
        token = self.current
        text = token.text
        if token.kind != "name":
            return False
        if text in ("__attribute__", "__attribute"):
            self.attributes(spec.attributes)
        elif text.removeprefix("__") in SPACES:
            spec.space = Space[text.removeprefix("__").upper()]
            self.take()
        elif text in ("unsigned", "signed", "__signed__"):
            spec.sign = text.strip("_")
            self.take()
        elif text in QUALIFIERS:
            spec.is_kernel = spec.is_kernel or text in ("__kernel", "kernel")
            spec.constant = spec.constant or text in ("const", "__const")
            self.take()
        elif text == "typedef":
            spec.is_typedef = True
            self.take()
        elif text == "enum":
            spec.type = self.enumeration()
        elif text in ("struct", "union"):
            spec.type = self.structure()
        elif text in self.types and spec.type is None:
            spec.type = self.types[text]
            self.take()
        elif text == "int" and spec.type in (SHORT, LONG) and not spec.is_long:
            spec.is_long = True  # long int, short int: the second word says nothing new
            self.take()
        else:
            return False
        return True

    def enumeration(self) -> Type:
        self.take()
        if self.current.kind == "name":
            self.take()
        if self.accept("{"):
            value = 0
            while not self.accept("}"):
                name = self.identifier("an enumerator").text
                if self.accept("="):
                    value = self.integer(self.conditional())
                self.enumerators[name] = self.constants[name] = value
                value += 1
                if self.current.text != "}":
                    self.expect(",")
        return UINT

    def structure(self) -> Type:
        keyword = self.take()
        attributes = Attributes()
        self.attributes(attributes)
        tag = self.take().text if self.current.kind == "name" else ""
        if not self.accept("{"):
            known = self.types.get(f"{keyword.text} {tag}")
            return known or self.forward(keyword.text, tag)
        members: list[tuple[str, Type]] = []
        while not self.accept("}"):
            spec = self.specifiers()
            while True:
                each = self.declarator(spec)
                if self.current.text == ":":
                    raise self.position.error("bit-fields are not supported")
                if not each.name:
                    raise each.position.error("members without a name are not supported")
                members.append((each.name, each.type))
                if not self.accept(","):
                    break
            self.expect(";")
        self.attributes(attributes)
        self.struct_count += 1
        union = keyword.text == "union"
        kind = struct_of(tag, members, attributes.packed, union, self.struct_count, attributes.aligned or 1)
        if tag:
            self.types[f"{keyword.text} {tag}"] = kind
        return kind

    def forward(self, keyword: str, tag: str) -> Type:
        if not tag:
            raise self.position.error(f"expected the name or the body of a {keyword}")
        return Struct(tag, identity=-1)

    def type_name(self) -> Type:
        return self.declarator(self.specifiers()).type

    def declarator(self, spec: Specifiers) -> Declarator:
        assert spec.type is not None
        kind, space, constant = spec.type, spec.space, spec.constant
        while self.accept("*"):
            kind, space, constant = Pointer(kind, space or Space.PRIVATE, constant), None, False
            while self.current.text in QUALIFIERS or self.current.text.removeprefix("__") in SPACES:
                text = self.take().text
                constant = constant or text == "const"
                if text.removeprefix("__") in SPACES:
                    space = Space[text.removeprefix("__").upper()]
        position = self.position
        if self.current.text == "(" and self.ahead().text == "*":
            return self.pointer_to_array(kind, space, constant)
        named = self.current.kind == "name" and not self.starts_type()
        name = self.identifier("a name").text if named else ""
        kind = self.array_of(kind)
        attributes = Attributes()
        self.attributes(attributes)
        aligned = attributes.aligned or (0 if spec.is_typedef else spec.attributes.aligned)
        if aligned and spec.is_typedef:
            kind = with_alignment(kind, aligned)
        return Declarator(name, self.with_attributes(kind, attributes, False), space, constant, position)

    def pointer_to_array(self, kind: Type, space: Space | None, constant: bool) -> Declarator:
        """`float (*name)[16]`."""
        self.expect("(")
        self.expect("*")
        while self.current.text in QUALIFIERS:
            self.take()
        name = self.identifier("a name")
        self.expect(")")
        if self.current.text != "[":
            raise name.position.error("function pointers do not exist in OpenCL C")
        return Declarator(
            name.text, Pointer(self.array_of(kind), space or Space.PRIVATE, constant), None, False, name.position
        )

    def array_of(self, kind: Type) -> Type:
        """Array suffixes; a missing first length reads as 0 and is filled in by the initialiser."""
        lengths: list[int] = []
        while self.current.text == "[":
            position = self.take().position
            length = 0 if self.current.text == "]" else self.integer(self.expression())
            if length < 0 or (length == 0 and lengths):
                raise position.error(f"an array cannot have {length} elements")
            lengths.append(length)
            self.expect("]")
        for length in reversed(lengths):
            kind = sized_array(kind, length, self.position)
        return kind

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of a function, after the opening parenthesis."""
        out: list[Parameter] = []
        while not self.accept(")"):
            if out:
                self.expect(",")
            if self.current.text == "void" and self.ahead().text == ")":
                self.take()
                continue
            if self.current.text in REFUSED:
                raise self.no_type(self.current)
            each = self.declarator_of_parameter()
            out.append(each)
        return tuple(out)

    def declarator_of_parameter(self) -> Parameter:
        spec = self.specifiers()
        each = self.declarator(spec)
        kind, constant = each.type, each.constant
        if isinstance(kind, Array):
            kind, constant = Pointer(kind.element, each.space or Space.PRIVATE, each.constant), False
        return Parameter(each.position, each.name, kind, constant)
