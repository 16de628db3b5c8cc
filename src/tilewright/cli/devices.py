"""Describes every device with the limits that explain results; double and half precision by probe, in a child."""

from dataclasses import dataclass

from ..bench.peaks import measured_peaks
from ..core.device import DeviceInfo
from ..report.table import peaks_line
from ..runtime.children import probe_device
from ..runtime.opencl.device import list_devices, open_device


@dataclass(frozen=True)
class DeviceReport:
    """One device: its index and name, and its facts as (name, value) lines."""

    title: str
    lines: tuple[tuple[str, str], ...]


def describe_devices(with_peaks: bool = False) -> list[DeviceReport]:
    """All devices, the default one first. A driver that dies in the probe is reported, not suffered."""
    reports = []
    for index, info in enumerate(list_devices()):
        lines = (*_facts(info), *_probed(info))
        if with_peaks:
            lines += (("measured peaks", _peaks(index)),)
        reports.append(DeviceReport(f"{index}: {info.label}" + ("  (default)" if index == 0 else ""), lines))
    return reports


def _peaks(index: int) -> str:
    device = open_device(str(index))
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
        ("work-group at most", f"{info.max_work_group_size} ({'x'.join(map(str, info.max_work_item_sizes))})"),
        ("sub-group width", str(info.sub_group_width or "not told")),
        ("local memory", f"{info.local_bytes:,} bytes, {_LOCAL[info.local_type]}"),
        ("global memory", f"{info.global_bytes:,} bytes, {info.max_alloc_bytes:,} in one buffer"),
        ("vector widths", f"{widths} (preferred/native)"),
        ("timer", f"{info.timer_ns} ns"),
    )


_LOCAL = {
    "local": "on chip",
    "global": "type global: a part of ordinary memory, so tiling through it saves no traffic by itself",
    "none": "none",
}


def _probed(info: DeviceInfo) -> tuple[tuple[str, str], ...]:
    result = probe_device(info.platform, info.place, version=info.version)
    if not result.passed:
        return (("probe", f"failed: {result.reason}"),)
    return (("float64, float16", f"{result.fp64}, {result.fp16} (compiled and run in a child process)"),)
