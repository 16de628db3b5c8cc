"""Ready calls: what is left of a call once its types, shapes, rules and plan are settled.

The first call with some arguments goes the general way. If that was direct (kernels read the caller's arrays as they are, and
write to the result or to `out`), it leaves a ready call behind, under a key of the raw arguments. The next call with an
equal key makes or takes the result, and runs. `prepare` hands ready calls to the caller.

A kind of arrays takes part by an entry in `memory.choice.MEMORIES`, and by these methods of its memory:

    place_of(array, device, queue)  the Device and the queue of a call whose first operand is `array`, or None if only the general
                                    way can say. A Device is kept with a `per_thread`; a queue is anything hashable. (static)
    key_of(array)                   what a plan depends on: shape, strides, type, alignment, offset. Arrays with equal keys
                                    can take each other's place, but for what `fits` checks. (static)
    settled(array)                  whether `key_of` really has all of it: no call is ready where only an address can tell, or
                                    for an array without elements. (static)
    fits(arrays, out)               what no key can hold: `out` shares no memory with the operands, and is writable; contexts.
    another(array)                  a function of the operands that makes arrays like this one, for results
    kept()                          the memory without what is of one call alone
    run(call, arrays, output, reads_output), assign(target, source), result(array)   as in the general way

An entry of a table belongs to its thread and its Device, as calls do, and is dropped with its call.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

from ..runtime.forks import refuse_if_forked
from .engine import Call, Kept, kept_on
from .memory.choice import MEMORIES, Memory

REFUSED = object()  # what `Ready.run` returns if these arrays must go the general way


Names = tuple[str | None, ...]


class Ready:
    """A direct call. `names` are the kernel arguments that get the caller's arrays, by position; None for arrays that kernels
    do not get. The array at the position `added` is copied to the result first. `like` is a result."""

    __slots__ = ("_added", "_bound", "_make", "_output", "_reads", "call", "memory")

    def __init__(
        self, memory: Memory, call: Call, names: Names, like: Any, output: str,
        reads_output: bool = False, added: int | None = None,
    ) -> None:  # fmt: skip
        self.memory = memory.kept()
        self.call = call
        self._bound = tuple((place, name) for place, name in enumerate(names) if name is not None)
        self._make = memory.another(like)
        self._output = output
        self._reads = reads_output
        self._added = added

    def run(self, arrays: tuple[Any, ...], out: Any) -> Any:
        """The result, or REFUSED before anything was enqueued."""
        memory, call = self.memory, self.call
        bound = {name: arrays[place] for place, name in self._bound}
        added = None if self._added is None else arrays[self._added]
        if not memory.fits(bound.values() if added is None else (*bound.values(), added), out):
            return REFUSED
        call.used = True
        target = bound[self._output] = self._make(bound.values()) if out is None else out
        if added is not None:
            memory.assign(target, added)
        memory.run(call, bound, self._output, self._reads)
        return memory.result(target) if out is None else out


class Slot(NamedTuple):
    """Where the ready call of some arguments is kept. `names` are those of the positions of their arrays."""

    kept: Kept
    key: Hashable
    names: Names

    def keep(self, ready: Ready) -> None:
        self.kept.add_ready(self.key, ready.call, ready)


Found = tuple[Ready | None, Slot | None]
NOTHING: Found = (None, None)


def find(arrays: tuple[Any, ...], out: Any, names: tuple[str, ...], asked: Hashable, device: Any, queue: Any) -> Found:
    """This thread's ready call for these arrays and what else is `asked`, or the slot for it if there is none yet.

    Neither if the arrays are of different kinds, or not of one that has ready calls: then only the general way can say.
    """
    kind = type(arrays[0])
    memory = MEMORIES.get(kind)
    if memory is None or (out is not None and type(out) is not kind):
        return NOTHING
    key_of = memory.key_of
    keys = [asked, None if out is None else key_of(out)]
    for array in arrays:
        if array is None:
            keys.append(None)
        elif type(array) is kind:
            keys.append(key_of(array))
        else:
            return NOTHING
    place = memory.place_of(arrays[0], device, queue)
    if place is None:
        return NOTHING
    opened = place[0]
    refuse_if_forked(opened.info.platform)
    kept = kept_on(opened)
    keys.append(place[1])
    key = tuple(keys)
    try:
        ready = kept.ready.get(key)
    except TypeError:  # something cannot be hashed, such as a number that is an array
        return NOTHING
    if ready is not None:
        return ready, None
    given = slot_names(arrays, out, names)
    return (None, Slot(kept, key, given)) if given else NOTHING


def slot_names(arrays: tuple[Any, ...], out: Any, names: tuple[str, ...]) -> Names:
    """The names of the arrays that are given; () if no call of theirs can be ready."""
    kind = type(arrays[0])
    given = [each for each in (*arrays, out) if each is not None]
    if any(type(each) is not kind for each in given) or not all(MEMORIES[kind].settled(each) for each in given):
        return ()
    return tuple(None if each is None else name for name, each in zip(names, arrays, strict=True))
