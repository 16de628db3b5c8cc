"""Sub-groups without a device: their width, what their barriers order, who must meet, what their accesses cost."""

import numpy as np
import pytest

from tilewright.analysis.explain import Argument, Explanation, LocalMemory, explain_source
from tilewright.analysis.explain.models import AMD_WAVE64, CPU, INTEL_8, INTEL_16, NVIDIA, Model
from tilewright.errors import SourceError


def run(body: str, *, items: int = 64, groups: int = 1, model: Model = NVIDIA, attribute: str = "") -> Explanation:
    source = f"""{attribute}
__kernel void k(__global int* a, __global int* o, __local int* t) {{
    int l = get_local_id(0), i = get_global_id(0), s = get_sub_group_local_id();
    {body}
}}"""
    arguments: dict[str, Argument] = {
        "a": np.arange(items * groups * 4, dtype=np.int32),
        "o": np.zeros(items * groups * 4, np.int32),
        "t": LocalMemory(items * 8),
    }
    return explain_source(
        source, global_size=(items * groups,), local_size=(items,), arguments=arguments, model=model, groups="all"
    )


def kinds(found: Explanation) -> set[str]:
    return {each.kind for each in found.findings}


WIDTHS = [
    (NVIDIA, "", 32),
    (AMD_WAVE64, "", 64),
    (INTEL_16, "", 16),
    (INTEL_8, "", 8),
    (CPU, "", 16),
    (INTEL_16, "__attribute__((intel_reqd_sub_group_size(8)))", 8),
    (NVIDIA, "__attribute__((intel_reqd_sub_group_size(16)))", 16),
    (AMD_WAVE64, '__attribute__((qcom_reqd_sub_group_size("half")))', 64),
]


@pytest.mark.parametrize(("model", "attribute", "width"), WIDTHS)
def test_the_width_is_the_models_or_what_the_kernel_requires(model: Model, attribute: str, width: int) -> None:
    found = run("o[i] = get_max_sub_group_size() * 1000 + s;", model=model, attribute=attribute)
    assert found.outputs["o"][:64].tolist() == [width * 1000 + lane % width for lane in range(64)]


def test_requests_are_counted_for_the_width_that_is_required() -> None:
    (load,) = [each for each in run("o[i] = 1;", model=INTEL_16).profile.accesses if each.buffer == "o"]
    (narrow,) = run("o[i] = 1;", model=INTEL_16, attribute=WIDTHS[5][1]).profile.accesses
    assert (load.requests, narrow.requests) == (4, 8)


def test_the_last_sub_group_may_be_smaller() -> None:
    found = run("o[i] = sub_group_reduce_add(1) * 100 + get_sub_group_size();", items=40)
    assert found.outputs["o"][:40].tolist() == [3232] * 32 + [808] * 8
    assert found.findings == ()


@pytest.mark.parametrize("items", [1, 3, 33, 1024])
@pytest.mark.parametrize("model", [NVIDIA, AMD_WAVE64, CPU])
def test_groups_of_any_size(model: Model, items: int) -> None:
    body = "uint4 b = sub_group_ballot(1); int n = sub_group_ballot_bit_count(b), h = sub_group_ballot_find_msb(b);"
    body += "o[i] = sub_group_scan_inclusive_add(1) + 100 * work_group_scan_exclusive_max(l) + (n - h - 1);"
    found = run(body, items=items, groups=3, model=model)
    lane = np.arange(3 * items) % items
    before = np.where(lane == 0, np.int32(-(2**31)), lane - 1).astype(np.int32)
    expected = (lane % model.sub_group_width + 1).astype(np.int32) + np.int32(100) * before
    np.testing.assert_array_equal(found.outputs["o"][: 3 * items], expected)


SWAP = "t[l] = l; {} o[i] = t[l ^ {}];"


@pytest.mark.parametrize(
    ("barrier", "distance", "expected"),
    [
        ("", 1, {"data race"}),
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE);", 1, set()),
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE);", 32, {"data race"}),
        ("sub_group_barrier(CLK_GLOBAL_MEM_FENCE);", 1, {"data race"}),
        ("barrier(CLK_LOCAL_MEM_FENCE);", 32, set()),
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group);", 31, set()),
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE); barrier(CLK_LOCAL_MEM_FENCE);", 32, set()),
    ],
)
def test_a_sub_group_barrier_orders_its_sub_group_only(barrier: str, distance: int, expected: set[str]) -> None:
    assert kinds(run(SWAP.format(barrier, distance))) == expected


def test_reads_of_another_sub_group_are_not_forgotten() -> None:
    """A cell that both sub-groups have read may not be written after a barrier of one of them."""
    both = "int x = t[0]; sub_group_barrier(CLK_LOCAL_MEM_FENCE); if (l == {}) t[0] = x + 1; o[i] = x;"
    start = "if (l == 0) t[0] = 1; barrier(CLK_LOCAL_MEM_FENCE);"
    for writer in (0, 40):
        assert kinds(run(start + both.format(writer))) == {"data race"}
        assert kinds(run(start + f"if (l / 32 == {writer // 32}) {{" + both.format(writer) + "}")) == set()


def test_loads_of_many_iterations_at_once_are_remembered_by_sub_groups() -> None:
    """A loop that adds up reads t, after a barrier of sub-groups; then somebody writes to it."""
    start = "t[l] = 1; barrier(CLK_LOCAL_MEM_FENCE); sub_group_barrier(CLK_LOCAL_MEM_FENCE); int sum = 0;"
    loop = "for (int j = 0; j < 24; j++) sum += t[(l & 32) + j]; sub_group_barrier(CLK_LOCAL_MEM_FENCE); o[i] = sum;"
    assert kinds(run(start + loop + "if (l == 0) t[l] = 2;")) == set()
    assert kinds(run(start + loop + "if (l == 0) t[32] = 2;")) == {"data race"}
    assert kinds(run(start + loop + "if (l == 40) t[3] = 2;")) == {"data race"}


def test_global_memory_is_ordered_within_the_sub_group_too() -> None:
    body = "o[i] = l; sub_group_barrier(CLK_GLOBAL_MEM_FENCE); int x = o[i ^ {}]; a[i] = x;"
    assert kinds(run(body.format(3), groups=2)) == set()
    assert kinds(run(body.format(32), groups=2)) == {"data race"}
    assert kinds(run(body.format(64), groups=2)) == {"race between groups"}


def test_all_members_must_meet() -> None:
    half = run("if (l < 16) o[i] = sub_group_reduce_add(l);")
    (finding,) = half.faults
    assert finding.kind == "divergent collective"
    assert "sub-group reach this sub_group_reduce_add" in finding.text
    assert "16 of 32 do" in finding.example
    assert kinds(run("if (l < 32) o[i] = sub_group_reduce_add(l);")) == set()
    assert kinds(run("if (l < 16) o[i] = sub_group_non_uniform_reduce_add(l);")) == set()
    assert kinds(run("if (l < 32) o[i] = work_group_reduce_add(l);")) == {"divergent collective"}
    assert kinds(run("if (l < 16) sub_group_barrier(CLK_LOCAL_MEM_FENCE);")) == {"divergent barrier"}


def test_the_value_of_an_inactive_work_item_is_a_note() -> None:
    found = run("if (s < 8) o[i] = sub_group_shuffle(l, 9u);")
    assert kinds(found) == {"value of an inactive work-item"}
    assert found.faults == ()


def test_block_reads_are_requests_of_consecutive_bytes() -> None:
    found = run("uint4 v = intel_sub_group_block_read4((__global uint*)a + get_sub_group_id() * 128); o[i] = v.w;")
    (load,) = [each for each in found.profile.accesses if each.buffer == "a"]
    assert (load.requests, load.cost, load.ideal) == (8, 32, 32)
    assert found.outputs["o"][:64].tolist() == [*range(96, 128), *range(224, 256)]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("sub_group_reduce_and(1.0f)", "integers"),
        ("sub_group_clustered_reduce_add(l, 3u)", "power of two"),
        ("sub_group_clustered_reduce_add(l, 64u)", "32"),
        ("sub_group_ballot_bit_count(l)", "uint4"),
        ("sub_group_reduce_add((int2)(1))", "int2"),
        ("intel_sub_group_block_read(l)", "pointer"),
    ],
)
def test_what_is_refused(call: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        run(f"o[i] = {call};")
