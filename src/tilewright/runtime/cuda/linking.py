"""Links PTX to machine code by CUDA's driver, so that it can be kept on disk."""

import ctypes

from ...errors import BuildFailed
from .driver import check, driver_calls

PTX = 1  # CU_JIT_INPUT_PTX
LOG, LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
MOST_LOG = 16384


def linked(ptx: bytes, name: str, label: str) -> bytes:
    """Machine code for the current context's device. The PTX ends with a zero. BuildFailed holds the driver's log."""
    driver, log = driver_calls(), ctypes.create_string_buffer(MOST_LOG)
    options = (ctypes.c_int * 2)(LOG, LOG_BYTES)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(log), MOST_LOG)
    state, code, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    check(f"linking {name}", driver.cuLinkCreate_v2(2, options, values, ctypes.byref(state)))
    try:
        status = driver.cuLinkAddData_v2(state, PTX, ptx, len(ptx), name.encode(), 0, None, None)
        status = status or driver.cuLinkComplete(state, ctypes.byref(code), ctypes.byref(size))
        if status:
            raise BuildFailed(name, label, log.value.decode(errors="replace") or f"CUDA's linker returned {status}")
        return ctypes.string_at(code, size.value)
    finally:
        driver.cuLinkDestroy(state)
