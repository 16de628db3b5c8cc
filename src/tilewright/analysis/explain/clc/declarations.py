"""Declaration parser: specifiers, attributes, declarators, structs, enums."""

from dataclasses import dataclass, field

from .attributes import Attributes
from .enumerations import EnumerationParser
from .layout import Member, check_members, lay_out
from .lexer import Position, Token
from .placed import check_member, check_parameter, check_result, one_space
from .refused import FUNCTION_POINTER, LONG_LONG, PACKED_BITS, REFUSED_WORDS
from .scopes import check_parameters
from .stream import FUNCTION, QUALIFIERS, SPACE_WORDS, TYPE_OF, describe
from .tree import Heading, Parameter, TypeOf
from .types import (
    INT,
    LONG,
    SHORT,
    UNSIGNED_OF,
    WIDTHS,
    Array,
    Layout,
    Pointer,
    Scalar,
    Space,
    Struct,
    Type,
    Vector,
    sized_array,
    volatiles,
    with_alignment,
)

_VOLATILE = {"volatile", "__volatile", "__volatile__"}
_IN_BRACKETS = QUALIFIERS & {
    "static", "const", "__const", "__const__", "volatile", "__volatile", "__volatile__", "restrict", "__restrict", "__restrict__",
}  # fmt: skip


@dataclass
class Specifiers:
    """What stands before the declarators."""

    type: Type | None = None
    space: Space | None = None
    constant: bool = False
    volatile: bool = False
    is_kernel: bool = False
    is_typedef: bool = False
    is_static: bool = False
    is_extern: bool = False
    is_long: bool = False  # the second word of `long int`
    sign: str = ""
    attributes: Attributes = field(default_factory=Attributes)


@dataclass
class Declarator:
    name: str
    type: Type
    space: Space | None
    constant: bool
    position: Position
    aligned: int = 0
    packed: bool = False
    overloadable: bool = False
    volatile: bool = False


def are_same(parameters: tuple[Type, ...], others: tuple[Type, ...]) -> bool:
    """Whether they are those of one function."""
    return parameters == others and [*map(volatiles, parameters)] == [*map(volatiles, others)]


class DeclarationParser(EnumerationParser):
    """Adds the reading of types and declarations to the expressions."""

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
        if token.text in REFUSED_WORDS:
            return token.position.error(f"{token.text}: {REFUSED_WORDS[token.text]}")
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
        elif text in SPACE_WORDS:
            spec.space = one_space(spec.space, Space[SPACE_WORDS[text].upper()], self.take().position)
        elif text in ("unsigned", "signed", "__signed__"):
            spec.sign = text.strip("_")
            self.take()
        elif text in QUALIFIERS:
            self.qualifier(spec)
        elif text == "typedef":
            spec.is_typedef = True
            self.take()
        elif text in TYPE_OF and spec.type is None and self.ahead().text == "(":
            spec.type = self.type_of()
        elif self.is_generic():
            self.take()
        elif text == "enum":
            spec.type = self.enumeration()
        elif text in ("struct", "union"):
            spec.type = self.structure()
        elif text in self.types and spec.type is None:
            self.named_type(spec)
        elif text == "int" and spec.type in (SHORT, LONG) and not spec.is_long:
            spec.is_long = True  # long int, short int: the second word says nothing new
            self.take()
        elif text == "long" and spec.type == LONG:
            raise token.position.error(LONG_LONG)
        else:
            return False
        return True

    def named_type(self, spec: Specifiers) -> None:
        """A built-in type, or a typedef with its qualifiers."""
        token = self.take()
        spec.type = self.types[token.text]
        known = self.qualified.get(token.text)
        if known is not None:
            spec.constant = spec.constant or known.constant
            spec.space = spec.space if known.space is None else one_space(spec.space, known.space, token.position)

    def qualifier(self, spec: Specifiers) -> None:
        text = self.take().text
        spec.is_kernel = spec.is_kernel or text in ("__kernel", "kernel")
        spec.constant = spec.constant or text in ("const", "__const", "__const__")
        spec.volatile = spec.volatile or text in _VOLATILE
        spec.is_static = spec.is_static or text == "static"
        spec.is_extern = spec.is_extern or text == "extern"

    def type_of(self) -> Type:
        """`typeof(type)` or `typeof(expression)`."""
        self.take()
        self.expect("(")
        kind = self.type_name() if self.starts_type() else TypeOf(self.expression())
        self.expect(")")
        return kind

    def structure(self) -> Type:
        keyword = self.take()
        attributes = Attributes()
        self.attributes(attributes)
        tag = self.take().text if self.current.kind == "name" else ""
        if self.current.text not in ("{", "{...}"):
            known = None if self.current.text == ";" else self.types.get(f"{keyword.text} {tag}")
            return known or self.declared_struct(keyword, tag)
        kind = self.declared_struct(keyword, tag)
        self.expect("{")
        members: list[Member] = []
        while not self.accept("}"):
            if not self.static_assertion():
                members += self.members()
        check_members(members)
        self.attributes(attributes)
        if any(each.bits is not None and (attributes.packed or each.packed) for each in members):
            raise keyword.position.error(PACKED_BITS)
        if kind.is_complete:  # inside its own braces
            raise keyword.position.error(f"there are two definitions of {keyword.text} {tag}")
        lay_out(kind.layout, members, attributes.packed, kind.union, keyword.position, attributes.aligned or 1)
        return kind

    def declared_struct(self, keyword: Token, tag: str) -> Struct:
        """The struct that has this tag in this scope, or a new one. It has no size up to the end of its braces."""
        union, defined = keyword.text == "union", self.current.text in ("{", "{...}")
        if not tag and not defined:
            raise self.position.error(f"expected the name or the body of a {keyword.text}")
        known = self.tags.get(tag)
        if isinstance(known, Struct) and known.union == union and not (known.is_complete and defined):
            return known
        if tag in self.tags:
            raise keyword.position.error(f"there are two definitions of {keyword.text} {tag}")
        kind = Struct(tag, Layout(), next(self.struct_ids), union)
        if tag:
            self.tags[tag] = self.types[f"{keyword.text} {tag}"] = kind
        return kind

    def members(self) -> list[Member]:
        """One declaration inside a struct's braces."""
        out: list[Member] = []
        spec = self.specifiers()
        while True:
            each = self.declarator(spec)
            check_member(each.name, each.space, each.position)
            bits = self.bits(each) if self.accept(":") else None
            anonymous = isinstance(each.type, Struct) and not each.type.tag
            if not each.name and bits is None and not anonymous:
                raise each.position.error("a member without a name must be a struct or union without one")
            out.append(Member(each.name, each.type, each.aligned, bits, each.position, each.packed, each.volatile))
            if not self.accept(","):
                break
        self.expect(";")
        return out

    def bits(self, member: Declarator) -> int:
        """The width of a bit-field, after the colon."""
        bits = self.integer(self.conditional())
        kind = member.type
        if not isinstance(kind, Scalar) or kind.is_float:
            raise member.position.error(f"a bit-field must be an integer, not {kind}")
        if not 0 <= bits <= 8 * kind.size or (bits == 0 and member.name):
            raise member.position.error(f"a bit-field of {kind} has 1 to {8 * kind.size} bits, not {bits}")
        return bits

    def static_assertion(self) -> bool:
        raise NotImplementedError

    def type_name(self) -> Type:
        return self.declarator(self.specifiers()).type

    def specified_type(self) -> Type:
        kind = self.specifiers().type
        assert kind is not None
        return kind

    def declarator(self, spec: Specifiers, in_brackets: set[str] | None = None) -> Declarator:
        """`in_brackets` takes the qualifiers in the first brackets of a parameter."""
        assert spec.type is not None
        kind, space, constant, volatile = spec.type, spec.space, spec.constant, spec.volatile
        attributes = Attributes()
        while self.accept("*"):
            kind = Pointer(kind, space or Space.PRIVATE, constant, volatile=volatile)
            space, constant, volatile = None, False, False
            while self.current.text in QUALIFIERS or self.current.text in SPACE_WORDS or self.is_generic():
                text = self.take().text
                constant, volatile = constant or text == "const", volatile or text in _VOLATILE
                if text in SPACE_WORDS:
                    space = one_space(space, Space[SPACE_WORDS[text].upper()], self.position)
            self.attributes(attributes)
        position = self.position
        if self.current.text == "(" and self.ahead().text == "*":
            return self.pointer_to_array(kind, space, constant, volatile)
        if self.current.text == "(" and self.ahead().text == "^":
            raise position.error(REFUSED_WORDS["^"])
        named = self.current.kind == "name" and (not self.starts_type() or self.is_own_type())
        name = self.identifier("a name").text if named else ""
        kind = self.array_of(kind, in_brackets)
        self.attributes(attributes)
        aligned = attributes.aligned or (0 if spec.is_typedef else spec.attributes.aligned)
        if aligned and spec.is_typedef:
            kind = with_alignment(kind, aligned)
        kind = self.with_attributes(kind, attributes, False)
        packed = attributes.packed or spec.attributes.packed
        overloadable = attributes.overloadable or spec.attributes.overloadable
        return Declarator(name, kind, space, constant, position, aligned, packed, overloadable, volatile)

    def pointer_to_array(self, kind: Type, space: Space | None, constant: bool, volatile: bool) -> Declarator:
        """`float (*name)[16]`; in the name of a type nobody has a name."""
        self.expect("(")
        self.expect("*")
        while self.current.text in QUALIFIERS:
            self.take()
        position = self.position
        name = "" if self.current.text == ")" else self.identifier("a name").text
        self.expect(")")
        if self.current.text != "[":
            raise position.error(FUNCTION_POINTER)
        pointer = Pointer(self.array_of(kind), space or Space.PRIVATE, constant, volatile=volatile)
        return Declarator(name, pointer, None, False, position)

    def array_of(self, kind: Type, in_brackets: set[str] | None = None) -> Type:
        """Array suffixes; a missing first length reads as 0 and is filled in by the initialiser."""
        lengths: list[int] = []
        while self.current.text == "[":
            position = self.take().position
            while self.current.text in _IN_BRACKETS:
                if in_brackets is None or lengths:
                    raise self.position.error(f"{self.current.text} stands in the first brackets of a parameter only")
                in_brackets.add(self.take().text)
            if in_brackets and "static" in in_brackets and self.current.text == "]":
                raise position.error("static needs the length that a parameter has at least")
            length = 0 if self.current.text == "]" else self.integer(self.expression())
            if length < 0 or (length == 0 and lengths):
                raise position.error(f"an array cannot have {length} elements")
            lengths.append(length)
            self.expect("]")
        for length in reversed(lengths):
            kind = sized_array(kind, length, self.position)
        return kind

    def heading(self, head: Declarator, parameters: tuple[Parameter, ...], overloadable: bool) -> Heading:
        """The heading of a function: a new one, unless one of its name has these parameters, or is none of several."""
        check_result(head.name, head.space, head.position)
        known = self.functions.get(head.name, ())
        types = tuple(each.type for each in parameters)
        alone = not any(each.overloadable for each in known) and not overloadable
        same = next((each for each in known if alone or are_same(each.parameters, types)), None)
        if same is not None and not alone:
            return same
        key = f"{head.name}/{len(known)}" if known and not alone else head.name
        made = Heading(key, types, head.type, overloadable)
        self.functions[head.name] = (made,) if alone else (*known, made)
        return made

    def prototype(self, head: Declarator) -> None:
        """A function's declaration, from the opening parenthesis on."""
        self.declare(head.name, FUNCTION, head.position)
        self.expect("(")
        parameters, attributes = self.parameters(), Attributes()
        self.attributes(attributes)
        self.heading(head, parameters, head.overloadable or attributes.overloadable)

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of a function, after the opening parenthesis."""
        out: list[Parameter] = []
        while not self.accept(")"):
            if out:
                self.expect(",")
            if not out and self.current.text == "void" and self.ahead().text == ")":
                self.take()
                continue
            if self.current.text in REFUSED_WORDS:
                raise self.no_type(self.current)
            each = self.declarator_of_parameter()
            out.append(each)
        check_parameters(out)
        return tuple(out)

    def declarator_of_parameter(self) -> Parameter:
        in_brackets = set[str]()
        each = self.declarator(self.specifiers(), in_brackets)
        kind, constant = each.type, each.constant
        if isinstance(kind, Array):
            kind = Pointer(kind.element, each.space or Space.PRIVATE, each.constant, volatile=each.volatile)
            constant = bool(in_brackets & {"const", "__const", "__const__"})
        else:
            check_parameter(each.name, each.space, each.position)
        return Parameter(each.position, each.name, kind, constant)
