"""Times on a CUDA stream: events around launches, and a gate that holds launches until all are enqueued."""

import ctypes
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from .driver import HOST_MEMORY_MAPPED, answer, check, driver_calls


class Mark:
    """A point on the stream with a time."""

    def __init__(self, stream: Any) -> None:
        driver = driver_calls()
        self.event = answer("making an event", driver.cuEventCreate, 0)
        weakref.finalize(self, driver.cuEventDestroy_v2, self.event)
        check("recording an event", driver.cuEventRecord(self.event, stream))

    def since(self, other: "Mark") -> int:
        """Nanoseconds from the other mark to this one. The driver gives float32 milliseconds, so both must be close."""
        function = driver_calls().cuEventElapsedTime
        milliseconds: float = answer("reading an event", function, other.event, self.event, kind=ctypes.c_float)
        return round(milliseconds * 1e6)


@dataclass(frozen=True)
class Event:
    """The start and end of a launch, in ns from the start of the run. To be read when the stream is finished."""

    origin: Mark
    before: Mark
    after: Mark

    @property
    def profile(self) -> "Event":
        return self

    @property
    def start(self) -> int:
        return self.before.since(self.origin)

    @property
    def end(self) -> int:
        return self.after.since(self.origin)


# Ends when the host has written `turn`, or after `most_ns`. Launches wait behind it, but never forever.
GATE = """
extern "C" __global__ void wait_for(const volatile int* flag, int turn, unsigned long long most_ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do {
        __nanosleep(200);
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (*flag - turn < 0 && now - begin < most_ns);
}
"""
MOST_NS = 20_000_000  # many times longer than the host needs to enqueue the launches of a run


class Gate:
    """Holds a stream until all launches of a run are enqueued. On an idle device the event before a launch is recorded at
    once, so the time that the host needs to enqueue the kernel would count as time of the kernel.

    The gate is a kernel with a time limit. Without the limit it could wait forever: the driver itself sometimes waits for
    the stream, as when it enlarges the memory of private arrays.
    """

    def __init__(self, stream: Any, wait_for: Any) -> None:
        driver = driver_calls()
        self._stream = stream
        self._wait_for = wait_for
        host = answer("allocating the gate", driver.cuMemHostAlloc, 4, HOST_MEMORY_MAPPED)
        self._flag = ctypes.c_int32.from_address(host)
        self._flag.value = 0
        address = answer("mapping the gate", driver.cuMemHostGetDevicePointer_v2, host, 0)
        wait_for.set_arg(0, np.uint64(address))
        wait_for.set_arg(2, np.uint64(MOST_NS))
        self._turn = 0

    def close(self) -> None:
        driver = driver_calls()
        self._turn += 1
        self._wait_for.set_arg(1, np.int32(self._turn))
        one = (1, 1, 1)
        launched = driver.cuLaunchKernel(
            self._wait_for.function, *one, *one, 0, self._stream, self._wait_for.arguments, 0
        )
        check("closing the gate", launched)

    def open(self) -> None:
        self._flag.value = self._turn
