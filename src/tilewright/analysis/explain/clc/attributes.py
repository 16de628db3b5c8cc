"""Attributes (`__attribute__((...))`), and the constant integers that they and array lengths take."""

from dataclasses import dataclass

from .constant import constant_integer
from .expressions import ExpressionParser
from .refused import LONG_LONG, OTHER_TYPE, VARIABLE_LENGTH
from .tree import Expression, Name, Number
from .typed_constants import NotConstant
from .walk import has_wide_constant

QCOM_SUB_GROUPS = {"half": 64, "full": 128}  # Adreno GPUs; cl_qcom_reqd_sub_group_size names no numbers
_OTHER_TYPES = ("vector_size", "mode")
_WITH_NUMBERS = ("aligned", "reqd_work_group_size", "intel_reqd_sub_group_size", "ext_vector_type")


@dataclass
class Attributes:
    aligned: int = 0
    packed: bool = False
    work_group: tuple[int, ...] | None = None
    sub_group: int = 0  # the work-items of a sub-group that the kernel requires
    vector: int = 0
    overloadable: bool = False


class AttributeParser(ExpressionParser):
    """Adds attributes to the expressions."""

    def integer(self, expression: Expression) -> int:
        return int(self.typed_integer(expression).value)

    def typed_integer(self, expression: Expression) -> Number:
        try:
            return constant_integer(expression, self.constants)
        except NotConstant:
            if has_wide_constant(expression):
                raise expression.position.error(LONG_LONG) from None
            unknown = self.unknown_name(expression)
            if unknown is None:
                raise expression.position.error(VARIABLE_LENGTH) from None
            raise unknown.position.error(
                f"{unknown.name!r} is not declared; if the host program defines this macro, give it by -D {unknown.name}=..."
            ) from None

    def unknown_name(self, node: object) -> Name | None:
        """The first name in an expression that is no variable: most likely a macro that was not given."""
        if isinstance(node, Name):
            return None if node.name in self.variable_names or node.name in self.constants else node
        parts = vars(node).values() if isinstance(node, Expression) else node if isinstance(node, tuple) else ()
        return next((found for found in map(self.unknown_name, parts) if found is not None), None)

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
        if name in _OTHER_TYPES:
            raise self.position.error(OTHER_TYPE)
        values: list[int] = []
        words: list[str] = []
        known = name in _WITH_NUMBERS
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
        elif name == "overloadable":
            into.overloadable = True
        elif name == "reqd_work_group_size":
            into.work_group = tuple(values)
        elif name == "intel_reqd_sub_group_size":
            into.sub_group = values[0]
        elif name == "qcom_reqd_sub_group_size":
            into.sub_group = QCOM_SUB_GROUPS.get(words[0] if words else "", 0)
        elif name == "ext_vector_type":
            into.vector = values[0]
