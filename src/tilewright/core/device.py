"""What is known about a device, as plain data: the limits that explain results. No call of a runtime is made here."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Peaks:
    """Ceilings measured on a device by the kernels in `kernels/peaks`."""

    gflops: dict[str, float]  # fused multiply-adds from registers, 2 flops each, by dtype
    copy_gbs: float  # device copy, bytes read + bytes written, GB/s
    local_gbs: float  # reads from local memory, GB/s


@dataclass(frozen=True)
class DeviceInfo:
    """One OpenCL device. Sizes in bytes, clock in MHz; `local_type` is "local", "global" or "none"."""

    name: str
    platform: str
    vendor: str = ""
    driver: str = ""
    version: str = ""
    kind: str = "cpu"  # "cpu", "gpu" or "accelerator"
    place: int = 0  # its number among its platform's devices
    compute_units: int = 1
    clock_mhz: int = 0
    max_work_group_size: int = 256
    max_work_item_sizes: tuple[int, ...] = (256, 256, 256)
    local_bytes: int = 32768
    local_type: str = "local"
    global_bytes: int = 0
    max_alloc_bytes: int = 0
    base_align_bytes: int = 128
    timer_ns: int = 1
    host_unified: bool = False
    preferred_widths: dict[str, int] = field(default_factory=dict)  # vector width by dtype
    native_widths: dict[str, int] = field(default_factory=dict)
    sub_group_width: int = 0  # work-items of one warp, wavefront or sub-group; 0 if the driver does not say
    compute_capability: tuple[int, int] | None = None  # NVIDIA
    static_local_bytes: int = 0  # what a static local array may have, where a run showed more than `local_bytes`
    fp64: bool = False
    fp16: bool = False
    features: frozenset[str] = (
        frozenset()
    )  # e.g. "cpu", "gpu", and instructions that a run proved; what a Kernel may require
    missing: dict[str, str] = field(default_factory=dict)  # features that were tried in vain, and what happened

    @property
    def label(self) -> str:
        return f"{self.name} ({self.platform})"
