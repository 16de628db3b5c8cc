"""The sanitizer on the library's own kernels: every tile, element type and way of reading, for GPUs and for CPUs.

Results are right and nothing is found. What cannot be interpreted is listed here, with the reason that is given for it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from devices import CPU, NVIDIA

from tilewright.analysis.explain import explain_kernel, explain_steps
from tilewright.analysis.explain.plans import small_arrays
from tilewright.core.in_place import InPlaceTranspose
from tilewright.core.kernel import KERNELS, Kernel, Steps, render
from tilewright.core.plan import violations
from tilewright.core.precision import REPRODUCIBLE
from tilewright.core.problem import Copy, Gemm, Problem, Transpose, output_of
from tilewright.core.problems import make_problem
from tilewright.dispatch.choice import plan_copy, plan_product
from tilewright.errors import SourceError, Unsupported
from tilewright.kernels import find_ladder
from tilewright.kernels.copy.copy_nd import StridedCopyND
from tilewright.kernels.product.chain import chained
from tilewright.kernels.product.gemv.kernels import COLUMNS, ROWS
from tilewright.kernels.product.gemv.search import COLUMNS_SPACE, ROWS_SPACE
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.cost import TILE_SPACE
from tilewright.kernels.product.portable.kernels import SPLIT_K, TILES

GPU = replace(NVIDIA, compute_units=100, local_bytes=65536)

SMALL = PortableConfig(32, 32, 8, 4, 4)
# Of each size of element that is only moved: a matrix of more than one tile in both directions, and one of about a tile.
SIZES = {
    "int8": ((263, 141), (70, 141)),
    "float16": ((135, 141), (70, 77)),
    "float32": ((135, 77), (70, 45)),
    "float64": ((70, 77), (37, 41)),
    "complex128": ((70, 37), (21, 37)),
}


@dataclass(frozen=True)
class Launches:
    name: str
    problem: Problem
    steps: Steps

    @property
    def files(self) -> set[str]:
        """The .cl files that the launches are made of, as folder/name."""
        texts = (render(step.kernel, step.config, step.problem) for step in self.steps)
        named = {file for text in texts for file in re.findall(r'^#line 1 "([^"]+)"', text, re.M)}
        return {re.sub(r"^\.\./(?=\w+\.cl)", "product/", file) for file in named}  # as a family includes what all share


def given(kernel: Kernel, problem: Problem) -> Launches:
    return Launches(
        f"{kernel.source.stem} {kernel.config}, {problem.title}", problem, kernel.steps(kernel, kernel.config, problem)
    )


def tiles() -> Iterator[Launches]:
    """Each tile at sizes that leave ragged edges on every side, those aside that take no such problem."""
    for config in TILE_SPACE:
        kernel, problem = replace(TILES, config=config), Gemm(config.BM + 3, config.BN - 5, config.BK + 3)
        if not list(violations(kernel, config, problem, GPU)):
            yield given(kernel, problem)
    for dtype in ("float64", "int32", "int8", "complex64", "complex128", "float16", "bfloat16"):
        for order in ("row", "column"):
            result = "int32" if dtype == "int8" else None
            problem = Gemm(37, 29, 13, dtype, a_order=order, b_order="column", out_dtype=result)
            yield given(replace(TILES, config=SMALL), problem)
    yield given(replace(TILES, config=replace(SMALL, split_k=4)), Gemm(40, 40, 128))
    yield given(replace(chained(TILES), config=SMALL), Gemm(37, 29, 13, precision=REPRODUCIBLE))
    yield given(replace(TILES, config=replace(SMALL, pack=True)), Gemm(40, 43, 33))


def vectors() -> Iterator[Launches]:
    for along_rows in ROWS_SPACE:
        yield given(replace(ROWS, config=along_rows), Gemm(37, 3, 70))
    for along_columns in COLUMNS_SPACE:
        yield given(replace(COLUMNS, config=along_columns), Gemm(37, 3, 70, a_order="column"))


def planned() -> Iterator[Launches]:
    """What the library chooses on either kind of device."""
    products = [
        Gemm(17, 35, 33),
        Gemm(1, 70, 33),
        Gemm(70, 1, 40, "float64"),
        Gemm(17, 33, 9, "float32", "column", "column"),
    ]
    products += [Gemm(14, 20, 9, dtype) for dtype in ("float64", "int32", "complex64", "complex128")]
    products += [Gemm(17, 35, 33, precision=REPRODUCIBLE), Gemm(9, 40, 70, "float64", precision=REPRODUCIBLE)]
    products += [Gemm(1, 70, 33, precision=REPRODUCIBLE)]
    products += [
        Gemm(7, 5, 139),
        Gemm(6, 11, 69, "float64", batch=2),
        Gemm(5, 2, 130, "int32"),
        Gemm(5, 60, 259, b_order="column"),
        Gemm(70, 7, 259, a_order="column"),
        Gemm(37, 3, 131, "float64", a_order="column", batch=2),
        Gemm(5, 43, 261),
    ]
    products += [
        Gemm(9, 37, 1),
        Gemm(6, 70, 1, "float64"),
        Gemm(3, 131, 11, "bool"),
        Gemm(70, 2, 9, "bool", b_order="column"),
    ]
    products += [Gemm(9, 7, 5, batch=3), Gemm(26, 42, 3, "float64"), Gemm(14, 37, 5)]
    turned = [Transpose(70, 52, dtype) for dtype in ("float32", "float64", "int8", "float16", "complex128")]
    swaps = [
        InPlaceTranspose(70),
        InPlaceTranspose(33, "float64"),
        InPlaceTranspose(40, "int8"),
        InPlaceTranspose(71, "int8"),
    ]
    moves: list[Problem] = [
        *turned,
        *swaps,
        Copy(33, 20, "int32"),
        Copy(64, 64, "float32", 3),
        Transpose(64, 64),
        Transpose(128, 8),
        *(Transpose(3, 5, dtype) for dtype in SIZES),
        *(Transpose(*large, dtype) for dtype, (large, _) in SIZES.items()),
        *(Transpose(*small, dtype, offset=5) for dtype, (_, small) in SIZES.items()),
        *(Transpose(37, 41, dtype, batch=3) for dtype in SIZES),
        *(Copy(35, 1100, dtype, 1) for dtype in ("int8", "float16")),
        Copy(3, 5, "int8", 1),
        *(StridedCopyND((5, 4, 3, 7), (1, 5, 20, 60), (84, 21, 7, 1), dtype) for dtype in SIZES),
        StridedCopyND((20, 33), (1, 20), (33, 1), "int32", result="float32", converts=("int32", "float32")),
    ]
    for device in (GPU, CPU):
        for product in products:
            yield Launches(f"{product.title} on {device.name}", product, plan_product(product, device).steps)
        for move in moves:
            yield Launches(f"{move.title} on {device.name}", move, plan_copy(move, device).steps)


CASES = [*tiles(), *vectors(), *planned()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_right_and_free_of_faults(case: Launches) -> None:
    arrays = small_arrays(case.problem)
    explanations = explain_steps(case.steps, case.problem, arrays=arrays, groups="all")
    assert [str(each) for explanation in explanations for each in explanation.faults] == []
    output, last = output_of(case.problem), explanations[-1]
    name = next(name for name in last.outputs if last.buffers.get(name, name) == output.name)
    reference = case.problem.reference(arrays)
    result = output.unflatten(last.outputs[name])
    error = result != reference if result.dtype == np.bool_ else np.abs(result - reference)
    assert (error <= case.problem.error_bound(arrays, reference)).all()


# Files of the library's folders that nothing above runs, and why.
ELSEWHERE = {
    "portable/split_k.cl": "inline assembly: fences of NVIDIA's between work-groups",
    "product/fixup.cl": "for kernels with instructions that the interpreter does not know",
    "product/pipeline.cl": "for kernels with instructions that the interpreter does not know",
    "product/mirror.cl": "reads what the launch before it stored: tests/device/kernels/test_symmetric_tiles.py",
    "product/triangle.cl": "for kernels before that launch",
    "cpu/symmetric.cl": "reads what other work-groups stored: tests/device/library/test_symmetric.py",
}


def test_every_file_of_the_library_is_run_or_listed() -> None:
    run = set().union(*(case.files for case in CASES))
    there = {
        f"{path.parent.name}/{path.name}"
        for folder in ("product", "product/portable", "product/gemv", "product/cpu", "copy", "copy/cpu")
        for path in (KERNELS / folder).glob("*.cl")
    }
    assert sorted(there - run - set(ELSEWHERE)) == []
    assert sorted(set(ELSEWHERE) & run) == []


def test_what_cannot_be_interpreted_is_refused_by_a_sentence() -> None:
    problem = Gemm(40, 40, 128)
    kernel = replace(SPLIT_K, config=replace(SMALL, split_k=4))
    with pytest.raises(SourceError, match="split_k"):
        explain_steps(kernel.steps(kernel, kernel.config, problem), problem)


# Rungs whose work-groups stay, and store by TMA.
UNREAD = find_ladder("tensor").kernels[7:]


@pytest.mark.parametrize("kernel", UNREAD, ids=lambda kernel: kernel.name)
def test_rungs_beyond_opencl_c_are_refused_by_a_sentence(kernel: Kernel) -> None:
    with pytest.raises((SourceError, Unsupported)):
        explain_kernel(kernel, make_problem(kernel, (256, 256, 64), kernel.usual_dtype), groups=[(0, 0, 0)])
