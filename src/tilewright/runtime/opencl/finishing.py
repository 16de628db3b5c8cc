"""Waits for a queue while an error is being raised: its commands use memory that the caller may free."""

from typing import Any

import pyopencl as cl


def finish_before_raising(queue: Any) -> None:
    """Wait for all commands, also after another Ctrl-C."""
    while True:
        try:
            queue.finish()
            return
        except KeyboardInterrupt:
            continue
        except cl.Error:  # the error that is being raised is the cause
            return
