"""What atomic functions with orders and scopes order, and what they do not."""

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.errors import SourceError


def run(body: str, *, items: int = 64, groups: int = 1, prelude: str = "") -> Explanation:
    source = f"""
__kernel void k(__global int* o, __global int* data, __global atomic_int* flag) {{
    __local int box[4];
    __local atomic_int ready;
    int l = get_local_id(0), g = get_group_id(0);
    if (l == 0) atomic_init(&ready, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    {body}
}}"""
    size = items * groups
    arguments = {"o": np.zeros(size, np.int32), "data": np.zeros(size, np.int32), "flag": np.zeros(8, np.int32)}
    return explain_source(source, global_size=(size,), local_size=(items,), arguments=arguments, groups="all")


def kinds(found: Explanation) -> set[str]:
    return {each.kind for each in found.findings}


PASS = """
if (l == 0) {{ box[0] = 5; {fence} atomic_store_explicit(&ready, 1, memory_order_{release}, memory_scope_{scope}); }}
if (atomic_load_explicit(&ready, memory_order_{acquire}, memory_scope_{scope})) {{ {after} o[l] = box[0]; }}
"""
RELEASE_FENCE = "atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_release, memory_scope_work_group);"
ACQUIRE_FENCE = RELEASE_FENCE.replace("release", "acquire")


@pytest.mark.parametrize(
    ("release", "acquire", "scope", "fence", "after", "expected"),
    [
        ("release", "acquire", "work_group", "", "", set()),
        ("seq_cst", "seq_cst", "device", "", "", set()),
        ("relaxed", "acquire", "work_group", "", "", {"data race"}),
        ("release", "relaxed", "work_group", "", "", {"data race"}),
        ("relaxed", "relaxed", "work_group", "", "", {"data race"}),
        ("release", "acquire", "sub_group", "", "", {"data race"}),
        ("relaxed", "relaxed", "work_group", RELEASE_FENCE, ACQUIRE_FENCE, set()),
        ("relaxed", "relaxed", "work_group", RELEASE_FENCE, "", {"data race"}),
        ("relaxed", "relaxed", "work_group", RELEASE_FENCE.replace("LOCAL", "GLOBAL"), ACQUIRE_FENCE, {"data race"}),
    ],
)
def test_a_value_passed_by_a_flag(
    release: str, acquire: str, scope: str, fence: str, after: str, expected: set[str]
) -> None:
    body = PASS.format(release=release, acquire=acquire, scope=scope, fence=fence, after=after)
    found = run(body)
    assert kinds(found) == expected
    assert found.outputs["o"].tolist() == [5] * 64


def test_what_comes_after_the_release_is_not_passed() -> None:
    late = "if (l == 0) { atomic_store(&ready, 1); box[0] = 5; } if (atomic_load(&ready)) o[l] = box[0];"
    assert "data race" in kinds(run(late))


def test_a_lock_orders_those_who_hold_it() -> None:
    lock = """
    if (l == 0) box[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    bool done = false;
    while (!done) {{
        if (atomic_exchange_explicit(&ready, 1, memory_order_{0}, memory_scope_work_group) == 0) {{
            box[0] = box[0] + l;
            done = true;
            atomic_store_explicit(&ready, 0, memory_order_{1}, memory_scope_work_group);
        }}
    }}
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) o[0] = box[0];"""
    found = run(lock.format("acquire", "release"), items=40)
    assert found.findings == ()
    assert found.outputs["o"][0] == 780
    assert "data race" in kinds(run(lock.format("relaxed", "relaxed"), items=40))


LAST = """
    data[get_global_id(0)] = l;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (l == 0) box[1] = atomic_fetch_add_explicit(flag, 1, memory_order_{order}, memory_scope_{scope}) == get_num_groups(0) - 1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (box[1] {more}) for (int i = 0; i < get_num_groups(0); i++) o[l] += data[i * 64 + l];
"""


def test_the_last_group_may_read_what_all_released() -> None:
    found = run(LAST.format(order="acq_rel", scope="device", more=""), groups=4)
    assert found.faults == ()
    assert kinds(found) == {"race ordered by a counter"}
    assert "release and acquire" in found.findings[0].text
    assert found.outputs["o"][:3].sum() + found.outputs["o"][192:].sum() >= 0
    for order, scope in (("relaxed", "device"), ("acq_rel", "work_group")):
        assert "race between groups" in kinds(run(LAST.format(order=order, scope=scope, more=""), groups=4))


def test_the_order_of_one_run_is_not_enough_between_groups() -> None:
    anybody = LAST.format(order="acq_rel", scope="device", more="|| g == 3")
    assert "race between groups" in kinds(run(anybody, groups=4))


def test_atomic_functions_never_race_with_each_other_but_with_plain_accesses() -> None:
    every = "atomic_fetch_add(flag, 1); o[g * 64 + l] = atomic_load(flag) + atomic_exchange(flag, 3);"
    assert run(every + "atomic_store(flag, 1);", groups=2).faults == ()
    mixed = "o[l] = atomic_load_explicit(flag, memory_order_relaxed); if (l == 3) *(__global int*)flag = 1;"
    assert "data race" in kinds(run(mixed))
    assert run("o[l] = atomic_load(flag) + *(__global int*)flag;").faults == ()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("atomic_fetch_or((__global atomic_float*)o, 1)", "integers"),
        ("atomic_fetch_add((__global short*)o, 1)", "short"),
        ("atomic_fetch_add(flag, 1, memory_order_relaxed)", "2 arguments"),
        ("atomic_load_explicit(flag, l)", "constant"),
        ("atomic_fetch_add((__global const int*)flag, 1)", "const"),
    ],
)
def test_what_is_refused(call: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        run(f"{call};")


def test_an_atomic_update_after_the_release_is_not_passed() -> None:
    body = """
    if (l == 0) {{ {early} atomic_store_explicit(&ready, 1, memory_order_release, memory_scope_work_group); {late} }}
    if (l == 1 && atomic_load_explicit(&ready, memory_order_acquire, memory_scope_work_group)) *(__global int*)flag = 5;"""
    update = "atomic_fetch_add_explicit(flag, 1, memory_order_relaxed, memory_scope_work_group);"
    assert run(body.format(early=update, late="")).findings == ()
    assert kinds(run(body.format(early="", late=update))) == {"data race"}


@pytest.mark.parametrize(
    ("first", "second", "found", "failure", "expected"),
    [
        ("exchange", "load", 0, "relaxed", set()),
        ("exchange", "load", 7, "relaxed", {"data race"}),  # it stores nothing, so it releases nothing
        ("store", "exchange", 1, "relaxed", set()),
        ("store", "exchange", 7, "acquire", set()),
        ("store", "exchange", 7, "relaxed", {"data race"}),
    ],
)
def test_a_compare_exchange_that_fails_only_loads(
    first: str, second: str, found: int, failure: str, expected: set[str]
) -> None:
    calls = {
        "store": "atomic_store_explicit(&ready, 1, memory_order_release, memory_scope_work_group)",
        "load": "atomic_load_explicit(&ready, memory_order_acquire, memory_scope_work_group)",
        "exchange": f"atomic_compare_exchange_strong_explicit(&ready, &e, 9, memory_order_acq_rel, memory_order_{failure}, "
        "memory_scope_work_group)",
    }
    body = f"int e = {found}; if (l == 0) {{ box[0] = 1; {calls[first]}; }} if (l == 1) {{ {calls[second]}; o[1] = box[0]; }}"
    assert kinds(run(body)) == expected


def test_a_load_tells_other_groups_nothing() -> None:
    body = """
    if (l == 0 && g == 0) {{
        data[0] = 1;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        {call};
    }}
    if (l == 0 && g == 1) {{
        atomic_load_explicit(flag, memory_order_acquire, memory_scope_device);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        o[0] = data[0];
    }}"""
    load = "atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device)"
    assert kinds(run(body.format(call=load), groups=2)) == {"race between groups"}
