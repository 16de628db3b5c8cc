"""The devices that plans are made for: facts alone, because an interpreter runs the plans."""

from tilewright.core.device import DeviceInfo

GIB = 1 << 30


def cpu(name: str, cores: int, vector_bytes: int) -> DeviceInfo:
    """A CPU device with a number of cores, and the bytes of its vectors."""
    widths = {"float32": vector_bytes // 4, "float64": vector_bytes // 8, "int32": vector_bytes // 4}
    return DeviceInfo(
        name, "nowhere", compute_units=cores, max_work_group_size=4096, max_work_item_sizes=(4096, 4096, 4096),
        global_bytes=64 * GIB, max_alloc_bytes=32 * GIB, fp64=True, features=frozenset({"cpu"}), native_widths=widths,
    )  # fmt: skip


def gpu(name: str, vendor: str, features: frozenset[str], units: int, width: int) -> DeviceInfo:
    """A GPU with the least local memory that is usual."""
    return DeviceInfo(
        name, "nowhere", vendor=vendor, kind="gpu", compute_units=units, max_work_group_size=1024,
        max_work_item_sizes=(1024, 1024, 64), local_bytes=49152, global_bytes=64 * GIB, max_alloc_bytes=16 * GIB, fp64=True,
        sub_group_width=width, features=features | {"gpu"},
        static_local_bytes=232448 if "wgmma" in features else 0,
    )  # fmt: skip


HOPPER_FEATURES = frozenset(
    {"nvidia", "cp_async", "ldmatrix", "mma", "mma_f64", "mma_f64_m8", "static_local", "tma", "wgmma"}
)
DEVICES = (
    cpu("a CPU of 2 cores", 2, 64),
    cpu("a CPU of 64 cores", 64, 32),
    gpu("any GPU", "A maker", frozenset(), 40, 64),
    gpu("an NVIDIA GPU", "NVIDIA", frozenset({"nvidia"}), 80, 32),
    gpu("a GPU like the H200", "NVIDIA Corporation", HOPPER_FEATURES, 132, 32),
)
