"""Makes kernel objects without PyOpenCL's database of generated code, and from several threads.

For each kernel object PyOpenCL generates Python code that binds arguments. tilewright never calls that code: it binds
arguments one by one. PyOpenCL keeps the code in a database in the user's cache folder, which it may not be able to write. And
the database has a lock that does not know its owner: a destructor, or a signal's handler, that makes a kernel object while
its own thread is in there would wait for ever. So tilewright's kernel objects do without the database, which costs 0.1 ms each.
PyOpenCL gives each such code a name that is free, and warns if another thread took that name in between.
"""

import importlib
import sqlite3
import threading
from typing import Any

import pyopencl as cl

_ONE_AT_A_TIME = threading.RLock()


def kernel_object(program: Any, entry: str) -> Any:
    """A new object of the kernel `entry`, with `set_arg`."""
    with _ONE_AT_A_TIME:
        _load_generator()
        before = cl._PYOPENCL_NO_CACHE  # there is no function for it, and PYOPENCL_NO_CACHE is read only at the import
        cl._PYOPENCL_NO_CACHE = True
        try:
            return cl.Kernel(program, entry)
        finally:
            cl._PYOPENCL_NO_CACHE = before


def _load_generator() -> None:
    """Import PyOpenCL's generator as its callers would: with its database, which it opens when it is imported."""
    try:
        importlib.import_module("pyopencl.invoker")
    except (OSError, sqlite3.Error):  # it cannot be opened: kernels of PyOpenCL's other callers do without, too
        cl._PYOPENCL_NO_CACHE = True
        importlib.import_module("pyopencl.invoker")
