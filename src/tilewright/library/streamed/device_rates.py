"""What devices are assumed to do in tiles, by their facts and by what was measured: alone, and several together."""

from collections.abc import Sequence
from dataclasses import replace

from ...core.device import DeviceInfo
from ...core.types import element_type
from .operations import Operation
from .product import ProductOperation
from .rates import Rates

# Bytes per second: what products of NumPy arrays in tiles moved in one direction beside an H200, 42 GB/s alone, less with copies
# back (the limit are the threads that fill pinned memory, not the bus), and a copy beside two busy cores.
GPU_LINK = 38e9
CPU_LINK = 6e9
# The same for all devices and both directions together: what two H100s of a host with 32 processors moved, as one of them did.
HOST_COPIES = 38e9
# Seconds for each run of contiguous bytes beside a GPU: on that host NumPy gathered runs of 1 to 64 KiB by 8 threads at 30 to 54
# GB/s, which is 15 ns for each, and scattered them by 6 threads at 15 to 39, which is 42.
GPU_RUN_S = (1.5e-8, 4.2e-8)
# Seconds to store a tile beside its bytes: 64 of 33 MB took 50 ms longer than 32 of 67 MB.
GPU_STORE_S = 1.5e-3
# The same where operands and result are pinned, and each GPU copies by itself. An H100 copies dense memory at 54 GB/s in each
# direction, 38 in both at a time, and rows of 6 to 22 KB at 42 to 53, but at 27 to 31 beside kernels of a product.
PINNED_LINK = 50e9
PINNED_RUN_S = (2.5e-7, 2.5e-7)
PINNED_STORE_S = 1e-4
# Bytes per second that all GPUs of a host load from pinned memory, and how many more with each: two H100s 102 GB/s, three 128,
# four 152.
HOST_BUS, HOST_BUS_EACH = 52e9, 25e9
# Seconds that each tile holds up all of several devices, for each of them: Python runs for one at a time. Float16 of 32768 a side
# took four H100s 111, 119, 146 and 188 ms from pinned arrays in 32, 64, 128 and 256 tiles, and two 90 and 96 in 32 and 54. The
# pieces of copies by threads cost as much again.
TURN_S = 8e-5
USUAL_CLOCK = 3e9  # Hz, of devices whose driver does not say
# Multiply-adds of a GPU's unit in a cycle, by the bytes of an element: by its vectors, and by NVIDIA's matrix instructions.
UNIT_LANES = {1: 128, 2: 128, 4: 128, 8: 32}
MATRIX_LANES = {1: 4096, 2: 2048, 4: 128, 8: 128}  # of Hopper's; others have half as many, or fewer
COMPLEX = 4  # multiply-adds of real numbers in one of complex numbers
REACHED = {1: 0.62, 2: 0.62, 4: 0.8, 8: 0.8}  # of that: what large products reach
# Of GPUs: 240 tiles of 2816 x 3072 halves took an H100 no longer than the product in one piece. The 0.12 ms of Python that each
# took was beside the tile before.
GPU_EDGE, GPU_TILE_S = 16, 3e-5
# Rows and columns of a work-group's part of large products on Hopper, by the bytes of an element. Where they fill all units,
# float32 has no scratch memory, and so two queues: 16384 a side took 176 ms in tiles of 1536 x 5632 (two for each unit), and 190
# in tiles of 1856 x 4096.
WORK_GROUP = {1: (128, 256), 2: (128, 256), 4: (64, 512)}
CPU_PIPES, CPU_REACHED = 2, 0.75  # vectors that a core multiplies and adds in a cycle, and the same share


def rates_of(operation: Operation, info: DeviceInfo, pinned: bool = False) -> Rates:
    """What a device is assumed to do, by its facts alone."""
    if info.kind == "cpu":
        assumed = Rates(1e15, CPU_LINK, 1 / info.compute_units)
    elif pinned:
        assumed = Rates(1e15, PINNED_LINK, 0.0, GPU_EDGE, GPU_TILE_S, PINNED_RUN_S, PINNED_STORE_S)
    else:
        assumed = Rates(1e15, GPU_LINK, 0.0, GPU_EDGE, GPU_TILE_S, GPU_RUN_S, GPU_STORE_S)
    if not isinstance(operation, ProductOperation) or not operation.k:
        return assumed
    kind, flops = element_type(operation.types[0]), flops_of(operation.types[0], info)
    if "wgmma" not in info.features or kind.parts > 1 or kind.itemsize not in WORK_GROUP:
        return replace(assumed, flops=flops)
    return replace(assumed, flops=flops, units=info.compute_units, group=WORK_GROUP[kind.itemsize])


def flops_of(dtype: str, info: DeviceInfo) -> float:
    """Flop/s that large products of a type are assumed to reach."""
    lanes: float
    clock = info.clock_mhz * 1e6 or USUAL_CLOCK
    kind = element_type(dtype)
    size = kind.itemsize // kind.parts
    own = info.kind == "cpu"
    if own:
        lanes = CPU_PIPES * max(1, info.native_widths.get("float64" if kind.component_bytes == 8 else "float32", 1))
    else:
        lanes = (MATRIX_LANES if info.compute_capability is not None else UNIT_LANES)[size]
    lanes /= COMPLEX if kind.parts == 2 else 1
    return 2.0 * lanes * info.compute_units * clock * (CPU_REACHED if own else REACHED[size])


def rates_together(rates: Sequence[Rates], shared: Sequence[bool], pinned: bool, broadcast: bool) -> Rates:
    """What several devices do as one. Those that do not work in the host's memory, which is `shared`, have links. If arrays are
    `pinned`, each copies by its own; otherwise the host's threads copy no faster for several, but what passes by once, if it is
    `broadcast`."""
    separate = [each.link for each, own in zip(rates, shared, strict=True) if not own]
    fastest = max(rates, key=lambda each: each.flops)
    by_threads = bool(separate) and not pinned
    link = min(separate or [each.link for each in rates])
    if pinned and separate:
        link = min(link, HOST_BUS / len(separate) + HOST_BUS_EACH)
    return replace(
        fastest,
        flops=sum(each.flops for each in rates),
        link=link,
        links=len(separate) if pinned and separate else 1,
        shares=len(separate) if broadcast else 1,
        turn_s=TURN_S * len(rates) * (2 if by_threads else 1) if len(rates) > 1 else 0.0,
        store_s=fastest.store_s / len(rates),
    )
