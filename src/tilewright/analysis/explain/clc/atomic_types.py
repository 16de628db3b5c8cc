"""Atomic types of OpenCL C 2.0 and 3.0, and enumerations: orders and scopes of atomic functions; 6.15.12 of the specification."""

from dataclasses import replace

from .types import DOUBLE, FLOAT, HALF, INT, LONG, UINT, ULONG, Scalar, Type

ENUMERATION_TYPES: dict[str, Type] = {"memory_order": INT, "memory_scope": INT}
_VALUES: dict[str, Scalar] = {
    "atomic_int": INT,
    "atomic_uint": UINT,
    "atomic_long": LONG,
    "atomic_ulong": ULONG,
    "atomic_half": HALF,
    "atomic_float": FLOAT,
    "atomic_double": DOUBLE,
    "atomic_intptr_t": LONG,
    "atomic_uintptr_t": ULONG,
    "atomic_size_t": ULONG,
    "atomic_ptrdiff_t": LONG,
    "atomic_flag": INT,
}
ATOMIC_TYPES: dict[str, Type] = {name: replace(kind, own=f"atomic_{kind}") for name, kind in _VALUES.items()}
RELAXED, CONSUME, ACQUIRE, RELEASE, ACQUIRE_RELEASE, SEQUENTIAL = range(6)
ITEM, SUB_GROUP, WORK_GROUP, DEVICE, ALL_DEVICES = range(5)
ENUMERATORS: dict[str, int] = {
    "memory_order_relaxed": RELAXED,
    "memory_order_acquire": ACQUIRE,
    "memory_order_release": RELEASE,
    "memory_order_acq_rel": ACQUIRE_RELEASE,
    "memory_order_seq_cst": SEQUENTIAL,
    "memory_scope_work_item": ITEM,
    "memory_scope_sub_group": SUB_GROUP,
    "memory_scope_work_group": WORK_GROUP,
    "memory_scope_device": DEVICE,
    "memory_scope_all_svm_devices": ALL_DEVICES,
    "memory_scope_all_devices": ALL_DEVICES,
}
