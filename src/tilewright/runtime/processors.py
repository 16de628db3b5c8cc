"""The processors that this process may run on."""

import os


def processor_numbers() -> set[int]:
    """Of the affinity mask where the system has one, else of the machine."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def usable_processors() -> int:
    """How many they are."""
    return len(processor_numbers())
