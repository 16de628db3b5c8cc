"""The processors that this process may run on."""

import os


def usable_processors() -> int:
    """Their number: of the affinity mask where the system has one, else of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
