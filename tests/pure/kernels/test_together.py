"""Kernels whose work-groups wait for each other say so: CUDA then launches them so that all run at a time."""

import pytest
from devices import HOPPER
from families import kernels_of

from tilewright.core.kernel import Dialect, render
from tilewright.core.problem import Gemm
from tilewright.dispatch.choice import FAMILIES
from tilewright.kernels.product.gemv import search as gemv

CALL, DEFINITION = "await_arrivals(", "void await_arrivals("


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
def test_what_awaits_arrivals_is_launched_together(dtype: str) -> None:
    found = set()
    for problem in (Gemm(16, 16, 65536, dtype), Gemm(1024, 1024, 1024, dtype), Gemm(1, 4096, 4096, dtype)):
        for family in FAMILIES:
            texts: dict[str, bool] = {}  # one text of a kernel's, split or not, is as good as any
            for kernel in kernels_of(family, problem, HOPPER):
                splits = bool(getattr(kernel.config, "splits_tail", False))
                name = f"{kernel.name} {splits}"
                if name not in texts:
                    text = render(kernel, kernel.config, problem, Dialect.CUDA)
                    texts[name] = text.count(CALL) > text.count(DEFINITION)
                waits = splits and texts[name]
                assert kernel.config.ndrange(problem).together == waits, f"{kernel.name} ({kernel.config})"
                found.add(waits)
    assert found == ({True, False} if dtype in ("float16", "float32", "int8") else {False})


def test_only_vectors_of_two_bytes_do_not_begin_early() -> None:
    for dtype, early in (("float16", False), ("bfloat16", False), ("float32", True), ("float64", True)):
        problem = Gemm(1, 4096, 4096, dtype)
        for family in FAMILIES:
            for kernel in kernels_of(family, problem, HOPPER):
                assert kernel.config.ndrange(problem).early == (early or family is not gemv), kernel.name
