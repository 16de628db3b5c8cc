"""How many of all devices a call takes: where copies through the host limit it, one device can be faster than several."""

from collections.abc import Callable, Iterator

from ...errors import InvalidInput
from ...runtime.opencl.device import Device
from .budget import Budget
from .device_memory import shares_memory
from .device_rates import HOST_COPIES, rates_of
from .operations import Operation
from .planning import choose
from .product import ProductOperation
from .rates import Sizes

Devices = tuple[Device, ...]
# A CPU takes part beside GPUs if it has at least this share of all flop/s: its cores copy no tiles for them meanwhile. Two H100s
# multiplied float32 of 32768 a side in 0.85 s, and in 1.27 s together with the 32 cores of their host, 0.04 of all flop/s.
LEAST_CPU_SHARE = 0.2
# More devices take part if the call is predicted to take at most this part of the time: predictions are no better than that, and
# what several load and store they wait for together.
LEAST_GAIN = 0.9


def quickest(
    operation: Operation, devices: Devices, budget_of: Callable[[Devices], Budget], what: str, pinned: bool = False
) -> Devices:
    """Those of the devices that are predicted to end first: 1, 2, 4 ... of them, the fastest ones, or all. More gain a tenth.

    The host copies for all of them what is not `pinned`. A number whose copies alone take longer than fewer devices do is not
    planned. InvalidInput if the limits are too small for any number.
    """
    if len(devices) == 1:
        return devices
    best, seconds = devices, float("inf")
    refused: InvalidInput | None = None
    for some in _numbers(_fastest_first(operation, _without_slow_cpus(operation, devices))):
        infos, shared = [device.info for device in some], [shares_memory(device) for device in some]
        if not (pinned or all(shared)) and _least_bytes(operation.sizes) / HOST_COPIES >= LEAST_GAIN * seconds:
            continue
        try:
            found = choose(operation, infos, shared, budget_of(some), what, pinned).shown.seconds
        except InvalidInput as error:  # such as a limit of the host's memory that is divided among too many
            refused = refused or error
            continue
        if found < LEAST_GAIN * seconds:
            best, seconds = some, found
    if refused is not None and seconds == float("inf"):
        raise refused
    return best


def _without_slow_cpus(operation: Operation, devices: Devices) -> Devices:
    """The devices without CPUs that would compute little beside GPUs."""
    if not isinstance(operation, ProductOperation) or not operation.k:
        return devices
    flops = {id(device): rates_of(operation, device.info).flops for device in devices}
    least = LEAST_CPU_SHARE * sum(flops.values())
    fast = tuple(each for each in devices if not shares_memory(each) or flops[id(each)] >= least)
    return fast if any(not shares_memory(each) for each in fast) else devices


def _fastest_first(operation: Operation, devices: Devices) -> Devices:
    def slowness(device: Device) -> tuple[float, float]:
        rates = rates_of(operation, device.info)
        return -rates.flops, -rates.link

    return tuple(sorted(devices, key=slowness))


def _numbers(devices: Devices) -> Iterator[Devices]:
    """The first 1, 2, 4 ... of some devices, then all."""
    count = 1
    while count < len(devices):
        yield devices[:count]
        count *= 2
    yield devices


def _least_bytes(sizes: Sizes) -> float:
    """The fewest bytes that the host copies for devices with memory of their own."""
    a, b, c = sizes.m * sizes.k * sizes.a_bytes, sizes.k * sizes.n * sizes.b_bytes, sizes.m * sizes.n * sizes.c_bytes
    return float(sizes.batch * (a + b + c))
