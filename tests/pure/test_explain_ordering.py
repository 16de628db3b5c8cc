"""Groups that are ordered by a counter: a race by OpenCL 1.2's letter is told apart from one that devices have, too."""

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, explain_source

FENCE, WAIT = "mem_fence(CLK_GLOBAL_MEM_FENCE);", "barrier(CLK_LOCAL_MEM_FENCE);"
LAST = """__kernel void total(__global const float* a, volatile __global float* part, volatile __global int* count,
__global float* o) {{ __local float t[64]; __local int ticket;
    int l = get_local_id(0), w = get_group_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 32; s; s >>= 1) {{ if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }}
{leave}
    if ({last}) {{
        float sum = 0;
        for (int i = 0; i < get_num_groups(0); i++) sum += part[i];
        if (l == 0) {{ o[0] = sum; {reset} }}
    }}
}}"""
LEAVE = f"if (l == 0) {{ part[w] = t[0]; {FENCE} ticket = atomic_inc(count); }} {WAIT}"
BY_COUNT = "ticket == get_num_groups(0) - 1"


def explain(leave: str = LEAVE, last: str = BY_COUNT, reset: str = "", groups: int = 12) -> Explanation:
    return explain_source(
        LAST.format(leave=leave, last=last, reset=reset),
        global_size=(64 * groups,),
        local_size=(64,),
        arguments={
            "a": np.ones(64 * groups, np.float32),
            "part": np.zeros(groups, np.float32),
            "count": np.zeros(1, np.int32),
            "o": np.zeros(1, np.float32),
        },
        groups="all",
    )


ORDERED = {
    "one item leaves and counts": LEAVE,
    "another item counts": f"if (l == 5) {{ part[w] = t[0]; {FENCE} }} {WAIT} if (l == 0) ticket = atomic_inc(count); {WAIT}",
    "a barrier fences":
        f"if (l == 5) part[w] = t[0]; barrier(CLK_GLOBAL_MEM_FENCE);"
        f"if (l == 0) ticket = atomic_add(count, 1); {WAIT}",
}  # fmt: skip


@pytest.mark.parametrize("groups", [12, 70])
@pytest.mark.parametrize("name", ORDERED)
def test_the_group_that_is_last_by_a_counter_has_a_race_by_the_letter_only(name: str, groups: int) -> None:
    found = explain(ORDERED[name], groups=groups)
    assert found.faults == ()
    (note,) = found.findings
    assert (note.kind, note.position.line) == ("race ordered by a counter", 10)
    assert "OpenCL 1.2" in note.text
    assert "'count'" in note.text
    assert found.outputs["o"][0] == 64 * groups


def test_the_last_group_may_set_the_counter_back() -> None:
    found = explain(reset="*count = 0;")
    assert {each.kind for each in found.findings} == {"race ordered by a counter"}
    assert {each.position.line for each in found.findings} == {10, 11}


RACES = {
    "no fence": (LEAVE.replace(FENCE, ""), BY_COUNT),
    "the fence comes before the store": (
        f"if (l == 0) {{ {FENCE} part[w] = t[0]; ticket = atomic_inc(count); }} {WAIT}", BY_COUNT,
    ),
    "the fence is of local memory": (LEAVE.replace("GLOBAL", "LOCAL"), BY_COUNT),
    "nobody waits for the item that counts": (
        f"ticket = 0; {WAIT} if (l == 0) {{ part[w] = t[0]; {FENCE} ticket = atomic_inc(count); }}", "w == 11",
    ),
    "nobody waits for the item that leaves": (
        f"if (l == 5) {{ part[w] = t[0]; {FENCE} }} if (l == 0) ticket = atomic_inc(count); {WAIT}", BY_COUNT,
    ),
    "the last group by number": (LEAVE, "w == get_num_groups(0) - 1"),
    "every group adds up": (LEAVE, "1"),
    "the first by the counter": (LEAVE, "ticket == 0"),
    "something is left after counting": (LEAVE + " if (l == 0) part[w] += 1;", BY_COUNT),
}  # fmt: skip


@pytest.mark.parametrize("name", RACES)
def test_what_the_counter_does_not_order_is_a_race_between_groups(name: str) -> None:
    found = explain(*RACES[name])
    assert ("race between groups", 10) in {(each.kind, each.position.line) for each in found.faults}


def test_a_histogram_by_every_item_stays_quick_and_clean() -> None:
    source = """__kernel void k(__global int* o, __global int* done) {
        for (int i = 0; i < 20; i++) atomic_inc(&o[(get_global_id(0) + i) % 64]);
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        for (int i = 0; i < 2; i++) atomic_inc(&done[0]);
    }"""
    arguments = {"o": np.zeros(64, np.int32), "done": np.zeros(1, np.int32)}
    found = explain_source(source, global_size=(512,), local_size=(64,), arguments=arguments)
    assert found.findings == ()
    assert found.outputs["done"][0] == 2 * 512
