"""What a launch left out is told: elements that are never written or read, outputs that are read before they are set."""

import json
from typing import Any

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, explain_kernel, explain_source
from tilewright.analysis.explain.coverage import gap_of
from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explain.verdict import verdict
from tilewright.core import custom
from tilewright.core.problems import make_problem

PRODUCT = """__kernel void product(const int M, const int N, const int K, __global const float* A, __global const float* B,
                      __global float* C) {
    const int row = get_global_id(%s), column = get_global_id(%s);
    float sum = 0;
    for (int k = 0; k < K %s; k++) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}"""


def product(rows: str = "1", columns: str = "0", depth: str = "", **options: Any) -> Explanation:
    """A product of 32 x 100 and 100 x 48."""
    arguments: dict[str, Any] = {
        "M": 32, "N": 48, "K": 100, "A": np.ones((32, 100), np.float32), "B": np.ones((100, 48), np.float32),
        "C": np.zeros((32, 48), np.float32),
    }  # fmt: skip
    source = PRODUCT % (rows, columns, depth)
    return explain_source(source, global_size=(48, 32), local_size=(16, 8), arguments=arguments, **options)


def told(found: Explanation, buffer: str) -> list[str]:
    return [line for line in verdict(found) if line.startswith(f"{buffer}: ")]


def test_a_right_product_leaves_nothing_out() -> None:
    found = product()
    assert {each.buffer: (each.elements, each.read, each.written) for each in found.coverage} == {
        "A": (3200, 3200, 0), "B": (4800, 4800, 0), "C": (1536, 0, 1536),
    }  # fmt: skip
    assert [told(found, name) for name in "ABC"] == [[], [], []]
    assert found.findings == ()


def test_a_wrong_dimension_leaves_elements_unwritten_and_writes_others_twice() -> None:
    found = product(rows="0")
    assert told(found, "C") == [
        "C: 2.08% of its 1,536 elements are written, 1,504 never: element 1 is the first, 1,535 the last",
        "C: 32 elements are written by more than one work-item",
    ]  # fmt: skip
    assert {each.kind for each in found.findings if each.position.line == 6} >= {"benign race between groups"}


def test_the_rest_of_k_that_is_dropped_is_told_as_columns_and_rows() -> None:
    found = product(depth="/ 32 * 32")
    assert told(found, "A") == ["A: 96% of its 3,200 elements are read, 128 never: columns 96 to 99"]
    assert told(found, "B") == ["B: 96% of its 4,800 elements are read, 192 never: rows 96 to 99"]
    assert found.findings == ()


def test_of_a_part_of_the_groups_only_what_is_certain_is_said() -> None:
    some = product(groups=[(0, 0, 0), (1, 0, 0)])
    assert (told(some, "A"), told(some, "C")) == ([], [])
    few = product(rows="1 & 0", groups=[(0, 0, 0), (1, 2, 0)])
    assert told(few, "C")[0].startswith("C: the 2 of 12 work-groups that were run write 32 of its 1,536 elements")


def test_coverage_counts_elements_whatever_moves_them() -> None:
    source = """__kernel void k(__global float* o, __global const float* a, __local float* t, __global int* n) {
        vstore4(vload4(get_global_id(0), a), get_global_id(0) + 1, o);
        event_t e = async_work_group_copy(t, a + 200, 8, 0);
        wait_group_events(1, &e);
        atomic_inc(&n[1]);
    }"""
    arguments: dict[str, Any] = {
        "o": np.zeros(256, np.float32), "a": np.zeros(256, np.float32), "t": 64, "n": np.zeros(2, np.int32),
    }  # fmt: skip
    found = explain_source(source, global_size=(32,), local_size=(32,), arguments=arguments)
    counted = {each.buffer: (each.read, each.written, each.gap) for each in found.coverage}
    assert counted == {
        "o": (0, 128, "element 0 is the first, 255 the last"),
        "a": (136, 0, "element 128 is the first, 255 the last"),
        "n": (1, 1, "element 0"),
    }
    assert json.loads(json.dumps(to_dict(found)))["coverage"][0]["written"] == 128


def test_gaps_are_named_as_columns_rows_or_elements() -> None:
    missing = np.zeros((4, 6), bool)
    assert gap_of(missing.ravel(), (4, 6)) == ""
    missing[:, 5] = True
    assert gap_of(missing.ravel(), (4, 6)) == "column 5"
    missing[0, 0] = True
    assert gap_of(missing.ravel(), (4, 6)) == "element 0 is the first, 23 the last"
    assert gap_of(missing[0], (6,)) == "element 0 is the first, 5 the last"


def test_a_buffer_that_holds_nothing_must_be_written_before_it_is_read() -> None:
    source = "__kernel void k(__global float* o) {\no[get_global_id(0)] += 1;\n}"
    arguments = {"o": np.zeros(64, np.float32)}
    found = explain_source(source, global_size=(64,), local_size=(32,), arguments=arguments, unset=["o"])
    assert [(each.kind, each.position.line, each.count) for each in found.faults] == [("uninitialised read", 2, 64)]
    assert explain_source(source, global_size=(64,), local_size=(32,), arguments=arguments).faults == ()
    first = source.replace("o[", "o[get_global_id(0)] = 0; o[", 1)
    assert explain_source(first, global_size=(64,), local_size=(32,), arguments=arguments, unset=["o"]).faults == ()


@pytest.mark.parametrize(("statement", "faults"), [("C[i] = 2 * A[i];", 0), ("C[i] += A[i];", 1)])
def test_the_output_of_a_problem_holds_nothing(statement: str, faults: int, tmp_path: Any) -> None:
    path = tmp_path / "mine.cl"
    path.write_text(
        "__kernel void mine(__global const float* input, __global float* output, const int ROWS, const int COLUMNS) {\n"
        f"int i = get_global_id(0); {statement} }}".replace("C[", "output[").replace("A[", "input[")
    )
    kernel = custom.custom_kernel(path, ("ROWS * COLUMNS",), ("32",), operation="copy")
    (found,) = explain_kernel(kernel, make_problem(kernel, (8, 32), "float32"))
    assert [(each.kind, each.position.line) for each in found.faults] == [("uninitialised read", 2)] * faults
