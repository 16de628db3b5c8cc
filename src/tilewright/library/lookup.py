"""Finds the ready calls (`memory/ready.py`) of a thread by the raw arguments of a call."""

import os
from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..runtime.forks import refuse_if_forked
from .engine import KEPT_CALLS, kept_on
from .memory.choice import MEMORIES
from .memory.cuda_calls import CudaCalls
from .memory.host import HostReady
from .memory.opencl_ready import OpenCLReady
from .memory.ready import REFUSED, Given, Names, Ready
from .numpy_call import DOT, Way, mirrors_itself


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


# The plainest calls of `matmul` that NumPy computes (`numpy_call.py`), by `numpys_key`: those of `numpy.matmul`, and of
# `numpy.dot`. Sets of their own, because a lookup there takes 0.3 us of calls that take 1 us, and `find` takes 2; with both in
# one dictionary of functions a product of 16 x 16 took 0.04 us more.
NUMPYS: set[Hashable] = set()
DOTS: set[Hashable] = set()
if hasattr(os, "register_at_fork"):  # the general way refuses calls in forks
    os.register_at_fork(after_in_child=NUMPYS.clear)
    os.register_at_fork(after_in_child=DOTS.clear)

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


def numpys_key(a: Any, b: Any, out: Any) -> Hashable:
    """What stands for such a call in NUMPYS and in DOTS; `matmul` writes it out, because a function takes 0.1 us.

    Strides decide how many products a stack is to a kernel, before NumPy 2.3 whether a BLAS reads an operand, whether `numpy.dot`
    copies it, and for A times its own transpose whether NumPy's product is symmetric. For others they are left out: to read them
    takes a tenth of a microsecond. The flags of `out` say whether it is contiguous, those of `a` whether it is aligned.
    """
    key: Hashable = (a.shape, b.shape, a.dtype, b.dtype)
    if out is not None:
        key = (key, out.shape, out.dtype, out.flags.num)
    return key if _known_by_shapes(a, b) else (key, a.strides, b.strides, a.flags.num)


def numpys_function(ready: HostReady, a: Any, b: Any) -> Way | None:
    """The function of NumPy that is this call of `matmul`: its result has the same type without being told, and is symmetric
    where it must be. None if there is none."""
    if ready.call.host is None:
        return None
    try:
        usual = np.result_type(a, b)
    except TypeError:  # of two kinds of 8-bit floats
        return None
    if ready.result_type != usual or not (_known_by_shapes(a, b) or mirrors_itself(a, b)):
        return None
    if ready.call.plans[0].host_call != DOT:
        return np.matmul
    return np.dot if a.ndim <= 2 and b.ndim <= 2 else None  # `dot` has other rules for stacks


def _known_by_shapes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether strides are left out of a call's key: of two arrays in one piece each, none a view of the other, nor both of one
    array. An array that owns its memory lies in one piece, and need not be asked."""
    base, other = a.base, b.base
    if base is None is other:
        return True
    apart = base is not other and base is not b and other is not a
    return apart and a.flags.forc and b.flags.forc


def keep_numpys(ready: HostReady, a: Any, b: Any, out: Any) -> None:
    """Remember that `matmul(a, b, out)` is NumPy's, if it is."""
    function = numpys_function(ready, a, b)
    if function is None or (function is np.dot and not _taken_by_dot(out, ready.result_type)):
        return
    kept = DOTS if function is np.dot else NUMPYS
    if len(kept) >= KEPT_CALLS:
        kept.clear()
    kept.add(numpys_key(a, b, out))


def _taken_by_dot(out: np.ndarray | None, kind: np.dtype) -> bool:
    """Whether `numpy.dot` writes to the caller's array for a result of that type, if there is one."""
    return out is None or (out.flags.carray and out.dtype == kind)


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
