"""What a launch does as a whole: which loops cost most, what memory is touched, and what is left out."""

from typing import Any

import numpy as np
import pytest
from says import says

from tilewright import explain
from tilewright.analysis.explain import Explanation, explain_source, find_model
from tilewright.analysis.explain.coverage import rest_of
from tilewright.analysis.explain.footprint import footprint_lines, footprints
from tilewright.analysis.explain.loop_costs import loop_costs, loop_lines
from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explain.verdict import verdict

LOOPS = """int part(__global const int* a, int at) {
    return a[at * 32];
}
__kernel void k(__global const int* a, __global int* o, int n) {
    int i = get_global_id(0), sum = 0;
    for (int j = 0; j < n; j++) {
        sum += a[j];
        for (int m = 0; m < get_local_id(0) % 4; m++)
            sum += part(a, get_local_id(0));
    }
    for (int j = 0; j < 2; j++)
        sum += a[i + j];
    while (sum < 0) sum++;
    o[i] = sum;
}"""


def run(source: str, items: int = 128, group: int = 64, model: str = "nvidia", **arguments: Any) -> Explanation:
    return explain_source(
        source, global_size=(items,), local_size=(group,), arguments=arguments, model=find_model(model), groups="all"
    )


def test_loops_are_ranked_by_what_they_cost() -> None:
    found = run(LOOPS, a=np.ones(4096, np.int32), o=np.zeros(128, np.int32), n=10)
    costs = loop_costs(found)
    assert [(each.position.line, each.last_line) for each in costs] == [(6, 9), (8, 9), (11, 12)]
    # 4 warps: 10 outer iterations, 3 inner ones in each (the longest of its lanes), 2 of the other loop
    assert [each.iterations for each in costs] == [4 * 10, 4 * 30, 4 * 2]
    assert [each.requests for each in costs] == [4 * 40, 4 * 30, 4 * 2]
    whole = sum(each.slots for each in found.accesses)
    assert costs[0].share == costs[0].slots / whole
    assert costs[1].slots == 4 * 10 * (24 + 16 + 8), "each lane that reads looks up a line of its own"
    text = loop_lines(found)
    assert says(text[1], "lines 6 to 9", "10 iterations")
    assert [each["line"] for each in to_dict(found)["loops"]] == [6, 8, 11]


def test_a_summing_loop_counts_its_iterations() -> None:
    source = """__kernel void k(__global const int* a, __global int* o) {
        int s = 0;
        for (int j = 0; j < 100; j++) s += a[j];
        o[0] = s;
    }"""
    found = run(source, a=np.ones(100, np.int32), o=np.zeros(1, np.int32))
    (cost,) = loop_costs(found)
    assert (cost.iterations, cost.requests) == (400, 400)
    assert says(loop_lines(found)[1], "line 3", "100 iterations")


def test_without_loops_there_is_no_table() -> None:
    source = "__kernel void k(__global int* o) { o[get_global_id(0)] = 1; }"
    assert loop_lines(run(source, o=np.zeros(128, np.int32))) == []


def test_what_is_fetched_once_is_one_time() -> None:
    source = "__kernel void k(__global const int* a, __global int* o) { int i = get_global_id(0); o[i] = a[i]; }"
    found = run(source, a=np.zeros(128, np.int32), o=np.zeros(128, np.int32))
    assert "footprint: a 512 bytes, fetched 1 time; o 512 bytes" in footprint_lines(found)


@pytest.mark.parametrize("model", ["nvidia", "amd64"])
def test_the_footprint_is_what_is_touched_once(model: str) -> None:
    """Random reads, counted by sets."""
    at = np.random.default_rng(3).integers(0, 4096, 512).astype(np.int32)
    source = """__kernel void k(__global const int* at, __global const short* a, __global int* o) {
        int i = get_global_id(0);
        o[i] = 0;
        for (int j = 0; j < 4; j++) o[i] += a[at[4 * i + j]];
    }"""
    found = run(source, 128, 32, model, at=at, a=np.ones(4096, np.int16), o=np.zeros(128, np.int32))
    touched = {each.buffer: each for each in footprints(found)}
    values = set(at.tolist())
    assert touched["a"].nbytes == 2 * len(values)
    assert touched["a"].sectors == len({2 * value // found.model.sector for value in values})
    assert touched["a"].group_bytes == 2 * len(set(at[:128].tolist()))
    assert (touched["at"].nbytes, touched["at"].group_bytes, touched["o"].nbytes) == (2048, 512, 512)
    loads = [each for each in found.accesses if each.buffer == "a"]
    assert touched["a"].fetched == sum(each.cost for each in loads) * found.model.sector
    assert says("\n".join(footprint_lines(found)), "fetched", "KiB")


@pytest.mark.parametrize(
    ("missing", "rest"),
    [
        ([0, 0, 0, 0], ""),
        ([0, 0, 0, 1], "element 3"),
        ([1, 0, 0, 0], ""),
        ([1, 1, 1, 1], ""),
        ([0, 0, 1, 0, 0, 1, 0, 0, 1], "the last 1 of every 3 elements"),
        ([1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1], ""),
        ([0, 1, 0, 0, 1, 0, 1, 1], "elements 6 to 7"),
        ([1, 0, 1, 0], ""),
    ],
)
def test_the_rest_of_rows(missing: list[int], rest: str) -> None:
    if (
        missing[:3] == [1, 1, 1] and len(missing) == 12
    ):  # rows of 3 in pairs: rows 1 and 3 are touched, rows 0 and 2 are not
        rest = ""
    assert rest_of(np.array(missing, bool)) == rest


@pytest.mark.parametrize(("size", "all_groups"), [((256, 256, 40), True), ((1024, 1024, 40), False)])
def test_a_dropped_rest_of_k_is_said_whether_or_not_all_groups_run(size: tuple[int, ...], all_groups: bool) -> None:
    found = explain("known_bad/08", size)
    assert (len(found.groups) == found.group_count) == all_groups
    lines = verdict(found)
    assert any((says(line, "A:", "elements") and "rest" in line) or "never" in line for line in lines)
    assert any(says(line, "B:", "the last 8 of every 40 elements") for line in lines)
    assert any(says(line, "loop at line 19", "drops the remainder") for line in lines)


@pytest.mark.parametrize("name", ["tiles/02", "tiles/06", "transpose/05", "rows/04"])
def test_kernels_that_drop_nothing_are_not_accused(name: str) -> None:
    found = explain(name, 520 if name.startswith("transpose") else (264, 200, 40))
    assert not any("rest" in line or "remainder" in line for line in verdict(found))
