"""Examines what makes measurements slow or unfair: caches, the machine's load, variables, NumPy's BLAS."""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..core.install import pip_install
from ..dispatch.table_files import load_tables
from ..runtime.children import ChildRun
from ..runtime.home import user_home
from ..runtime.icd.registration import FOLDER_PREFIX, PINNED
from ..runtime.processors import usable_processors
from .findings import OWN_FOLDER, Finding, Status, unset

PROGRAM_BYTES = 1 << 18  # the size of a large compiled kernel
CONSEQUENCES = {
    "tilewright": "every process compiles again",
    "PyOpenCL": "tilewright works without that cache, other programs may fail",
    "PoCL": "it compiles again in every process, or fails",
}


def examine_caches(environ: Mapping[str, str]) -> list[Finding]:
    """Whether the three caches of compiled kernels can be written to and belong to the user, and the consequence if not."""
    home = user_home()
    if home.problem:
        alone = f"{home.problem}: every process compiles again, into a private folder that it removes at its end"
        return [Finding(Status.WARN, "cache", f"{alone}; PyOpenCL's cache is not used", OWN_FOLDER)]
    base = home.folder.parent
    caches = {"tilewright": home.folder, "PyOpenCL": base / "pytools"}
    caches["PoCL"] = Path(environ.get("POCL_CACHE_DIR") or base / "pocl")
    found = []
    for name, folder in caches.items():
        fault = _fault_of(folder)
        if fault:
            text = f"{name} cannot write {folder} ({fault}): {CONSEQUENCES[name]}"
            found.append(Finding(Status.WARN, "cache", text, OWN_FOLDER))
        else:
            text = f"{name} may keep compiled kernels in {folder}: a second build is faster than the first"
            found.append(Finding(Status.OK, "cache", text))
    if environ.get("PYOPENCL_NO_CACHE"):
        text = "PYOPENCL_NO_CACHE is set: PyOpenCL compiles in every run"
        found.append(Finding(Status.WARN, "cache", text, unset("PYOPENCL_NO_CACHE")))
    return found


def _fault_of(folder: Path) -> str:
    """The error of writing a file of usual size there, or in the folder where it would be created; "" if it works."""
    try:
        there = next(each for each in (folder, *folder.parents) if each.exists())
        with tempfile.NamedTemporaryFile(dir=there) as file:
            file.write(bytes(PROGRAM_BYTES))
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def examine_tables() -> list[Finding]:
    """Tuned tables that are not used, each with the reason."""
    fix = "remove it, or make a new one: tilewright tune"
    return [Finding(Status.WARN, "tuned", f"not used: {reason}", fix) for reason in load_tables().unusable]


def examine_machine() -> list[Finding]:
    """Processors, their load and their frequency governor."""
    cores = os.cpu_count() or 1
    usable = usable_processors()
    quota = _cpu_quota()
    limit = f", limited to {quota:g} by its control group" if quota else ""
    found = [Finding(Status.OK, "machine", f"{cores} logical processors, {usable} usable{limit}")]
    if hasattr(os, "getloadavg"):
        load = os.getloadavg()[0]
        busy = load > 0.5 * usable
        text = f"load average {load:.2f}" + (": timings can be two to four times too slow" if busy else "")
        fix = "stop other programs (top lists them), then measure" if busy else ""
        found.append(Finding(Status.WARN if busy else Status.OK, "machine", text, fix))
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor.is_file():
        name = governor.read_text().strip()
        slow = name == "powersave"
        fix = "sudo cpupower frequency-set -g performance" if slow else ""
        found.append(Finding(Status.WARN if slow else Status.OK, "machine", f"frequency governor {name}", fix))
    return found


def _cpu_quota() -> float:
    """The limit on processors of the control group, from cgroup v2 or v1; 0 if there is none."""
    newer, older = Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    if newer.is_file():
        quota, period = newer.read_text().split()
        return 0.0 if quota == "max" else int(quota) / int(period)
    if older.is_file() and int(older.read_text()) > 0:
        return int(older.read_text()) / int(older.with_name("cpu.cfs_period_us").read_text())
    return 0.0


# The effects of inherited variables, by the first letters of their names.
EFFECTS = {
    "OPENBLAS_": "changes OpenBLAS, NumPy's matrix product; a core type of an older processor can halve its speed",
    "MKL_": "changes Intel MKL",
    "BLIS_": "changes BLIS",
    "NVPL_": "changes NVIDIA's CPU libraries",
    "OMP_": "changes the threads of every OpenMP library, also of NumPy's",
    "POCL_": "changes how PoCL compiles or runs kernels",
    "CL_CONFIG_": "changes Intel's OpenCL runtime",
    "OCL_": "changes which OpenCL drivers are found",
    "OPENCL_": "changes which OpenCL drivers and layers are found",
}
AVX512_CORES = ("SkylakeX", "Cooperlake", "SapphireRapids")


def examine_baselines(software: ChildRun, environ: Mapping[str, str]) -> list[Finding]:
    """Inherited variables that change a driver or a baseline, and the BLAS that NumPy uses."""
    found = []
    pattern = re.compile("|".join(EFFECTS))
    for name in sorted(name for name in environ if pattern.match(name)):
        if Path(environ[name]).name.startswith(FOLDER_PREFIX) or (name, environ[name]) == PINNED:
            continue
        effect = next(text for start, text in EFFECTS.items() if name.startswith(start))
        found.append(Finding(Status.WARN, "environment", f"{name}={environ[name]}: {effect}", unset(name)))
    libraries = software.stages().get("numpy", {}).get("blas", [])
    if libraries is None:
        text = "the BLAS of NumPy is not known; with threadpoolctl it would be"
        found.append(Finding(Status.ABSENT, "baselines", text, pip_install("threadpoolctl")))
    cpuinfo = Path("/proc/cpuinfo")
    wide = cpuinfo.is_file() and " avx512f" in cpuinfo.read_text()
    for library in libraries or ():
        core = library.get("architecture", "unknown")
        name = f"NumPy multiplies with {library['internal_api']} {library['version']}, {core} kernels"
        if wide and library["internal_api"] == "openblas" and core not in AVX512_CORES:
            text = f"{name}, on a processor with AVX-512: about half of the possible speed"
            forced = "OPENBLAS_CORETYPE" in environ
            fix = unset("OPENBLAS_CORETYPE") if forced else pip_install("--upgrade", "numpy")
            found.append(Finding(Status.WARN, "baselines", text, fix))
        else:
            found.append(Finding(Status.OK, "baselines", f"{name}, {library['num_threads']} threads"))
    return found
