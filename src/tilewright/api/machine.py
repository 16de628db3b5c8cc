"""The devices of this machine as texts and facts: `devices`."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..core.checked import check_functions, checked_switch
from ..core.device import DeviceInfo, Peaks
from ..core.shown import Shown
from ..measurement.peaks import measured_peaks
from ..measurement.progress import Announce, Phase
from ..reports.table import peaks_line
from ..runtime.children import SmokeResult, probe_device
from ..runtime.opencl import device as opencl
from .progress import progress_line


@dataclass(frozen=True)
class DeviceReport:
    """One device: its index, its facts, its trial in a child process, and its peaks by element type if they were measured."""

    index: int
    info: DeviceInfo
    default: bool
    trial: SmokeResult
    peaks: dict[str, Peaks]

    def __str__(self) -> str:
        return "\n".join((self.title, *(f"  {name:22} {value}" for name, value in self.lines())))

    @property
    def title(self) -> str:
        return f"{self.index}: {self.info.label}" + ("  (default)" if self.default else "")

    def lines(self) -> list[tuple[str, str]]:
        """The facts as names and texts."""
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


@dataclass(frozen=True, repr=False)
class Devices(Shown):
    """All devices in the order of preference."""

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
            {"index": each.index, "default": each.default, "name": each.info.name, "platform": each.info.platform,
             "kind": each.info.kind, "driver": each.info.driver, "compute_units": each.info.compute_units,
             "clock_mhz": each.info.clock_mhz, "local_bytes": each.info.local_bytes,
             "global_bytes": each.info.global_bytes}
            for each in self.reports
        ]  # fmt: skip


def devices(peaks: bool = False, announce: Announce | None = None) -> Devices:
    """All OpenCL devices in the order of preference, with the limits that explain results. With `peaks`, measure their peaks.

    Support of fp64 and fp16 is tried in a child process. A driver that crashes there is reported. `announce` gets what is going
    on. Without it a notebook shows that in one line.
    """
    peaks = checked_switch("peaks", peaks)
    check_functions(announce=announce)
    with progress_line("devices") as line:
        tell = announce or line
        tell(Phase("looking for devices"))
        infos = opencl.list_devices()
        default = opencl.default_index(infos)
        return Devices(tuple(_report(index, info, index == default, peaks, tell) for index, info in enumerate(infos)))


def _report(index: int, info: DeviceInfo, default: bool, peaks: bool, announce: Announce) -> DeviceReport:
    announce(Phase(f"trying device {index}"))
    trial = probe_device(info.platform, info.place, version=info.version)
    return DeviceReport(index, info, default, trial, _peaks(index, announce) if peaks else {})


def _peaks(index: int, announce: Announce) -> dict[str, Peaks]:
    device = opencl.open_device(str(index))
    dtypes = ("float32", "float64", "int32") if device.info.fp64 else ("float32", "int32")
    found = {}
    for done, dtype in enumerate(dtypes):
        announce(Phase(f"measuring the {dtype} peaks of device {index},", done, len(dtypes)))
        found[dtype] = measured_peaks(device, dtype)
    return found


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
