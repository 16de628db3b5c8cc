"""Makes kernel objects even if PyOpenCL's caches cannot be written, and from several threads.

For each kernel object PyOpenCL looks up generated Python code in a database in the user's cache folder, and raises the
system's error if that fails. tilewright never calls that code: it binds arguments one by one. PyOpenCL gives each such code
a name that is free, and warns if another thread took that name in between.
"""

import sqlite3
import threading
from typing import Any

import pyopencl as cl

from ...errors import LaunchFailed

_ONE_AT_A_TIME = threading.RLock()


def kernel_object(program: Any, entry: str) -> Any:
    """A new object of the kernel `entry`, with `set_arg`. LaunchFailed if PyOpenCL fails without its caches."""
    with _ONE_AT_A_TIME:
        return _kernel_object(program, entry)


def _kernel_object(program: Any, entry: str) -> Any:
    try:
        return cl.Kernel(program, entry)
    except (OSError, sqlite3.Error):
        cl._PYOPENCL_NO_CACHE = True  # there is no function for it, and PYOPENCL_NO_CACHE is read only at the import
    try:
        return cl.Kernel(program, entry)
    except (OSError, sqlite3.Error) as error:
        raise LaunchFailed(
            f"PyOpenCL cannot make the kernel {entry!r} without its cache on disk ({error}); set PYOPENCL_NO_CACHE=1, or "
            "XDG_CACHE_HOME to a folder that can be written to"
        ) from error
