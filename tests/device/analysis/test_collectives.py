"""Sub-groups and the functions of whole groups, against drivers that have them."""

import numpy as np
import pytest
from launches import compare, need

from tilewright.runtime.opencl.device import Device

ITEMS = 64
TYPES = {"int": "i4", "uint": "u4", "long": "i8", "ulong": "u8", "float": "f4", "double": "f8"}
PRAGMAS = """
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_non_uniform_vote : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_non_uniform_arithmetic : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_clustered_reduce : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_rotate : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
"""


def numbers(kind: str, count: int, seed: int = 7) -> np.ndarray:
    """Small whole numbers, of which sums and products are exact in any order."""
    whole = np.random.default_rng(seed).integers(0 if kind.startswith("u") else -3, 4, count)
    return whole.astype(TYPES[kind])


def kernel(kind: str, body: str, width: int = 16, prelude: str = "") -> str:
    return f"""{PRAGMAS}{prelude}
__attribute__((intel_reqd_sub_group_size({width})))
__kernel void k(__global {kind}* a, __global {kind}* o) {{
    int i = get_global_id(0), s = get_sub_group_local_id();
    {kind} x = a[i];
    {body}
}}"""


@pytest.mark.parametrize("kind", TYPES)
def test_reductions_and_scans(device: Device, kind: str) -> None:
    need(device, "cl_intel_required_subgroup_size", version=30)
    calls = [
        f"{team}_{what}_{name}(x)"
        for team in ("sub_group", "work_group")
        for what in ("reduce", "scan_inclusive", "scan_exclusive")
        for name in ("add", "min", "max")
    ]
    calls += ["sub_group_broadcast(x, 3)", "work_group_broadcast(x, 21)"]
    body = "\n".join(f"o[{at * 2 * ITEMS} + i] = {call};" for at, call in enumerate(calls))
    arrays = {"a": numbers(kind, 2 * ITEMS), "o": np.zeros(len(calls) * 2 * ITEMS, TYPES[kind])}
    compare(device, kernel(kind, body), arrays, (2 * ITEMS,), (ITEMS,))


@pytest.mark.parametrize("width", [8, 16, 32])
def test_places_and_votes(device: Device, width: int) -> None:
    need(device, "cl_intel_required_subgroup_size", version=30)
    calls = (
        "get_sub_group_size()", "get_max_sub_group_size()", "get_num_sub_groups()", "get_enqueued_num_sub_groups()",
        "get_sub_group_id()", "s", "sub_group_all(x > -3)", "sub_group_any(x > 2)", "work_group_all(x > -9)",
        "work_group_any(x > 9)",
    )  # fmt: skip
    body = "\n".join(f"o[{at * ITEMS} + i] = {call};" for at, call in enumerate(calls))
    arrays = {"a": numbers("int", ITEMS), "o": np.zeros(len(calls) * ITEMS, "i4")}
    compare(device, kernel("int", body, width), arrays, (ITEMS,), (ITEMS,))


@pytest.mark.parametrize("kind", ["int", "float"])
def test_shuffles(device: Device, kind: str) -> None:
    need(device, "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative", "cl_khr_subgroup_rotate")
    need(device, "cl_intel_subgroups", version=30)
    calls = (
        "sub_group_shuffle(x, (uint)(15 - s))", "sub_group_shuffle_xor(x, 5u)", "sub_group_rotate(x, 3)",
        "sub_group_clustered_rotate(x, 1, 4u)", "intel_sub_group_shuffle(x, (uint)(s * 3 & 15))",
        "intel_sub_group_shuffle_xor(x, 9u)", "intel_sub_group_shuffle_down(x, a[(i + 1) % 64], 5u)",
        "intel_sub_group_shuffle_up(x, a[(i + 7) % 64], 3u)", "(s < 12 ? sub_group_shuffle_down(x, 0u) : 0)",
    )  # fmt: skip
    body = "\n".join(f"o[{at * ITEMS} + i] = {call};" for at, call in enumerate(calls))
    body += f"\n{kind} up = sub_group_shuffle_up(x, 2u), down = sub_group_shuffle_down(x, 4u);"
    body += f"o[{len(calls) * ITEMS} + i] = s >= 2 ? up : 0; o[{(len(calls) + 1) * ITEMS} + i] = s < 12 ? down : 0;"
    arrays = {"a": numbers(kind, ITEMS), "o": np.zeros((len(calls) + 2) * ITEMS, TYPES[kind])}
    compare(device, kernel(kind, body), arrays, (ITEMS,), (ITEMS,))


def test_ballots(device: Device) -> None:
    need(device, "cl_khr_subgroup_ballot", "cl_intel_required_subgroup_size", version=30)
    calls = (
        "b.x", "b.y", "sub_group_inverse_ballot(b)", "sub_group_ballot_bit_extract(b, (uint)s)",
        "sub_group_ballot_bit_count(b)", "sub_group_ballot_inclusive_scan(b)", "sub_group_ballot_exclusive_scan(b)",
        "sub_group_ballot_find_lsb(b)", "sub_group_ballot_find_msb(b)", "get_sub_group_eq_mask().x",
        "get_sub_group_ge_mask().x", "get_sub_group_gt_mask().x", "get_sub_group_le_mask().x", "get_sub_group_lt_mask().x",
    )  # fmt: skip
    body = "uint4 b = sub_group_ballot(x > 0 || s == 2);\n"
    body += "\n".join(f"o[{at * ITEMS} + i] = {call};" for at, call in enumerate(calls))
    arrays = {"a": numbers("int", ITEMS), "o": np.zeros(len(calls) * ITEMS, "i4")}
    compare(device, kernel("int", body), arrays, (ITEMS,), (ITEMS,))


def test_non_uniform_functions_count_those_who_are_there(device: Device) -> None:
    need(device, "cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_non_uniform_vote", version=30)
    names = ("add", "mul", "min", "max", "and", "or", "xor")
    calls = [f"sub_group_non_uniform_reduce_{name}(x)" for name in names]
    calls += [f"sub_group_non_uniform_scan_{scan}clusive_{name}(x)" for name in names for scan in ("in", "ex")]
    calls += [f"sub_group_non_uniform_reduce_logical_{name}(x != 0)" for name in ("and", "or", "xor")]
    calls += ["sub_group_elect()", "sub_group_non_uniform_all(x)", "sub_group_non_uniform_any(x == 3)"]
    calls += ["sub_group_non_uniform_all_equal(x / 4)", "sub_group_broadcast_first(x)"]
    body = "if (x > -2 && s != 0) {\n"
    body += "\n".join(f"o[{at * ITEMS} + i] = {call};" for at, call in enumerate(calls)) + "}"
    arrays = {"a": numbers("int", ITEMS), "o": np.zeros(len(calls) * ITEMS, "i4")}
    compare(device, kernel("int", body), arrays, (ITEMS,), (ITEMS,))


def test_clusters(device: Device) -> None:
    need(device, "cl_khr_subgroup_clustered_reduce", version=30)
    names = ("add", "mul", "min", "max", "and", "or", "xor")
    calls = [f"sub_group_clustered_reduce_{name}(x, {size}u)" for name in names for size in (1, 4, 16)]
    body = "\n".join(f"o[{at * ITEMS} + i] = {call};" for at, call in enumerate(calls))
    arrays = {"a": numbers("int", ITEMS), "o": np.zeros(len(calls) * ITEMS, "i4")}
    compare(device, kernel("int", body), arrays, (ITEMS,), (ITEMS,))


@pytest.mark.parametrize("width", ["", "2", "4", "8"])
@pytest.mark.parametrize(
    ("suffix", "kind", "code"), [("", "uint", "u4"), ("_us", "ushort", "u2"), ("_ul", "ulong", "u8")]
)
def test_block_reads_and_writes(device: Device, width: str, suffix: str, kind: str, code: str) -> None:
    need(device, "cl_intel_subgroups", "cl_intel_subgroups_short", "cl_intel_subgroups_long", version=30)
    count = int(width or 1)
    source = f"""{PRAGMAS}
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void k(__global {kind}* a, __global {kind}* o) {{
    int first = get_group_id(0) * {64 * count} + get_sub_group_id() * {16 * count};
    {kind}{width} v = intel_sub_group_block_read{suffix}{width}(a + first);
    intel_sub_group_block_write{suffix}{width}(o + first, v + ({kind})1);
}}"""
    values = np.arange(128 * count).astype(code) * 3
    compare(device, source, {"a": values, "o": np.zeros_like(values)}, (128,), (64,))


def test_a_matrix_row_by_sub_groups(device: Device) -> None:
    """The usual use: a sub-group sums a row, its first work-item stores it."""
    need(device, "cl_intel_required_subgroup_size", version=30)
    source = f"""{PRAGMAS}
__attribute__((intel_reqd_sub_group_size(16)))
__kernel void k(__global const float* a, __global const float* x, __global float* y) {{
    int row = get_group_id(0) * get_num_sub_groups() + get_sub_group_id();
    float sum = 0;
    for (int j = get_sub_group_local_id(); j < 50; j += get_max_sub_group_size()) sum += a[row * 50 + j] * x[j];
    sum = sub_group_reduce_add(sum);
    if (get_sub_group_local_id() == 0) y[row] = sum;
}}"""
    numbers_of = np.random.default_rng(3)
    arrays = {
        "a": numbers_of.random((8, 50), np.float32),
        "x": numbers_of.random(50, np.float32),
        "y": np.zeros(8, np.float32),
    }
    compare(device, source, arrays, (128,), (64,), close=1e-6)
