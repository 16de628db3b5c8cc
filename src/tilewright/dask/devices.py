"""The device of a worker: workers on one host get different ones.

The environment variable TILEWRIGHT_DEVICE of a worker's process names its device, as everywhere. Without it, workers are dealt
the devices that are like the host's default one (of one driver and kind: eight GPUs, or one CPU), by their places on the host.
A place is a file that a worker keeps locked. The system unlocks it when the process ends, however it ends, so that the worker
that takes the place of a killed one gets its device.
"""

import socket
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, finalize

from ..runtime.device import preset_device
from ..runtime.opencl.dealt import dealt_device

_devices: "WeakKeyDictionary[Any, str | None]" = WeakKeyDictionary()
_finding = RLock()  # a destructor, or a signal's handler, may multiply meanwhile


class Place(NamedTuple):
    """A worker's place among those of this user on this host. `leave` gives it back, as the end of the worker does."""

    number: int
    leave: Callable[[], Any]


def current_worker() -> Any:
    """The worker that runs this task; None outside of workers, also where a scheduler of this process runs it."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


def worker_device() -> str | None:
    """The device of the worker that runs this task, as `device=` takes it. None is the process's default: outside of workers,
    and where the environment names one."""
    worker = None if preset_device() is not None else current_worker()
    if worker is None:
        return None
    with _finding:
        if worker not in _devices:
            place = place_on_host(worker)
            found = dealt_device(place.number)
            if worker in _devices:  # by a call of such a destructor
                place.leave()
            else:
                _devices[worker] = found
        return _devices[worker]


def place_on_host(worker: Any) -> Place:
    """The first place that no other worker holds."""
    import locket

    folder = Path(worker.local_directory).parent  # shared by the workers of a user; on some sites also by hosts
    for place in count():
        lock = locket.lock_file(str(folder / f"tilewright-{socket.gethostname()}-{place}.lock"), timeout=0)
        try:
            lock.acquire()
        except locket.LockError:
            continue
        return Place(place, finalize(worker, lock.release))
    raise AssertionError  # places do not end
