"""The interpreter's virtual memory: loads and stores of many lanes at once, at 64-bit addresses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clc.types import Space
from .access_faults import Complaints
from .async_copies import AsyncCopies
from .batched_loads import Batch
from .compiled_code import Value
from .machine_state import MachineState
from .masks import Mask
from .ordering import Ordering
from .races import report_atomic, report_read, report_write
from .readers import Touch
from .segment_table import SegmentTable
from .segments import SHIFT, Access, Offsets, Segment, nothing
from .synchronisation import Order


class VirtualMemory(SegmentTable):
    """The segments of one machine, and all accesses to them."""

    def __init__(self, machine: MachineState, ordering: Ordering) -> None:
        super().__init__(machine, ordering)
        self.complaints = Complaints(machine)
        self.batch: Batch | None = None  # of iterations that are run together
        self.copies = AsyncCopies(machine)

    def new_batch(self) -> None:
        super().new_batch()
        self.copies.forget()

    def load(self, address: Value, access: Access, mask: Mask) -> Value:
        """The value at each lane's address; 0 in lanes outside `mask`."""
        if self.batch is not None:
            return self.batch.load(address, access, mask)
        if not mask.any:
            return nothing(access, 0)
        uniform = address.ndim == 0
        if uniform:
            same = self._load_same(int(address), access, mask)
            if same is not None:
                return same
        lanes = None if mask.everyone else mask.indices
        where = np.full(mask.count, address) if uniform else address if lanes is None else address[lanes]
        segment = self.segments.get(int(where[0]) >> SHIFT)
        if segment is not None:
            offsets = where - segment.address
            if self.inside(offsets, segment, access):
                values = self._read(segment, offsets, lanes, access, mask, uniform)
                if lanes is None or (uniform and segment.base is None):
                    return values
                return self._spread(values, lanes)
        out = nothing(access, self.machine.lanes)
        for part, own, offsets in self._parts(where, access, mask, "load"):
            values = self._read(part, offsets, own.indices, access, own, False)
            out[..., own.indices] = values
        return out

    def _load_same(self, address: int, access: Access, mask: Mask) -> Value | None:
        """One address for all lanes, in memory that is never written; None in all other cases."""
        segment = self.segments.get(address >> SHIFT)
        if segment is None or segment.base is not None or segment.shadow is not None:
            return None
        offset, size = address - int(segment.address), access.dtype.itemsize
        if not 0 <= offset <= segment.size - access.size or offset & (access.alignment - 1) or offset % size:
            return None
        if access.counted:
            self.machine.recorder.record_same(access.site, segment, offset, mask)
        first, elements = offset // size, segment.view(access.dtype, 1)
        return elements[first] if access.count == 1 else elements[first : first + access.count, None].copy()

    def _spread(self, values: Value, lanes: npt.NDArray[np.intp]) -> Value:
        out = np.zeros((*values.shape[:-1], self.machine.lanes), values.dtype)
        out[..., lanes] = values
        return out

    def store(self, address: Value, access: Access, values: Value, mask: Mask) -> None:
        """Writes `values` (one for all lanes, or one each) at each lane's address."""
        if not mask.any:
            return
        lanes = None if mask.everyone else mask.indices
        shape = (self.machine.lanes,) if access.count == 1 else (access.count, self.machine.lanes)
        values = np.broadcast_to(values, shape)
        if values.dtype != access.dtype:
            values = values.astype(access.dtype)
        if lanes is not None:
            values = values[..., lanes]
        where = np.full(mask.count, address) if address.ndim == 0 else address if lanes is None else address[lanes]
        segment = self.segments.get(int(where[0]) >> SHIFT)
        if segment is not None:
            offsets = where - segment.address
            if self.inside(offsets, segment, access):
                self._write(segment, offsets, lanes, access, values, mask)
                return
        place = np.cumsum(mask.lanes) - 1
        for part, own, offsets in self._parts(where, access, mask, "store"):
            self._write(part, offsets, own.indices, access, values[..., place[own.indices]], own)

    def peek(self, address: Value, access: Access, mask: Mask) -> Value:
        """The values at each lane's address, unchecked and uncounted: what a store to a part of them leaves as it is."""
        out = nothing(access, self.machine.lanes)
        where = np.broadcast_to(address, (self.machine.lanes,))
        for number in np.unique(where[mask.indices] >> SHIFT):
            segment = self.segments.get(int(number))
            if segment is None:
                continue
            offsets = where - segment.address
            lanes = np.flatnonzero(mask.lanes & (offsets >= 0) & (offsets <= segment.size - access.size))
            whole = offsets[lanes] if segment.base is None else offsets[lanes] + segment.base[lanes]
            if len(lanes):
                out[lanes] = segment.gather(whole, access.dtype, 1, int(np.bitwise_or.reduce(whole)))
        return out

    def atomic(
        self,
        address: Value,
        access: Access,
        mask: Mask,
        update: Callable[[Value, npt.NDArray[np.intp]], Value],
        order: Order | None = None,
        expected: Value = None,
    ) -> Value:
        """Each lane of `mask` in turn replaces the value at its address by `update` of it. Returns the old values. `order` is
        that of functions of OpenCL C 2.0 and later. A compare-exchange stores nothing where it finds another value than
        `expected`."""
        loads = order is not None and order.loads
        out = np.zeros(self.machine.lanes, access.dtype)
        for segment, own, offsets in self._parts(address[mask.indices], access, mask, "atomic update"):
            lanes = None if own.everyone else own.indices
            touch, whole, low = self.touch(segment, offsets, lanes, access, "atomic update")
            self.machine.recorder.record(access.site, segment, offsets, own)
            if not segment.writable and not loads:
                self.complaints.read_only(segment, lanes, access, "atomic update", len(whole))
                continue
            if segment.writable:
                segment.own()
            shadow = segment.shadow
            if shadow is not None:
                missing = None if order is not None and order.stores else shadow.unset(shadow.cells(touch))
                if missing is not None:
                    self.complaints.uninitialised(segment, touch, missing)
                report_atomic(self, segment, touch, loads)
            if self.ordering.synchronisation.active:
                self.ordering.synchronisation.touch(segment, own.indices, atomic=True)
            self._take_turns(segment, whole, own.indices, access, low, update, out)
            failed = own.indices[:0] if expected is None else own.indices[(out != expected)[own.indices]]
            self.ordering.synchronise(segment, offsets, own.indices, order, failed)
        return out

    def _take_turns(
        self,
        segment: Segment,
        offsets: Offsets,
        lanes: npt.NDArray[np.intp],
        access: Access,
        low: int,
        update: Callable[[Value, npt.NDArray[np.intp]], Value],
        out: npt.NDArray[Any],
    ) -> None:
        while len(lanes):
            _, first = np.unique(offsets, return_index=True)
            chosen, where = lanes[first], offsets[first]
            old = segment.gather(where, access.dtype, 1, low)
            out[chosen] = old
            segment.scatter(where, np.asarray(update(old, chosen)).astype(access.dtype), access.dtype, 1, low)
            waiting = np.ones(len(lanes), bool)
            waiting[first] = False
            lanes, offsets = lanes[waiting], offsets[waiting]

    def touch(
        self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, operation: str
    ) -> tuple[Touch, Offsets, int]:
        """Records the access; gives the shadow's view of it, the offsets in all copies together, and their or."""
        machine = self.machine
        low = int(np.bitwise_or.reduce(offsets))
        if low & (access.alignment - 1):
            self.complaints.misaligned(segment, offsets, lanes, access, operation)
        whole = offsets
        if segment.base is not None:
            whole = offsets + (segment.base if lanes is None else segment.base[lanes])
        step = low | access.size | 16
        if self.copies.running and segment.shadow is not None:
            tags = machine.async_tags(segment.space)
        else:
            tags = machine.tags.get(segment.space, machine.tags[Space.GLOBAL])
        floors = machine.floors.get(segment.space)
        if lanes is not None:
            tags, floors = tags[lanes], None if floors is None else floors.of(lanes)
        touch = Touch(whole, access.size, step & -step, tags, access.site, lanes, floors)
        return touch, whole, low

    def _read(self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, mask: Mask, uniform: bool) -> Value:
        if segment.shadow is None and segment.unset is None:
            return self._read_constant(segment, offsets, lanes, access, mask)
        touch, whole, low = self.touch(segment, offsets, lanes, access, "load")
        if access.counted and (segment.off_chip or segment.space is not Space.PRIVATE):
            self.machine.recorder.record(access.site, segment, offsets, mask)
        self._check_read(segment, touch)
        if uniform and segment.base is None:
            value = segment.gather(whole[:1], access.dtype, access.count, low)
            return value[0] if access.count == 1 else value
        return segment.gather(whole, access.dtype, access.count, low)

    def _read_constant(self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, mask: Mask) -> Value:
        """A load from memory that is never written. Its reads need not be remembered."""
        low = int(np.bitwise_or.reduce(offsets))
        if low & (access.alignment - 1):
            self.complaints.misaligned(segment, offsets, lanes, access, "load")
        if access.counted:
            self.machine.recorder.record(access.site, segment, offsets, mask)
        return segment.gather(offsets, access.dtype, access.count, low)

    def _check_read(self, segment: Segment, touch: Touch) -> None:
        shadow, unset = segment.shadow, segment.unset
        if unset is not None:
            cells = unset.cells(touch.offsets, touch.size, touch.unit)  # may make unset.written finer
            written = unset.written[cells]
            if not written.all():
                self.complaints.uninitialised(segment, touch, ~written)
            return
        if shadow is None:
            return
        if not shadow.complete:
            missing = shadow.unset(shadow.cells(touch))
            if missing is not None:
                self.complaints.uninitialised(segment, touch, missing)
        if shadow.updated or self.written_lately(segment):
            report_read(self, segment, touch, shadow.cells(touch))
        shadow.defer_read(touch)
        self.copies.note(segment, touch, written=False)
        if self.ordering.synchronisation.active:
            self.ordering.synchronisation.touch(segment, touch.lanes)

    def _write(
        self, segment: Segment, offsets: Offsets, lanes: Any, access: Access, values: npt.NDArray[Any], mask: Mask
    ) -> None:
        touch, whole, low = self.touch(segment, offsets, lanes, access, "store")
        if access.counted and (segment.off_chip or segment.space is not Space.PRIVATE):
            self.machine.recorder.record(access.site, segment, offsets, mask)
        if not segment.writable:
            self.complaints.read_only(segment, lanes, access, "store", len(offsets))
            return
        segment.own()
        if segment.unset is not None:
            cells = segment.unset.cells(whole, touch.size, touch.unit)  # may make unset.written finer
            segment.unset.written[cells] = True
        elif segment.shadow is not None:
            report_write(self, segment, touch, access, values, low)
            if self.ordering.synchronisation.active:
                self.ordering.synchronisation.touch(segment, lanes)
            if self.ordering.active and segment.space is Space.GLOBAL:
                self.ordering.write(segment, lanes)
            self.copies.note(segment, touch, written=True)
        segment.scatter(whole, values, access.dtype, access.count, low)

    def _parts(self, where: Offsets, access: Access, mask: Mask, operation: str) -> Any:
        """Splits an access that spans segments: (segment, its lanes, offsets). Lanes outside all segments become findings."""
        numbers = where >> SHIFT
        for number in np.unique(numbers):
            mine = numbers == number
            lanes = mask.indices[mine]
            segment = self.segments.get(int(number))
            if segment is None:
                self.complaints.wild(where[mine], lanes, access, operation)
                continue
            offsets = where[mine] - segment.address
            bad = (offsets < 0) | (offsets > segment.size - access.size)
            if bad.any():
                self.complaints.out_of_bounds(segment, offsets[bad], lanes[bad], access, operation)
                offsets, lanes = offsets[~bad], lanes[~bad]
            if len(lanes):
                own = np.zeros(self.machine.lanes, bool)
                own[lanes] = True
                yield segment, Mask(own), offsets
