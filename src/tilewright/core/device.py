"""What is known about a device, as plain data: its limits and its peaks. No runtime is called here."""

from dataclasses import dataclass, field

PREDICTED = ("h200", "h100", "a100", "rtx4090", "mi300x")  # devices whose facts `predict` has


@dataclass(frozen=True)
class Peaks:
    """The highest rates that the kernels in `kernels/peaks` reached on a device."""

    gflops: dict[str, float]  # GFLOP/s by dtype: fused multiply-adds from registers, 2 flops each
    copy_gbs: float  # GB/s of a copy on the device: bytes read + bytes written
    local_gbs: float  # GB/s of reads from local memory
    quiet: bool = True  # False if other programs kept the machine busy meanwhile: then the rates are too low


@dataclass(frozen=True)
class DeviceInfo:
    """One device. Sizes are in bytes, the clock in MHz; `local_type` is "local", "global" or "none"."""

    name: str
    platform: str
    vendor: str = ""
    driver: str = ""
    version: str = ""
    kind: str = "cpu"  # "cpu", "gpu" or "accelerator"
    place: int = 0  # its index among the devices of its platform
    compute_units: int = 1  # on NVIDIA: SMs
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
    sub_group_width: int = 0  # work-items of a warp, wavefront or sub-group; 0: the driver does not say
    compute_capability: tuple[int, int] | None = None  # NVIDIA
    level2_bytes: int = 0  # of a CPU core's level-2 cache; 0 if neither the system nor the driver says
    static_local_bytes: int = 0  # the most for a static local array, where a run showed more than `local_bytes`
    fp64: bool = False
    fp16: bool = False
    # What a Kernel may require: "cpu", "gpu", "nvidia" ..., and instructions that a trial on the device proved.
    features: frozenset[str] = frozenset()
    missing: dict[str, str] = field(default_factory=dict)  # features whose trial failed, and what happened

    @property
    def label(self) -> str:
        return f"{self.name} ({self.platform})"
