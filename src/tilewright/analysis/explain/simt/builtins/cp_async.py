"""cp.async, the wrappers of kernels/prelude/mma.cl: copies to local memory that a work-item waits for later.

The global bytes are read at once, and arrive in local memory when they are waited for (simt/pending_copies.py): the latest
moment that PTX allows, so that a missing wait shows.
"""

import numpy as np

from ...clc.tree import Call
from ...clc.types import UINT, VOID
from ..compiled_code import Code, Frame, Value
from ..context import Context
from ..convert import change
from ..masks import Mask
from ..pending_copies import PendingCopy
from ..segments import Access
from .common import Builtin, arguments, pointer_argument


def _copy(size: int) -> Builtin:
    """cp.async(to, from, bytes): `size` bytes, or zeros if `bytes` is 0."""

    def build(context: Context, call: Call) -> Code:
        to, source, count = arguments(context, call, 3)
        pointer_argument(source, call)
        machine, memory, position = context.machine, context.machine.memory, call.position
        load, store = (
            Access(UINT.dtype, size // 4, size, memory.site(position, operation, size, size))
            for operation in ("load", "store")
        )
        target, number = change(to, UINT).run, change(count, UINT).run

        def finish(targets: Value, values: Value, mask: Mask) -> None:
            memory.store(targets, store, values, mask)

        def run(frame: Frame, mask: Mask) -> Value:
            pointers = memory.window.pointers(target(frame, mask))
            given = number(frame, mask)
            odd = mask.where((given != 0) & (given != size))
            if odd.any:
                raise position.error(f"{call.name} copies {size} bytes or none; fewer are not interpreted")
            values = memory.load(source.run(frame, mask), load, mask.where(given != 0))
            whole = np.broadcast_to(values, (*np.shape(values)[:-1], machine.lanes) if size > 4 else (machine.lanes,))
            machine.pending_copies.start(PendingCopy(finish, pointers, np.where(given != 0, whole, 0), mask.lanes))

        return Code(VOID, run)

    return build


def _commit(context: Context, call: Call) -> Code:
    """cp.async.commit_group."""
    arguments(context, call, 0)
    copies = context.machine.pending_copies
    return Code(VOID, lambda frame, mask: copies.commit(mask))


ASYNC_COPY_WRAPPERS: dict[str, Builtin] = {
    "cp_async_cg_16": _copy(16),
    "cp_async_ca_8": _copy(8),
    "cp_async_ca_4": _copy(4),
    "cp_async_commit_group": _commit,
}
