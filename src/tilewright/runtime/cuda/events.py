"""Events of CUDA by which streams wait for each other, also those of several GPUs. The host waits for none of them."""

from .device import Device
from .driver import EVENT_WITHOUT_TIME, answer, check


def recorded(device: Device, stream: int) -> int:
    """A new event of what was enqueued on a stream of `device` until now. `forget` gives it back."""
    with device.current() as driver:
        event: int = answer("making an event", driver.cuEventCreate, EVENT_WITHOUT_TIME)
        status = driver.cuEventRecord(event, stream)
        if status:
            driver.cuEventDestroy_v2(event)
        check("recording an event", status)
    return event


def follow(device: Device, stream: int, event: int) -> None:
    """Let work that is enqueued on a stream of `device` from now on wait for an event, of this GPU or of another one."""
    with device.current() as driver:
        check("waiting for another stream", driver.cuStreamWaitEvent(stream, event, 0))


def forget(device: Device, event: int) -> None:
    """Give an event back. Streams that wait for it still do: the driver frees it when it has happened."""
    with device.current() as driver:
        driver.cuEventDestroy_v2(event)
