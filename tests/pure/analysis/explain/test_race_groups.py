"""Races with one cause are one sentence, which says whether they are within a warp, between warps or between groups."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from says import says

from tilewright.analysis.explain import Explanation, explain_source, find_model
from tilewright.analysis.explain.annotate import annotated_source
from tilewright.analysis.explain.serialise import to_dict
from tilewright.analysis.explain.simt.findings import BETWEEN, GROUPS, RACE, WITHIN
from tilewright.analysis.explain.verdict import verdict

LOCKSTEP = """__kernel void sum(__global const int* a, __global int* o) {
    __local volatile int t[64];
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < FIRST) {
        t[l] += t[l + 16];
        t[l] += t[l + 8];
        t[l] += t[l + 4];
        t[l] += t[l + 2];
        t[l] += t[l + 1];
    }
    if (l == 0) o[get_group_id(0)] = t[0];
}"""


def explain(source: str, model: str = "nvidia", items: int = 128, group: int = 64, **arguments: Any) -> Explanation:
    given = {"a": np.arange(items, dtype=np.int32), "o": np.zeros(items, np.int32), **arguments}
    return explain_source(
        source, global_size=(items,), local_size=(group,), arguments=given, model=find_model(model), groups="all"
    )


def races(found: Explanation) -> list[str]:
    return [line for line in verdict(found) if line.startswith("data race")]


def test_races_within_a_warp_are_one_sentence_with_their_label() -> None:
    found = explain(LOCKSTEP.replace("FIRST", "16"))
    assert len([each for each in found.faults if each.kind == RACE]) > 3
    assert {each.scope for each in found.faults} == {WITHIN}
    (sentence,) = races(found)
    assert says(sentence, "line 5", "within a warp", "Volta", "GCN")
    assert all(each.after == 5 for each in found.faults)
    assert to_dict(found)["findings"][0]["scope"] == WITHIN


def test_between_warps_is_not_called_lockstep() -> None:
    found = explain(LOCKSTEP.replace("FIRST", "48"))
    assert BETWEEN in {each.scope for each in found.faults}
    assert not says(races(found)[0], "lockstep")
    wave = explain(LOCKSTEP.replace("FIRST", "48"), model="amd64")
    assert {each.scope for each in wave.faults} == {WITHIN}
    assert says(races(wave)[0], "wavefront")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", ["nvidia", "intel16", "amd64"])
def test_the_scope_is_that_of_all_pairs_that_touch_one_place(seed: int, width: str) -> None:
    """Random reads, then random writes, no barrier between: the scope by comparing all pairs of work-items."""
    generator = np.random.default_rng(seed)
    spread = (4, 16, 64)[seed % 3]
    reads = (np.arange(64) // spread * spread + generator.integers(0, spread, 64)).astype(np.int32)
    writes = (np.arange(64) // spread * spread + generator.permutation(64) % spread).astype(np.int32)
    source = """__kernel void k(__global const int* a, __global int* o, __global const int* w) {
        __local int t[64]; int l = get_local_id(0);
        t[l] = l;
        barrier(CLK_LOCAL_MEM_FENCE);
        int x = t[a[l]];
        t[w[l]] = x;
        o[l] = x;
    }"""
    lanes = find_model(width).lanes
    pairs = {(r, w) for r in range(64) for w in range(64) if r != w and reads[r] == writes[w]}
    pairs |= {(a, b) for a, b in combinations(range(64), 2) if writes[a] == writes[b]}
    found = explain(source, width, 64, 64, a=reads, w=writes)
    scopes = {each.scope for each in found.findings if each.is_race}
    crossing = any(one // lanes != other // lanes for one, other in pairs)
    assert (BETWEEN in scopes) == crossing
    assert bool(scopes) == bool(pairs)


def test_races_between_groups_have_no_scope_in_a_group() -> None:
    source = "__kernel void k(__global const int* a, __global int* o) { o[get_local_id(0)] += get_group_id(0); }"
    found = explain(source)
    assert {(each.kind, each.scope) for each in found.faults} == {(GROUPS, "")}


def test_what_happened_first_comes_first() -> None:
    source = """__kernel void k(__global const int* a, __global int* o) {
        __local int t[64]; int l = get_local_id(0);
        for (int turn = 0; turn < 2; turn++) {
            if (turn) o[l] = t[63 - l];
            else o[300 + l] = 1;
            t[l] = l;
        }
    }"""
    found = explain(source, items=64)
    assert [line.split(" at ")[0] for line in verdict(found)[:2]] == ["out of bounds", "data race"]


def test_the_same_fault_on_many_lines_is_one_sentence() -> None:
    stores = "\n".join(f"o[{1000 + n}] = 1;" for n in range(5))
    found = explain(f"__kernel void k(__global const int* a, __global int* o) {{\n{stores}\n}}")
    assert len(found.faults) == 5
    assert says(verdict(found)[0], "out of bounds", "lines 2, 3, 4, 5, 6")
    assert not any(line.startswith("out of bounds") for line in verdict(found)[1:])


def test_a_line_shows_a_few_of_its_races() -> None:
    reads = " + ".join(f"t[(l + {n}) % 64]" for n in range(1, 12))
    source = (
        "__kernel void k(__global const int* a, __global int* o) { __local int t[64]; int l = get_local_id(0);\n"
        f"t[l] = l;\no[l] = {reads};\n}}"
    )
    found = explain(source, items=64)
    assert len(found.faults) == 11
    assert sum(line.startswith("     ! data race") for line in annotated_source(found)) == 2
    assert len(races(found)) == 1
