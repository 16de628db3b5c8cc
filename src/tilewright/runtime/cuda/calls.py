"""Calls of CUDA's driver by cuda-bindings, and the meaning of its error codes."""

from functools import cache
from typing import Any

from ...core.install import install_extra
from ...errors import DevicePoisoned, LaunchFailed, NoDevice, OutOfDeviceMemory

ADVICE = f"the CUDA backend needs cuda-bindings and NVRTC: {install_extra('cuda')}"
NO_MEMORY = (2,)  # CUDA_ERROR_OUT_OF_MEMORY
POISONED = (700, 702, 710, 714, 715, 716, 717, 718, 719)  # faults of kernels after which the context cannot be used


@cache
def driver_calls() -> Any:
    """The module `driver` of cuda-bindings; NoDevice says what to install."""
    try:
        from cuda.bindings import driver
    except ImportError as missing:
        raise NoDevice(f"{ADVICE} ({missing})") from missing
    return driver


def check(what: str, answer: tuple[Any, ...]) -> Any:
    """The value of a driver call; an error names the call, the error code and its meaning."""
    status, *values = answer
    code = int(status)
    if code == 0:
        return values[0] if values else None
    driver = driver_calls()
    name, meaning = (function(status)[1] or b"unknown" for function in (driver.cuGetErrorName, driver.cuGetErrorString))
    sentence = f"{what}: {name.decode()} ({code}), {meaning.decode()}"
    if code in NO_MEMORY:
        raise OutOfDeviceMemory(sentence, code)
    if code in POISONED:
        raise DevicePoisoned(f"{sentence}; the context is poisoned by a fault: start a new process", code)
    raise LaunchFailed(sentence, code)
