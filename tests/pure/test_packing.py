"""Operands that are copied first: on GPUs of all kinds, by launches that these allow."""

from dataclasses import replace

import pytest

from tilewright.choice import product_candidates
from tilewright.device import DeviceInfo
from tilewright.kernels.moves import COPY, COPY_WORDS, TURN, TURN_WORDS, Move, packing_steps
from tilewright.operands import Layout
from tilewright.plan import plan, violations
from tilewright.problem import Gemm

SMALL = DeviceInfo(
    "a GPU of small groups", "nowhere", vendor="another", kind="gpu", compute_units=64, max_work_group_size=256,
    max_work_item_sizes=(256, 256, 256), local_bytes=65536, global_bytes=1 << 34, max_alloc_bytes=1 << 33, fp64=True,
    sub_group_width=64, features=frozenset({"gpu"}),
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
@pytest.mark.parametrize("orders", [("row", "row"), ("row", "column"), ("column", "column")])
def test_groups_of_256_pack(dtype: str, orders: tuple[str, str]) -> None:
    problem = Gemm(2049, 2049, 2049, dtype, *orders, out_dtype="int32" if dtype == "int8" else None)
    packing = [kernel for kernel in product_candidates(problem, SMALL) if getattr(kernel.config, "pack", False)]
    assert packing
    for kernel in packing:
        moved = [step for step in kernel.steps(kernel, kernel.config, problem) if step.problem.operation == "move"]
        assert moved
        assert all(step.config.ndrange(step.problem).group_items <= 256 for step in moved)
    assert plan(packing, problem, SMALL).scratch


def test_each_kind_of_copy_has_a_configuration_for_every_gpu() -> None:
    whole, apart = Layout(0, 64, 1), Layout(1, 65, 1)
    for kernel, dtype, source, target in (
        (COPY, "float32", apart, whole),
        (TURN, "float32", apart, whole.swapped),
        (COPY_WORDS, "int8", apart, whole),
        (TURN_WORDS, "float16", apart, whole.swapped),
    ):
        (step,) = packing_steps(Move(60, 60, dtype, source, target), "A", "packed_A")
        assert step.kernel.source == kernel.source
        assert dict(step.buffers) == {"input": "A", "output": "packed_A"}
        assert not list(violations(replace(step.kernel, config=step.config), step.config, step.problem, SMALL))
