"""Reads what a record must say about the machine: processor, load, versions, clocks."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from .device import DeviceInfo
from .records import Environment

PACKAGES = ("tilewright", "numpy", "pyopencl")


def read_environment(device: DeviceInfo) -> Environment:
    """The machine as it is now. What a system does not tell is left empty, not guessed."""
    clock, power = _gpu_state() if "nvidia" in device.features else (_cpu_clock(), None)
    return Environment(
        device=device,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        versions={name: version_of(name) for name in PACKAGES},
        clock_mhz=clock,
        power_w=power,
    )


def version_of(package: str) -> str:
    """The version of an installed package, or "not installed"."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _cpuinfo(key: str) -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(key)), "")
    except OSError:
        return ""


def _processor() -> str:
    return _cpuinfo("model name") or platform.processor()


def _cpu_clock() -> float | None:
    text = _cpuinfo("cpu MHz")
    return float(text) if text else None


def _gpu_state() -> tuple[float | None, float | None]:
    """The first NVIDIA GPU's SM clock in MHz and power in W, by nvidia-smi; None for what it does not tell."""
    query = ["nvidia-smi", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits", "--id=0"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout
        clock, power = answer.strip().split(",")
        return float(clock), float(power)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None, None
