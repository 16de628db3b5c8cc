"""Refuses calls in a process that was forked after OpenCL had been used: the threads of most drivers do not live on there.

PoCL waits for them for ever. Intel's CPU runtime starts its threads anew, and gives right results.
"""

import os

from ..errors import LaunchFailed

SURVIVORS = ("Intel(R) OpenCL",)  # platforms whose drivers work in a fork; Intel's for GPUs is called otherwise

_used = False
_forked = False


def refuse_if_forked(platform: str) -> None:
    """LaunchFailed if this process was forked from one that had used OpenCL and the platform's driver cannot work here.

    Cheap enough for every call, some 50 ns. The call itself counts as use.
    """
    global _used
    if _forked and platform not in SURVIVORS:
        raise LaunchFailed(
            f"this process was forked after OpenCL had been used, and {platform} cannot work in a fork: its threads are "
            'gone; start processes by multiprocessing.get_context("spawn") or "forkserver", or fork before the first call'
        )
    _used = True


def mark_used() -> None:
    """Say that drivers are about to be asked for their devices, with which their threads start."""
    global _used
    _used = True


def _after_fork() -> None:
    global _forked
    _forked = _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
