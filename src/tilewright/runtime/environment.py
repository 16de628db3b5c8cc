"""What records say about the machine: processor, load, versions, clock, power."""

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from ..core.device import DeviceInfo
from ..core.records import Environment
from ..core.version import VERSION
from .processors import usable_processors
from .telemetry import Reading, read_smi

PACKAGES = ("tilewright", "numpy", "pyopencl")
BLAS_SETTINGS = ("OPENBLAS_", "GOTO_", "MKL_", "BLIS_", "OMP_", "KMP_", "NVPL_", "VECLIB_")
# It changes no product: it lets two OpenMP libraries share a process, and threadpoolctl sets it.
ALLOWED = "KMP_DUPLICATE_LIB_OK"


def read_environment(device: DeviceInfo, others: float | None = None) -> Environment:
    """The machine as it is now. Facts that the system does not tell stay empty. `others` is what `OtherLoad` counted."""
    now = read_smi(device.place) if "nvidia" in device.features else Reading(_cpu_clock())
    return Environment(
        device=device,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()}",
        processor=processor(),
        cores=usable_processors(),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        versions={name: version_of(name) for name in PACKAGES},
        clock_mhz=now.clock_mhz,
        power_w=now.power_w,
        others=others,
        blas_settings=blas_settings(),
    )


def blas_settings() -> dict[str, str]:
    """The variables of this environment that configure a BLAS: NumPy obeys them in this process, and no baseline does."""
    return {name: os.environ[name] for name in sorted(os.environ) if name.startswith(BLAS_SETTINGS) and name != ALLOWED}


def version_of(package: str) -> str:
    """The version of this package, or of another one that is installed, or "not installed"."""
    if package == "tilewright":
        return VERSION
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


def processor() -> str:
    """The name of the processor, as the system tells it. With family and model, as virtual machines give processors of several
    generations one name."""
    name = _cpuinfo("model name") or platform.processor()
    family, model = _cpuinfo("cpu family"), _cpuinfo("model\t")
    return f"{name}, family {family} model {model}" if family and model else name


def _cpu_clock() -> float | None:
    text = _cpuinfo("cpu MHz")
    return float(text) if text else None
