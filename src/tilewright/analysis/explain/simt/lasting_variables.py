"""Compiles variables that are there before the kernel starts: at program scope, static, or in constant memory."""

import numpy as np

from ..clc.image_types import SAMPLER
from ..clc.tree import Assign, Call, Expression, Name, Number, Postfix, StatementExpression, Variable
from ..clc.types import Field, Scalar, Space, Struct
from ..clc.walk import nodes_of
from .compiled_code import Frame, Memory
from .initialisers import InitialiserCompiler, Item
from .masks import Mask
from .segment_table import check_room

_CONSTANT_CALLS = ("nan", "__builtin_", "as_", "convert_")  # what NAN and INFINITY are, and changes of types


class LastingCompiler(InitialiserCompiler):
    """Adds variables that last as long as the launch."""

    def program_variable(self, variable: Variable) -> None:
        """A variable at program scope. Its name means the same everywhere, whoever needs it first."""
        compiling, self.compiling = self.compiling, []
        try:
            self.globals[variable.name] = self.lasting(variable)
        finally:
            self.compiling = compiling

    def lasting(self, variable: Variable) -> Memory:
        """Constant or global memory that is there before the kernel starts, with its contents, zeros if none are given."""
        kind = self.resolved(variable.type)
        space = self.lasting_space(variable)
        check_room(variable.name, space, kind.size, 1, variable.position)
        self.check_known_before(variable.initial)
        items = [] if variable.initial is None else self.flatten(kind, variable.initial)
        data = np.zeros(kind.size, np.uint8)
        everyone = Mask(np.ones(self.machine.lanes, bool))
        with self.machine.unrecorded():
            for item in items:
                raw = self.initial_bytes(item, everyone)
                own = item.view(data, 1, raw.dtype, raw.size)
                own[:] = raw if item.field is None else (own & ~mask_bytes(item.field)) | raw
        writable = space is Space.GLOBAL and not variable.constant
        segment = self.machine.memory.buffer(variable.name, data, space, writable=writable)
        address = segment.address
        seen = Space.PRIVATE if kind == SAMPLER else space  # a sampler is no access to memory
        return Memory(kind, lambda frame, mask: address, seen, not writable, variable.volatile)

    def check_known_before(self, initial: Expression | None) -> None:
        """The initialiser of a lasting variable has its value before any work-item runs."""
        for node in nodes_of(initial):
            called = isinstance(node, Call) and not node.name.startswith(_CONSTANT_CALLS)
            if called or isinstance(node, StatementExpression | Assign | Postfix):
                raise node.position.error("a constant is needed here: this has no value before the kernel starts")
            symbol = self.find(node.name, node.position) if isinstance(node, Name) else None
            if symbol is not None and (not isinstance(symbol, Memory) or symbol.space is Space.PRIVATE):
                assert isinstance(node, Name)
                raise node.position.error(
                    f"a constant is needed here: {node.name!r} has no value before the kernel starts"
                )

    def lasting_space(self, variable: Variable) -> Space:
        """OpenCL C 2.0: global unless it says something else. Older versions allow constant only, and const means that here."""
        return variable.space or (Space.CONSTANT if variable.constant else Space.GLOBAL)

    def initial_bytes(self, item: Item, everyone: Mask) -> "np.typing.NDArray[np.uint8]":
        """The bytes of one value. Those of a bit-field have its bits only."""
        expression, kind = item.expression, item.type
        if isinstance(expression, Number) and isinstance(kind, Scalar):
            value = expression.type.dtype.type(expression.value).astype(kind.dtype)
        elif isinstance(kind, Struct):
            value = self.value(expression).run(Frame(0), everyone)
        else:
            value = self.initial_value(expression, kind).run(Frame(0), everyone)
        if item.field is not None:
            assert item.field.container is not None
            low = np.asarray(value).astype(np.uint64) & np.uint64((1 << item.field.bits) - 1)
            value = (low << np.uint64(item.field.shift)).astype(item.field.container.dtype)
        return (
            np.ascontiguousarray(np.asarray(value)).view(np.uint8).ravel()[: kind.size if item.field is None else None]
        )


def mask_bytes(field: Field) -> "np.typing.NDArray[np.uint8]":
    """The bits of a bit-field, in the bytes of its container."""
    assert field.container is not None
    bits = ((1 << field.bits) - 1) << field.shift
    return np.frombuffer(bits.to_bytes(field.container.size, "little"), np.uint8)
