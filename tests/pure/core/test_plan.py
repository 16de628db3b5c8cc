"""Planning: which configuration is taken, and the sentences of those that are not."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from devices import CPU
from says import says

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import Config, Kernel, NDRange, Step, Steps, round_up
from tilewright.core.operands import Layout
from tilewright.core.plan import plan, plan_kernel
from tilewright.core.problem import Gemm, Problem, Transpose, inputs_of
from tilewright.core.problems import make_problem
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.errors import Unsupported
from tilewright.kernels import find_kernel
from tilewright.kernels.copy import StridedCopy
from tilewright.kernels.sizes import size

SMALL = replace(
    CPU, name="Small", max_work_group_size=64, max_work_item_sizes=(64, 64, 64), local_bytes=1024, fp64=False
)
LARGE = replace(CPU, name="Large")


@dataclass(frozen=True)
class Block(Config):
    SIDE: int
    VEC: int = 1

    def ndrange(self, problem: Problem) -> NDRange:
        sides = ("M", "N") if isinstance(problem, Gemm) else ("ROWS", "COLUMNS")
        m, n = (round_up(size(problem, side), self.SIDE) for side in sides)
        return NDRange((m, n), (self.SIDE, self.SIDE))

    def local_bytes(self, problem: Problem) -> int:
        return self.SIDE * self.SIDE * 4

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        k = size(problem, "K") if isinstance(problem, Gemm) else 0
        if k % self.VEC:
            yield f"K={k} is not a multiple of {self.VEC}, which VEC needs"


KERNEL = Kernel(Path("folder/03_block.cl"), Block(16), smaller=(Block(8), Block(4)))
PROBLEM = Gemm(20, 30, 40)


def refusal(kernel: Kernel, problem: Problem, device: DeviceInfo) -> str:
    with pytest.raises(Unsupported) as caught:
        plan_kernel(kernel, problem, device)
    return str(caught.value)


def test_the_first_configuration_is_taken_where_nothing_speaks_against_it() -> None:
    chosen = plan_kernel(KERNEL, PROBLEM, LARGE)
    assert [step.config for step in chosen.steps] == [Block(16)]
    assert chosen.notes == ()
    assert chosen.rejected == ()
    assert chosen.scratch == {}


def test_a_smaller_one_is_taken_where_the_group_is_too_large_and_a_note_says_so() -> None:
    chosen = plan_kernel(KERNEL, PROBLEM, SMALL)
    assert chosen.steps[0].config == Block(8)
    assert len(chosen.notes) == 1
    assert "SIDE=16" in chosen.notes[0]
    assert "SIDE=8" in chosen.notes[0]
    assert "16x16 = 256 work-items exceeds the 64 that Small allows" in chosen.notes[0]
    assert "folder/03_block (SIDE=16 VEC=1)" in str(chosen)


def test_local_memory_limits_count_too() -> None:
    device = replace(LARGE, local_bytes=100)
    chosen = plan_kernel(KERNEL, PROBLEM, device)
    assert chosen.steps[0].config == Block(4)
    assert says(str(chosen), "1,024", 100, "Large")


def test_one_long_side_is_refused_by_its_number() -> None:
    device = replace(LARGE, max_work_item_sizes=(1024, 2, 2))
    assert says(refusal(KERNEL, PROBLEM, device), 16, 2, "Large")


def test_where_nothing_fits_all_reasons_are_given() -> None:
    device = replace(SMALL, max_work_group_size=10)
    text = refusal(KERNEL, PROBLEM, device)
    for side, items in ((16, 256), (8, 64), (4, 16)):
        assert f"{side}x{side} = {items} work-items exceeds the 10" in text


def test_a_size_that_the_kernel_cannot_do_is_refused_by_its_sentence() -> None:
    kernel = replace(KERNEL, config=Block(16, VEC=3), smaller=(Block(8, VEC=3),))
    assert refusal(kernel, PROBLEM, LARGE) == "K=40 is not a multiple of 3, which VEC needs"
    assert plan_kernel(kernel, Gemm(20, 30, 42), LARGE).steps[0].config == Block(16, VEC=3)


def test_a_missing_dtype_is_refused_with_those_that_exist() -> None:
    kernel = replace(KERNEL, dtypes=("float32", "int32"))
    assert (
        refusal(kernel, replace(PROBLEM, dtype="int8"), LARGE) == "folder/03_block has no int8; it has float32, int32"
    )


def test_double_precision_needs_a_device_that_has_it() -> None:
    text = refusal(KERNEL, replace(PROBLEM, dtype="float64"), replace(LARGE, fp64=False))
    assert text == "Large has no double precision, which float64 needs"
    assert plan_kernel(KERNEL, replace(PROBLEM, dtype="float64"), LARGE).steps


def test_a_missing_feature_is_refused_by_the_kernels_own_sentence() -> None:
    kernel = replace(KERNEL, requires=(("nvidia", "warp shuffles are NVIDIA instructions"),))
    assert refusal(kernel, PROBLEM, LARGE) == "needs 'nvidia', which Large lacks: warp shuffles are NVIDIA instructions"
    assert plan_kernel(kernel, PROBLEM, replace(LARGE, features=frozenset({"nvidia"}))).steps


def test_another_operation_is_refused() -> None:
    assert refusal(KERNEL, Transpose(4, 4), LARGE) == "folder/03_block computes a gemm, not a transpose"


def test_the_first_candidate_that_works_is_taken_and_the_others_reasons_are_kept() -> None:
    picky = replace(KERNEL, source=Path("folder/09_picky.cl"), config=Block(16, VEC=7), smaller=())
    chosen = plan((picky, KERNEL), PROBLEM, LARGE)
    assert chosen.steps[0].kernel is KERNEL
    assert [str(each) for each in chosen.rejected] == [
        "folder/09_picky (SIDE=16 VEC=7): K=40 is not a multiple of 7, which VEC needs"
    ]
    assert "not taken: folder/09_picky" in str(chosen)


def transpose_first(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    before = Kernel(Path("folder/transpose.cl"), Block(4), "transpose")
    return (
        Step(before, before.config, Transpose(30, 40), (("input", "B"), ("output", "BT"))),
        Step(kernel, config, problem),
    )


def test_buffers_that_are_no_operand_are_scratch() -> None:
    chosen = plan_kernel(replace(KERNEL, steps=transpose_first), PROBLEM, LARGE)
    assert chosen.scratch == {"BT": 4 * 30 * 40}
    assert chosen.steps[0].buffer_of("input") == "B"
    assert chosen.steps[1].buffer_of("A") == "A"
    assert "scratch BT: 4,800 bytes" in str(chosen)


def test_every_launch_of_a_plan_must_fit() -> None:
    kernel = replace(KERNEL, config=Block(2), smaller=(), steps=transpose_first)
    text = refusal(kernel, PROBLEM, replace(LARGE, max_work_group_size=8))
    assert says(text, "4x4", 16, 8, "Large")


def test_sides_beyond_what_kernels_count_are_refused_with_the_value() -> None:
    wide = 2**31
    for problem in (Gemm(wide, 1, 1), Gemm(1, wide, 1), Gemm(1, 1, wide), Gemm(64, wide, 64, "float16")):
        for device in (LARGE, replace(LARGE, kind="gpu")):
            with pytest.raises(Unsupported, match=r"=2,147,483,648\b.*2,147,483,647"):
                plan_product(problem, device)
    assert plan_product(Gemm(wide - 1, 1, 1), LARGE).steps
    with pytest.raises(Unsupported, match="rows=2,147,483,648"):
        plan_copy(Transpose(wide, 2, "int8"), replace(LARGE, kind="gpu"))


def test_doubles_are_moved_where_they_cannot_be_computed() -> None:
    """Kernels that move look at bytes alone."""
    without = replace(LARGE, fp64=False)
    move = StridedCopy(33, 17, "complex128", Layout(0, 17, 1), Layout(0, 1, 33))
    assert plan_copy(move, without).steps
    with pytest.raises(Unsupported, match=r"Large.*float64"):
        plan_product(Gemm(8, 8, 8, "float64"), without)


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ({"a_order": "row", "b_order": "row", "c_order": "row"}, ("tiles/02_tiled", "A", "column", "row")),
        ({"alpha": 2}, ("tiles/02_tiled", "alpha", 1, 2)),
        ({"beta": 1}, ("tiles/02_tiled", "beta", 0, 1)),
        ({"batch": 3}, ("tiles/02_tiled", 3)),
        ({"out_dtype": "float64"}, ("tiles/02_tiled", "float32", "float64")),
    ],
)
def test_a_rung_refuses_what_it_would_not_compute(asked: dict[str, Any], values: tuple[object, ...]) -> None:
    rung, own = find_kernel("tiles/02"), Gemm(64, 64, 64, "float32", "column", "column", "column")
    assert own == make_problem(rung, 64)
    assert plan_kernel(rung, own, LARGE).problem == own
    assert says(refusal(rung, replace(own, **asked), LARGE), *values)


def test_a_rung_that_stores_several_types_takes_each_of_them() -> None:
    rung = find_kernel("tensor/01")
    asked = replace(Gemm(128, 128, 64, "float16", b_order="column"), out_dtype="float32")
    assert plan_kernel(rung, asked, replace(LARGE, fp16=True)).problem == asked
    assert says(
        refusal(rung, replace(asked, out_dtype="float64"), replace(LARGE, fp16=True)), "float64", "float16", "float32"
    )


@pytest.mark.parametrize("name", ["rows/05", "tiles/04", "tensor/01", "cpu/06"])
def test_a_rung_for_products_refuses_other_problems(name: str) -> None:
    assert says(refusal(find_kernel(name), Transpose(64, 64), LARGE), "gemm", "transpose")


def test_the_librarys_kernel_as_a_rung_refuses_results_that_it_cannot_store() -> None:
    assert says(refusal(find_kernel("cpu/06"), Gemm(8, 8, 8, out_dtype="float64"), LARGE), "float32", "float64")


def test_kernels_of_products_take_any_order_and_factor() -> None:
    asked = Gemm(64, 64, 64, a_order="column", c_order="column", alpha=2, beta=3, batch=2)
    assert plan_kernel(find_kernel("cpu/06"), asked, LARGE).problem == asked
    assert plan_product(asked, LARGE).problem == asked


def test_c_is_an_input_where_beta_is_not_0() -> None:
    assert [each.name for each in inputs_of(Gemm(2, 3, 4))] == ["A", "B"]
    assert [each.name for each in inputs_of(Gemm(2, 3, 4, beta=1))] == ["A", "B", "C"]
