"""From an operation, devices and limits to a plan of tiles: what runs where, what it takes, and how long."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.device import DeviceInfo
from ...core.plan import Plan
from ...core.shown import Shown
from ...core.types import numpy_dtype
from ...errors import InvalidInput
from ...runtime.opencl import broadcast
from ...runtime.opencl.staging import PAGE_BYTES
from .budget import Budget
from .device_memory import SeparateMemory, SharedMemory, staging_within
from .device_rates import HOST_COPIES, rates_of, rates_together
from .fitting import tile_plans
from .launches import scratch_bytes
from .matrices import MemoryMatrix
from .operations import Operation, Shaped
from .product import ProductOperation
from .rates import Rates
from .tiles import TilePlan

MOST_STAGING = 384 * 2**20  # bytes of the host for one device's copies; more are no faster
# Bytes of pinned memory for what several devices load: some panels of large tiles, so that devices may drift apart by one.
MOST_BROADCAST = 2**30
SEARCHED = 40  # tile plans that are tried for one whose tiles have the bits of the whole product


@dataclass(frozen=True)
class Share:
    """One device in a plan: what runs on it, what it would take alone, and the most memory that it takes."""

    device: str
    kernels: str
    seconds: float
    limited_by: str
    device_bytes: int
    host_bytes: int


@dataclass(frozen=True, repr=False)
class StreamedPlan(Shown):
    """How a product or a transpose is computed tile by tile within limits of memory. Nothing was run."""

    what: str
    tiles: TilePlan
    shares: tuple[Share, ...]
    seconds: float
    host_bytes: int
    same_bits: bool
    broadcast_bytes: int = 0  # of them, pinned memory for what all devices load

    def one_line(self) -> str:
        return f"{self.what}: {self.tiles.tiles} tiles, about {self.seconds:.3g} s"

    @property
    def bits(self) -> str:
        if self.same_bits:
            return "each tile has the bits of the whole product in one piece, from the same device"
        if self.tiles.panels > 1:
            return f"sums over k are added up in {self.tiles.panels} panels: bits differ from one product's by rounding"
        return "another kernel or order of sums may compute the whole product: bits may differ from it by rounding"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each device."""
        tiles = self.tiles
        return [
            {"device": each.device, "kernels": each.kernels, "tiles": tiles.tiles, "tile": f"{tiles.m}x{tiles.n}x{tiles.k}",
             "bytes_in": tiles.bytes_in, "bytes_out": tiles.bytes_out, "device_bytes": each.device_bytes,
             "host_bytes": each.host_bytes, "seconds_alone": each.seconds, "limited_by": each.limited_by}
            for each in self.shares
        ]  # fmt: skip

    def __str__(self) -> str:
        tiles = self.tiles
        depth = f" over {tiles.k} of k in {tiles.panels} panels" if tiles.panels > 1 else ""
        panels = "1 panel" if tiles.held == 1 else f"{tiles.held} panels"
        stays = f"; {panels} of {tiles.stays} at a time, the other operand passes by" if tiles.groups else ""
        lines = [
            self.what,
            f"  {tiles.tiles:,} tiles of {tiles.m}x{tiles.n}{depth}, {tiles.rows} down and {tiles.columns} across{stays}",
            f"  one device alone: {_bytes(tiles.bytes_in)} to it, {_bytes(tiles.bytes_out)} back",
            *(
                f"  {each.device}: {each.kernels}; at most {_bytes(each.device_bytes)} there and {_bytes(each.host_bytes)} of "
                f"the host; alone about {each.seconds:.3g} s, limited by {each.limited_by}"
                for each in self.shares
            ),
            *(
                [
                    f"  what passes by is copied once for all of them, through {_bytes(self.broadcast_bytes)} of pinned memory"
                ]
                if self.broadcast_bytes
                else []
            ),
            f"  all together about {self.seconds:.3g} s and {_bytes(self.host_bytes)} of the host (an estimate: disks are not "
            "counted)",
            f"  {self.bits}",
        ]
        return "\n".join(lines)


def _bytes(count: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


@dataclass(frozen=True)
class Chosen:
    """A plan of tiles with the launches on each device, and the bytes of the host that each may take for copies, and all together
    for what they all load."""

    tiles: TilePlan
    plans: tuple[Mapping[Shaped, Plan], ...]
    staging: int
    spare: int
    broadcast_bytes: int
    shown: StreamedPlan


# The last plans, with the facts of their devices: a search takes 0.1 to 2 s, in which an H200 computes three tiles.
_kept: dict[Hashable, tuple[tuple[DeviceInfo, ...], Chosen]] = {}
MOST_KEPT = 64


def choose(
    operation: Operation,
    infos: Sequence[DeviceInfo],
    shared: Sequence[bool],
    budget: Budget,
    what: str,
    pinned: bool = False,
) -> Chosen:
    """The fastest tiles whose buffers fit the budget on every device, if all arrays are `pinned` or if they are not.

    InvalidInput with the numbers if none do.
    """
    places = tuple(map(id, infos))  # which last as long as the facts, and so as the entry
    key = (
        type(operation),
        operation.planned_by,
        _spare(operation, shared),
        places,
        tuple(shared),
        budget,
        what,
        pinned,
    )
    kept = _kept.get(key)
    if kept is None:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        kept = _kept[key] = tuple(infos), _chosen(operation, infos, shared, budget, what, pinned)
    return kept[1]


def _chosen(
    operation: Operation, infos: Sequence[DeviceInfo], shared: Sequence[bool], budget: Budget, what: str, pinned: bool
) -> Chosen:
    spare = _spare(operation, shared)
    host = budget.host_bytes - len(infos) * spare
    if budget.asked_host_bytes is not None and host <= 0:
        raise InvalidInput(
            f"max_host_bytes={budget.asked_host_bytes:,} is too small: reading and writing takes {len(infos) * spare:,} bytes"
        )
    each_host = max(host, 1) // len(infos)
    staging = min(each_host, MOST_STAGING)
    if not all(shared):
        staging_within(staging)
    # Of devices that work in the host's memory, buffers count there.
    most = min(min(budget.device_bytes, each_host) if own else budget.device_bytes for own in shared)
    own_memory = [info for info, own in zip(infos, shared, strict=True) if not own]
    largest = min((info.max_alloc_bytes for info in own_memory if info.max_alloc_bytes), default=None)
    rates = [rates_of(operation, info, pinned) for info in infos]
    by_threads = [not own and not pinned for own in shared]
    taken = sum(each_host if own else staging for own in shared)  # a device that works there may take its whole part
    together_bytes = _broadcast_bytes(operation, sum(by_threads), host - taken)
    together = rates_together(rates, shared, pinned, bool(together_bytes))
    tiles, plans = _fitting(operation, infos, most, largest, together, _stores(shared))
    together_bytes *= bool(tiles.passes_by)
    shares = tuple(map(lambda *each: _share(operation, tiles, staging, *each), infos, shared, by_threads, rates, plans))
    copied = tiles.bytes_loaded(sum(by_threads)) + tiles.bytes_out if together_bytes else tiles.bytes_of_all
    slowest = tiles.predicted(together) if len(infos) > 1 else 0.0
    whole = max(1 / sum(1 / each.seconds for each in shares), copied / HOST_COPIES if any(by_threads) else 0.0, slowest)
    host_bytes = sum(each.host_bytes for each in shares) + len(infos) * spare + together_bytes
    same = len(set(map(_launched, plans))) == 1 and all(
        operation.same_bits(tiles, each, info) for each, info in zip(plans, infos, strict=True)
    )
    shown = StreamedPlan(what, tiles, shares, whole, host_bytes, same, together_bytes)
    return Chosen(tiles, plans, staging, spare, together_bytes, shown)


def _broadcast_bytes(operation: Operation, devices: int, left: int) -> int:
    """Bytes of pinned memory for what several devices load together; 0 if they do not. The host has `left` bytes for it."""
    if devices < 2 or not isinstance(operation, ProductOperation):
        return 0
    operands = [stack.at(0)[1] for stack in (operation.a, operation.b)]
    dtype = numpy_dtype(operation.types[0])
    if not all(isinstance(each, MemoryMatrix) and each.dtype == dtype for each in operands):
        return 0
    largest = max(math.prod(each.shape) for each in operands) * dtype.itemsize
    chunks = min(MOST_BROADCAST, left, largest) // broadcast.CHUNK_BYTES
    return chunks * broadcast.CHUNK_BYTES if chunks >= broadcast.AHEAD * devices else 0


def _launched(plans: Mapping[Shaped, Plan]) -> str:
    """What runs, as a text: equal for devices that compute the same bits."""
    return str([[(step.kernel.name, str(step.config)) for step in plan.steps] for plan in plans.values()])


def _fitting(
    operation: Operation, infos: Sequence[DeviceInfo], most: int, largest: int | None, rates: Rates, stores: int
) -> tuple[TilePlan, tuple[Mapping[Shaped, Plan], ...]]:
    """Tiles for which there is room for scratch memory, too. How much that is, only the plans of their launches say.

    Of tiles that are nearly as fast, those are taken that have the bits of the whole product.
    """
    reserved = 0
    found: list[tuple[TilePlan, tuple[Mapping[Shaped, Plan], ...]]] = []
    while not found:
        lacking = []
        for _, tiles in tile_plans(operation.sizes, most, rates, len(infos), reserved, largest, stores)[:SEARCHED]:
            if found and not all(operation.may_have_same_bits(tiles, info) for info in infos):
                continue
            plans = tuple(operation.plans(tiles, info) for info in infos)
            taken = max(buffer_bytes(operation, tiles, each) for each in plans)
            if taken > most:
                lacking.append(taken - tiles.device_bytes)
            elif all(operation.same_bits(tiles, each, info) for each, info in zip(plans, infos, strict=True)):
                return tiles, plans
            else:
                found.append((tiles, plans))
        reserved = max(reserved + most // 64, min(lacking, default=0))
    return found[0]


def buffer_bytes(operation: Operation, tiles: TilePlan, plans: Mapping[Shaped, Plan]) -> int:
    """All buffers on a device: of tiles and operands, and scratch memory. Each may be moved to the beginning of a page."""
    operands = operation.slot_bytes(tiles).values()
    scratch = scratch_bytes(plans).values()
    nbytes = [*(nbytes for count, nbytes in operands for _ in range(count)), *scratch]
    nbytes += [tiles.slot_bytes[2]] * tiles.slots[2]
    return sum(nbytes) + len(nbytes) * PAGE_BYTES


def _stores(shared: Sequence[bool]) -> int:
    """The most tiles that one of the devices stores at a time."""
    return SharedMemory.stores if all(shared) else SeparateMemory.stores


def _spare(operation: Operation, shared: Sequence[bool]) -> int:
    """Bytes of the host that one thread takes to read for a device, and those that store to write."""
    matrices = [stack.at(0)[1] for stack in operation.stacks]
    return (1 + _stores(shared)) * max(matrix.spare_bytes for matrix in matrices)


def _share(
    operation: Operation,
    tiles: TilePlan,
    staging: int,
    info: DeviceInfo,
    own: bool,
    by_threads: bool,
    rates: Rates,
    plans: Mapping[Shaped, Plan],
) -> Share:
    """One device's share. Its `own` memory may be the host's; if it is not, tiles are copied `by_threads`, or by the device."""
    names = ("its kernels", "the link to it", "the link back", "the host's copies")
    times = (*tiles.seconds(rates), (tiles.bytes_in + tiles.bytes_out) / HOST_COPIES if by_threads else 0.0)
    taken = buffer_bytes(operation, tiles, plans)
    limit = names[times.index(max(times))]
    kernels = dict.fromkeys(step.kernel.name for plan in plans.values() for step in plan.steps)
    seconds = max(tiles.predicted(rates), times[3])
    return Share(info.label, ", ".join(kernels), seconds, limit, taken, taken if own else staging)
