"""Examines installed software: Python packages, the OpenCL loader, drivers, and wheels with drivers."""

import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path

from ..core.install import pip_install
from ..runtime.children import ChildRun, run_child
from ..runtime.icd import drivers
from ..runtime.icd.drivers import Driver
from ..runtime.icd.registration import Registration
from .findings import OWN_FOLDER, Finding, Status, cpu_driver_install, reinstall, unset

# Runs in a child, because an import can crash, and is timed. The loader is the file that is really mapped.
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
except OSError:  # without /proc
    pass
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


def ask_software(time_limit: float) -> ChildRun:
    """Import NumPy and PyOpenCL in a child: their versions, NumPy's BLAS and the OpenCL loader."""
    return run_child([sys.executable, "-c", SOFTWARE], time_limit)


def examine_software(child: ChildRun) -> list[Finding]:
    """Python, NumPy and PyOpenCL, from the answer of `ask_software`."""
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
            found.append(Finding(Status.FAIL, "python", text, pip_install(name)))
            break  # the child ended here: the next one was not tried
    return found


def examine_loader(child: ChildRun, registration: Registration) -> list[Finding]:
    """The OpenCL loader that PyOpenCL uses, and the drivers that it reads."""
    found = []
    path = child.stages().get("pyopencl", {}).get("loader", "")
    if path:
        content = Path(path).read_bytes()
        kinds = {b"OCL_ICD_FILENAMES": "Khronos", b"ocl-icd": "ocl-icd"}
        kind = next((name for mark, name in kinds.items() if mark in content), "of an unknown kind")
        bundled = ", from PyOpenCL's wheel" if b"PYOPENCL_HOME" in content else ""
        found.append(Finding(Status.OK, "loader", f"{path} ({kind}{bundled})"))
    fix = OWN_FOLDER if registration.status == "failed" else unset(registration.variable)
    if registration.problem:
        found.append(Finding(Status.FAIL, "loader", registration.problem, fix))
    elif registration.status == "left to the user":
        found.append(Finding(Status.WARN, "loader", registration.text, fix))
    else:
        found.append(Finding(Status.OK, "loader", registration.text))
    return found


def examine_drivers(time_limit: float) -> list[Finding]:
    """Every driver on this machine, and whether the dynamic loader can open it. Each is opened in a child."""
    found = []
    for driver in drivers.discover():
        text = f"{driver.name}: {driver.library} ({driver.origin}, {driver.note})"
        code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
        child = run_child([sys.executable, "-c", code, driver.library], time_limit)
        if not child.ending:
            found.append(Finding(Status.OK, "driver", text, _registering(driver)))
        else:
            why = _missing_libraries(driver.library, time_limit) or child.telling_line() or child.ending
            found.append(Finding(Status.WARN, "driver", f"{text} does not open: {why}", _driver_fix(driver)))
    return found or [Finding(Status.WARN, "driver", "no OpenCL driver was found", cpu_driver_install())]


def _missing_libraries(library: str, time_limit: float) -> str:
    """All missing libraries that this one needs. The dynamic loader's message names only the first."""
    if shutil.which("ldd") is None or not Path(library).is_file():
        return ""
    lines = run_child(["ldd", library], time_limit).stdout.splitlines()
    missing = [line.split("=>")[0].strip() for line in lines if "not found" in line]
    return f"it needs {', '.join(missing)}" if missing else ""


def _registering(driver: Driver) -> str:
    """How to make a driver visible to every program. Processes of tilewright see it without this."""
    if driver.origin != "unregistered":
        return ""
    icd = f"/etc/OpenCL/vendors/{driver.name.lower().replace(' ', '-')}.icd"
    return f"for other programs: echo {driver.library} | sudo tee {icd}"


def _driver_fix(driver: Driver) -> str:
    if driver.origin == "wheel":
        name = next(wheel for title, wheel, _ in drivers.WHEELS if title == driver.name)
        partner = ["intel-cmplr-lib-rt"] if name == "intel-opencl-rt" else []
        return pip_install("--force-reinstall", name, *partner)
    if driver.origin == "system":
        icd = driver.note.removeprefix("named by ").split(",")[0]
        return f"{reinstall(icd)}; or drop the driver: sudo rm {icd}"
    return reinstall(driver.library)


def installed_version(distribution: str) -> str:
    """The version of an installed distribution, or ""."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def examine_wheels() -> list[Finding]:
    """The drivers installed from PyPI, and what they need."""
    runtime, libraries = installed_version("intel-opencl-rt"), installed_version("intel-cmplr-lib-rt")
    pocl = installed_version("pocl-binary-distribution")
    found = []
    if runtime and not libraries:
        text = f"intel-opencl-rt {runtime} needs the libraries of intel-cmplr-lib-rt, which is not installed"
        found.append(Finding(Status.WARN, "wheel", text, pip_install("intel-cmplr-lib-rt")))
    elif runtime:
        found.append(Finding(Status.OK, "wheel", f"intel-opencl-rt {runtime}, intel-cmplr-lib-rt {libraries}"))
    if pocl:
        text = f"pocl-binary-distribution {pocl} cannot compile on processors newer than its LLVM 14"
        found.append(
            Finding(Status.WARN, "wheel", text, f"pip uninstall pocl-binary-distribution; {cpu_driver_install()}")
        )
    if not found:
        found.append(Finding(Status.ABSENT, "wheel", "no driver is installed as a Python package"))
    return found
