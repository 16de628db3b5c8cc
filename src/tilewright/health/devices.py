"""Examines the devices: which there are, the trial of each, and which one is the default."""

import sys
from collections.abc import Mapping
from typing import Any

from ..core.install import pip_install
from ..runtime.children import ChildRun, SmokeResult, run_child
from ..runtime.device import DEVICE_VARIABLE, place_of, preset_device
from ..runtime.icd import drivers
from ..runtime.icd.preference import NEVER_BY_DEFAULT, standing
from ..runtime.icd.registration import Registration
from .findings import Finding, Status, cpu_driver_install, unset


def _label(device: Mapping[str, Any]) -> str:
    return f"{device['name']} ({device['platform']})"


def units_of(device: Mapping[str, Any]) -> str:
    """What the device's maker calls a compute unit."""
    return "SMs" if "nvidia" in device["vendor"].lower() else "compute units"


def device_fix(software: ChildRun, registration: Registration) -> str:
    """The fix for a missing device: install PyOpenCL, unset the variable that hides drivers, or install a driver."""
    if "pyopencl" not in software.stages():
        return pip_install("pyopencl")
    hidden = registration.status == "left to the user" and drivers.discover()
    return unset(registration.variable) if hidden else cpu_driver_install()


def examine_devices(devices: list[dict[str, Any]], listing: ChildRun, fix: str) -> list[Finding]:
    """Each device with its limits; a finding with `fix` if there is none."""
    found = []
    for index, device in enumerate(devices):
        kinds = ", ".join(name for name in ("fp64", "fp16") if device[name]) or "neither fp64 nor fp16"
        groups = any("subgroups" in feature for feature in device["features"])
        text = (
            f"{index}: {_label(device)}, driver {device['driver']}, {device['c_version']}, {device['kind']}, "
            f"{device['compute_units']} {units_of(device)}, work-group up to {device['max_work_group_size']}, "
            f"local memory {device['local_bytes'] // 1024} KiB ({device['local_type']}), {kinds}, "
            f"{'sub-groups' if groups else 'no sub-groups'}, timer {device['timer_ns']} ns"
        )
        found.append(Finding(Status.OK, "device", text))
    if listing.ending:
        text = f"listing the devices failed ({listing.ending}): {listing.telling_line()}"
        found.append(Finding(Status.WARN if devices else Status.FAIL, "device", text, fix))
    elif not devices:
        found.append(Finding(Status.FAIL, "device", "the loader finds no OpenCL device", fix))
    return found


def examine_trial(index: int, device: Mapping[str, Any], trial: SmokeResult) -> Finding:
    """The result of a device's trial. A failure is a warning, and so is a type that the device has but cannot compute."""
    fix = cpu_driver_install() if device["kind"] == "cpu" else f"update the driver; meanwhile: {cpu_driver_install()}"
    if not trial.passed:
        return Finding(Status.WARN, "trial", f"{index}: {_label(device)} failed: {trial.reason}", fix)
    text = (
        f"{index}: {_label(device)} multiplies correctly: built in {trial.build_seconds:.2f} s, "
        f"{trial.gflops:.1f} GFLOP/s at 64^3, error {trial.max_error:.1e}, "
        f"fp64 {trial.fp64}, fp16 {trial.fp16}"
    )
    answers = {"fp64": trial.fp64, "fp16": trial.fp16}
    false = [name for name, answer in answers.items() if device[name] and answer != "works"]
    if false:
        text += f"; but the device claims to have {' and '.join(false)}"
    return Finding(Status.WARN if false else Status.OK, "trial", text, fix if false else "")


# Like a user's program: with the caches of the environment, and imports in the usual order. On a CPU a product of this size is
# NumPy's own, so that only the transpose runs a kernel there.
FIRST_CALL = """
import json, time
start = time.perf_counter()
import numpy, tilewright
a = numpy.arange(12, dtype="f4").reshape(3, 4)
right = bool((tilewright.matmul(a, a.T) == a @ a.T).all() and (tilewright.transpose(a) == a.T).all())
print(json.dumps({"stage": "call", "right": right, "seconds": time.perf_counter() - start}), flush=True)
"""
CACHES_AS_USUAL = {"PYOPENCL_NO_CACHE": "0", "POCL_KERNEL_CACHE": "1", "CUDA_CACHE_DISABLE": "0"}


def examine_call(environ: Mapping[str, str], time_limit: float, fix: str) -> Finding:
    """Whether calls of the library work on the default device, in a process of their own."""
    settings = {name: environ.get(name, usual) for name, usual in CACHES_AS_USUAL.items()}
    child = run_child([sys.executable, "-c", FIRST_CALL], time_limit, settings)
    answer = child.stages().get("call")
    if answer is None:
        why = f"{child.ending or 'it ended without an answer'}: {child.telling_line()}"
        return Finding(Status.FAIL, "call", f"tilewright.matmul or transpose fails ({why})", fix)
    if not answer["right"]:
        return Finding(Status.FAIL, "call", "tilewright.matmul or transpose of small matrices is wrong", fix)
    text = f"tilewright.matmul and transpose work, {answer['seconds']:.1f} s after the start of Python"
    if child.ending:
        return Finding(Status.WARN, "call", f"{text}, but its process then ended: {child.ending}", fix)
    return Finding(Status.OK, "call", text)


def examine_choice(devices: list[dict[str, Any]], trials: list[SmokeResult], fix: str) -> tuple[Finding, str]:
    """The default device: the first in the order of preference, or the one that TILEWRIGHT_DEVICE names."""
    working = [index for index, trial in enumerate(trials) if trial.passed]
    if not working:
        return Finding(Status.FAIL, "choice", "no device passes the trial", fix), ""
    preset = preset_device()
    place = 0 if preset is None else place_of(preset, [(each["kind"], _label(each)) for each in devices])
    if place is None:
        text = f"{DEVICE_VARIABLE}={preset} names no device: every command without --device fails"
        return Finding(Status.FAIL, "choice", text, unset(DEVICE_VARIABLE)), ""
    first = devices[place]
    rating = standing(first["platform"], first["version"], first["kind"])
    reason = rating.reason if preset is None else f"{DEVICE_VARIABLE}={preset} names it"
    text = f"the default device is {place}: {_label(first)}; {reason}"
    if place not in working:
        text += ", but it failed the trial"
        return Finding(Status.WARN, "choice", text, f"--device {working[0]}"), _label(first)
    status = Status.WARN if rating.rank >= NEVER_BY_DEFAULT and preset is None else Status.OK
    return Finding(status, "choice", text, fix if status is Status.WARN else ""), _label(first)
