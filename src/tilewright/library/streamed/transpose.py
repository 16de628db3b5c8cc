"""A transpose in tiles."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...core.device import DeviceInfo
from ...core.plan import Plan
from ...dispatch.choice import plan_copy
from ...kernels.copy import StridedCopy
from ..copy_calls import STANDS_FOR
from .device_memory import Form
from .matrices import Matrix, Part
from .operations import Need, Shaped, Stack, dense, every_shape, known_by
from .rates import Sizes
from .tiles import Tile, TilePlan


@dataclass
class TransposeOperation:
    """Each matrix of a batch transposed. The sizes are those of the result."""

    m: int
    n: int
    batch: int
    source: Stack
    out: Stack
    dtype: np.dtype
    in_place: bool = False

    @property
    def by_columns(self) -> tuple[bool, bool]:
        return self.source.at(0)[1].by_columns, self.out.at(0)[1].by_columns

    @cached_property
    def sizes(self) -> Sizes:
        size, (source, out) = self.dtype.itemsize, self.by_columns
        by_columns = (not source, False, out)  # the input as a matrix of the result's shape
        return Sizes(self.m, self.n, 0, self.batch, size, 0, size, size, moved=size, by_columns=by_columns)

    @property
    def stacks(self) -> tuple[Stack, ...]:
        return self.source, self.out

    @property
    def dtypes(self) -> tuple[np.dtype, ...]:
        return self.dtype, self.dtype

    @property
    def planned_by(self) -> Hashable:
        return self.sizes, self.by_columns, self.dtype.str

    def result_form(self, plan: TilePlan) -> Form:
        return Form(self.dtype, self.by_columns[1])

    def carried(self, tile: Tile) -> Matrix | None:
        return None

    def needs(self, plan: TilePlan, tile: Tile, panel: int) -> tuple[Need, ...]:
        own, matrix = self.source.at(tile.matrix)
        result = plan.part(tile)
        part = Part(result.column, result.columns, result.row, result.rows)
        return (Need("input", (own, tile.row, tile.column), matrix, part, Form(self.dtype, self.by_columns[0])),)

    def slot_bytes(self, plan: TilePlan) -> Mapping[str, tuple[int, int]]:
        return {"input": (min(2, plan.tiles), plan.slot_bytes[0])}

    def plans(self, plan: TilePlan, info: DeviceInfo) -> Mapping[Shaped, Plan]:
        by_columns, element = self.by_columns, STANDS_FOR[self.dtype.itemsize]
        return {
            step: plan_copy(
                StridedCopy(
                    step.m,
                    step.n,
                    element,
                    dense(step.n, step.m, by_columns[0]).swapped,
                    dense(step.m, step.n, by_columns[1]),
                ),
                info,
            )
            for step in every_shape(plan)
        }

    def same_bits(self, plan: TilePlan, plans: Mapping[Shaped, Plan], info: DeviceInfo) -> bool:
        return True

    def may_have_same_bits(self, plan: TilePlan, info: DeviceInfo) -> bool:
        return True

    def describe(self) -> dict[str, Any]:
        return {
            "what": "transpose", "sizes": [self.m, self.n, self.batch],
            "source": known_by(self.source, self.out),
        }  # fmt: skip
