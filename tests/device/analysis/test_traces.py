"""Counts against traces that a driver produced: the kernel itself logs each index, and plain sets count sectors, addresses and
turns. Constant memory, atomic functions and off-chip private arrays; data-dependent indices, divergence, ragged loops."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from driver_runs import run_driver

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.runtime.opencl.device import Device

ITEMS, GROUP, WARP, SLOTS = 192, 96, 32, 256
HEAD = """#define AT(site, turn, index) {at}
__kernel void values(__global const int* data, __global int* o, __constant TYPE* table, __global uint* trace)
{{
    const int i = get_global_id(0), l = get_local_id(0);
    uint logged = 0;
"""
LOGGED = "logged_at(trace, i, &logged, site, turn, index)"
LOG = f"""int logged_at(__global uint* trace, int item, uint* logged, uint site, uint turn, int index)
{{
    __global uint* entry = trace + (item * {SLOTS} + *logged) * 3;
    entry[0] = site + 1; entry[1] = turn; entry[2] = index;
    *logged += 1;
    return index;
}}
"""
KERNELS = {
    "a table by data": ("int", 4, "o[i] = table[AT(0, 0, data[i] & 63)];"),
    "a table by rows": ("short", 2, "o[i] = table[AT(0, 0, (i / 8) * 3)] + table[AT(1, 0, 7)];"),
    "a table in a ragged loop": (
        "float", 4,
        "float sum = 0; for (int j = 0; j < data[i] % 9; j++) sum += table[AT(0, j, (data[i] + j * l) & 63)]; o[i] = (int)sum;",
    ),
    "a histogram": ("int", 4, "if (l % 5 != 1) atomic_add(&o[AT(2, 0, data[i] % 23)], 2);"),
    "a histogram in local memory": (
        "int", 4,
        "__local int h[64]; if (l < 64) h[l] = 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
        "for (int j = 0; j < 3; j++) if (data[i] % 4 > j) atomic_inc(&h[AT(3, j, (data[i] + 16 * j * l) & 63)]);\n"
        "barrier(CLK_LOCAL_MEM_FENCE); o[i] = h[l % 64];",
    ),
    "a private array by data": (
        "int", 4,
        "int a[16]; for (int j = 0; j < 16; j++) a[AT(4, j, j)] = j * i; o[i] = a[AT(5, 0, data[i] & 15)];",
    ),
    "a private stack": (
        "int", 8,
        "long a[12]; int top = 0;\nfor (int j = 0; j < data[i] % 12; j++) a[AT(6, j, top++)] = j;\n"
        "long sum = 0; int turn = 0; while (top > 0 && (data[i] + top) % 7) sum += a[AT(7, turn++, --top)]; o[i] = (int)sum;",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Counted:
    requests: int
    cost: int
    turns: int = 0


def traced(device: Device, name: str, data: np.ndarray) -> dict[int, Counted]:
    """The requests of each site and their cost, counted from the driver's trace."""
    kind, size, body = KERNELS[name]
    source = LOG + HEAD.format(at=LOGGED).replace("TYPE", kind) + body + "\n}"
    arrays = arguments(name, data)
    entries = run_driver(device, source, arrays, ITEMS, GROUP)["trace"].reshape(ITEMS, SLOTS, 3)
    requests: dict[tuple[int, int, int, int], dict[int, int]] = defaultdict(dict)
    for item in range(ITEMS):
        for site, turn, index in entries[item].tolist():
            if site:
                lane = item % GROUP
                requests[site - 1, turn, item // GROUP, lane // WARP][lane % WARP] = index
    found: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for (site, *_), lanes in requests.items():
        entry = found[site]
        entry[0] += 1
        entry[1] += cost(site, size, lanes)
        entry[2] += max(Counter(lanes.values()).values()) if site in (2, 3) else 0
    return {site: Counted(*entry) for site, entry in found.items()}


def cost(site: int, size: int, lanes: dict[int, int]) -> int:
    """Addresses of constant memory, sectors of global atomics, updates of the busiest bank, or sectors of private memory."""
    if site < 2:
        return len(set(lanes.values()))
    if site == 2:  # a sector carries one update of each place
        updates = Counter(lanes.values())
        return sum(max(updates[at] for at in updates if at // 8 == sector) for sector in {at // 8 for at in updates})
    if site == 3:
        return max(Counter(index % 32 for index in lanes.values()).values())
    words = {(index * size // 4 + word, lane) for lane, index in lanes.items() for word in range(size // 4)}
    return len({(word * 128 + lane * 4) // 32 for word, lane in words})


def arguments(name: str, data: np.ndarray) -> dict[str, np.ndarray]:
    kind, _, _ = KERNELS[name]
    table = np.arange(128).astype({"int": np.int32, "short": np.int16, "float": np.float32}[kind])
    return {
        "data": data, "o": np.zeros(ITEMS, np.int32), "table": table, "trace": np.zeros(ITEMS * SLOTS * 3, np.uint32)
    }  # fmt: skip


def explained(name: str, data: np.ndarray) -> Explanation:
    kind, _, body = KERNELS[name]
    source = HEAD.format(at="(index)").replace("TYPE", kind) + body + "\n}"
    return explain_source(
        source, global_size=(ITEMS,), local_size=(GROUP,), arguments=arguments(name, data), groups="all"
    )


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_counts_are_those_of_the_drivers_trace(device: Device, name: str, seed: int) -> None:
    data = np.random.default_rng(seed).integers(0, 1000, ITEMS).astype(np.int32)
    expected = traced(device, name, data)
    found = explained(name, data)
    assert expected
    special = [each for each in found.accesses if each.space == "constant" or each.is_atomic]
    special += found.private_accesses
    counted = sorted((each.requests, each.cost, each.turns) for each in special)
    assert counted == sorted((each.requests, each.cost, each.turns) for each in expected.values())
