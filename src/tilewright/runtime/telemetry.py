"""Clock, power and energy of an NVIDIA GPU during a measurement: by NVML, or by nvidia-smi if NVML is not found.

NVML is the library behind nvidia-smi. It comes with the driver and is called by ctypes.
"""

import ctypes
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean, median
from time import perf_counter
from typing import Protocol

from ..core.device import DeviceInfo

NVML_NAMES = ("libnvidia-ml.so.1", "nvml.dll")
SM_CLOCK = 1  # NVML_CLOCK_SM
PERIOD_S = 0.05  # NVML answers within 1 ms; the board updates its power sensor about ten times a second
SMI_PERIOD_MS = 100


@dataclass(frozen=True)
class Reading:
    """A GPU's median clock and mean power over some seconds. None if not read."""

    clock_mhz: float | None = None
    power_w: float | None = None


class Sampler(Protocol):
    """Reads a GPU from `start` to `stop`. `source` says by what, or why nothing is read."""

    @property
    def source(self) -> str: ...

    def start(self) -> None: ...

    def stop(self) -> Reading: ...


@dataclass(frozen=True)
class NoSampler:
    """Reads nothing: clock and power cannot be read here."""

    source: str

    def start(self) -> None:
        """Nothing to begin."""

    def stop(self) -> Reading:
        return Reading()


@cache
def nvml() -> ctypes.CDLL | None:
    """NVML, initialised; None if it is not installed."""
    for name in NVML_NAMES:
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(name)
            if library.nvmlInit_v2() == 0:
                return library
    return None


def nvml_handle(place: int) -> ctypes.c_void_p | None:
    """NVML's handle of the GPU with that index, or None."""
    library, handle = nvml(), ctypes.c_void_p()
    if library is None or library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(place), ctypes.byref(handle)) != 0:
        return None
    return handle


@dataclass
class NvmlSampler:
    """Reads NVML in a thread. The mean power comes from the board's energy counter, if it has one."""

    handle: ctypes.c_void_p
    source: str = "NVML"
    _clocks: list[float] = field(default_factory=list)
    _powers: list[float] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _begin: tuple[float, float | None] = (0.0, None)

    def start(self) -> None:
        self._clocks, self._powers = [], []
        self._over.clear()
        self._begin = (perf_counter(), self._joules())
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> Reading:
        seconds, joules = perf_counter() - self._begin[0], self._joules()
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        power = fmean(self._powers) if self._powers else None
        if joules is not None and self._begin[1] is not None and joules > self._begin[1]:
            power = (joules - self._begin[1]) / seconds
        return Reading(median(self._clocks) if self._clocks else None, power)

    def _sample(self) -> None:
        while not self._over.wait(PERIOD_S):
            clock = self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, SM_CLOCK)
            power = self._number("nvmlDeviceGetPowerUsage", ctypes.c_uint)
            self._clocks += [] if clock is None else [clock]
            self._powers += [] if power is None else [power * 1e-3]

    def _joules(self) -> float | None:
        millijoules = self._number("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong)
        return None if millijoules is None else millijoules * 1e-3

    def _number(self, function: str, kind: Callable[[], "ctypes._SimpleCData[int]"], *arguments: int) -> float | None:
        """The value that one of NVML's functions returns; None if it fails."""
        value = kind()
        status = getattr(nvml(), function)(self.handle, *map(ctypes.c_uint, arguments), ctypes.byref(value))
        return None if status else float(value.value)


def smi_query(place: int) -> list[str]:
    """The command line that prints a GPU's SM clock in MHz and its power in W."""
    return ["nvidia-smi", f"--id={place}", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits"]


def read_smi(place: int) -> Reading:
    """A GPU's clock and power now, by nvidia-smi. An empty reading if it is missing or fails."""
    try:
        answer = subprocess.run(smi_query(place), capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return Reading()
    return parse_smi(answer.stdout)


@dataclass
class SmiSampler:
    """Reads the output of nvidia-smi, which runs in a child process."""

    place: int
    source: str = "nvidia-smi"
    _child: "subprocess.Popen[str] | None" = None

    def start(self) -> None:
        self._child = subprocess.Popen(
            [*smi_query(self.place), f"--loop-ms={SMI_PERIOD_MS}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def stop(self) -> Reading:
        if self._child is None:
            return Reading()
        self._child.terminate()
        text, _ = self._child.communicate()
        return parse_smi(text)


def parse_smi(text: str) -> Reading:
    """The output of nvidia-smi, with lines such as "1980, 614.20". Incomplete lines and those with [N/A] are skipped."""
    pairs = []
    for line in text.splitlines():
        with suppress(ValueError):
            clock, power = (float(part) for part in line.split(","))
            pairs.append((clock, power))
    if not pairs:
        return Reading()
    return Reading(median(clock for clock, _ in pairs), fmean(power for _, power in pairs))


def has_smi() -> bool:
    """Whether nvidia-smi is installed and finds a driver."""
    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def sampler_for(device: DeviceInfo) -> Sampler:
    """The sampler for a device: NVML, or nvidia-smi, or one that says why nothing can be read.

    It is assumed that a GPU has the same index in NVML as on its OpenCL platform.
    """
    if "nvidia" not in device.features:
        return NoSampler("not read: only those of NVIDIA GPUs can be")
    handle = nvml_handle(device.place)
    if handle is not None:
        return NvmlSampler(handle)
    if has_smi():
        return SmiSampler(device.place)
    return NoSampler("not read: neither NVML nor nvidia-smi is installed")
