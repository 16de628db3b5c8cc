"""TMA and mbarriers, the wrappers of kernels/prelude/tma.cl: copies of boxes of a matrix to local memory.

One work-item asks for a whole box. Its traffic is counted as one request for each row of the box. What the copy writes to local
memory costs no request of a warp.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...clc.lexer import Position
from ...clc.tree import Call
from ...clc.types import INT, UINT, ULONG, VOID, Space
from ..compiled_code import Code, Frame, Site, Value
from ..context import Context
from ..convert import change
from ..machine import Machine
from ..masks import Mask
from ..segments import ORIGIN, SHIFT, Access, Segment
from ..tensor_maps import CHUNK, WORDS, BoxCopy, decode
from ..transaction_barriers import Barrier
from .common import Builtin, arguments, pointer_argument

Act = Callable[[Machine, Position, tuple[int, int], list[int]], None]


def _values(machine: Machine, mask: Mask, values: list[Value]) -> Iterator[tuple[int, list[int]]]:
    """Each lane of the mask, and its arguments."""
    wide = [np.broadcast_to(value, (machine.lanes,)) for value in values]
    for lane in mask.indices.tolist():
        yield lane, [int(value[lane]) for value in wide]


def _barrier_call(count: int, act: Act) -> Builtin:
    """A function of a barrier's address and of `count` numbers, which every work-item calls for itself."""

    def build(context: Context, call: Call) -> Code:
        codes = [change(each, UINT).run for each in arguments(context, call, 1 + count)]
        machine, position = context.machine, call.position

        def run(frame: Frame, mask: Mask) -> Value:
            for lane, (address, *rest) in _values(machine, mask, [each(frame, mask) for each in codes]):
                act(machine, position, (int(machine.slot_of_lane[lane]), address), rest)

        return Code(VOID, run)

    return build


def _find(machine: Machine, position: Position, key: tuple[int, int]) -> Barrier:
    barrier = machine.transactions.barriers.get(key)
    if barrier is None:
        raise position.error(f"there is no mbarrier at local address {key[1]}: it was not initialised")
    return barrier


def _initialise(machine: Machine, position: Position, key: tuple[int, int], rest: list[int]) -> None:
    machine.transactions.barriers[key] = Barrier(rest[0], rest[0])


def _arrive(machine: Machine, position: Position, key: tuple[int, int], rest: list[int]) -> None:
    _find(machine, position, key).arrive(*rest)


def _wait(context: Context, call: Call) -> Code:
    """mbarrier.try_wait in a loop: what a group waits for must have been asked for before, since branches are run one after the
    other."""
    codes = [change(each, UINT).run for each in arguments(context, call, 2)]
    machine, position = context.machine, call.position

    def run(frame: Frame, mask: Mask) -> Value:
        waited = {}
        for lane, (address, parity) in _values(machine, mask, [each(frame, mask) for each in codes]):
            waited[int(machine.slot_of_lane[lane]), address, parity] = lane
        for (slot, address, parity), lane in waited.items():
            barrier = _find(machine, position, (slot, address))
            if not barrier.is_over(parity):
                raise position.error(
                    f"{machine.item_name(lane)} waits for a phase of the mbarrier at local address {address} that has not "
                    f"ended: {barrier.pending} arrivals and {barrier.bytes} bytes are missing. explain runs branches one "
                    "after the other, so that warps cannot wait for warps of another branch"
                )
            barrier.deliver()

    return Code(VOID, run)


def _address(context: Context, call: Call) -> Code:
    """tensormap_address(map, address): where the map's matrix begins."""
    pointer, address = arguments(context, call, 2)
    pointer_argument(pointer, call)
    source, machine = change(address, ULONG).run, context.machine

    def run(frame: Frame, mask: Mask) -> Value:
        for _, (where, begin) in _values(machine, mask, [pointer.run(frame, mask), source(frame, mask)]):
            machine.matrix_addresses[where] = begin

    return Code(VOID, run)


def _copy(context: Context, call: Call) -> Code:
    """cp.async.bulk.tensor.2d to local memory: the box at column x, row y."""
    to, pointer, x, y, barrier = arguments(context, call, 5)
    pointer_argument(pointer, call)
    runs = [change(to, UINT).run, pointer.run, change(x, INT).run, change(y, INT).run, change(barrier, UINT).run]
    machine, position = context.machine, call.position
    carrier = _Carrier(machine, position)

    def run(frame: Frame, mask: Mask) -> Value:
        values = [each(frame, mask) for each in runs]
        for lane, (target, where, column, row, address) in _values(machine, mask, values):
            slot = int(machine.slot_of_lane[lane])
            if where not in machine.matrix_addresses:
                raise position.error("the tensor map has no address: tensormap_address() comes first")
            box = _box(machine, where, position)
            begin = machine.matrix_addresses[where]
            carrier.count(box, begin, (column, row), lane)
            finish = partial(carrier.finish, box, begin, (column, row), target, slot)
            _find(machine, position, (slot, address)).copy(finish, box.nbytes)

    return Code(VOID, run)


def _box(machine: Machine, where: int, position: Position) -> BoxCopy:
    segment = machine.memory.segments.get(where >> SHIFT)
    words = None if segment is None else segment.data[: WORDS * 8]
    box = decode(words.view(np.uint64).tolist()) if words is not None and words.size == WORDS * 8 else None
    if box is None:
        raise position.error(
            "this pointer is no tensor map: explain makes one for a rung's parameter, from its configuration"
        )
    return box


class _Carrier:
    """Moves the chunks of boxes: the work-items of a group carry one each, unseen by the counts."""

    def __init__(self, machine: Machine, position: Position) -> None:
        self.machine, self.position = machine, position
        memory = machine.memory
        sites = [memory.site(position, operation, CHUNK, CHUNK) for operation in ("load", "store")]
        self.load, self.store = (Access(UINT.dtype, 4, CHUNK, site, counted=False) for site in sites)
        self.sites: dict[int, Site] = {}  # of whole rows, by their bytes

    def count(self, box: BoxCopy, begin: int, corner: tuple[int, int], lane: int) -> None:
        """One request for each row of the box that is inside of the matrix."""
        segment = self._segment(begin)
        sources, inside = box.sources(*corner)
        chunks = box.box_bytes // CHUNK
        site = self.sites.get(box.box_bytes)
        if site is None:
            site = self.machine.memory.site(self.position, "load", box.box_bytes, CHUNK, bulk=True)
            self.sites[box.box_bytes] = site
        mask = _only(self.machine, [lane])
        first = begin - int(segment.address)
        for row in np.flatnonzero(inside.reshape(-1, chunks).all(axis=1)).tolist():
            self.machine.recorder.record(site, segment, np.array([first + int(sources[row * chunks])], np.int64), mask)

    def _segment(self, begin: int) -> Segment:
        segment = self.machine.memory.segments.get(begin >> SHIFT)
        if segment is None or segment.space is not Space.GLOBAL or not (begin & ((1 << SHIFT) - 1)) - ORIGIN >= 0:
            raise self.position.error("the tensor map's address is that of no buffer")
        return segment

    def finish(self, box: BoxCopy, begin: int, corner: tuple[int, int], to: int, slot: int) -> None:
        """The box arrives in the local memory of a group."""
        machine, memory = self.machine, self.machine.memory
        sources, inside = box.sources(*corner)
        targets: Any = memory.window.pointers(box.targets(to))
        first = slot * machine.items
        for chunk in range(0, len(sources), machine.items):
            count = min(machine.items, len(sources) - chunk)
            lanes = np.arange(first, first + count)
            where, place = np.zeros(machine.lanes, np.int64), np.zeros(machine.lanes, np.int64)
            where[lanes] = begin + sources[chunk : chunk + count]
            place[lanes] = targets[chunk : chunk + count]
            mask = _only(machine, lanes[inside[chunk : chunk + count]].tolist())
            values = memory.load(where, self.load, mask)
            with memory.copies.inside():
                memory.store(place, self.store, values, _only(machine, lanes.tolist()))
        segment = memory.segments.get(int(targets[0]) >> SHIFT)
        if segment is not None:
            machine.recorder.arrived(segment, targets - segment.address, CHUNK)
        memory.copies.finish(_only(machine, list(range(first, first + machine.items))))


def _only(machine: Machine, lanes: list[int]) -> Mask:
    chosen = np.zeros(machine.lanes, bool)
    chosen[lanes] = True
    return Mask(chosen)


TMA_WRAPPERS: dict[str, Builtin] = {
    "mbarrier_init": _barrier_call(1, _initialise),
    "mbarrier_arrive": _barrier_call(0, _arrive),
    "mbarrier_arrive_expect_tx": _barrier_call(1, _arrive),
    "mbarrier_wait": _wait,
    "tensormap_address": _address,
    "cp_async_bulk_tensor_2d": _copy,
}
