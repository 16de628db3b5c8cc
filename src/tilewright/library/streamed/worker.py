"""One device at work: threads load, compute and store its tiles, each ahead of the next."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from time import sleep
from typing import Any

import pyopencl as cl

from ...core.plan import Plan
from ...runtime.opencl.device import Device, check
from .device_memory import Memory, Slot, Slots
from .launches import Launches
from .operations import Operation, Shaped, shaped
from .schedule import Schedule, Stopped
from .tiles import Tile, TilePlan

WAIT_S = 1e-4  # between two looks whether the threads have ended


@dataclass(eq=False)
class Target:
    """Where a tile is computed: none until its first step needs it, or is given what the tile begins with.

    Otherwise operands of later tiles could not be on their way: a buffer is free when an earlier tile was stored.
    """

    turn: int  # of the device's tiles
    slot: Slot | None = None


@dataclass(frozen=True)
class Step:
    """A tile and a panel of k, with the buffers that hold its operands."""

    tile: Tile
    panel: int
    inputs: Mapping[str, Slot]
    target: Target


Stored = Callable[["Worker", Tile, int], None]


class Worker:
    """A device with its buffers. `error` is what ended it early."""

    def __init__(
        self, device: Device, memory: Memory, operation: Operation, plan: TilePlan, plans: Mapping[Shaped, Plan],
        schedule: Schedule, stored: Stored,
    ) -> None:  # fmt: skip
        self.device, self.memory = device, memory
        self._operation, self._plan, self._plans = operation, plan, plans
        self._schedule, self._stored = schedule, stored
        self._form = operation.result_form(plan)
        self.error: BaseException | None = None
        self._storing: set[int] = set()  # numbers of the threads that write tiles
        self._kinds = {
            name: Slots([memory.allocate(nbytes, f"a tile of {name}") for _ in range(count)])
            for name, (count, nbytes) in operation.slot_bytes(plan).items()
        }
        self._results = Slots(
            [memory.allocate(plan.slot_bytes[2], "a tile of the result") for _ in range(plan.slots[2])]
        )
        self._launches: Launches | None = None
        self._steps: SimpleQueue[Step | None] = SimpleQueue()
        self._ended: SimpleQueue[Step | None] = SimpleQueue()
        # No thread does anything before all have started: Ctrl-C may come between, and one that has not cannot be waited for.
        # A queue tells them, because Ctrl-C may leave an Event's lock taken.
        self._begun, self._gate = False, SimpleQueue[None]()
        self._over: list[Callable[[], None]] = []  # the jobs that have ended
        stores = [("store", partial(self._store, number)) for number in range(memory.stores)]
        self._threads = [
            Thread(target=self._guarded, args=(job,), name=f"tilewright-{name}", daemon=True)
            for name, job in (("load", self._load), ("compute", self._compute), *stores)
        ]

    def start(self) -> None:
        self._schedule.join(self)
        for thread in self._threads:
            thread.start()
        self._begun = True
        self._open_gate()

    def _open_gate(self) -> None:
        for _ in self._threads:
            self._gate.put(None)

    @property
    def storing(self) -> bool:
        """Whether a tile is half written: of a worker that failed, for good."""
        return bool(self._storing)

    def stop(self) -> None:
        """End all threads as soon as what they are doing is done."""
        for slots in (*self._kinds.values(), self._results):
            slots.close()
        self._steps.put(None)
        self._ended.put(None)
        self._open_gate()

    def join(self) -> None:
        """Wait until nothing is written any more, by threads or by the device.

        `Thread.join` alone does not do: if Ctrl-C interrupts it, Python takes a thread at work for one that has ended.
        """
        threads = self._threads if self._begun else []
        while len(self._over) < len(threads):
            sleep(WAIT_S)
        for thread in threads:
            thread.join()
        try:
            self.memory.finish()
        except cl.Error:  # of a device that failed: its error is known
            return

    def close(self) -> None:
        """Free all buffers now, and forget the caller's arrays: a schedule, threads, an error and their worker know each other,
        so that they are found only later."""
        self._kinds, self._results, self._threads = {}, Slots([]), []
        if self._launches is not None and self.error is None:
            self._launches.close()
        self._launches = None
        self._steps, self._ended = SimpleQueue(), SimpleQueue()
        self.memory.close(self.error is not None)
        self.error = None
        del self._operation, self._schedule, self._stored

    def _guarded(self, job: Callable[[], None]) -> None:
        self._gate.get()
        if not self._begun:
            return
        try:
            job()
        except Stopped:
            pass
        except BaseException as error:
            self.error = self.error or error
            self.stop()
            self._schedule.dismiss(self)
        finally:
            self._over.append(job)

    def _load(self) -> None:
        turn = 0
        while (tile := self._schedule.claim(self)) is not None:
            target = Target(turn)
            turn += 1
            for panel in range(self._plan.panels):
                inputs = self._inputs(tile, panel)
                if not panel and (carried := self._operation.carried(tile)) is not None:
                    target.slot, _ = self._results.take(tile)
                    self.memory.fill(target.slot, carried, self._plan.part(tile), self._form)
                self._steps.put(Step(tile, panel, inputs, target))
        self._steps.put(None)

    def _inputs(self, tile: Tile, panel: int) -> dict[str, Slot]:
        found = {}
        for need in self._operation.needs(self._plan, tile, panel):
            slot, fresh = self._kinds[need.name].take(need.key)
            if fresh:
                key = (need.name, need.key) if need.name == self._plan.passes_by else None
                self.memory.fill(slot, need.matrix, need.part, need.form, key)
            found[need.name] = slot
        return found

    def _compute(self) -> None:
        """Launch a step before the one before it has ended, so that the device goes from one to the other.

        Kernels are built here, beside the first loads.
        """
        self._launches = Launches(self._plans, self.device, self.memory)
        begun: tuple[Any, Step] | None = None
        while True:
            try:
                step = self._steps.get_nowait()
            except Empty:
                if begun is not None:  # the loader may wait for its buffers
                    self._complete(*begun)
                    begun = None
                    continue
                step = self._steps.get()
            if step is None:
                break
            event = self._launch(step)
            if begun is not None:
                self._complete(*begun)
            begun = event, step
        if begun is not None:
            self._complete(*begun)
        self._ended.put(None)

    def _launch(self, step: Step) -> Any:
        if step.target.slot is None:
            step.target.slot, _ = self._results.take(step.tile)
        result = step.target.slot
        buffers = {name: slot.buffer for name, slot in step.inputs.items()}
        buffers["output" if "input" in buffers else "C"] = result.buffer
        for name in ("A", "B"):  # of an empty k nothing is read
            buffers.setdefault(name, result.buffer)
        slots = (*step.inputs.values(), result)
        wait_for = [slot.filled for slot in slots if slot.filled is not None]
        assert self._launches is not None
        kind = shaped(self._plan, self._plan.part(step.tile), step.panel)
        return self._launches.start(kind, buffers, wait_for, step.target.turn)

    def _complete(self, event: Any, step: Step) -> None:
        if event is not None:
            with check(f"waiting for a tile on {self.device.info.label}"):
                event.wait()
        for name, slot in step.inputs.items():
            self._kinds[name].give(slot)
        if step.panel == self._plan.panels - 1:
            self._ended.put(step)

    def _store(self, number: int) -> None:
        while (step := self._ended.get()) is not None:
            _, matrix = self._operation.out.at(step.tile.matrix)
            result = step.target.slot
            assert result is not None
            self._storing.add(number)
            written = self.memory.drain(result, matrix, self._plan.part(step.tile), self._form, number)
            self._storing.discard(number)
            self._stored(self, step.tile, written)
            self._results.give(result)
        self._ended.put(None)  # for the other threads that store
