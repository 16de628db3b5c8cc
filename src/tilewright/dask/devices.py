"""The device of a worker: workers on one host get different ones.

The environment variable TILEWRIGHT_DEVICE of a worker's process names its device, as everywhere. Without it, workers are dealt
the devices that are like the host's default one (of one driver and kind: eight GPUs, or one CPU), by their places on the host.
A place is a file that a worker keeps locked. The system unlocks it when the process ends, however it ends, so that the worker
that takes the place of a killed one gets its device.
"""

import socket
import sys
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, finalize

from ..runtime.device import preset_device
from ..runtime.opencl.dealt import dealt_device

_devices: "WeakKeyDictionary[Any, str | None]" = WeakKeyDictionary()
_finding = Lock()


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
            _devices[worker] = dealt_device(place_on_host(worker))
        return _devices[worker]


def place_on_host(worker: Any) -> int:
    """The worker's place among those of this user on this host: the first that no other worker holds."""
    import locket

    folder = Path(worker.local_directory).parent  # shared by the workers of a user; on some sites also by hosts
    for place in count():
        lock = locket.lock_file(str(folder / f"tilewright-{socket.gethostname()}-{place}.lock"), timeout=0)
        try:
            lock.acquire()
        except locket.LockError:
            continue
        finalize(worker, lock.release)
        return place
    raise AssertionError  # places do not end
