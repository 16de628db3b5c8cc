"""Examines this machine: what tilewright needs, what it found, and the command that mends each fault.

Whatever may crash (PyOpenCL, a driver, a device) is tried in a child process.
"""

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import metadata, util
from pathlib import Path
from typing import Any

from .backend import drivers, smoke
from .backend.cache import cache_folder


class Status(StrEnum):
    """FAIL: tilewright cannot work, or not as the user's settings ask. WARN: it works, but look at this."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Finding:
    """One line of the examination; `mend` is a command, or a setting, that cures it."""

    status: Status
    topic: str
    text: str
    mend: str = ""


@dataclass(frozen=True)
class Examination:
    """All findings, and the label of the device that is used when none is named ("" if none can be)."""

    findings: tuple[Finding, ...]
    chosen: str

    @property
    def healthy(self) -> bool:
        """No finding is a FAIL."""
        return all(finding.status is not Status.FAIL for finding in self.findings)

    def lines(self) -> list[str]:
        """The examination as plain text, one or two lines a finding."""
        text = []
        for finding in self.findings:
            text.append(f"{finding.status:<4}  {finding.topic:<11}  {finding.text}")
            if finding.mend:
                text.append(f"{'':<19}-> {finding.mend}")
        return [*text, "healthy" if self.healthy else "not healthy: mend the lines that begin with FAIL"]

    def to_json(self) -> str:
        """The examination as JSON: healthy, chosen, findings."""
        findings = [asdict(finding) for finding in self.findings]
        return json.dumps({"healthy": self.healthy, "chosen": self.chosen, "findings": findings}, indent=2)


def examine(time_limit: float = 60.0) -> Examination:
    """Look at everything; each child process gets `time_limit` seconds. The environment is left as it is."""
    environ = dict(os.environ)
    registration = drivers.register(environ=dict(environ))
    software = _ask_software(time_limit)
    listing = smoke.list_devices(time_limit)
    devices = [each for each in listing.records() if each["stage"] == "device"]
    devices.sort(key=lambda each: drivers.preference(each["platform"], each["version"], each["kind"]))
    trials = [
        smoke.probe_device(each["platform"], each["place"], version=each["version"], time_limit=time_limit)
        for each in devices
    ]
    mend = _device_mend(software, registration)
    choice, chosen = _choice(devices, trials, mend)
    findings = [
        *_software(software),
        *_loader(software, registration),
        *_drivers(time_limit),
        *_wheels(),
        *_devices(devices, listing, mend),
        *[_trial(index, device, trial) for index, (device, trial) in enumerate(zip(devices, trials, strict=True))],
        *_caches(environ),
        *_machine(),
        *_baselines(software, environ),
        *_tools(),
        choice,
    ]
    return Examination(tuple(findings), chosen)


# Commands that mend


def _pip(*packages: str) -> str:
    return f"pip install {' '.join(packages)}   (or: uv pip install {' '.join(packages)})"


def _cpu_driver() -> str:
    """The command that gives this kind of machine a CPU driver."""
    if sys.platform == "darwin":
        return "brew install pocl"
    wheel = _pip("intel-opencl-rt", "intel-cmplr-lib-rt")
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "sudo apt-get install pocl-opencl-icd"
    return wheel if sys.platform == "win32" else f"{wheel}; or as root: apt-get install pocl-opencl-icd"


def _unset(variable: str) -> str:
    return f"set {variable}=" if sys.platform == "win32" else f"unset {variable}"


def _reinstall(path: str) -> str:
    """The command that installs again the Debian package that a file belongs to."""
    return f"sudo apt-get install --reinstall $(dpkg -S {path} | cut -d: -f1)"


# 1, 2: Python, PyOpenCL and the loader

# Runs in a child: an import can crash, and its time is wanted. The loader's file is the one really mapped.
SOFTWARE = """
import json, time
start = time.perf_counter()
import numpy
record = {"stage": "numpy", "version": numpy.__version__, "blas": []}
try:
    import threadpoolctl
    record["blas"] = [each for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"]
except ImportError:
    record["blas"] = None
print(json.dumps(record), flush=True)
start = time.perf_counter()
import pyopencl
seconds = time.perf_counter() - start
loader = ""
try:
    with open("/proc/self/maps") as maps:
        loader = next((line.split(None, 5)[5].strip() for line in maps if "libOpenCL" in line), "")
except FileNotFoundError:
    pass
record = {"stage": "pyopencl", "version": pyopencl.VERSION_TEXT, "seconds": seconds, "loader": loader}
print(json.dumps(record), flush=True)
"""


def _ask_software(time_limit: float) -> smoke.ChildRun:
    return smoke.run_child([sys.executable, "-c", SOFTWARE], time_limit)


def _software(child: smoke.ChildRun) -> list[Finding]:
    system = f"{platform.system()} {platform.machine()}"
    text = f"Python {platform.python_version()} on {system}: {sys.executable}"
    found = [Finding(Status.OK, "python", text)]
    stages = child.stages()
    for name in ("numpy", "pyopencl"):
        if name in stages:
            seconds = f", imported in {stages[name]['seconds']:.2f} s" if name == "pyopencl" else ""
            found.append(Finding(Status.OK, "python", f"{name} {stages[name]['version']}{seconds}"))
        else:
            text = f"{name} cannot be imported: {child.telling_line() or child.ending}"
            found.append(Finding(Status.FAIL, "python", text, _pip(name)))
            break  # the child ended here: nothing is known of the next
    return found


def _loader(child: smoke.ChildRun, registration: drivers.Registration) -> list[Finding]:
    found = []
    path = child.stages().get("pyopencl", {}).get("loader", "")
    if path:
        content = Path(path).read_bytes()
        kinds = {b"OCL_ICD_FILENAMES": "Khronos", b"ocl-icd": "ocl-icd"}
        kind = next((name for mark, name in kinds.items() if mark in content), "of an unknown kind")
        bundled = ", from PyOpenCL's wheel" if b"PYOPENCL_HOME" in content else ""
        found.append(Finding(Status.OK, "loader", f"{path} ({kind}{bundled})"))
    mend = _unset(registration.variable)
    if registration.problem:
        found.append(Finding(Status.FAIL, "loader", registration.problem, mend))
    elif registration.status == "left to the user":
        found.append(Finding(Status.WARN, "loader", registration.text, mend))
    else:
        found.append(Finding(Status.OK, "loader", registration.text))
    return found


# 3, 4: drivers and wheels


def _drivers(time_limit: float) -> list[Finding]:
    found = []
    for driver in drivers.discover():
        text = f"{driver.name}: {driver.library} ({driver.origin}, {driver.note})"
        code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
        child = smoke.run_child([sys.executable, "-c", code, driver.library], time_limit)
        if not child.ending:
            found.append(Finding(Status.OK, "driver", text, _registering(driver)))
        else:
            why = _missing_libraries(driver.library, time_limit) or child.telling_line() or child.ending
            found.append(Finding(Status.WARN, "driver", f"{text} does not open: {why}", _driver_mend(driver)))
    return found or [Finding(Status.WARN, "driver", "no OpenCL driver was found", _cpu_driver())]


def _missing_libraries(library: str, time_limit: float) -> str:
    """All missing libraries that this one needs; the dynamic loader's own message names only the first."""
    if shutil.which("ldd") is None or not Path(library).is_file():
        return ""
    lines = smoke.run_child(["ldd", library], time_limit).stdout.splitlines()
    missing = [line.split("=>")[0].strip() for line in lines if "not found" in line]
    return f"it needs {', '.join(missing)}" if missing else ""


def _registering(driver: drivers.Driver) -> str:
    """How to make a driver visible to every program; tilewright adds it to its own processes by itself."""
    if driver.origin != "unregistered":
        return ""
    icd = f"/etc/OpenCL/vendors/{driver.name.lower().replace(' ', '-')}.icd"
    return f"for other programs: echo {driver.library} | sudo tee {icd}"


def _driver_mend(driver: drivers.Driver) -> str:
    if driver.origin == "wheel":
        name = next(wheel for title, wheel, _ in drivers.WHEELS if title == driver.name)
        partner = ["intel-cmplr-lib-rt"] if name == "intel-opencl-rt" else []
        return _pip("--force-reinstall", name, *partner)
    if driver.origin == "system":
        icd = driver.note.removeprefix("named by ").split(",")[0]
        return f"{_reinstall(icd)}; or drop the driver: sudo rm {icd}"
    return _reinstall(driver.library)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _wheels() -> list[Finding]:
    runtime, libraries = _version("intel-opencl-rt"), _version("intel-cmplr-lib-rt")
    pocl = _version("pocl-binary-distribution")
    found = []
    if runtime and not libraries:
        text = f"intel-opencl-rt {runtime} is here without intel-cmplr-lib-rt, whose libraries it needs"
        found.append(Finding(Status.WARN, "wheel", text, _pip("intel-cmplr-lib-rt")))
    elif runtime:
        found.append(Finding(Status.OK, "wheel", f"intel-opencl-rt {runtime}, intel-cmplr-lib-rt {libraries}"))
    if pocl:
        found.append(Finding(Status.OK, "wheel", f"pocl-binary-distribution {pocl}"))
    if not found:
        found.append(Finding(Status.OK, "wheel", "no driver from PyPI is installed"))
    return found


# 5, 6, 11: devices, their trials and the choice


def _label(device: Mapping[str, Any]) -> str:
    return f"{device['name']} ({device['platform']})"


def _device_mend(software: smoke.ChildRun, registration: drivers.Registration) -> str:
    """What brings a device back: PyOpenCL, an end to the user's variable that hides drivers, or a driver."""
    if "pyopencl" not in software.stages():
        return _pip("pyopencl")
    hidden = registration.status == "left to the user" and drivers.discover()
    return _unset(registration.variable) if hidden else _cpu_driver()


def _devices(devices: list[dict[str, Any]], listing: smoke.ChildRun, mend: str) -> list[Finding]:
    found = []
    for index, device in enumerate(devices):
        kinds = ", ".join(name for name in ("fp64", "fp16") if device[name]) or "neither fp64 nor fp16"
        groups = any("subgroups" in feature for feature in device["features"])
        text = (
            f"{index}: {_label(device)}, driver {device['driver']}, {device['c_version']}, {device['kind']}, "
            f"{device['compute_units']} compute units, work-group up to {device['max_work_group_size']}, "
            f"local memory {device['local_bytes'] // 1024} KiB ({device['local_type']}), {kinds}, "
            f"{'sub-groups' if groups else 'no sub-groups'}, timer {device['timer_ns']} ns"
        )
        found.append(Finding(Status.OK, "device", text))
    if listing.ending:
        text = f"listing the devices failed ({listing.ending}): {listing.telling_line()}"
        found.append(Finding(Status.WARN if devices else Status.FAIL, "device", text, mend))
    elif not devices:
        found.append(Finding(Status.FAIL, "device", "the loader knows no OpenCL device", mend))
    return found


def _trial(index: int, device: Mapping[str, Any], trial: smoke.SmokeResult) -> Finding:
    mend = _cpu_driver() if device["kind"] == "cpu" else f"update the driver; meanwhile: {_cpu_driver()}"
    if not trial.passed:
        return Finding(Status.WARN, "trial", f"{index}: {_label(device)} failed: {trial.reason}", mend)
    text = (
        f"{index}: {_label(device)} multiplies right: built in {trial.build_seconds:.2f} s, "
        f"{trial.gflops:.1f} GFLOP/s at 64^3, error {trial.max_error:.1e}, "
        f"fp64 {trial.fp64}, fp16 {trial.fp16}"
    )
    if trial.mended:
        text += ", PoCL told which processor to compile for"
    answers = {"fp64": trial.fp64, "fp16": trial.fp16}
    false = [name for name, answer in answers.items() if device[name] and answer != "works"]
    if false:
        text += f"; yet it advertises {' and '.join(false)}"
    return Finding(Status.WARN if false else Status.OK, "trial", text, mend if false else "")


def _choice(devices: list[dict[str, Any]], trials: list[smoke.SmokeResult], mend: str) -> tuple[Finding, str]:
    """What runs when no device is named: the first in the order of preference."""
    working = [index for index, trial in enumerate(trials) if trial.passed]
    if not working:
        return Finding(Status.FAIL, "choice", "no device passes the trial", mend), ""
    first = devices[0]
    standing = drivers.standing(first["platform"], first["version"], first["kind"])
    text = f"without --device, tilewright runs on 0: {_label(first)}; {standing.reason}"
    if working[0] != 0:
        text += ", but it failed the trial"
        return Finding(Status.WARN, "choice", text, f"--device {working[0]}"), _label(first)
    status = Status.WARN if standing.rank >= drivers.NEVER_BY_DEFAULT else Status.OK
    return Finding(status, "choice", text, mend if status is Status.WARN else ""), _label(first)


# 7, 8, 9: caches, the machine, the rivals' libraries


def _caches(environ: Mapping[str, str]) -> list[Finding]:
    own = cache_folder()
    pocl = Path(environ.get("POCL_CACHE_DIR") or own.parent / "pocl")
    found = []
    for name, folder in {"tilewright": own, "PyOpenCL": own.parent / "pyopencl", "PoCL": pocl}.items():
        there = next(each for each in (folder, *folder.parents) if each.exists())
        if os.access(there, os.W_OK):
            text = f"{name} may keep compiled kernels in {folder}: a second build is faster than the first"
            found.append(Finding(Status.OK, "cache", text))
        else:
            text = f"{name} cannot write {folder}: every run compiles again"
            found.append(Finding(Status.WARN, "cache", text, f"sudo chown $USER {there}"))
    if environ.get("PYOPENCL_NO_CACHE"):
        text = "PYOPENCL_NO_CACHE is set: PyOpenCL compiles in every run"
        found.append(Finding(Status.WARN, "cache", text, _unset("PYOPENCL_NO_CACHE")))
    return found


def _machine() -> list[Finding]:
    cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    quota = _cpu_quota()
    limit = f", limited to {quota:g} by its control group" if quota else ""
    found = [Finding(Status.OK, "machine", f"{cores} logical processors, {usable} usable{limit}")]
    if hasattr(os, "getloadavg"):
        load = os.getloadavg()[0]
        busy = load > 0.5 * usable
        text = f"load average {load:.2f}" + (": timings can be two to four times too slow" if busy else "")
        mend = "stop other programs (top lists them), then measure" if busy else ""
        found.append(Finding(Status.WARN if busy else Status.OK, "machine", text, mend))
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor.is_file():
        name = governor.read_text().strip()
        slow = name == "powersave"
        mend = "sudo cpupower frequency-set -g performance" if slow else ""
        found.append(Finding(Status.WARN if slow else Status.OK, "machine", f"frequency governor {name}", mend))
    return found


def _cpu_quota() -> float:
    """Processors that the control group allows, from cgroup v2 or v1; 0 if there is no limit."""
    newer, older = Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    if newer.is_file():
        quota, period = newer.read_text().split()
        return 0.0 if quota == "max" else int(quota) / int(period)
    if older.is_file() and int(older.read_text()) > 0:
        return int(older.read_text()) / int(older.with_name("cpu.cfs_period_us").read_text())
    return 0.0


# What inherited variables do, by the start of their names.
EFFECTS = {
    "OPENBLAS_": "changes OpenBLAS, NumPy's matrix product; a core type of an older processor can halve it",
    "MKL_": "changes Intel MKL",
    "BLIS_": "changes BLIS",
    "NVPL_": "changes NVIDIA's CPU libraries",
    "OMP_": "changes the threads of every OpenMP library, of NumPy's too",
    "POCL_": "changes how PoCL compiles or runs kernels",
    "CL_CONFIG_": "changes Intel's OpenCL runtime",
    "OCL_": "changes which OpenCL drivers are found",
    "OPENCL_": "changes which OpenCL drivers and layers are found",
}
AVX512_CORES = ("SkylakeX", "Cooperlake", "SapphireRapids")


def _baselines(software: smoke.ChildRun, environ: Mapping[str, str]) -> list[Finding]:
    found = []
    pattern = re.compile("|".join(EFFECTS))
    for name in sorted(name for name in environ if pattern.match(name)):
        if Path(environ[name]).name.startswith(drivers.FOLDER_PREFIX):
            continue
        effect = next(text for start, text in EFFECTS.items() if name.startswith(start))
        found.append(Finding(Status.WARN, "environment", f"{name}={environ[name]}: {effect}", _unset(name)))
    libraries = software.stages().get("numpy", {}).get("blas", [])
    if libraries is None:
        text = "which BLAS kernels NumPy runs is not known; threadpoolctl would tell"
        found.append(Finding(Status.OK, "rivals", text, _pip("threadpoolctl")))
    cpuinfo = Path("/proc/cpuinfo")
    wide = cpuinfo.is_file() and " avx512f" in cpuinfo.read_text()
    for library in libraries or ():
        core = library.get("architecture", "unknown")
        name = f"NumPy multiplies with {library['internal_api']} {library['version']}, {core} kernels"
        if wide and library["internal_api"] == "openblas" and core not in AVX512_CORES:
            text = f"{name}, on a processor with AVX-512: about half of what it can"
            forced = "OPENBLAS_CORETYPE" in environ
            mend = _unset("OPENBLAS_CORETYPE") if forced else _pip("--upgrade", "numpy")
            found.append(Finding(Status.WARN, "rivals", text, mend))
        else:
            found.append(Finding(Status.OK, "rivals", f"{name}, {library['num_threads']} threads"))
    return found


# 10: optional tools


@dataclass(frozen=True)
class Tool:
    """Something that tilewright can use; one of the ways of finding it is enough."""

    name: str
    adds: str
    get: str
    commands: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    def where(self, places: drivers.Places) -> str:
        """Where it was found, or ''."""
        paths = [
            *(shutil.which(command) for command in self.commands),
            *(drivers.find_library(library, places) for library in self.libraries),
        ]
        named = [f"{each} {_version(each)}" for each in self.distributions if _version(each)]
        modules = [f"module {each}" for each in self.modules if util.find_spec(each) is not None]
        return next((str(each) for each in (*paths, *named, *modules) if each), "")


TOOLS = (
    Tool(
        "NVRTC",
        "registers and PTX of NVIDIA code without a GPU",
        _pip("nvidia-cuda-nvrtc-cu12"),
        distributions=("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"),
        libraries=("libnvrtc.so.12", "libnvrtc.so.13"),
    ),
    Tool(
        "nvdisasm",
        "NVIDIA machine code",
        _pip("nvidia-cuda-nvdisasm"),
        commands=("nvdisasm",),
        distributions=("nvidia-cuda-nvdisasm",),
    ),
    Tool(
        "clang or zig",
        "AMD machine code and registers without a GPU",
        _pip("ziglang"),
        commands=("clang", "clang-19", "clang-20", "clang-21", "clang-22"),
        distributions=("ziglang",),
    ),
    Tool("capstone", "the machine code of CPU kernels", _pip("capstone"), modules=("capstone",)),
    Tool(
        "CLBlast",
        "an OpenCL library to compare with",
        "brew install clblast" if sys.platform == "darwin" else "sudo apt-get install libclblast1",
        libraries=("libclblast.so.1",),
    ),
    Tool("matplotlib", "figures as image files", _pip("matplotlib"), modules=("matplotlib",)),
    Tool("CuPy", "cuBLAS to compare with, on NVIDIA GPUs", _pip("cupy-cuda12x"), modules=("cupy",)),
)


def _tools() -> list[Finding]:
    places = drivers.Places.of_this_machine()
    found = []
    for tool in TOOLS:
        where = tool.where(places)
        text = f"{tool.name}: {where}" if where else f"{tool.name} is not here; it would add {tool.adds}"
        found.append(Finding(Status.OK, "optional", text, "" if where else tool.get))
    return found
