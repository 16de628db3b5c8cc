"""Measures a device's peaks with the micro-benchmarks in `kernels/peaks`. The highest rates measured so far are kept."""

import contextlib
from dataclasses import replace
from pathlib import Path

import msgspec

from ..core.device import DeviceInfo, Peaks
from ..core.kernel import KERNELS, Config, Kernel
from ..core.plan import plan_kernel
from ..core.problem import Copy, Problem, compulsory_bytes, random_arrays
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
from ..runtime.run import Execution
from ..runtime.verify import Reference, verify_execution

ROUNDS = 8192  # multiply-adds in a chain: starting a work-item takes a negligible part of it
GROUPS_PER_UNIT = 16  # work-groups for each compute unit: they keep it busy and make the tail short
REPEATS = 15  # a peak is the best of these, because interruptions only lower it
COPY_BYTES = {"cpu": 64 << 20, "gpu": 256 << 20}  # several times the last-level cache


def measured_peaks(device: Device, dtype: str) -> Peaks:
    """The device's peaks for `dtype`: the higher of those measured now and those measured before, because other load can
    only lower them. Earlier ones lie in the user's cache folder.

    GFLOP/s counts a multiply-add as two; GB/s counts bytes read and written.
    """
    info = device.info
    own = "".join(path.read_text(encoding="utf-8") for path in sorted((KERNELS / "peaks").iterdir()) if path.is_file())
    key = content_key(info.name, info.platform, info.driver, str(info.compute_units), dtype, own)
    path = cache_folder() / "peaks" / f"{key[:32]}.json"
    peaks = measure_peaks(device, dtype)
    before = _read(path)
    if before is not None:
        peaks = Peaks(
            {name: max(rate, before.gflops.get(name, 0.0)) for name, rate in peaks.gflops.items()},
            max(peaks.copy_gbs, before.copy_gbs),
            max(peaks.local_gbs, before.local_gbs),
        )
    _write(path, peaks)
    return peaks


def _write(path: Path, peaks: Peaks) -> None:
    """Keep the peaks for later runs, if the folder can be written to."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(peaks))


def _read(path: Path) -> Peaks | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Peaks)
    except (OSError, msgspec.DecodeError):
        return None


def measure_peaks(device: Device, dtype: str) -> Peaks:
    """Measure the peaks now. Each micro-benchmark is verified before it is timed."""
    chain, copying, reading = _configs(device.info, dtype)
    groups = device.info.compute_units * GROUPS_PER_UNIT
    chains = Chains(groups * chain.GROUP * chain.ACCUMULATORS * chain.VW, ROUNDS, chain.VW, dtype)
    copied = Copy(1, COPY_BYTES["gpu" if device.info.kind == "gpu" else "cpu"] // element_type(dtype).itemsize, dtype)
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
