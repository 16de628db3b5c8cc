"""Refuses calls in a process that was forked after OpenCL had been used: the threads of most drivers do not live on there.

PoCL waits for them for ever. Intel's CPU runtime starts its threads anew, and gives right results.
"""

import os

from ..errors import LaunchFailed

SURVIVORS = ("Intel(R) OpenCL",)  # platforms whose drivers work in a fork; Intel's for GPUs is called otherwise

_used = False
_forked = False
_alert = True  # the next call has something to note or to refuse: one flag is all that the others look at


def refuse_if_forked(platform: str) -> None:
    """LaunchFailed if this process was forked from one that had used OpenCL and the platform's driver cannot work here.

    It may be asked at every call: it costs little more than a call of an empty function. A call counts as use.
    """
    if _alert:
        _note_or_refuse(platform)


def mark_used() -> None:
    """Say that drivers are about to be asked for their devices, with which their threads start."""
    global _used
    _used = True


def _note_or_refuse(platform: str) -> None:
    global _alert
    mark_used()
    _alert = _forked
    if _forked and platform not in SURVIVORS:
        raise LaunchFailed(
            f"this process was forked after OpenCL had been used, and {platform} cannot work in a fork: its threads are "
            'gone; start processes by multiprocessing.get_context("spawn") or "forkserver", or fork before the first call'
        )


def _after_fork() -> None:
    global _alert, _forked
    _forked = _used
    _alert = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
