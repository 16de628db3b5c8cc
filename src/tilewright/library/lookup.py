"""Finds the ready calls (`memory/ready.py`) of a thread by the raw arguments of a call."""

from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

from ..runtime.forks import refuse_if_forked
from .engine import kept_on
from .memory.choice import MEMORIES
from .memory.cuda_calls import CudaCalls
from .memory.opencl_ready import OpenCLReady
from .memory.ready import REFUSED, Given, Names, Ready


class Keeper(Protocol):
    """What keeps ready calls by their keys."""

    def add_ready(self, key: Hashable, ready: Any) -> None: ...


class Slot(NamedTuple):
    """Where the ready call for some arguments is kept."""

    keeper: Keeper
    key: Hashable
    given: Given

    def keep(self, ready: Ready) -> None:
        self.keeper.add_ready(self.key, ready)


Found = tuple[Any, Ready | None, Slot | None]
NOTHING: Found = (REFUSED, None, None)


def run_ready(
    arrays: tuple[Any, ...], out: Any, names: tuple[str, ...], asked: Hashable, device: Any, queue: Any
) -> Found:
    """The result of this thread's ready call for such arrays and what else is `asked`, and that call.

    REFUSED if there is none or it refuses, then with the slot for a new one. No slot if the arrays are of different kinds, or not
    of one that has ready calls: then only the general way can say.
    """
    kind = type(arrays[0])
    memory = MEMORIES.get(kind)
    if type(memory) is CudaCalls:
        if device is not None:
            return NOTHING
        result, key = memory.run_ready(arrays, out, asked, queue)
        if result is not REFUSED:
            return result, None, None
        return NOTHING if key is None else (REFUSED, None, _slot(memory, key, arrays, out, names))
    if memory is None or (out is not None and type(out) is not kind and MEMORIES.get(type(out)) is not memory):
        return NOTHING
    known = _known(arrays, out, device, queue)
    if known is None:
        return NOTHING
    opened, own = known
    refuse_if_forked(opened.info.platform)
    kept, key = kept_on(opened), (asked, own)
    try:
        ready = kept.ready.get(key)
    except (TypeError, ValueError):  # something cannot be hashed, such as a number that is an array, or a memoryview
        return NOTHING
    if ready is not None:
        return ready.run(arrays, out), ready, None
    return REFUSED, None, _slot(kept, key, arrays, out, names)


def _slot(keeper: Keeper, key: Hashable, arrays: tuple[Any, ...], out: Any, names: tuple[str, ...]) -> Slot | None:
    given = slot_names(arrays, out, names)
    return Slot(keeper, key, Given(given, arrays, out)) if given else None


def keep_plain(ready: OpenCLReady, a: Any, b: Any, out: Any, asked: Hashable) -> None:
    """Let `OpenCLMemory.run_plain` find this call on the arrays' own queue."""
    if ready.is_plain and a.queue is ready.queue is b.queue:
        kept_on(ready.call.device).add_plain((asked, a.shape, b.shape, out is None), ready)


def _known(arrays: tuple[Any, ...], out: Any, device: Any, queue: Any) -> tuple[Any, Hashable] | None:
    """The Device of a call, and what its arrays and its queue are for a ready call. None if only the general way can say."""
    kind = type(arrays[0])
    memory = MEMORIES[kind]
    key_of = memory.key_of
    keys = [None if out is None else key_of(out)]
    for array in arrays:
        if array is None:
            keys.append(None)
        elif type(array) is kind or MEMORIES.get(type(array)) is memory:
            keys.append(key_of(array))
        else:
            return None
    place = memory.place_of(arrays[0], device, queue)
    if place is None:
        return None
    keys.append(place[1])
    if len(arrays) > 1:
        if arrays[1] is None:
            return None  # c and others may be, b may not
        keys.append(memory.one_place(arrays[0], arrays[1]))
    return place[0], tuple(keys)


def slot_names(arrays: tuple[Any, ...], out: Any, names: tuple[str, ...]) -> Names:
    """The names of the arrays that are given; () if no call of theirs can be ready."""
    kind = type(arrays[0])
    given = [each for each in (*arrays, out) if each is not None]
    memory = MEMORIES[kind]
    if any(MEMORIES.get(type(each)) is not memory for each in given) or not all(map(memory.settled, given)):
        return ()
    return tuple(None if each is None else name for name, each in zip(names, arrays, strict=True))
