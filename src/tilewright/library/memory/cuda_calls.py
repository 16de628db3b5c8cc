"""Finds the ready calls (`cuda_ready.py`) on CUDA arrays: those are the calls whose Python must be least.

A key has the numbers of elements and what is asked. Ready calls of one key compare the rest themselves: that takes less time than
to gather and to hash all that they depend on.
"""

import os
import threading
from collections.abc import Hashable
from functools import partial
from typing import Any

from ...errors import InvalidInput
from ..cuda_arrays.array import Framework
from ..cuda_arrays.frameworks import framework_of
from ..engine import answers_for
from .cuda_ready import CudaReady
from .cuda_streams import stream_handle
from .ready import REFUSED, Ready

KEPT_CANDIDATES = 64  # ready calls of one key: of other shapes, strides, alignments, types, streams and captures


class _OfThread(threading.local):
    """The ready calls of this thread, the last used one of each key at its front."""

    def __init__(self) -> None:
        self.ready: dict[Hashable, list[CudaReady]] = {}


class CudaCalls:
    """The ready calls on the arrays of one framework."""

    has_plain = True

    def __init__(self, framework: Framework) -> None:
        self._framework, self._count = framework, framework.count
        self._threads = _OfThread()
        if hasattr(os, "register_at_fork"):  # the general way refuses calls in forks
            os.register_at_fork(after_in_child=lambda: self._threads.ready.clear())

    def run_plain(self, a: Any, b: Any, out: Any, asked: Hashable) -> Any:
        """The product by a ready call; REFUSED if `run_ready` may know more."""
        count = self._count
        try:
            first = self._threads.ready[asked, count(a), count(b), out is None][0]
        except (AttributeError, KeyError, TypeError):  # an operand of another kind, or something that cannot be hashed
            return REFUSED
        return first.run_plain(a, b, out)

    def run_ready(self, arrays: tuple[Any, ...], out: Any, asked: Hashable, queue: Any) -> tuple[Any, Hashable]:
        """The result, or REFUSED with the key for a new ready call; with None if only the general way can say."""
        try:
            counts = [None if each is None else self._count(each) for each in arrays]
            key: Hashable = (asked, *counts, out is None)
            if queue is not None:
                key = (key, stream_handle(queue))
            candidates = self._threads.ready.get(key)
        except (AttributeError, TypeError):  # an operand of another kind, or something that cannot be hashed
            return REFUSED, None
        return REFUSED if candidates is None else first_of(candidates, arrays, out), key

    def add_ready(self, key: Hashable, ready: CudaReady) -> None:
        """Keep a ready call of this thread as long as its call."""
        kept = self._threads.ready
        if answers_for(ready.call, partial(_forget, kept, key, ready)):
            keep_first(kept.setdefault(key, []), ready)

    def layout_of(self, array: Any) -> tuple[Any, ...]:
        framework = framework_of(array)
        if framework is None:
            raise InvalidInput(
                f"an array of {type(array).__module__.partition('.')[0]} lies in the host's memory: copy it to the GPU"
            )
        ordinal = framework.ordinal(array)
        seen = framework.read(array, "an array", framework.current_stream(ordinal, (array,)))
        return seen.shape, tuple(stride * seen.dtype.itemsize for stride in seen.strides), seen.dtype

    def settled(self, array: Any) -> bool:
        return framework_of(array) is self._framework and self._framework.settled(array)


_calls: dict[int, CudaCalls] = {}


def calls_of(framework: Framework) -> CudaCalls:
    """The one of a framework, of which there is one object: its classes share it."""
    found = _calls.get(id(framework))
    if found is None:
        found = _calls[id(framework)] = CudaCalls(framework)
    return found


def first_of(candidates: list[Any], arrays: tuple[Any, ...], out: Any) -> Any:
    """The result of the first ready call that takes these arrays; REFUSED if none does."""
    for ready in candidates:
        result = ready.run(arrays, out)
        if result is not REFUSED:
            if ready is not candidates[0]:
                candidates.remove(ready)
                candidates.insert(0, ready)
            return result
    return REFUSED


def keep_first(candidates: list[Any], ready: Ready) -> None:
    """Put a ready call before the others, and drop those above KEPT_CANDIDATES that were not used for longest."""
    candidates.insert(0, ready)
    del candidates[KEPT_CANDIDATES:]


def _forget(kept: dict[Hashable, list[CudaReady]], key: Hashable, ready: CudaReady) -> None:
    left = [each for each in kept.get(key, ()) if each is not ready]
    if left:
        kept[key] = left
    else:
        kept.pop(key, None)
