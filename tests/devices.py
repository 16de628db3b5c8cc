"""The devices that plans are made for in tests: facts alone. A test that needs another fact takes one by `replace`."""

from dataclasses import replace

from tilewright.core.device import DeviceInfo

# Instructions that a Hopper GPU is found to have.
HOPPER_FEATURES = frozenset(
    {"gpu", "nvidia", "mma", "mma_f64", "mma_f64_m8", "ldmatrix", "cp_async", "static_local", "tma", "wgmma"}
)

CPU = DeviceInfo(
    "a CPU", "nowhere", compute_units=2, max_work_group_size=1024, max_work_item_sizes=(1024, 1024, 64), local_bytes=32768,
    global_bytes=1 << 34, max_alloc_bytes=1 << 33, fp64=True, features=frozenset({"cpu"}),
    native_widths={"float32": 16, "float64": 8, "int32": 16},
)  # fmt: skip
GPU = DeviceInfo(
    "a GPU", "nowhere", vendor="A maker", kind="gpu", compute_units=100, max_work_group_size=1024,
    max_work_item_sizes=(1024, 1024, 64), local_bytes=49152, global_bytes=1 << 34, max_alloc_bytes=1 << 33, fp64=True,
    sub_group_width=32, features=frozenset({"gpu"}),
)  # fmt: skip
NVIDIA = replace(
    GPU, platform="NVIDIA CUDA", vendor="NVIDIA Corporation", compute_units=132, compute_capability=(9, 0),
    features=frozenset({"gpu", "nvidia"}),
)  # fmt: skip
HOPPER = replace(NVIDIA, name="a Hopper GPU", static_local_bytes=232448, features=HOPPER_FEATURES)
