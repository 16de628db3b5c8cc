"""The library's kernels make no compiler warn: NVIDIA's, which is built from clang, prints how often to the user's terminal."""

from collections.abc import Iterator

import devices
import pytest
from clangs import Compiler, compilers

from tilewright.core.kernel import Step, render
from tilewright.core.precision import PRECISIONS
from tilewright.core.problem import Gemm
from tilewright.core.types import ELEMENT_TYPES, storable
from tilewright.dispatch.choice import plan_product
from tilewright.errors import Unsupported

# Sides of products that bring every family: vectors, small and large tiles, split K, sides that need narrow loads and copies.
SIDES = (
    (1, 4096, 4096),
    (4096, 3, 1000),
    (16, 40, 24),
    (64, 72, 4096),
    (511, 515, 1031),
    (2048, 2048, 512),
    (4096, 4096, 256),
)
LAYOUTS = (("row", "row"), ("row", "column"), ("column", "row"))
TEXTS = 3  # of each kernel and type that are compiled


def steps_of(dtype: str) -> Iterator[Step]:
    """The launches of the products of a type, on a Hopper GPU, in every precision that there is."""
    result = dtype if dtype in storable(dtype) else "float32"
    for m, n, k in SIDES:
        for a_order, b_order in LAYOUTS:
            for precision in ("", *(name for name, dtypes in PRECISIONS.items() if dtype in dtypes)):
                problem = Gemm(m, n, k, dtype, a_order, b_order, out_dtype=result, precision=precision)
                try:
                    yield from plan_product(problem, devices.HOPPER).steps
                except Unsupported:
                    continue


@pytest.fixture(params=(0, 1), ids=("newest", "older"))
def clang(request: pytest.FixtureRequest) -> Compiler:
    found = [each for each in compilers() if each.complete == bool(request.param)]
    if not found:
        pytest.skip("no such clang is installed")
    return found[0]


@pytest.mark.parametrize("dtype", list(ELEMENT_TYPES))
def test_production_kernels_give_no_warnings(dtype: str, clang: Compiler) -> None:
    texts: dict[str, set[str]] = {}
    for step in steps_of(dtype):
        known = texts.setdefault(step.kernel.name, set())
        if len(known) < TEXTS:
            known.add(render(step.kernel, step.config, step.problem))
    assert not [(name, log) for name, known in texts.items() for text in known if (log := clang.warnings(text))]


def test_what_a_compiler_warns_of_is_found(clang: Compiler) -> None:
    assert "warning" in clang.warnings("kernel void test(global int* a, int b) { a[0] = b << 2 + b; if (b == 1); }")
