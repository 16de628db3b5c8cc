"""The devices of this machine as texts and facts: `devices`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..core.device import DeviceInfo
from ..core.shown import Shown
from ..measurement.peaks import measured_peaks
from ..reports.table import peaks_line
from ..runtime.children import probe_device
from ..runtime.opencl import device as opencl


@dataclass(frozen=True)
class DeviceReport:
    """One device: its index and name, its facts as (name, value) lines, and the same as data."""

    title: str
    lines: tuple[tuple[str, str], ...]
    info: DeviceInfo

    def __str__(self) -> str:
        return "\n".join((self.title, *(f"  {name:28} {value}" for name, value in self.lines)))


@dataclass(frozen=True, repr=False)
class Devices(Shown):
    """All devices, the default one first."""

    reports: tuple[DeviceReport, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.reports))

    def __iter__(self) -> Iterator[DeviceReport]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def one_line(self) -> str:
        return ", ".join(each.title for each in self.reports) or "none; `tilewright doctor` says what is missing"

    def to_rows(self) -> list[dict[str, Any]]:
        return [
            {"name": each.info.name, "platform": each.info.platform, "kind": each.info.kind, "driver": each.info.driver,
             "compute_units": each.info.compute_units, "clock_mhz": each.info.clock_mhz,
             "local_bytes": each.info.local_bytes, "global_bytes": each.info.global_bytes}
            for each in self.reports
        ]  # fmt: skip


def devices(peaks: bool = False) -> Devices:
    """All OpenCL devices, the default one first, with the limits that explain results. With `peaks`, measure their peaks, too.

    Support of fp64 and fp16 is tried in a child process. A driver that crashes there is reported.
    """
    reports = []
    for index, info in enumerate(opencl.list_devices()):
        lines = (*_facts(info), *_probed(info))
        if peaks:
            lines += (("measured peaks", _peaks(index)),)
        reports.append(DeviceReport(f"{index}: {info.label}" + ("  (default)" if index == 0 else ""), lines, info))
    return Devices(tuple(reports))


def _peaks(index: int) -> str:
    device = opencl.open_device(str(index))
    dtypes = ("float32", "float64", "int32") if device.info.fp64 else ("float32", "int32")
    return "; ".join(peaks_line(measured_peaks(device, dtype)).removeprefix("measured peaks: ") for dtype in dtypes)


def _facts(info: DeviceInfo) -> tuple[tuple[str, str], ...]:
    preferred, native = info.preferred_widths, info.native_widths
    widths = ", ".join(f"{dtype} {preferred.get(dtype, 0)}/{width}" for dtype, width in native.items())
    version = info.compute_capability
    capability = [("compute capability", ".".join(map(str, version)))] if version else []
    return (
        ("kind", info.kind),
        ("driver", f"{info.driver}; {info.version}"),
        ("compute units", f"{info.compute_units} at {info.clock_mhz} MHz"),
        *capability,
        ("largest work-group", f"{info.max_work_group_size} ({'x'.join(map(str, info.max_work_item_sizes))})"),
        ("sub-group width", str(info.sub_group_width or "not reported")),
        ("local memory", f"{info.local_bytes:,} bytes, {_LOCAL[info.local_type]}"),
        ("global memory", f"{info.global_bytes:,} bytes, {info.max_alloc_bytes:,} in one buffer"),
        ("vector widths", f"{widths} (preferred/native)"),
        ("timer", f"{info.timer_ns} ns"),
    )


_LOCAL = {
    "local": "on chip",
    "global": "in global memory: tiling through it does not reduce traffic by itself",
    "none": "none",
}


def _probed(info: DeviceInfo) -> tuple[tuple[str, str], ...]:
    result = probe_device(info.platform, info.place, version=info.version)
    if not result.passed:
        return (("probe", f"failed: {result.reason}"),)
    return (("float64, float16", f"{result.fp64}, {result.fp16} (compiled and run in a child process)"),)
