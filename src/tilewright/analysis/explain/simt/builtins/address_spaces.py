"""Functions that ask where a generic pointer points to: OpenCL C 2.0, 6.13.9."""

import numpy as np

from ...clc.tree import Call
from ...clc.types import UINT, Pointer, Space
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..machine import GLOBAL_FENCE, LOCAL_FENCE
from ..masks import Mask
from ..segments import SHIFT
from .common import Builtin, arguments, pointer_argument


def _spaces(context: Context, address: Value) -> Value:
    """The space of each address, -1 for one that belongs to nothing."""
    segments = context.machine.memory.segments
    known = {number: int(segment.space) for number, segment in segments.items()}
    numbers = np.asarray(address) >> SHIFT
    return np.vectorize(lambda number: known.get(int(number), -1), otypes=[np.int64])(numbers)


def _to(space: Space) -> Builtin:
    """The pointer itself if it points into `space`, else a null pointer."""

    def build(context: Context, call: Call) -> Code:
        (code,) = arguments(context, call, 1)
        kind = pointer_argument(code, call)

        def run(frame: Frame, mask: Mask) -> Value:
            address = code.run(frame, mask)
            return np.where(_spaces(context, address) == space, address, np.int64(0))[()]

        return Code(Pointer(kind.target, space, kind.constant), run)

    return build


def _fence(context: Context, call: Call) -> Code:
    """The flag of mem_fence for the memory that the pointer is of."""
    (code,) = arguments(context, call, 1)
    pointer_argument(code, call)

    def run(frame: Frame, mask: Mask) -> Value:
        found = _spaces(context, code.run(frame, mask))
        flags = np.select([found == Space.GLOBAL, found == Space.LOCAL], [GLOBAL_FENCE, LOCAL_FENCE], 0)
        return flags.astype(np.uint32)[()]

    return Code(UINT, run)


ADDRESS_SPACES: dict[str, Builtin] = {
    "to_global": _to(Space.GLOBAL),
    "to_local": _to(Space.LOCAL),
    "to_private": _to(Space.PRIVATE),
    "get_fence": _fence,
}
