"""A rung and the rung before it, measured on the reader's own device in a second or two."""

from dataclasses import dataclass

from ..core.defaults import cpu_or_gpu
from ..core.kernel import Kernel
from ..core.language import translated, translated_count
from ..core.numbers import figure
from ..core.records import Row
from ..measurement.ladders import run_kernel
from ..runtime.device import Device
from .counted import compared_rung

SECONDS = 0.5  # for each of the two
SIDES = {"cpu": 256, "gpu": 1024}


@dataclass(frozen=True)
class Here:
    """The rows of a rung and of the rung before it (None for a first rung) on one device."""

    device: str
    now: Row
    before: Row | None

    def __str__(self) -> str:
        if not self.now.comparable:
            return translated("{device}: not measured: {reason}", device=self.device, reason=self.now.reason)
        size = "x".join(map(str, self.now.size))
        rate = f"{figure(self.now.rate)} {self.now.unit}"
        if self.before is None or not self.before.comparable:
            return translated("{device}, {size}: {rate}", device=self.device, size=size, rate=rate)
        times = figure(self.now.rate / self.before.rate)
        return translated_count(
            "{device}, {size}: {rate}, {times} time the rate of {before} ({was})",
            "{device}, {size}: {rate}, {times} times the rate of {before} ({was})",
            times, device=self.device, size=size, rate=rate, times=times,
            before=self.before.name, was=f"{figure(self.before.rate)} {self.before.unit}",
        )  # fmt: skip


def measured_here(kernel: Kernel, device: Device) -> Here:
    """Verify and measure a rung and the rung before it."""
    previous = compared_rung(kernel)
    rows = [_row(each, device) for each in (kernel, previous) if each is not None]
    return Here(device.info.label, rows[0], rows[1] if len(rows) > 1 else None)


def _row(kernel: Kernel, device: Device) -> Row:
    record, _ = run_kernel(kernel, SIDES[cpu_or_gpu(device.info.kind)], device, seconds=SECONDS, baselines=False)
    return record.rows[-1]
