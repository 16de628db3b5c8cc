"""Block reads and writes of Intel's sub-groups: all work-items access consecutive elements from one address.

cl_intel_subgroups and its extensions for char, short and long: element `c` of work-item `i` lies at `(c * size + i)`.
"""

import re

import numpy as np

from ...clc.tree import Call
from ...clc.types import UCHAR, UINT, ULONG, USHORT, VOID, Pointer, Scalar, Space, element_of, vector_of, width_of
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change
from ..masks import Mask
from ..segments import Access
from .collectives import check_reached
from .common import Builtin, arguments, pointer_argument

_NAME = re.compile(r"intel_sub_group_block_(read|write)(_uc|_us|_ui|_ul)?(2|4|8|16)?$")
_ELEMENTS = {"_uc": UCHAR, "_us": USHORT, "_ui": UINT, "_ul": ULONG, None: UINT}


def find_block_access(name: str) -> Builtin | None:
    """intel_sub_group_block_read4, intel_sub_group_block_write_us and so on."""
    match = _NAME.match(name)
    if match is None:
        return None
    element, width = _ELEMENTS[match[2]], int(match[3] or 1)
    return _read(element, width) if match[1] == "read" else _write(element, width)


def _block_pointer(code: Code, call: Call, element: Scalar) -> Pointer:
    pointer = pointer_argument(code, call)
    target = element_of(pointer.target)
    if target is None or target.size != element.size or pointer.space is Space.PRIVATE:
        raise call.position.error(f"{call.name} does not take {code.type}")
    return pointer


def _access(context: Context, call: Call, element: Scalar, operation: str) -> Access:
    site = context.machine.memory.site(call.position, operation, element.size, element.size)
    return Access(element.dtype, 1, element.size, site)


def _read(element: Scalar, width: int) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        (pointer,) = arguments(context, call, 1)
        _block_pointer(pointer, call, element)
        machine, address = context.machine, pointer.run
        teams, access = machine.sub_groups, _access(context, call, element, "load")

        def run(frame: Frame, mask: Mask) -> Value:
            base = address(frame, mask)
            check_reached(machine, teams, mask, call.position, call.name)
            rows = []
            for part in range(width):
                own = base + (part * teams.sizes[teams.team] + teams.place) * element.size
                rows.append(np.broadcast_to(machine.memory.load(own, access, mask), (machine.lanes,)))
            return rows[0] if width == 1 else np.stack(rows)

        return Code(vector_of(element, width), run)

    return build


def _write(element: Scalar, width: int) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        pointer, value = arguments(context, call, 2)
        kind = _block_pointer(pointer, call, element)
        if kind.constant or kind.space is Space.CONSTANT:
            raise call.position.error(f"{call.name} cannot write through a pointer to const")
        if width_of(value.type) != width:
            raise call.position.error(f"{call.name} does not store {value.type}")
        machine, address, source = context.machine, pointer.run, change(value, vector_of(element, width)).run
        teams, access = machine.sub_groups, _access(context, call, element, "store")

        def run(frame: Frame, mask: Mask) -> Value:
            base, values = address(frame, mask), np.asarray(source(frame, mask))
            check_reached(machine, teams, mask, call.position, call.name)
            for part in range(width):
                own = base + (part * teams.sizes[teams.team] + teams.place) * element.size
                machine.memory.store(own, access, values if width == 1 else values[part], mask)

        return Code(VOID, run)

    return build
