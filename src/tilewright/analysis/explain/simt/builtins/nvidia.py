"""The wrappers of the kernels' preludes for NVIDIA, whose bodies are assembly: what their instructions mean."""

import numpy as np

from ...clc.tree import Call
from ...clc.types import UINT, Vector
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change
from ..masks import Mask
from ..segments import Access
from .common import Builtin, arguments, pointer_argument
from .cp_async import ASYNC_COPY_WRAPPERS
from .matrices import MATRIX_WRAPPERS
from .tma import TMA_WRAPPERS

_WARP = 32


def _load_16_bytes(context: Context, call: Call) -> Code:
    """ld.global.nc.v4.u32: sixteen aligned bytes."""
    (pointer,) = arguments(context, call, 1)
    pointer_argument(pointer, call)
    kind = Vector(UINT, 4)
    memory, address = context.machine.memory, pointer.run
    access = Access(UINT.dtype, 4, 16, memory.site(call.position, "load", 16, 16))
    return Code(kind, lambda frame, mask: memory.load(address(frame, mask), access, mask))


def _shuffle(context: Context, call: Call) -> Code:
    """shfl.sync.idx: the value that another work-item of the warp holds."""
    value, lane = (change(code, UINT).run for code in arguments(context, call, 2))
    machine = context.machine
    item = np.arange(machine.lanes) % machine.items
    first = np.arange(machine.lanes) - item % _WARP
    room = machine.items - (item - item % _WARP)

    def run(frame: Frame, mask: Mask) -> Value:
        own, asked = value(frame, mask), lane(frame, mask)
        if own.ndim == 0:
            return own
        return own[first + np.minimum(np.broadcast_to(asked, first.shape) % _WARP, room - 1)]

    return Code(UINT, run)


def _local_address(context: Context, call: Call) -> Code:
    """The 32-bit address that PTX instructions take."""
    (pointer,) = arguments(context, call, 1)
    pointer_argument(pointer, call)
    window = context.machine.memory.window
    return Code(UINT, lambda frame, mask: window.addresses(pointer.run(frame, mask), mask))


NVIDIA_WRAPPERS: dict[str, Builtin] = {
    "ld_global_nc_v4": _load_16_bytes,
    "shfl_sync_idx": _shuffle,
    **MATRIX_WRAPPERS,
    **ASYNC_COPY_WRAPPERS,
    **TMA_WRAPPERS,
}
# Wrappers in C. Their bodies cut the interpreter's pointers, which are longer than a GPU's.
PTX_ADDRESSES: dict[str, Builtin] = {"local_address": _local_address}
