"""Atomic functions with orders and scopes, against drivers that have them."""

import numpy as np
import pytest
from launches import compare, need

from tilewright.runtime.opencl.device import Device

TYPES = {"int": "i4", "uint": "u4", "long": "i8", "ulong": "u8", "float": "f4", "double": "f8"}
PRAGMAS = """
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
"""


@pytest.mark.parametrize("kind", TYPES)
def test_fetch_and_modify(device: Device, kind: str) -> None:
    """Results that do not depend on who comes first; every function in global and in local memory."""
    need(device, version=30)
    floating = kind in ("float", "double")
    names = ("add", "sub", "min", "max") + (() if floating else ("or", "and", "xor"))
    if floating:
        need(device, "cl_ext_float_atomics")
    body, after = "", ""
    for at, name in enumerate(names):
        body += f"atomic_fetch_{name}(o + {2 * at}, x); atomic_fetch_{name}_explicit(t + {at}, x, memory_order_relaxed"
        body += f"{', memory_scope_work_group' if at % 2 else ''});\n"
        after += f"o[{2 * at + 1}] = t[{at}];"
    source = f"""{PRAGMAS}
__kernel void k(__global {kind}* a, __global atomic_{kind}* o) {{
    __local atomic_{kind} t[{len(names)}];
    int l = get_local_id(0);
    if (l < {len(names)}) atomic_init(t + l, ({kind})7);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    {kind} x = a[get_global_id(0)];
    {body}
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    if (l == 0) {{ {after.replace("o[", f"((__global {kind}*)o)[").replace("t[", f"((__local {kind}*)t)[")} }}
}}"""
    values = np.random.default_rng(5).integers(0 if kind.startswith("u") else -40, 40, 64).astype(TYPES[kind])
    start = np.full(2 * len(names), 9).astype(TYPES[kind])
    compare(device, source, {"a": values, "o": start}, (64,), (64,), options=("-cl-std=CL3.0",))


def test_exchanges_and_flags(device: Device) -> None:
    """Each work-item has objects of its own, so that the order does not matter."""
    need(device, version=30)
    source = """
__kernel void k(__global atomic_int* a, __global int* o, __global atomic_flag* f) {
    int i = get_global_id(0), expected = i % 3;
    o[i] = atomic_compare_exchange_strong(a + i, &expected, 100 + i);
    o[64 + i] = expected;
    o[128 + i] = atomic_exchange(a + i, i * 5);
    expected = i * 5;
    while (!atomic_compare_exchange_weak_explicit(a + i, &expected, 3, memory_order_acq_rel, memory_order_acquire,
                                                  memory_scope_device)) {}
    o[192 + i] = atomic_load_explicit(a + i, memory_order_acquire);
    atomic_store_explicit(a + i, i * i, memory_order_release, memory_scope_device);
    o[256 + i] = atomic_flag_test_and_set(f + i);
    o[320 + i] = atomic_flag_test_and_set_explicit(f + i, memory_order_relaxed);
    if (i % 2) atomic_flag_clear(f + i);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
}"""
    arguments = {"a": np.arange(64, dtype=np.int32) % 5, "o": np.zeros(384, np.int32), "f": np.zeros(64, np.int32)}
    compare(device, source, arguments, (64,), (16,), options=("-cl-std=CL3.0",))


def test_64_bits_of_opencl_1(device: Device) -> None:
    need(device, "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics")
    names = ("add", "sub", "min", "max", "and", "or", "xor")
    body = "".join(f"atom_{name}(o + {at}, x);" for at, name in enumerate(names)) + "atom_inc(o + 7); atom_dec(o + 8);"
    source = f"{PRAGMAS}__kernel void k(__global long* a, __global long* o) {{ long x = a[get_global_id(0)]; {body} }}"
    values = np.random.default_rng(6).integers(-(2**40), 2**40, 64)
    compare(device, source, {"a": values, "o": np.full(9, 5, np.int64)}, (64,), (16,), options=())
