"""Runs the products of blocks: copies what is one array for all, panel by panel, and multiplies what is there."""

from typing import Any

import numpy as np

from ..library.memory.choice import memory_for
from ..library.multiply import multiply
from ..library.requests import Options, gemm_product
from .copies import Copies
from .given import Block, Given, check_shared
from .panels import Panel, panels_of


class Running:
    """The products of some blocks, and the copies that they need. Each device gets an array once, however many blocks it has."""

    def __init__(self, given: Given, blocks: list[Block]) -> None:
        self._given, self._blocks, self._kind = given, blocks, given.kind
        self._copies: dict[str, Copies] = {}
        self._beside: list[tuple[Any, Any]] = []  # an array's memory, and a block's in another queue of its device
        for name, value in given.shared.items():
            self._share(name, value)

    def _share(self, name: str, value: Any) -> None:
        """Let all blocks have one array: as it is on its own device, in memory for a copy on others."""
        kind = self._kind
        place = kind.place_of_value(value)
        home = memory_for((value,), None, None, None)
        seen = home.as_array(value, name)
        check_shared(name, seen)
        receivers: dict[Any, Any] = {}
        for block in self._blocks:
            own = kind.place_of(block.memory)
            if own == place:
                setattr(block, name, block.memory.as_array(value, name))
                if block.memory.queue != home.queue:
                    self._beside.append((home, block.memory))
            elif 0 in seen.shape:
                setattr(block, name, block.memory.empty(seen.shape, seen.dtype))
            else:
                receivers.setdefault(own, block.memory)
        if receivers:
            matrix = kind.as_row(seen) if name == "bias" else seen
            self._copies[name] = kind.copies(name, matrix, home, tuple(receivers.values()))
        for block in self._blocks:
            if getattr(block, name) is None:
                whole = self._copies[name].whole(kind.place_of(block.memory))
                setattr(block, name, kind.as_vector(whole) if name == "bias" else whole)

    def products(self, dtype: np.dtype, options: Options) -> list[Any]:
        """Enqueue everything. The blocks of the result, in the caller's order."""
        columns = self._blocks[0].b.shape[1]
        targets = [self._target(block, dtype, columns) for block in self._blocks]
        moving = {block.number for block in self._blocks if self._waits(block)}
        try:
            for home, memory in self._beside:
                self._kind.order(home, memory)
            for copies in self._copies.values():
                copies.begin()
            if "bias" in self._copies:
                self._copies["bias"].send(Panel(0, columns))
            panels = panels_of(columns) if "b" in self._copies else (Panel(0, columns),)
            for panel in panels:
                if "b" in self._copies:
                    self._copies["b"].send(panel)
                for block, target in zip(self._blocks, targets, strict=True):
                    if block.number in moving:
                        self._multiply(block, target, panel, options)
                    elif panel is panels[0]:  # after the first copies, which others wait for
                        self._multiply(block, target, Panel(0, columns), options)
        finally:
            for home, memory in self._beside:
                self._kind.order(memory, home)
            for copies in self._copies.values():
                copies.finish([block.memory for block in self._blocks])
        if self._given.out is not None:
            return self._given.out
        return [block.memory.result(target) for block, target in zip(self._blocks, targets, strict=True)]

    def _target(self, block: Block, dtype: np.dtype, columns: int) -> Any:
        return block.memory.empty((block.a.shape[0], columns), dtype) if block.out is None else block.out

    def _waits(self, block: Block) -> bool:
        """Whether the block's `b` comes in panels."""
        return "b" in self._copies and self._kind.place_of(block.memory) in self._copies["b"].places

    def _multiply(self, block: Block, target: Any, panel: Panel, options: Options) -> None:
        """Enqueue the product of a block and some columns."""
        memory, b, c, bias = block.memory, block.b, block.c, block.bias
        if 0 in target.shape:
            return
        kind, place = self._kind, self._kind.place_of(memory)
        if self._waits(block):
            b = self._copies["b"].taken(panel, memory)
        if "bias" in self._copies and place in self._copies["bias"].places:
            bias = kind.as_vector(self._copies["bias"].taken(Panel(0, target.shape[1]), memory))
        if panel.end - panel.begin < target.shape[1]:
            target = kind.columns_of(target, panel)
            c, bias = (None if each is None else kind.columns_of(each, panel) for each in (c, bias))
        product = gemm_product(memory, (block.a, b, c, bias, None, None), options)
        multiply(memory, product, target)
        kind.start(memory)
