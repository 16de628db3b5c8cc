"""Operands that are copied first: on GPUs of all kinds, by launches that these allow."""

from dataclasses import replace

import pytest
from devices import GPU

from tilewright.core.operands import Layout
from tilewright.core.plan import plan, violations
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.dispatch.choice import product_candidates
from tilewright.kernels.copy import COPY, COPY_UNALIGNED, TRANSPOSE, TRANSPOSE_UNALIGNED, StridedCopy, packing_steps
from tilewright.kernels.copy import candidates as move_candidates
from tilewright.kernels.product.call import call_of
from tilewright.kernels.product.packing import PACK, across_k, on_lines, packing

SMALL = replace(
    GPU, max_work_group_size=256, max_work_item_sizes=(256, 256, 256), local_bytes=65536, sub_group_width=64
)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
@pytest.mark.parametrize("orders", [("row", "row"), ("row", "column"), ("column", "column")])
def test_groups_of_256_pack(dtype: str, orders: tuple[str, str]) -> None:
    problem = Gemm(2049, 2049, 2049, dtype, *orders, out_dtype="int32" if dtype == "int8" else None)
    packing = [kernel for kernel in product_candidates(problem, SMALL) if getattr(kernel.config, "pack", False)]
    assert packing
    for kernel in packing:
        steps = kernel.steps(kernel, kernel.config, problem)
        moved = [step for step in steps if step.problem.operation == "strided copy" or step.kernel is PACK]
        assert moved
        assert all(step.config.ndrange(step.problem).group_items <= 256 for step in moved)
    assert plan(packing, problem, SMALL).scratch


def test_each_kind_of_copy_has_a_configuration_for_every_gpu() -> None:
    whole, apart = Layout(0, 64, 1), Layout(1, 65, 1)
    for kernel, dtype, source, target in (
        (COPY, "float32", apart, whole),
        (TRANSPOSE, "float32", whole, whole.swapped),
        (TRANSPOSE_UNALIGNED, "float32", apart, whole.swapped),
        (COPY_UNALIGNED, "int8", apart, whole),
        (TRANSPOSE_UNALIGNED, "float16", apart, whole.swapped),
    ):
        (step,) = packing_steps(StridedCopy(60, 60, dtype, source, target), "A", "packed_A")
        assert step.kernel.source == kernel.source
        assert dict(step.buffers) == {"input": "A", "output": "packed_A"}
        assert not list(violations(replace(step.kernel, config=step.config), step.config, step.problem, SMALL))


@pytest.mark.parametrize(("dtype", "sizes", "launches"), [
    ("float32", (301, 523, 331), 1), ("complex64", (301, 523, 331), 1), ("float64", (301, 523, 331), 1),
    ("float32", (302, 524, 330), 2), ("float32", (301, 524, 331), 2), ("float16", (301, 523, 331), 2),
    ("complex128", (3, 5, 7), 2), ("float32", (4095, 4095, 4095), 2),
])  # fmt: skip
def test_operands_that_no_vectors_move_are_packed_by_one_launch(
    dtype: str, sizes: tuple[int, int, int], launches: int
) -> None:
    call = call_of(Gemm(*sizes, dtype))
    for place in (across_k, on_lines):
        steps = packing(call, ("A", "B"), place)
        assert len(steps) == launches
        (alone,) = packing(call, ("B",), place)
        assert alone.kernel.source.parent.name == "copy"
    if launches == 1:
        (step,) = steps
        assert [name for name, _ in step.scratch] == ["packed_A", "packed_B"]
        assert not list(violations(replace(step.kernel, config=step.config), step.config, step.problem, SMALL))


def test_a_stack_larger_than_a_launch_is_packed_by_several() -> None:
    call = replace(call_of(Gemm(3, 3, 3, batch=70000)), batch=70000)
    assert {step.kernel.source.parent.name for step in packing(call, ("A", "B"), across_k)} == {"copy"}


def test_a_stack_that_shares_an_operand_is_packed_by_two() -> None:
    views = (Layout(0, 331, 1, 0), Layout(0, 523, 1, 331 * 523), Layout(0, 523, 1, 301 * 523))
    shared = StridedGemm(301, 523, 331, batch=3, views=views)
    assert len(packing(call_of(shared), ("A", "B"), across_k)) == 2


def test_sides_that_no_int_counts_once_they_are_rounded_up_are_copied_by_the_kernel_that_does_not() -> None:
    most = 2**31 - 1
    for move in (
        StridedCopy(most, 2, "int8", Layout(0, 2, 1), Layout(0, 1, most)),
        StridedCopy(3, most, "int8", Layout(1, most + 6, 1), Layout(0, most + 8, 1)),
        StridedCopy(most, 2, "float32", Layout(0, 2, 1), Layout(0, 1, most)),
    ):
        chosen = plan(move_candidates(move, SMALL), move, SMALL)
        assert chosen.steps[0].kernel.source == COPY.source
