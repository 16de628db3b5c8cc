"""async_work_group_copy and wait_group_events: 6.12.10.

The copy is modelled as a cooperative one: work-item i moves elements i, i + group size, ... What a driver really does is
up to it, so the traffic of these lines is a model even where the hardware's rules are verified.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .....core.language import Sentence
from ...clc.lexer import Position
from ...clc.tree import Call
from ...clc.types import EVENT, SIZE_T, VOID, Pointer, Space
from ..compiled_code import Code, Frame, Run, Value
from ..context import Context
from ..convert import change
from ..findings import ASYNC
from ..machine import Machine
from ..masks import Mask
from ..places import memory_access
from ..segments import Access
from .common import Builtin, arguments, pointer_argument


@dataclass
class _Copy:
    machine: Machine
    position: Position
    target: Run
    source: Run
    count: Run
    stride: Run | None
    strided_source: bool
    size: int
    load: Access
    store: Access

    def run(self, frame: Frame, mask: Mask) -> Value:
        machine = self.machine
        machine.check_together(mask, self.position, "async copy")
        values = [self.target(frame, mask), self.source(frame, mask), self.count(frame, mask)]
        values.append(np.uint64(1) if self.stride is None else self.stride(frame, mask))
        self.check_equal(values, mask)
        target, source, count, stride = (np.broadcast_to(value, (machine.lanes,)) for value in values)
        number = np.minimum(count, np.uint64(machine.memory.largest // self.size + 1)).astype(np.int64)
        item = np.arange(machine.lanes) % machine.items
        room = machine.present[machine.slot_of_lane]  # work-items of each lane's group
        turns = -(-int(number[mask.indices].max(initial=0)) // int(machine.present.min()))
        for turn in range(turns):
            element = item + turn * room
            moving = Mask(mask.lanes & (element < number))
            step = element * self.size
            strided = step * stride.astype(np.int64)
            load_from = source + (strided if self.strided_source else step)
            store_to = target + (step if self.strided_source else strided)
            with machine.memory.copies.inside():
                value = machine.memory.load(load_from, self.load, moving)
                machine.memory.store(store_to, self.store, value, moving)
        return np.int64(0)

    def check_equal(self, values: list[Any], mask: Mask) -> None:
        """All work-items of a group must ask for the same copy."""
        machine = self.machine
        for value in values:
            if np.ndim(value) == 0:
                continue
            leaders = machine.slot_of_lane * machine.items
            differs = (value != value[leaders]) & mask.lanes & mask.lanes[leaders]
            if differs.any():
                lane = int(np.flatnonzero(differs)[0])
                text = Sentence("the work-items of a group ask for different async copies")
                machine.findings.add(ASYNC, self.position, text, machine.item_name(lane), count=int(differs.sum()))


def _copy(strided: bool) -> Builtin:
    def build(context: Context, call: Call) -> Code:
        codes = arguments(context, call, 5 if strided else 4)
        kinds = [pointer_argument(code, call) for code in codes[:2]]
        if kinds[0].target != kinds[1].target or {kinds[0].space, kinds[1].space} != {Space.LOCAL, Space.GLOBAL}:
            raise call.position.error(
                f"{call.name} copies between local and global memory, not {kinds[1]} to {kinds[0]}"
            )
        element: Pointer = kinds[0]
        copy = _Copy(
            context.machine,
            call.position,
            codes[0].run,
            codes[1].run,
            change(codes[2], SIZE_T).run,
            change(codes[3], SIZE_T).run if strided else None,
            kinds[1].space is Space.GLOBAL,
            element.target.size,
            memory_access(context.machine, element.target, call.position, "load"),
            memory_access(context.machine, element.target, call.position, "store"),
        )
        return Code(EVENT, copy.run)

    return build


def _wait(context: Context, call: Call) -> Code:
    """Waits for all copies of the group: their bytes belong to everybody afterwards."""
    codes = arguments(context, call, 2)
    runs, machine, position = [code.run for code in codes], context.machine, call.position

    def run(frame: Frame, mask: Mask) -> Value:
        for each in runs:
            each(frame, mask)
        machine.check_together(mask, position, "wait for an async copy")
        machine.memory.copies.finish(mask)

    return Code(VOID, run)


COPIES: dict[str, Builtin] = {
    "async_work_group_copy": _copy(strided=False),
    "async_work_group_strided_copy": _copy(strided=True),
    "wait_group_events": _wait,
}
