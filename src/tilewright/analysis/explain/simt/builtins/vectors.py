"""vload, vstore (halves too), shuffles, non-temporal accesses: 6.12.7 and 6.12.12."""

import re

import numpy as np

from ...clc.lexer import Position
from ...clc.tree import Call
from ...clc.types import FLOAT, HALF, INT, VOID, Scalar, Vector, vector_of, width_of
from ..arithmetic import offset_of
from ..compiled_code import Code, Frame, Run, Value
from ..context import Context
from ..convert import change, elementwise
from ..masks import Mask
from ..places import memory_access
from ..segments import Access
from .common import Builtin, apply, arguments, constant_argument, pointer_argument
from .conversion import directed

_NAME = re.compile(r"v(load|store)(a?)(_half)?(2|3|4|8|16)?(_rte|_rtz|_rtp|_rtn)?$")


def find_vector_access(name: str) -> Builtin | None:
    """vload4, vstore_half8_rte and so on."""
    match = _NAME.match(name)
    if match is None or (match[3] is None and (match[4] is None or match[2] or match[5])):
        return None
    width = int(match[4] or 1)
    if match[1] == "load":
        return _load(width, bool(match[3]), bool(match[2]))
    return _store(width, bool(match[3]), bool(match[2]), match[5] or "")


def _access(context: Context, element: Scalar, width: int, aligned: bool, position: Position, operation: str) -> Access:
    alignment = element.size * (4 if width == 3 else width) if aligned else element.size
    site = context.machine.memory.site(position, operation, element.size * width, alignment)
    return Access(element.dtype, width, alignment, site)


def _address(offset: Code, pointer: Code, step: int) -> Run:
    move, base = offset_of(offset, step).run, pointer.run
    return lambda frame, mask: base(frame, mask) + move(frame, mask)


def _pointee(code: Code, call: Call, half: bool) -> Scalar:
    target = pointer_argument(code, call).target
    if not isinstance(target, Scalar) or (half and target != HALF):
        raise call.position.error(f"{call.name} does not take {code.type}")
    return target


def _load(width: int, half: bool, aligned: bool) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        offset, pointer = arguments(context, call, 2)
        element = _pointee(pointer, call, half)
        access = _access(context, element, width, aligned, call.position, "load")
        step = element.size * (4 if width == 3 and aligned else width)
        address, memory = _address(offset, pointer, step), context.machine.memory
        code = Code(vector_of(element, width), lambda frame, mask: memory.load(address(frame, mask), access, mask))
        if not half:
            return code
        return elementwise(code, FLOAT)

    return build


def _store(width: int, half: bool, aligned: bool, mode: str) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        value, offset, pointer = arguments(context, call, 3)
        element = _pointee(pointer, call, half)
        if pointer_argument(pointer, call).constant:
            raise call.position.error(f"{call.name} cannot write through a pointer to const")
        if width_of(value.type) != width:
            raise call.position.error(f"{call.name} does not store {value.type}")
        access = _access(context, element, width, aligned, call.position, "store")
        step = element.size * (4 if width == 3 and aligned else width)
        address, memory = _address(offset, pointer, step), context.machine.memory
        source = _rounded(value, mode) if half else elementwise(value, element)
        run = source.run

        def store(frame: Frame, mask: Mask) -> Value:
            memory.store(address(frame, mask), access, run(frame, mask), mask)

        return Code(VOID, store)

    return build


def _rounded(value: Code, mode: str) -> Code:
    if mode in ("", "_rte"):
        return elementwise(value, HALF)
    return apply(vector_of(HALF, width_of(value.type)), directed(HALF, mode), [value])


def nontemporal_load(context: Context, call: Call) -> Code:
    (pointer,) = arguments(context, call, 1)
    target = pointer_argument(pointer, call).target
    access = memory_access(context.machine, target, call.position, "load")
    address, memory = pointer.run, context.machine.memory
    return Code(target, lambda frame, mask: memory.load(address(frame, mask), access, mask))


def nontemporal_store(context: Context, call: Call) -> Code:
    value, pointer = arguments(context, call, 2)
    target = pointer_argument(pointer, call).target
    access = memory_access(context.machine, target, call.position, "store")
    address, source, memory = pointer.run, change(value, target).run, context.machine.memory

    def run(frame: Frame, mask: Mask) -> Value:
        memory.store(address(frame, mask), access, source(frame, mask), mask)

    return Code(VOID, run)


def shuffle_vector(context: Context, call: Call) -> Code:
    """__builtin_shufflevector(a, b, constants...)."""
    codes = [context.value(each) for each in call.arguments]
    if len(codes) < 3 or not isinstance(codes[0].type, Vector) or codes[0].type != codes[1].type:
        raise call.position.error(f"{call.name} takes two vectors of one type and constants")
    kind = codes[0].type
    chosen = [max(constant_argument(code, call), 0) for code in codes[2:]]
    if any(index >= 2 * kind.width for index in chosen) or len(chosen) not in (1, 2, 3, 4, 8, 16):
        raise call.position.error(f"{call.name} has an index outside its {2 * kind.width} elements")

    def run(a: Value, b: Value) -> Value:
        first, second = np.broadcast_arrays(a, b)
        return np.concatenate([first, second])[chosen]

    return apply(vector_of(kind.element, len(chosen)), run, codes[:2])


def _shuffle(count: int) -> Builtin:
    """shuffle(x, mask) and shuffle2(x, y, mask)."""

    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, count)
        kind, mask_type = codes[0].type, codes[-1].type
        if not isinstance(kind, Vector) or not isinstance(mask_type, Vector):
            raise call.position.error(f"{call.name} does not take {kind} and {mask_type}")
        total = kind.width * (count - 1)

        def run(*values: Value) -> Value:
            lanes = max(value.shape[1] for value in values)
            pool = np.concatenate([np.broadcast_to(value, (value.shape[0], lanes)) for value in values[:-1]])
            index = np.broadcast_to(values[-1], (mask_type.width, lanes)).astype(np.int64) % total
            return np.take_along_axis(pool, index, axis=0)

        return apply(Vector(kind.element, mask_type.width), run, codes)

    return build


VECTORS: dict[str, Builtin] = {
    "__builtin_nontemporal_load": nontemporal_load,
    "__builtin_nontemporal_store": nontemporal_store,
    "__builtin_shufflevector": shuffle_vector,
    "shuffle": _shuffle(2),
    "shuffle2": _shuffle(3),
}


def _vec_step(context: Context, call: Call) -> Code:
    (code,) = arguments(context, call, 1)
    size = np.int32(4 if width_of(code.type) == 3 else width_of(code.type))
    return Code(INT, lambda frame, mask: size, False, size)


VECTORS["vec_step"] = _vec_step
