"""List every device, with the limits that explain results.

Support of fp64 and fp16 is tested in a child process.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.device import DeviceInfo

EXAMPLES = """\
  tilewright devices
  tilewright devices --peaks --json"""


@dataclass(frozen=True)
class DeviceReport:
    """One device: its index and name, and its facts as (name, value) lines."""

    title: str
    lines: tuple[tuple[str, str], ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peaks", action="store_true", help="measure the peaks of each device too (default: not)")
    parser.add_argument("--json", action="store_true", help="print JSON (default: lines of text)")


def execute(options: argparse.Namespace) -> int:
    from rich.markup import escape

    from ..core.records import to_json
    from ..errors import NoDevice
    from .live_table import console
    from .printing import say

    reports = describe_devices(options.peaks)
    if options.json:
        print(to_json([asdict(each) for each in reports]), end="")
    for report in [] if options.json else reports:
        console.print(f"[bold]{escape(report.title)}[/bold]", highlight=False)
        for name, value in report.lines:
            say(f"  {name:28} {value}")
    if not reports:
        raise NoDevice(
            "there is no OpenCL device; `tilewright doctor` says what is missing, and which command installs it"
        )
    return 0


def describe_devices(with_peaks: bool = False) -> list[DeviceReport]:
    """All devices, the default one first. A driver that crashes in the probe is reported."""
    from ..runtime.opencl.device import list_devices

    reports = []
    for index, info in enumerate(list_devices()):
        lines = (*_facts(info), *_probed(info))
        if with_peaks:
            lines += (("measured peaks", _peaks(index)),)
        reports.append(DeviceReport(f"{index}: {info.label}" + ("  (default)" if index == 0 else ""), lines))
    return reports


def _peaks(index: int) -> str:
    from ..measurement.peaks import measured_peaks
    from ..reports.table import peaks_line
    from ..runtime.opencl.device import open_device

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
    from ..runtime.children import probe_device

    result = probe_device(info.platform, info.place, version=info.version)
    if not result.passed:
        return (("probe", f"failed: {result.reason}"),)
    return (("float64, float16", f"{result.fp64}, {result.fp16} (compiled and run in a child process)"),)
