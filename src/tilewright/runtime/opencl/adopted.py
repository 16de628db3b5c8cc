"""The Device of a caller's queue: PyOpenCL arrays come with queues and contexts of their own."""

from collections import OrderedDict
from functools import lru_cache
from threading import RLock
from typing import Any

import pyopencl as cl

from ...errors import Unsupported
from .device import Device, check
from .information import describe
from .instructions import with_instructions

KEPT_CONTEXTS = 8  # contexts of callers: each Device keeps its context and programs, some megabytes
_adopted: OrderedDict[tuple[int, int], Device] = OrderedDict()
_adopting = RLock()  # a destructor, or a signal's handler, may make a call meanwhile


@lru_cache(maxsize=2 * KEPT_CONTEXTS)  # reading a queue's context and device takes longer than the rest of a call
def adopt(queue: Any) -> Device:
    """The Device for a caller's queue. There is one for each context and device; the least recently used one is dropped.
    Unsupported for a queue that may run commands out of order."""
    if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
        raise Unsupported(
            "the queue may run commands out of order, and calls of several launches need their order: make one without "
            "OUT_OF_ORDER_EXEC_MODE_ENABLE"
        )
    with check("asking the queue for its context, which must be kept alive"):  # Intel's runtime does not keep it
        key = (queue.context.int_ptr, queue.device.int_ptr)
    with _adopting:
        if key not in _adopted:
            info = with_instructions(describe(queue.device))
            _adopted[key] = Device(info, queue.device, queue.context)
            if len(_adopted) > KEPT_CONTEXTS:
                _adopted.popitem(last=False)
        _adopted.move_to_end(key)
        return _adopted[key]
