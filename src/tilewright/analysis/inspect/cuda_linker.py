"""The linker in NVIDIA's driver, by its C interface: makes the machine code of PTX that this driver runs."""

import ctypes
import sys
from dataclasses import dataclass

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
PTX_INPUT = 1
INFO_LOG, INFO_LOG_BYTES, ERROR_LOG, ERROR_LOG_BYTES, VERBOSE = 3, 4, 5, 6, 12  # CUjit_option
LOG_BYTES = 1 << 16


@dataclass(frozen=True)
class Linked:
    """Machine code in an ELF file and the linker's report. If the linker failed, the code is empty and the log says why."""

    log: str
    cubin: bytes = b""


def link_ptx(ptx: str, ordinal: int = 0) -> Linked:
    """Machine code for the GPU with that number. If the driver is missing or refuses, the log says so."""
    try:
        driver = ctypes.CDLL(LIBRARY)
    except OSError as missing:
        return Linked(f"NVIDIA's driver is not here ({missing})")
    device, context, state = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    begun = (
        driver.cuInit(0)
        or driver.cuDeviceGet(ctypes.byref(device), ordinal)
        or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        or driver.cuCtxPushCurrent_v2(context)
    )
    if begun:
        return Linked(f"NVIDIA's driver cannot open the GPU (status {begun})")
    report, complaints = ctypes.create_string_buffer(LOG_BYTES), ctypes.create_string_buffer(LOG_BYTES)
    options = (ctypes.c_int * 5)(INFO_LOG, INFO_LOG_BYTES, ERROR_LOG, ERROR_LOG_BYTES, VERBOSE)
    values = (ctypes.c_void_p * 5)(ctypes.addressof(report), LOG_BYTES, ctypes.addressof(complaints), LOG_BYTES, 1)
    code, size, text = ctypes.c_void_p(), ctypes.c_size_t(), ptx.encode() + b"\0"
    try:
        status = driver.cuLinkCreate_v2(5, options, values, ctypes.byref(state)) or driver.cuLinkAddData_v2(
            state, PTX_INPUT, text, ctypes.c_size_t(len(text)), b"kernel.ptx", 0, None, None
        )
        status = status or driver.cuLinkComplete(state, ctypes.byref(code), ctypes.byref(size))
        if status:
            return Linked(
                f"NVIDIA's linker refused the PTX (status {status}): {complaints.value.decode(errors='replace')}"
            )
        return Linked(report.value.decode(errors="replace"), ctypes.string_at(code, size.value))
    finally:
        if state:
            driver.cuLinkDestroy(state)
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        driver.cuDevicePrimaryCtxRelease_v2(device)
