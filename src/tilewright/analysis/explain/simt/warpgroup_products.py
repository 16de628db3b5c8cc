"""wgmma: four warps multiply two tiles in local memory. Both lie along k, swizzled by 128 bytes.

PTX ISA, "Asynchronous warpgroup level matrix multiply-accumulate": a descriptor says where a tile begins and how far blocks of
eight rows are apart. Of the sums of 64 x N, warp w of the four holds rows 16 w to 16 w + 15, as mma.sync spreads them. The
products are complete at once here, and each sum is rounded once.
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clc.lexer import Position
from ..clc.tree import Assembly
from ..clc.types import UINT
from .compiled_code import Frame, Place, Step, Value
from .context import Context
from .findings import COLLECTIVE
from .machine import Machine
from .masks import Mask
from .segments import Access
from .teams import Teams
from .tensor_maps import CHUNK, swizzled

WARPGROUP, ROWS, DEPTH = 128, 64, 16
SWIZZLED_BY_128 = 1
TEMPLATE = re.compile(
    r"\{\.reg \.pred kept;\nsetp\.ne\.b32 kept, %\d+, 0;\n//@wgmma\.mma_async\.sync\.aligned\."
    r"m64n(\d+)k16\.f32\.f16\.f16 \{[%\d, ]+\}, %\d+, %\d+, kept, 1, 1, 0, 0;\n\}"
)


def multiply_warpgroup(context: Context, statement: Assembly) -> Step:
    """sums = first tile * second tile, and what they were if the last input is not 0."""
    match = TEMPLATE.fullmatch(statement.template)
    assert match is not None
    columns, machine, position = int(match[1]), context.machine, statement.position
    if machine.items % WARPGROUP:
        raise position.error(f"wgmma is for warpgroups of {WARPGROUP}; this work-group has {machine.items} work-items")
    tiles = _Tiles(machine, position)
    first, second, keep = (context.value(each.value).run for each in statement.inputs)
    places = [context.place(each.value) for each in statement.outputs]
    lane = np.arange(WARPGROUP)

    def run(frame: Frame, mask: Mask) -> Mask:
        machine.check_together(mask, position, "wgmma", tiles.groups, COLLECTIVE)
        a = tiles.read(first(frame, mask), ROWS, mask)
        b = tiles.read(second(frame, mask), columns, mask)
        kept = mask.where(np.asarray(keep(frame, mask)) != 0)
        product = a @ b.transpose(0, 2, 1)
        for number, place in enumerate(places):
            row = lane // 32 * 16 + lane % 32 // 4 + number // 2 % 2 * 8
            column = number // 4 * 8 + 2 * (lane % 4) + number % 2
            own = tiles.groups.lanes(np.ascontiguousarray(product[:, row, column]))
            _add(place, own, kept, frame, mask)
        return mask

    return run


class _Tiles:
    """The tiles of one product, as the work-items of its warpgroups read them, unseen by the counts."""

    def __init__(self, machine: Machine, position: Position) -> None:
        self.position, self.memory = position, machine.memory
        self.groups = Teams("warpgroup", machine.lanes, machine.items, WARPGROUP)
        site = machine.memory.site(position, "load", CHUNK, CHUNK)
        self.access = Access(UINT.dtype, 4, CHUNK, site, counted=False)

    def read(self, descriptors: Value, rows: int, mask: Mask) -> npt.NDArray[np.float64]:
        """The tiles (warpgroups, rows, 16) of each lane's descriptor, which all of a warpgroup share."""
        chunks: Any = self.memory.window.pointers(self._chunks(descriptors, rows, mask))
        words = np.zeros((*chunks.shape, 4), np.uint32)
        for first in range(0, chunks.shape[1], WARPGROUP):
            part = chunks[:, first : first + WARPGROUP]
            padded = np.concatenate([part, np.repeat(part[:, -1:], WARPGROUP - part.shape[1], axis=1)], axis=1)
            loaded = self.groups.rows(self.memory.load(self.groups.lanes(padded), self.access, mask))
            words[:, first : first + part.shape[1]] = loaded.transpose(1, 2, 0)[:, : part.shape[1]]
        return words.reshape(len(words), rows, 8).view(np.float16).astype(np.float64)

    def _chunks(self, descriptors: Value, rows: int, mask: Mask) -> npt.NDArray[np.int64]:
        """The local addresses of the two chunks of 16 bytes of each row, (warpgroups, 2 * rows)."""
        first = self.groups.rows(descriptors)[:, 0].astype(np.uint64)
        active = self.groups.active(mask).any(axis=1)
        if (first[active] >> np.uint64(62) != SWIZZLED_BY_128).any():
            raise self.position.error("wgmma reads tiles that are swizzled by 128 bytes; others are not interpreted")
        begin, stride = (
            ((first >> np.uint64(shift) & np.uint64(0x3FFF)) << np.uint64(4)).astype(np.int64)[:, None]
            for shift in (0, 32)
        )
        row, half = np.divmod(np.arange(rows * 2), 2)
        return swizzled(begin + row // 8 * stride + row % 8 * 128 + half * CHUNK, 128)


def _add(place: Place, product: Value, kept: Mask, frame: Frame, mask: Mask) -> None:
    """A register of the sums becomes the product, plus what it was in the lanes of `kept`."""
    where = place.locate(frame, mask)
    if kept.any:
        product = product + np.where(kept.lanes, place.load(frame, kept, where), 0.0)
    place.store(frame, mask, where, product.astype(np.float32))
