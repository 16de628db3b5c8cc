"""Examines this machine: what was found, what is missing, and the command that fixes each fault.

PyOpenCL, drivers and devices are tried in child processes, because they may crash.
"""

import os

from ..core.checked import checked_seconds
from ..runtime import children
from ..runtime.icd.preference import preference
from ..runtime.icd.registration import register
from .devices import device_fix, examine_call, examine_choice, examine_devices, examine_trial
from .findings import Examination, Finding, Status
from .machine import examine_baselines, examine_caches, examine_machine, examine_tables
from .software import ask_software, examine_drivers, examine_loader, examine_software, examine_wheels
from .tools import examine_tools

__all__ = ["Examination", "Finding", "Status", "doctor"]


def doctor(time_limit: float = 60.0) -> Examination:
    """Examine everything, with `time_limit` seconds for each child process. The environment is not changed."""
    time_limit = checked_seconds("time_limit", time_limit)
    environ = dict(os.environ)
    registration = register(environ=dict(environ))
    software = ask_software(time_limit)
    listing = children.list_devices(time_limit)
    devices = [each for each in listing.records() if each["stage"] == "device"]
    devices.sort(key=lambda each: preference(each["platform"], each["version"], each["kind"]))
    trials = [
        children.probe_device(each["platform"], each["place"], version=each["version"], time_limit=time_limit)
        for each in devices
    ]
    fix = device_fix(software, registration)
    tried = enumerate(zip(devices, trials, strict=True))
    choice, chosen = examine_choice(devices, trials, fix)
    findings = [
        *examine_software(software),
        *examine_loader(software, registration),
        *examine_drivers(time_limit),
        *examine_wheels(),
        *examine_devices(devices, listing, fix),
        *[examine_trial(index, device, trial) for index, (device, trial) in tried],
        *examine_caches(environ),
        *examine_tables(),
        *examine_machine(),
        *examine_baselines(software, environ),
        *examine_tools(),
        *([examine_call(environ, time_limit, fix)] if chosen else []),
        *([choice] if devices else []),  # without a device the line about devices says so
    ]
    return Examination(tuple(findings), chosen)
