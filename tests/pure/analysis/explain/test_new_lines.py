"""Cache lines that a work-item of a CPU comes to: counted as if each access were followed on its own."""

from itertools import product

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, explain_source, find_model
from tilewright.analysis.explain.simt import statements
from tilewright.analysis.explain.totals import totals
from tilewright.analysis.explanations import explain
from tilewright.kernels import find_kernel

M, N, K = 5, 7, 20
FLOATS = 16  # of a line
ORDERS = ("r-c-k", "r-k-c", "c-r-k", "c-k-r", "k-r-c", "k-c-r")


def moves(places: list[int]) -> int:
    """How often the line changes along these elements, the first line included."""
    lines = [place // FLOATS for place in places]
    return sum(line != before for line, before in zip(lines, [-1, *lines], strict=False))


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_loops_decides_how_often_a_line_is_left(order: str) -> None:
    names, extents = order.split("-"), {"r": M, "c": N, "k": K}
    steps = [dict(zip(names, step, strict=True)) for step in product(*(range(extents[name]) for name in names))]
    a = moves([step["r"] * K + step["k"] for step in steps])
    b = moves([step["k"] * N + step["c"] for step in steps])
    c = moves([step["r"] * N + step["c"] for step in steps])
    zeroed = moves(list(range(M * N)))
    found = explain(find_kernel(f"rows/00[{order}]"), (M, N, K))
    assert totals(found).new_lines == a + b + 2 * c + zeroed


SOURCE = """__kernel void f(__global const float* a, __global float* o) {
    const int item = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < 40; k++) sum += a[item * 40 + k] * a[k];
    o[item] = sum;
}"""


def explained(model: str) -> Explanation:
    arguments = {"a": np.ones(640, np.float32), "o": np.zeros(16, np.float32)}
    return explain_source(
        SOURCE, global_size=(16,), local_size=(8,), arguments=arguments, model=find_model(model), groups="all"
    )


def test_each_work_item_is_followed_whether_or_not_iterations_are_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    own = sum(moves([item * 40 + k for k in range(40)]) for item in range(16))
    shared, stored = 16 * moves(list(range(40))), 16
    assert totals(explained("cpu")).new_lines == own + shared + stored
    monkeypatch.setattr(statements, "find_sum", lambda context, loop, test: None)
    assert totals(explained("cpu")).new_lines == own + shared + stored


def test_sub_groups_of_gpus_have_requests_instead() -> None:
    assert totals(explained("nvidia")).new_lines == 0
