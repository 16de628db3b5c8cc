"""Occupancy: how many work-groups of a kernel fit on a multiprocessor, and what limits them. A table for each architecture.

NVIDIA: "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide (that of CUDA 12 for 7.0), and
for the units in which registers and shared memory are given out, the occupancy calculator of Nsight Compute. AMD: the
figures by which LLVM's AMDGPU backend reckons (AMDGPUBaseInfo.cpp). Intel: the table and the formula of Intel's "GPU Occupancy
Calculator" (oneAPI samples), to which its "oneAPI GPU Optimization Guide" refers; for Xe2, which that table lacks, the eight
engines of eight threads that the compiler states, and the local memory of Xe-HPC.
"""

from dataclasses import dataclass, replace

from ...errors import UnknownName


@dataclass(frozen=True)
class Multiprocessor:
    """What work-groups share on one multiprocessor (NVIDIA), compute unit or work-group processor (AMD), or Xe-core (Intel).

    A wave is a warp, a wavefront or a hardware thread of `lanes` work-items. Each of the `units` parts (NVIDIA's
    sub-partitions, AMD's SIMDs, Intel's vector engines) has `registers` of 32 bits for each lane of a wave, given out in
    steps of `register_step` for each lane; on Intel they are whole registers of a hardware thread. Local memory is given out
    in steps of `local_step` bytes, or in one of `local_sizes`, `reserved_local` bytes of it to the system for each work-group.
    """

    name: str
    title: str
    lanes: int
    units: int
    waves: int  # at most, on the whole multiprocessor
    groups: int  # at most; on AMD this limit is only for groups of more than one wave
    registers: int
    register_step: int
    local_bytes: int
    local_step: int
    reserved_local: int = 0
    group_items: int = 1024
    group_local_bytes: int = 49152
    single_waves_free: bool = False  # a group of one wave needs no barrier, and `groups` does not count it
    family: str = "nvidia"
    local_sizes: tuple[int, ...] = ()
    fp64: bool = True


def _nvidia(name: str, waves: int, groups: int, local_kb: int, title: str) -> Multiprocessor:
    """64 K registers in four parts. Warps get them in steps of 256 registers, 8 for each lane. From 8.0 on the system takes 1 KB
    of shared memory for each work-group, and memory is allocated in steps of 128 bytes; before, in steps of 256."""
    old = name in ("sm_70", "sm_72", "sm_75")
    return Multiprocessor(
        name, title, 32, 4, waves, groups, 512, 8, local_kb << 10, 256 if old else 128, 0 if old else 1024
    )


def _amd(
    name: str, title: str, lanes: int, waves: int, registers: int, step: int, local_kb: int = 64, groups: int = 16
) -> Multiprocessor:
    return Multiprocessor(
        name, title, lanes, 4, 4 * waves, groups, registers, step, local_kb << 10, 512 if lanes == 64 else 1024,
        group_items=256, group_local_bytes=65536, single_waves_free=True, family="amd",
    )  # fmt: skip


def _intel(
    name: str, title: str, engines: int, threads: int, *, local_kb: int = 128, items: int = 1024
) -> Multiprocessor:
    """Vector engines with 128 registers for each of their hardware threads. Kernels with 256 get half of the threads. Before
    Xe-HPC a work-group gets a power of two of local memory, at most 64 KB, and there is no double precision."""
    newer = name in ("pvc", "lnl", "bmg")
    sizes = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128) if newer else (1, 2, 4, 8, 16, 32, 64)
    return Multiprocessor(
        name, title, 32 if newer else 16, engines, engines * threads, engines * threads, 128 * threads, 128, local_kb << 10,
        1024, group_items=items, group_local_bytes=sizes[-1] << 10, family="intel",
        local_sizes=tuple(size << 10 for size in sizes), fp64=newer,
    )  # fmt: skip


MULTIPROCESSORS = {
    each.name: each
    for each in (
        _nvidia("sm_70", 64, 32, 96, "Volta: V100"),
        _nvidia("sm_75", 32, 16, 64, "Turing: T4, RTX 20"),
        _nvidia("sm_80", 64, 32, 164, "Ampere: A100"),
        _nvidia("sm_86", 48, 16, 100, "Ampere: A10, RTX 30"),
        _nvidia("sm_87", 48, 16, 164, "Ampere: Jetson Orin"),
        _nvidia("sm_89", 48, 24, 100, "Ada: L4, L40, RTX 40"),
        _nvidia("sm_90", 64, 32, 228, "Hopper: H100, H200"),
        _nvidia("sm_100", 64, 32, 228, "Blackwell: B200"),
        _nvidia("sm_103", 64, 32, 228, "Blackwell: B300"),
        _nvidia("sm_110", 48, 24, 228, "Blackwell: Jetson Thor"),
        _nvidia("sm_120", 48, 24, 100, "Blackwell: RTX 50"),
        # GCN and CDNA: a compute unit of four SIMDs, wavefronts of 64.
        _amd("gfx906", "GCN 5: Radeon VII, MI50", 64, 10, 256, 4),
        _amd("gfx908", "CDNA: MI100", 64, 10, 256, 4),
        _amd("gfx90a", "CDNA 2: MI200", 64, 8, 512, 8),
        _amd("gfx942", "CDNA 3: MI300", 64, 8, 512, 8),
        replace(_amd("gfx950", "CDNA 4: MI350", 64, 8, 512, 8, local_kb=160), local_step=1280),
        # RDNA: a work-group processor of two compute units, four SIMDs together, wavefronts of 32.
        _amd("gfx1030", "RDNA 2: RX 6800, 6900", 32, 16, 1024, 16, 128, 32),
        _amd("gfx1100", "RDNA 3: RX 7900", 32, 16, 1536, 24, 128, 32),
        _amd("gfx1101", "RDNA 3: RX 7700, 7800", 32, 16, 1536, 24, 128, 32),
        _amd("gfx1102", "RDNA 3: RX 7600", 32, 16, 1024, 16, 128, 32),
        _amd("gfx1151", "RDNA 3.5: Ryzen AI Max", 32, 16, 1536, 24, 128, 32),
        _amd("gfx1200", "RDNA 4: RX 9060", 32, 16, 1536, 24, 128, 32),
        _amd("gfx1201", "RDNA 4: RX 9070", 32, 16, 1536, 24, 128, 32),
        # Intel, by ocloc's names: Xe-cores (before, dual subslices), sub-groups of 8 to 32 as the compiler chooses.
        _intel("tgllp", "Xe-LP: Tiger Lake, Iris Xe", 16, 7, local_kb=64, items=512),
        _intel("dg1", "Xe-LP: Iris Xe MAX", 16, 7, local_kb=64, items=512),
        _intel("dg2", "Xe-HPG: Arc A-series, Flex", 16, 8),
        _intel("pvc", "Xe-HPC: Data Center GPU Max", 8, 8),
        _intel("lnl", "Xe2-LPG: Lunar Lake", 8, 8),
        _intel("bmg", "Xe2-HPG: Arc B-series", 8, 8),
    )
}


@dataclass(frozen=True)
class Occupancy:
    """Work-groups and waves that fit at once. `limits` has the number of groups that each resource alone allows."""

    groups: int
    waves: int
    most_waves: int
    limiter: str
    limits: dict[str, int]
    shares: str  # what the groups share: "multiprocessor", "compute unit" ...

    @property
    def part(self) -> float:
        return self.waves / self.most_waves if self.most_waves else 0.0

    def __str__(self) -> str:
        place = f"{'an' if self.shares.startswith('Xe') else 'a'} {self.shares}"
        if not self.groups:
            return f"0: no work-group fits on {place}, limited by {self.limiter}"
        groups = f"{self.groups} work-group{'s' if self.groups != 1 else ''} = {self.waves} of {self.most_waves} waves"
        return f"{self.part:.0%}: {groups} on {place}, limited by {self.limiter}"


def find_multiprocessor(name: str) -> Multiprocessor:
    """The table's row for an architecture such as "sm_90" or "gfx90a"; features ("sm_90a", "gfx90a:xnack+") are left out.

    UnknownName if there is none: an occupancy by another chip's limits would be believed, and wrong.
    """
    base = name.split(":")[0]
    if base.startswith("sm_"):
        base = base.rstrip("af")
    if base not in MULTIPROCESSORS:
        raise UnknownName("architecture", name, MULTIPROCESSORS)
    return MULTIPROCESSORS[base]


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def occupancy(chip: Multiprocessor, group_items: int, registers: int, local_bytes: int) -> Occupancy:
    """The occupancy of work-groups of `group_items`, whose work-items need `registers` of 32 bits (vector registers, on
    AMD) and which need `local_bytes` each.

    Registers belong to a part of the multiprocessor, so each part holds whole waves. NVIDIA's hardware refuses a group
    whose waves, rounded up to the same number in each part, would not find registers.
    """
    waves = max(-(-group_items // chip.lanes), 1)
    limits = {"work-groups": chip.groups, "waves": chip.waves // waves}
    if chip.single_waves_free and waves == 1:
        limits["work-groups"] = chip.waves
    if registers:
        in_unit = chip.registers // _up(registers, chip.register_step)
        refused = chip.family == "nvidia" and in_unit * chip.units < _up(waves, chip.units)
        limits["registers"] = 0 if refused else in_unit * chip.units // waves
    if local_bytes:
        limits["local memory"] = chip.local_bytes // _local_used(chip, local_bytes)
    groups = min(limits.values())
    # A full multiprocessor is limited by its waves. Of other equal limits, name the one that the kernel's author can change.
    full = ("waves",) if groups * waves == chip.waves else ()
    order = (*full, "registers", "local memory", "waves", "work-groups")
    limiter = next(name for name in order if limits.get(name) == groups)
    return Occupancy(groups, groups * waves, chip.waves, limiter, limits, _shares(chip))


def _local_used(chip: Multiprocessor, local_bytes: int) -> int:
    """Local memory that a work-group gets; one that asks for more than the largest size gets none of it, and does not fit."""
    if chip.local_sizes:
        return next((size for size in chip.local_sizes if size >= local_bytes), chip.local_bytes + 1)
    return _up(local_bytes + chip.reserved_local, chip.local_step)


def _shares(chip: Multiprocessor) -> str:
    if chip.family in ("nvidia", "intel"):
        return {"nvidia": "multiprocessor", "intel": "Xe-core"}[chip.family]
    return "compute unit" if chip.lanes == 64 else "work-group processor"
