"""List every device, with the limits that explain results.

Support of fp64 and fp16 is tested in a child process.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.device import DeviceInfo, Peaks
    from ..runtime.children import SmokeResult

EXAMPLES = """\
  tilewright devices
  tilewright devices --peaks --json"""


@dataclass(frozen=True)
class DeviceReport:
    """One device: its index, its facts, its trial in a child process, and its peaks by element type if they were measured."""

    index: int
    info: DeviceInfo
    default: bool
    trial: SmokeResult
    peaks: dict[str, Peaks]

    @property
    def title(self) -> str:
        return f"{self.index}: {self.info.label}" + ("  (default)" if self.default else "")

    def lines(self) -> list[tuple[str, str]]:
        """The facts as names and texts."""
        from ..reports.table import peaks_line

        lines = [*_facts(self.info), _trial(self.trial)]
        if self.peaks:
            texts = [peaks_line(each).removeprefix("measured peaks: ") for each in self.peaks.values()]
            lines.append(("measured peaks", "; ".join(texts)))
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The fields of DeviceInfo, and what was found about the device."""
        trial = {name: getattr(self.trial, name) for name in ("passed", "reason", "fp64", "fp16")}
        return {
            "index": self.index,
            "default": self.default,
            **asdict(self.info),
            "features": sorted(self.info.features),
            "trial": trial,
            "peaks": {dtype: asdict(each) for dtype, each in self.peaks.items()},
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from .json_output import add_json

    parser.add_argument("--peaks", action="store_true", help="measure the peaks of each device too (default: not)")
    add_json(parser, "the fields of each device")


def execute(options: argparse.Namespace) -> int:
    from rich.markup import escape

    from ..runtime.opencl.device import no_device
    from .live_table import console
    from .outputs import check_json, write_json
    from .printing import say_hanging

    check_json(options)
    reports = describe_devices(options.peaks)
    for report in reports:
        console.print(f"[bold]{escape(report.title)}[/bold]", highlight=False, soft_wrap=True)
        for name, value in report.lines():
            say_hanging(f"  {name:22} ", value)
    write_json(options, [report.to_dict() for report in reports])
    if not reports:
        raise no_device()
    return 0


def describe_devices(with_peaks: bool = False) -> list[DeviceReport]:
    """All devices in the order of preference. A driver that crashes in the trial is reported."""
    from ..runtime.children import probe_device
    from ..runtime.opencl.device import default_index, list_devices

    infos = list_devices()
    default = default_index(infos)
    return [
        DeviceReport(
            index, info, index == default, probe_device(info.platform, info.place, version=info.version),
            _peaks(index) if with_peaks else {},
        )
        for index, info in enumerate(infos)
    ]  # fmt: skip


def _peaks(index: int) -> dict[str, Peaks]:
    from ..measurement.peaks import measured_peaks
    from ..runtime.opencl.device import open_device

    device = open_device(str(index))
    dtypes = ("float32", "float64", "int32") if device.info.fp64 else ("float32", "int32")
    return {dtype: measured_peaks(device, dtype) for dtype in dtypes}


def _facts(info: DeviceInfo) -> tuple[tuple[str, str], ...]:
    preferred, native = info.preferred_widths, info.native_widths
    widths = ", ".join(f"{dtype} {preferred.get(dtype, 0)}/{width}" for dtype, width in native.items())
    version = info.compute_capability
    capability = [("compute capability", ".".join(map(str, version)))] if version else []
    clock = f" at {info.clock_mhz} MHz" if info.clock_mhz else ", clock not reported"
    return (
        ("kind", info.kind),
        ("driver", f"{info.driver}; {info.version}"),
        ("compute units", f"{info.compute_units}{clock}"),
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


def _trial(trial: SmokeResult) -> tuple[str, str]:
    if not trial.passed:
        return ("trial", f"failed: {trial.reason}")
    return ("float64, float16", f"{trial.fp64}, {trial.fp16} (compiled and run in a child process)")
