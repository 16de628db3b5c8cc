"""No constant stands right of && or || in the library's kernels: NVIDIA's compiler warns of it, on the user's terminal."""

from collections.abc import Iterator

import devices
import pytest

from tilewright.analysis.explain.clc import parse_program
from tilewright.analysis.explain.clc.constant import try_constant
from tilewright.analysis.explain.clc.tree import Binary, Number
from tilewright.analysis.explain.clc.walk import nodes_of
from tilewright.core.kernel import render
from tilewright.core.problem import Gemm
from tilewright.core.types import ELEMENT_TYPES, storable
from tilewright.dispatch.choice import plan_product

SIDES = ((4096, 3, 1000), (16, 40, 24), (511, 515, 1031), (2048, 2048, 512))


def constant_conditions(source: str) -> Iterator[str]:
    """Where a constant expression stands right of && or ||. A number is most likely a macro's, of which it does not warn."""
    for function in parse_program(source).functions.values():
        for node in nodes_of(function.body):
            if not isinstance(node, Binary) or node.operator not in ("&&", "||"):
                continue
            if not isinstance(node.right, Number) and try_constant(node.right, {}) is not None:
                yield f"{node.position.file}:{node.position.line}"


@pytest.mark.parametrize("dtype", list(ELEMENT_TYPES))
def test_production_kernels_have_no_constant_conditions(dtype: str) -> None:
    result, texts = dtype if dtype in storable(dtype) else "float32", dict[str, str]()
    for m, n, k in SIDES:
        for step in plan_product(Gemm(m, n, k, dtype, out_dtype=result), devices.HOPPER).steps:
            texts.setdefault(step.kernel.name, render(step.kernel, step.config, step.problem))
    assert not [place for text in texts.values() for place in constant_conditions(text)]


def test_a_constant_condition_is_found() -> None:
    source = "kernel void test(global int* a, int b) { if (b && 2 > 1) a[0] = b; if (b && a[0] > 1) a[1] = b; }"
    assert len(list(constant_conditions(source))) == 1
