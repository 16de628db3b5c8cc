"""What is known about a device that the model of time needs: one table for each device, with a source for each figure."""

from dataclasses import dataclass, fields

from ...errors import InvalidInput

ORIGINS = ("measured", "datasheet", "published", "assumed")


@dataclass(frozen=True)
class Figure:
    """One figure: "measured" on the device itself, from the vendor's "datasheet", "published" by others who measured it, or
    "assumed" from a related device."""

    value: float
    origin: str
    source: str

    def __post_init__(self) -> None:
        if self.origin not in ORIGINS or not self.source:
            raise InvalidInput(
                f"figure {self.value}: its origin {self.origin!r} is none of {', '.join(ORIGINS)}, or has no source"
            )


@dataclass(frozen=True)
class DeviceFacts:
    """A device's table. A multiprocessor is an SM or a compute unit; rates are for each clock of one multiprocessor unless their
    name says otherwise; sizes are in bytes, latencies in cycles.

    `arch` is an architecture of `inspect` and `rules` a device model of `explain`.
    """

    name: str
    title: str
    arch: str
    rules: str
    multiprocessors: Figure
    clock_ghz: Figure  # under load
    issue: Figure  # instructions of a warp
    multiply_adds: Figure  # lanes, single precision
    double_multiply_adds: Figure  # lanes
    integers: Figure  # lanes
    special: Figure  # lanes: roots, exponentials, conversions
    request_cycles: Figure  # that the load-store unit needs for a request to global memory
    l1_bytes: Figure  # together with local memory where they share a store
    l1_tags: Figure  # lines looked up
    l1_sectors: Figure  # of 32 bytes delivered
    local_wavefronts: Figure
    l2_bytes: Figure
    l2_gbs: Figure  # GB/s of loads that hit
    l2_store_gbs: Figure
    dram_gbs: Figure  # GB/s of a copy, read and written
    l1_latency: Figure
    local_latency: Figure
    l2_latency: Figure
    dram_latency: Figure
    atomic_gops: Figure  # updates of different words a ns, whole device
    launch_us: Figure
    warp_start_cycles: Figure  # between starts of warps on a multiprocessor

    def figures(self) -> dict[str, Figure]:
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in ("name", "title", "arch", "rules")
        }

    @property
    def cycles_per_second(self) -> float:
        return self.clock_ghz.value * 1e9
