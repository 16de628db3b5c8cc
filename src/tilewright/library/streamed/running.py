"""Runs an operation in tiles: limits, the plan, the journal, and a worker for each device."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...errors import InvalidInput
from ...runtime.forks import refuse_if_forked
from ...runtime.opencl.broadcast import Broadcast
from ...runtime.opencl.device import Device
from .bar import Bar
from .budget import Budget, Ledger, budget_for
from .device_memory import Memory, SeparateMemory, SharedMemory, shares_memory
from .devices import ALL
from .executor import Run, left_over
from .files import FileMatrix
from .journal import Journal
from .limits import Limits
from .operands import Given
from .operations import Operation
from .pinned_memory import broadcast_for, pinned_ranges
from .planning import Chosen, buffer_bytes, choose
from .quickest import Devices, quickest
from .schedule import Schedule
from .tiles import Tile, TilePlan
from .worker import Worker

# A call that takes at most this part of a device's memory leaves there what others keep: chunks of Dask half of it, idle buffers
# a sixteenth, scratch memory a thirty-second for each thread. To load Dask's chunks again took two H200s 0.2 s.
ROOM_SHARE = 8


def limited(devices: Devices, limits: Limits) -> Budget:
    """The limits of devices, as the caller gives them."""
    return budget_for(tuple(each.info for each in devices), limits.max_device_bytes, limits.max_host_bytes)


def _budget(devices: Devices, limits: Limits, result: Given, out: Any) -> Budget:
    """The limits of a call. A result that the call allocates counts as the host's."""
    for device in devices:
        refuse_if_forked(device.info.platform)
    budget = limited(devices, limits)
    if budget.asked_host_bytes is None or out is not None:
        return budget
    left = budget.host_bytes - result.nbytes
    if left <= 0:
        raise InvalidInput(
            f"the result has {result.nbytes:,} bytes, and max_host_bytes={budget.host_bytes:,}: pass out=, such as a numpy.memmap"
        )
    return replace(budget, host_bytes=left)


def run_in_tiles(operation: Operation, devices: Devices, limits: Limits, result: Given, out: Any, what: str) -> None:
    """Plan, and compute all tiles that a journal does not say are done."""
    separate = [device for device in devices if not shares_memory(device)]
    ranges = pinned_ranges(operation, separate)  # kept until the end of the call: tiles are chosen for them
    try:
        _plan_and_run(
            operation, devices, limits, partial(_budget, limits=limits, result=result, out=out), what, bool(ranges)
        )
    finally:
        ranges.clear()  # an error would keep them


def _plan_and_run(
    operation: Operation,
    devices: Devices,
    limits: Limits,
    budget_of: Callable[[Devices], Budget],
    what: str,
    pinned: bool,
) -> None:
    if limits.device == ALL:
        devices = quickest(operation, devices, budget_of, what, pinned)
    budget = budget_of(devices)
    shared = [shares_memory(device) for device in devices]
    chosen = choose(operation, [device.info for device in devices], shared, budget, what, pinned)
    journal = _journal(operation, chosen.tiles)
    complete, broadcast = False, None
    try:
        done = left_over(journal, lambda number: _check(operation, chosen.tiles, number))
        schedule = Schedule(chosen.tiles.strips(), done)
        run = Run(schedule, journal, operation.in_place)
        broadcast = broadcast_for(devices, shared, budget, chosen)
        workers = _workers(operation, devices, shared, budget, chosen, schedule, run, broadcast)
        with Bar(limits.progress, what, schedule.left) as bar:
            run.execute(workers, bar)
        complete = True
        if broadcast is not None and not run.replaced:
            broadcast.keep()
    finally:
        broadcast = None  # an error would keep its memory
        if journal is not None:
            journal.close(complete)


def _workers(
    operation: Operation, devices: Sequence[Device], shared: Sequence[bool], budget: Budget, chosen: Chosen,
    schedule: Schedule, run: Run, broadcast: Broadcast | None,
) -> list[Worker]:  # fmt: skip
    host = Ledger(budget.host_bytes, "the host's memory")
    host.take(chosen.spare * len(devices), "reading and writing")
    host.take(chosen.broadcast_bytes, "pinned memory for what several devices load")
    made = []
    for device, own, plans in zip(devices, shared, chosen.plans, strict=True):
        nbytes = buffer_bytes(operation, chosen.tiles, plans)
        _release_what_is_kept(device, own, nbytes, budget)
        ledger = Ledger(budget.device_bytes, device.info.label)
        pooled = not _limited(budget) and nbytes <= device.pool.most_bytes  # then the next call finds them all
        memory: Memory = (
            SharedMemory(device, (ledger, host))
            if own
            else SeparateMemory(device, ledger, host, chosen.staging, broadcast, pooled)
        )
        made.append(Worker(device, memory, operation, chosen.tiles, plans, schedule, run.stored))
    return made


def _release_what_is_kept(device: Device, own: bool, nbytes: int, budget: Budget) -> None:
    """Free what earlier calls keep on a device, and chunks of Dask, if a call that takes `nbytes` may need their room.

    Its `own` memory may be the host's, which other programs want, too.
    """
    if own or _limited(budget) or nbytes > device.info.global_bytes // ROOM_SHARE:
        device.pool.release()


def _limited(budget: Budget) -> bool:
    """Whether the caller gave any limit."""
    return budget.asked_device_bytes is not None or budget.asked_host_bytes is not None


def _journal(operation: Operation, tiles: TilePlan) -> Journal | None:
    """The journal of a result in a file; None for others."""
    matrix = operation.out.at(0)[1]
    if not isinstance(matrix, FileMatrix):
        return None
    product = {**operation.describe(), "tile": [tiles.m, tiles.n, tiles.k], "out": matrix.place}
    journal = Journal(matrix.file.path, product, operation.in_place)
    if not all(0 <= number < tiles.tiles for number in journal.sums):
        journal.close(complete=False)
        raise InvalidInput(f"{journal.path} is no journal: remove it (the product has {tiles.tiles:,} tiles)")
    return journal


def _check(operation: Operation, tiles: TilePlan, number: int) -> int:
    """The check sum of a tile as it lies in its file."""
    rest, column = divmod(number, tiles.columns)
    number_of_matrix, row = divmod(rest, tiles.rows)
    tile = Tile(number, number_of_matrix, row, column)
    matrix = operation.out.at(tile.matrix)[1]
    assert isinstance(matrix, FileMatrix)
    return matrix.check(tiles.part(tile))
