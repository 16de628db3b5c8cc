"""Measures a device's peaks with the micro-benchmarks in `kernels/peaks`. The highest rates of quiet moments are kept."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from ..core.defaults import cpu_or_gpu
from ..core.device import DeviceInfo, Peaks
from ..core.files import write_atomically
from ..core.kernel import KERNELS, Config, Kernel
from ..core.plan import plan_kernel
from ..core.problem import Copy, Problem, compulsory_bytes, random_arrays
from ..core.records import DAMAGED
from ..core.types import element_type
from ..errors import WrongResult
from ..kernels.peaks import (
    CHAINS,
    COPY,
    CPU_CHAINS,
    CPU_COPY,
    CPU_LOCAL,
    GPU_CHAINS,
    GPU_COPY,
    GPU_LOCAL,
    LOCAL,
    ChainConfig,
    Chains,
    CopyConfig,
    LocalConfig,
    LocalReads,
)
from ..runtime.cache import cache_folder, content_key
from ..runtime.device import Device
from ..runtime.load import OtherLoad
from ..runtime.processors import code_facts, usable_processors
from ..runtime.run import Execution
from ..runtime.verify import Reference, verify_execution

ROUNDS = 8192  # multiply-adds in a chain: starting a work-item takes a negligible part of it
GROUPS_PER_UNIT = 16  # work-groups for each compute unit: they keep it busy and make the tail short
REPEATS = 15  # a peak is the best of these, because interruptions only lower it
COPY_BYTES = {"cpu": 64 << 20, "gpu": 256 << 20}  # several times the last-level cache


BUSY_PER_CORE = 0.25  # of work by other programs: peaks are the roof of later tables, so they must be cleaner than rows


def measured_peaks(device: Device, dtype: str, earlier: Peaks | None = None) -> Peaks:
    """The device's peaks for `dtype`, measured now. The higher of these, of `earlier` ones of the same run, and of those kept
    from earlier runs count, because other load can only lower them.

    Peaks are kept in the user's cache folder, but not those that were measured while other programs kept a CPU busy: these
    are marked as not `quiet`, and the next run measures again. GFLOP/s counts a multiply-add as two; GB/s counts bytes read
    and written.
    """
    path = _kept_in(device.info, dtype)
    load = OtherLoad()
    now = measure_peaks(device, dtype)
    others = load.cores()
    if device.info.kind == "cpu" and others is not None and others > BUSY_PER_CORE * usable_processors():
        now = replace(now, quiet=False)
    found = [each for each in (now, earlier, _read(path, dtype)) if each is not None]
    peaks = highest(found)
    if now.quiet:
        _write(path, highest([each for each in found if each.quiet]))
    return peaks


def kept_peaks(device: Device, dtype: str) -> Peaks | None:
    """The peaks kept from a quiet moment; None if there are none."""
    return _read(_kept_in(device.info, dtype), dtype)


def highest(found: Sequence[Peaks]) -> Peaks:
    """The highest of each rate. It is quiet if one of them is: then no rate can be too low because of other programs."""
    return Peaks(
        {name: max(each.gflops.get(name, 0.0) for each in found) for name in found[0].gflops},
        max(each.copy_gbs for each in found),
        max(each.local_gbs for each in found),
        any(each.quiet for each in found),
    )


def _kept_in(info: DeviceInfo, dtype: str) -> Path:
    """The file for a device, its driver and this version of the micro-benchmarks."""
    own = "".join(path.read_text(encoding="utf-8") for path in sorted((KERNELS / "peaks").iterdir()) if path.is_file())
    key = content_key(
        "quiet", info.name, info.platform, info.driver, str(info.compute_units), code_facts(info.kind), dtype, own
    )
    return cache_folder() / "peaks" / f"{key[:32]}.json"


def _write(path: Path, peaks: Peaks) -> None:
    """Keep the peaks for later runs, if the folder can be written to."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(peaks))


def _read(path: Path, dtype: str) -> Peaks | None:
    """The peaks in a file; None if it has none for the type, or rates that no device has."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Peaks)
    except (OSError, *DAMAGED):
        return None
    rates = (*found.gflops.values(), found.copy_gbs, found.local_gbs)
    return found if dtype in found.gflops and min(rates) > 0 else None


def measure_peaks(device: Device, dtype: str) -> Peaks:
    """Measure the peaks now. Each micro-benchmark is verified before it is timed."""
    chain, copying, reading = _configs(device.info, dtype)
    groups = device.info.compute_units * GROUPS_PER_UNIT
    chains = Chains(groups * chain.GROUP * chain.ACCUMULATORS * chain.VW, ROUNDS, chain.VW, dtype)
    copied = Copy(1, COPY_BYTES[cpu_or_gpu(device.info.kind)] // element_type(dtype).itemsize, dtype)
    reads = LocalReads(groups * reading.GROUP, 1 << 16, dtype)
    return Peaks(
        gflops={dtype: chains.flops / _best(device, CHAINS, chain, chains) * 1e-9},
        copy_gbs=compulsory_bytes(copied) / _best(device, COPY, copying, copied) * 1e-9,
        local_gbs=reads.bytes_read / _best(device, LOCAL, reading, reads) * 1e-9,
    )


def _configs(info: DeviceInfo, dtype: str) -> tuple[ChainConfig, CopyConfig, LocalConfig]:
    """Scalars on GPUs, whose lanes are scalar. Vectors of the driver's native width on CPUs."""
    if info.kind == "gpu":
        return GPU_CHAINS, GPU_COPY, GPU_LOCAL
    width = min(16, max(2, info.native_widths.get(dtype, 4)))
    return replace(CPU_CHAINS, VW=width), replace(CPU_COPY, VW=width), replace(CPU_LOCAL, VW=width)


def _best(device: Device, kernel: Kernel, config: Config, problem: Problem) -> float:
    """Seconds of the fastest of several verified runs, on the device's clock."""
    execution = Execution(plan_kernel(replace(kernel, config=config, smaller=()), problem, device.info), device)
    verdict = verify_execution(execution, Reference(problem, random_arrays(problem)))
    if not verdict.passed:
        raise WrongResult(f"{kernel.name} on {device.info.label}: {verdict.reason}")
    return min(execution.launch().device_s for _ in range(REPEATS))
