"""The processors that this process may run on, and what code a driver makes for them."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

COMPILERS = ("CL_CONFIG_", "POCL_")  # variables that change what Intel's runtime and PoCL compile begin with these
PLACES = ("POCL_AFFINITY", "POCL_CACHE_DIR")  # but these do not, and this library sets them


def processor_numbers() -> set[int]:
    """Of the affinity mask where the system has one, else of the machine."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def usable_processors() -> int:
    """How many they are."""
    return len(processor_numbers())


@cache
def processor_flags() -> str:
    """The processor's flags, if the system tells them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def code_facts(kind: str, environ: Mapping[str, str] = os.environ) -> str:
    """What decides, beside the names of driver and device, which machine code a device of this kind gets; for keys of caches.

    Of a CPU its flags, because several machines may share a home folder and processors of several kinds a name, and the variables
    that tell its compiler to make code for another one.
    """
    if kind != "cpu":
        return ""
    names = sorted(name for name in environ if name.startswith(COMPILERS) and name not in PLACES)
    return "\n".join([processor_flags(), *(f"{name}={environ[name]}" for name in names)])
