"""Makes kernel objects where PyOpenCL's own caches cannot be written.

For every kernel object PyOpenCL looks up generated Python code in a database under the user's cache folder, and raises
whatever the system says if it cannot. tilewright never calls that code: it sets arguments one by one.
"""

import sqlite3
from typing import Any

import pyopencl as cl

from ...errors import LaunchFailed


def kernel_object(program: Any, entry: str) -> Any:
    """A new object of the kernel `entry`, with `set_arg`. LaunchFailed if PyOpenCL cannot do without its caches."""
    try:
        return cl.Kernel(program, entry)
    except (OSError, sqlite3.Error):
        cl._PYOPENCL_NO_CACHE = True  # there is no call for it, and PYOPENCL_NO_CACHE is read at the import only
    try:
        return cl.Kernel(program, entry)
    except (OSError, sqlite3.Error) as error:
        raise LaunchFailed(
            f"PyOpenCL cannot make the kernel {entry!r} without its cache on disk ({error}); set PYOPENCL_NO_CACHE=1, or "
            "XDG_CACHE_HOME to a folder that can be written to"
        ) from error
