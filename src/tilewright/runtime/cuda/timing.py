"""Times on a CUDA stream: events around launches, and the gate behind which launches gather before the clock starts."""

import ctypes
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from .calls import check, driver_calls


class Mark:
    """A point of the stream that has a time."""

    def __init__(self, stream: Any) -> None:
        driver = driver_calls()
        self.event = check("making an event", driver.cuEventCreate(0))
        weakref.finalize(self, driver.cuEventDestroy, self.event)
        check("recording an event", driver.cuEventRecord(self.event, stream))

    def since(self, other: "Mark") -> int:
        """Nanoseconds from the other mark to this one. The driver counts float32 milliseconds: keep the two close."""
        driver = driver_calls()
        return round(float(check("reading an event", driver.cuEventElapsedTime(other.event, self.event))) * 1e6)


@dataclass(frozen=True)
class Event:
    """When a launch began and ended on the device, in ns from the run's own beginning, once the stream is finished."""

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


# Ends when the host has written `turn`, or after `most_ns`: launches wait behind it, but nothing can wait for ever.
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
MOST_NS = 20_000_000  # many times what the host takes to send the launches of a run


class Gate:
    """Holds a stream until a run's launches are all in it: a launch that finds the device idle starts its clock early,
    and the host's time to send the kernel after it would be counted as the kernel's.

    It is a kernel with a time limit. A stream that waited for a word of the host alone would never go on where the driver
    itself waits for the stream, as it does to enlarge the memory behind private arrays.
    """

    def __init__(self, stream: Any, wait_for: Any) -> None:
        driver = driver_calls()
        self._stream = stream
        self._wait_for = wait_for
        host = check("allocating the gate", driver.cuMemHostAlloc(4, driver.CU_MEMHOSTALLOC_DEVICEMAP))
        self._flag = ctypes.c_int32.from_address(int(host))
        self._flag.value = 0
        address = int(check("mapping the gate", driver.cuMemHostGetDevicePointer(host, 0)))
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
