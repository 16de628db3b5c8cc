"""A product in tiles: what each step reads, and which kernels compute it with the bits of the product in one piece."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...core.device import DeviceInfo
from ...core.plan import Plan, plan_kernel
from ...core.precision import REPRODUCIBLE
from ...core.problem import Problem, StridedGemm
from ...core.types import element_type, numpy_dtype
from ...dispatch.choice import plan_product, product_candidates
from ...dispatch.table_files import load_tables
from ...errors import Unsupported
from ...kernels.product.call import GemmCall, call_of
from ...runtime.opencl.vpdpbusd import equipped
from ..multiply import Epilogue
from .device_memory import Form
from .files import FileMatrix
from .matrices import Matrix, Part
from .operations import Need, Shaped, Stack, dense, every_shape, known_by
from .rates import Sizes
from .tiles import Tile, TilePlan


@dataclass
class ProductOperation:
    """activation(alpha A B + beta C + bias) for each matrix of a batch."""

    m: int
    n: int
    k: int
    batch: int
    a: Stack
    b: Stack
    out: Stack
    types: tuple[str, str]
    epilogue: Epilogue
    conjugate: tuple[bool, bool]
    c: Stack | None = None
    in_place: bool = False
    vectors: Mapping[str, Matrix] = field(default_factory=dict)
    one_memory: bool = False  # of A and B: in one piece half of a product with its own transpose is computed
    _whole: dict[str, Plan | None] = field(default_factory=dict)  # by the device's label

    @cached_property
    def by_columns(self) -> tuple[bool, bool, bool]:
        """Which of A, B and the result lie by columns."""
        a, b, c = (stack.at(0)[1].by_columns for stack in (self.a, self.b, self.out))
        return a, b, c

    @cached_property
    def sizes(self) -> Sizes:
        a_bytes = element_type(self.types[0]).itemsize
        c_bytes, sum_bytes = (element_type(name).itemsize for name in (self.types[1], self._summed))
        a_file, b_file, out_file = (isinstance(stack.at(0)[1], FileMatrix) for stack in (self.a, self.b, self.out))
        return Sizes(
            self.m, self.n, self.k, self.batch, a_bytes, a_bytes, c_bytes, sum_bytes, self.c is not None,
            files=(a_file, b_file, out_file), by_columns=self.by_columns, whole_k=self._one_chain,
        )  # fmt: skip

    @property
    def _one_chain(self) -> bool:
        """Whether each element is promised to be one chain of sums in the order of k, which panels would round between."""
        return self.epilogue.precision == REPRODUCIBLE

    @property
    def stacks(self) -> tuple[Stack, ...]:
        return self.a, self.b, self.out, *(() if self.c is None else (self.c,))

    @property
    def dtypes(self) -> tuple[np.dtype, ...]:
        read, written = map(numpy_dtype, self.types)
        return read, read, written, *(() if self.c is None else (written,))

    @property
    def _summed(self) -> str:
        """The type of sums that wait between panels of k."""
        own, result = element_type(self.types[0]), element_type(self.types[1])
        return self.types[1] if result.exact else own.accumulator

    @property
    def planned_by(self) -> Hashable:
        # 2 and 2+0j are equal, and not the same to a kernel.
        numbers = type(self.epilogue.alpha), type(self.epilogue.beta)
        own = self.sizes, self.by_columns, self.types, self.epilogue, numbers, self.conjugate
        return *own, tuple(self.vectors), self.one_memory

    def result_form(self, plan: TilePlan) -> Form:
        return Form(numpy_dtype(self._summed if plan.panels > 1 else self.types[1]), self.by_columns[2])

    def carried(self, tile: Tile) -> Matrix | None:
        return self.c.at(tile.matrix)[1] if self.c is not None else None

    def needs(self, plan: TilePlan, tile: Tile, panel: int) -> tuple[Need, ...]:
        result, dtype = plan.part(tile), numpy_dtype(self.types[0])
        found = []
        if self.k:
            first, depth = plan.panel(panel)
            for name, stack, place, by_columns, part in (
                ("A", self.a, tile.row, self.by_columns[0], Part(result.row, result.rows, first, depth)),
                ("B", self.b, tile.column, self.by_columns[1], Part(first, depth, result.column, result.columns)),
            ):
                own, matrix = stack.at(tile.matrix)
                found.append(Need(name, (own, place, panel), matrix, part, Form(dtype, by_columns)))
        for name, matrix in self.vectors.items():
            part, place = self._along(name, matrix, result, tile)
            found.append(Need(name, place, matrix, part, Form(self._vector_type(name, plan), False)))
        return tuple(found)

    def _along(self, name: str, vector: Matrix, result: Part, tile: Tile) -> tuple[Part, int]:
        """The part of a vector that a tile needs, and its place among such parts."""
        if vector.shape[1] == 1 and (name == "bias" or getattr(self.epilogue, name) == "one"):
            return Part(0, 1, 0, 1), 0
        by_rows = name == "scale_a" or (name == "bias" and self.epilogue.bias == "column")
        if by_rows:
            return Part(0, 1, result.row, result.rows), tile.row
        return Part(0, 1, result.column, result.columns), tile.column

    def _vector_type(self, name: str, plan: TilePlan) -> np.dtype:
        """A bias has the type of the tile that it is added to: sums that wait between panels may be wider than the result."""
        return self.result_form(plan).dtype if name == "bias" else np.dtype(np.float32)

    def slot_bytes(self, plan: TilePlan) -> Mapping[str, tuple[int, int]]:
        (a, b, _), (a_bytes, b_bytes, _) = plan.slots, plan.slot_bytes
        longest = max(plan.m, plan.n)
        vectors = {name: (2, longest * self._vector_type(name, plan).itemsize) for name in self.vectors}
        operands = {"A": (a, a_bytes), "B": (b, b_bytes)} if self.k else {}
        return {**operands, **vectors}

    def problem(self, step: Shaped, summed: str) -> StridedGemm:
        """The product of one step. Only the last one has a bias and an activation; all but the first add to the tile."""
        epilogue, (a_columns, b_columns, c_columns) = self.epilogue, self.by_columns
        m, n, k = step.m, step.n, step.k
        views = (dense(m, k, a_columns), dense(k, n, b_columns), dense(m, n, c_columns))
        return StridedGemm(
            m, n, k, self.types[0], alpha=epilogue.alpha, beta=epilogue.beta if step.first else 1, out_dtype=summed,
            views=views, bias=epilogue.bias if step.last else "", activation=epilogue.activation if step.last else "",
            conjugate_a=self.conjugate[0], conjugate_b=self.conjugate[1], precision=epilogue.precision,
            scale_a=epilogue.scale_a, scale_b=epilogue.scale_b,
        )  # fmt: skip

    def plans(self, plan: TilePlan, info: DeviceInfo) -> Mapping[Shaped, Plan]:
        return {step: self._planned(step, plan, info) for step in every_shape(plan)}

    def _planned(self, step: Shaped, plan: TilePlan, info: DeviceInfo) -> Plan:
        """The launches of a step: by the kernel of the whole product, or by that of an inner tile, if it can."""
        info = equipped(info, self.types[0])
        summed = self.result_form(plan).dtype.name
        problem, whole = self.problem(step, summed), self.whole_plan(info)
        inner = next(every_shape(plan))
        if whole is None and step != inner:
            whole = self._planned(inner, plan, info)
        return _with_kernel_of(whole, problem, info) or plan_product(problem, info, load_tables())

    def may_have_same_bits(self, plan: TilePlan, info: DeviceInfo) -> bool:
        if element_type(self.types[0]).exact:
            return True
        if self._order_of_the_whole(plan, info) is None:  # which is known at once, for all tiles
            return False
        inner = next(every_shape(plan))
        return self.same_bits(plan, {inner: self._planned(inner, plan, info)}, info)

    def whole_plan(self, info: DeviceInfo) -> Plan | None:
        """The plan of one whole matrix, if kernels could take it: tiles are computed by the same kernel where it can."""
        if info.label not in self._whole:
            whole = self.problem(Shaped(self.m, self.n, self.k, True, True), self.types[1])
            try:
                self._whole[info.label] = plan_product(whole, equipped(info, self.types[0]), load_tables())
            except Unsupported:
                self._whole[info.label] = None
        return self._whole[info.label]

    def same_bits(self, plan: TilePlan, plans: Mapping[Shaped, Plan], info: DeviceInfo) -> bool:
        """Whether tiles are known to have the bits of the whole product in one piece."""
        if element_type(self.types[0]).exact or self._one_chain:
            return True
        order = self._order_of_the_whole(plan, info)
        return order is not None and all(_order_of_sums(each) == order for each in plans.values())

    def _order_of_the_whole(self, plan: TilePlan, info: DeviceInfo) -> tuple[Any, ...] | None:
        """In which order the product in one piece adds up, if tiles may do the same."""
        whole = self.whole_plan(info)
        # A stack in one piece may be one product of more rows.
        if whole is None or plan.panels > 1 or self.one_memory or self.batch > 1:
            return None
        return _order_of_sums(whole)

    def describe(self) -> dict[str, Any]:
        epilogue = self.epilogue
        numbers = [str(getattr(epilogue, name)) for name in ("alpha", "beta", "bias", "activation", "precision")]
        operands = {"a": self.a, "b": self.b, **({"c": self.c} if self.c is not None and not self.in_place else {})}
        return {
            "what": "product", "sizes": [self.m, self.n, self.k, self.batch], "types": list(self.types), "numbers": numbers,
            "conjugate": list(self.conjugate), "scales": [epilogue.scale_a, epilogue.scale_b],
            **{name: known_by(stack, self.out) for name, stack in operands.items()},
            **{name: vector.identity() for name, vector in self.vectors.items()},
        }  # fmt: skip


def _with_kernel_of(kept: Plan | None, problem: Problem, info: DeviceInfo) -> Plan | None:
    """The plan of a problem by the kernel and the configuration of another plan; None where they cannot solve it."""
    if kept is None:
        return None
    used = {(step.kernel.name, str(step.config.key)) for step in kept.steps}
    call = call_of(problem)
    for kernel in product_candidates(call_of(kept.problem), info):
        if (kernel.name, str(kernel.config.on(info).key)) in used:
            try:
                found = plan_kernel(kernel, call, info)
            except Unsupported:
                return None
            return Plan(problem, found.steps, found.notes)
    return None


def _order_of_sums(plan: Plan) -> tuple[Any, ...] | None:
    """What decides in which order a plan adds up an element's products; None if it differs between elements."""
    found = []
    for step in plan.steps:
        if not isinstance(step.problem, GemmCall):
            continue
        if getattr(step.config, "splits_tail", False):
            return None
        scalars = step.config.scalars(step.problem)
        if scalars.get("sums_last"):
            return None
        depth = scalars.get("kb", 0)
        found.append((step.kernel.name, str(step.config.key), depth, step.problem.k_chunk))
    return tuple(found)
