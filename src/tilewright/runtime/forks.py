"""Refuses calls in a process that was forked after OpenCL was used: a fork does not have the threads of its parent's drivers.

PoCL waits for its threads forever. Intel's CPU runtime starts new ones, and its results are right.
"""

import os

from ..errors import LaunchFailed

SURVIVORS = ("Intel(R) OpenCL",)  # platforms whose drivers work in a fork; Intel's platform for GPUs has another name

_used = False
_forked = False
alert = True  # the next call has something to do here; the quickest calls test this flag themselves


def refuse_if_forked(platform: str) -> None:
    """LaunchFailed if this process was forked from one that had used OpenCL, and the platform's driver fails in forks.

    Fast enough for every call of the library: little more than calling an empty function. A call counts as use.
    """
    if alert:
        _note_or_refuse(platform)


def mark_used() -> None:
    """To be called before drivers are asked for devices: they start their threads then."""
    global _used
    _used = True


def _note_or_refuse(platform: str) -> None:
    global alert
    mark_used()
    alert = _forked
    if _forked and platform not in SURVIVORS:
        raise LaunchFailed(
            f"this process was forked after OpenCL had been used, and {platform} cannot work in a fork: its threads are "
            'gone; start processes by multiprocessing.get_context("spawn") or "forkserver", or fork before the first call'
        )


def _after_fork() -> None:
    global alert, _forked
    _forked = _used
    alert = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
