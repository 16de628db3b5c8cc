"""An access may conflict inside its group and with another group: these are two faults, each with its count and scope."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tilewright.analysis.explain import Explanation, explain_source, find_model
from tilewright.analysis.explain.simt.findings import BENIGN, BENIGN_GROUPS, BETWEEN, GROUPS, RACE, WITHIN

HEAD = """__kernel void k(__global int* x, __global int* o) {
    int t = get_global_id(0), l = get_local_id(0), g = get_group_id(0);
"""
Expected = list[tuple[str, int, str]]
CASES: dict[str, tuple[str, int, int, Expected]] = {
    # The stores of items 1 to 63 and 65 to 127 meet a read of their group, that of item 64 meets item 63's.
    "a stencil": ("x[t] = x[t + 1] + 1;", 128, 64, [(RACE, 126, BETWEEN), (GROUPS, 1, "")]),
    # Each group's last item wins over 15 of its own; item 63 wins over 48 of other groups.
    "one place": ("x[0] = t;", 64, 16, [(RACE, 60, WITHIN), (GROUPS, 48, "")]),
    "one place, a value for each group": ("x[0] = g;", 64, 16, [(BENIGN, 60, WITHIN), (GROUPS, 48, "")]),
    "one place, one value": ("x[0] = 7;", 64, 16, [(BENIGN, 60, WITHIN), (BENIGN_GROUPS, 48, "")]),
    "one place for each group but the first two": (
        "x[g < 2 ? 0 : g] = t;", 64, 16, [(RACE, 60, WITHIN), (GROUPS, 16, "")],
    ),
    "one warp in the group, another group": (
        "if (g == 0 && l == 0) x[0] = 8;\nif (g == 0 && l == 1 || g == 1 && l == 40) o[t] = x[0];",
        128, 64, [(RACE, 1, WITHIN), (GROUPS, 1, "")],
    ),
    "two warps in the group, another group first": (
        "if (g == 1 && l == 0) x[0] = 8;\nif (g == 0 && l == 0 || g == 1 && l == 40) o[t] = x[0];",
        128, 64, [(RACE, 1, BETWEEN), (GROUPS, 1, "")],
    ),
    "readers of two warps behind those of other groups": (
        "if (l < 3 || l == 40) o[t] = x[0];\nif (t == 64) x[0] = 8;", 192, 64, [(RACE, 1, BETWEEN), (GROUPS, 1, "")],
    ),
    "a store behind that of another group": (
        "if (t == 0) x[0] = 5;\nif (t == 64) x[0] = 7;\nif (t == 1) x[0] = 7;",
        128, 64, [(GROUPS, 1, ""), (RACE, 1, WITHIN), (BENIGN_GROUPS, 1, "")],
    ),
    "a store of the same value behind that of another group": (
        "if (t == 0) x[0] = 7;\nif (t == 64) x[0] = 7;\nif (t == 1) x[0] = 7;",
        128, 64, [(BENIGN_GROUPS, 1, ""), (BENIGN_GROUPS, 1, ""), (BENIGN, 1, WITHIN)],
    ),
}  # fmt: skip
CASES["an atomic update after the first load of a byte"] = (
    "if (t == 1) o[t] = ((__global uchar*)x)[7];\nif (t == 0) atomic_inc(x + 1);", 32, 32, [(RACE, 1, WITHIN)],
)  # fmt: skip
RANDOM = """__kernel void k(__global const int* operations, __global const int* places, __global int* x, __global int* o,
    int steps) {
    int t = get_global_id(0), n = get_global_size(0), sum = 0;
    __global uchar* bytes = (__global uchar*)x;
    for (int s = 0; s < steps; s++) {
        int operation = operations[s * n + t], place = places[s * n + t];
        if (operation == 1) x[place / 4] = t * 1000 + s;
        if (operation == 2) sum += x[place / 4];
        if (operation == 3) bytes[place] = t + s;
        if (operation == 4) sum += bytes[place];
        if (operation == 5) atomic_inc(x + place / 4);
        if (operation == 6) barrier(CLK_GLOBAL_MEM_FENCE);
        if (operation == 7) sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    }
    o[t] = sum;
}"""
STORES, ATOMIC, BARRIER, SUB_GROUP_BARRIER = (1, 3, 5), 5, 6, 7


def explain(source: str, items: int, group: int, **arguments: Any) -> Explanation:
    given = {"x": np.zeros(items + 1, np.int32), "o": np.zeros(items, np.int32), **arguments}
    return explain_source(
        source, global_size=(items,), local_size=(group,), arguments=given, model=find_model("nvidia"), groups="all"
    )


@pytest.mark.parametrize("name", CASES)
def test_both_kinds_are_found_each_with_its_count_and_scope(name: str) -> None:
    body, items, group, expected = CASES[name]
    findings = explain(f"{HEAD}{body}\n}}", items, group).findings
    assert sorted((each.kind, each.count, each.scope) for each in findings) == sorted(expected)


def test_the_example_of_each_kind_is_a_pair_of_that_kind() -> None:
    findings = explain(f"{HEAD}x[t] = x[t + 1] + 1;\n}}", 128, 64).findings
    examples = {each.kind: each.example for each in findings}
    assert examples[RACE] == "work-item (1) of group (0) against work-item (0) of group (0), byte 4"
    assert examples[GROUPS] == "work-item (0) of group (1) against work-item (63) of group (0), byte 256"


def random_launch(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The operation and the byte of each item in each step, and the size of a group. Barriers are whole."""
    generator = np.random.default_rng(seed)
    group = int(generator.choice([16, 33, 64]))
    steps, groups = generator.integers(1, 9), generator.integers(1, 5)
    pool = ([1, 2], [1, 2, 3, 4], [1, 2, 3, 4, ATOMIC])[seed % 3]
    operations = np.where(
        generator.random((steps, groups, group)) < generator.choice([0.01, 0.03, 0.1]),
        generator.choice(pool, (steps, groups, group)), 0,
    )  # fmt: skip
    if ATOMIC not in pool:  # with barriers, an atomic function may be a counter that orders groups
        operations[generator.random((steps, groups)) < 0.2] = BARRIER
        for first in range(0, group, 32):
            some = (generator.random((steps, groups)) < 0.15) & (operations[:, :, 0] != BARRIER)
            operations[:, :, first : first + 32][some] = SUB_GROUP_BARRIER
    places = generator.integers(0, generator.choice([4, 16, 64]), operations.shape)
    return operations.reshape(steps, -1), places.reshape(steps, -1), group


def reference(operations: np.ndarray, places: np.ndarray, group: int) -> tuple[set[str], bool]:
    """The kinds of all pairs of accesses, and whether one in a group is of two warps."""
    epochs, own_epochs = np.zeros(operations.shape[1], int), np.zeros(operations.shape[1], int)
    touched: dict[int, set[tuple[int, int, int, int]]] = {}
    for row, where in zip(operations, places, strict=True):
        epochs, own_epochs = epochs + (row == BARRIER), own_epochs + (row >= BARRIER)
        for item in np.flatnonzero((row > 0) & (row < BARRIER)).tolist():
            word = row[item] not in (3, 4)
            first = int(where[item]) // 4 * 4 if word else int(where[item])
            for byte in range(first, first + (4 if word else 1)):
                access = (item, int(row[item]), int(epochs[item]), int(own_epochs[item]))
                touched.setdefault(byte, set()).add(access)
    kinds, crossing = set(), False
    for accesses in touched.values():
        for (a, one, epoch, own), (b, two, other_epoch, other_own) in combinations(accesses, 2):
            if a == b or not {one, two} & set(STORES) or one == two == ATOMIC:
                continue
            if a // group != b // group:
                kinds.add(str(GROUPS))
                continue
            same_warp = a % group // 32 == b % group // 32
            if own == other_own if same_warp else epoch == other_epoch:
                kinds.add(str(RACE))
                crossing |= not same_warp
    return kinds, crossing


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_random_launches_have_the_kinds_of_all_pairs(first: int) -> None:
    kind_of: dict[str, str] = {BENIGN: str(RACE), BENIGN_GROUPS: str(GROUPS)}
    for seed in range(first, first + 25):
        operations, places, group = random_launch(seed)
        found = explain(
            RANDOM, operations.shape[1], group, x=np.zeros(16, np.int32), steps=np.int32(len(operations)),
            operations=operations.astype(np.int32).ravel(), places=places.astype(np.int32).ravel(),
        )  # fmt: skip
        kinds = {kind_of.get(each.kind, str(each.kind)) for each in found.findings}
        crossing = any(each.scope == BETWEEN for each in found.findings)
        assert (kinds, crossing) == reference(operations, places, group), seed
