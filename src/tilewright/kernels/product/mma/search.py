"""Which configurations of main_loop.cl and main_loop_tma.cl a product on an NVIDIA GPU may run, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ..call import GemmCall
from ..family import Group, once_checked
from .config import MmaConfig, copy_form
from .config_tma import MmaTmaConfig
from .cost import cost
from .kernels import ELEMENTS, KERNELS
from .search_elements import offers as offers_of_elements

TMA_FP64_SPACE = (
    MmaTmaConfig(128, 128, 2, 4, 6), MmaTmaConfig(64, 128, 2, 4, 8), MmaTmaConfig(128, 64, 4, 2, 8),
    MmaTmaConfig(64, 64, 2, 4, 8),
)  # fmt: skip
TMA_COMPLEX128_SPACE = (
    MmaTmaConfig(128, 64, 2, 4, 6), MmaTmaConfig(64, 128, 2, 4, 6), MmaTmaConfig(64, 64, 2, 4, 8),
)  # fmt: skip
# Tiles of C: BM, BN, WARPS_M, WARPS_N, WARPS_K, STAGES, lines, and how many such work-groups an SM's registers hold.
FP64_SPACE = (
    (128, 128, 2, 4, 1, 4, 1, 1), (128, 128, 2, 4, 1, 3, 2, 1), (64, 128, 2, 4, 1, 4, 1, 1), (128, 64, 4, 2, 1, 4, 1, 1),
    (64, 64, 2, 2, 1, 4, 1, 2), (64, 64, 2, 2, 2, 4, 2, 1), (32, 64, 1, 2, 1, 4, 1, 4), (64, 32, 2, 1, 1, 4, 1, 4),
    (32, 64, 1, 2, 2, 3, 2, 2), (64, 32, 2, 1, 2, 3, 2, 2), (32, 32, 1, 1, 4, 5, 4, 1), (32, 16, 1, 1, 4, 5, 4, 1),
)  # fmt: skip
# The same for complex128. TMA has the larger tiles.
COMPLEX128_SPACE = (
    (32, 64, 1, 4, 2, 4, 2, 1), (32, 32, 1, 2, 2, 4, 2, 2), (32, 16, 1, 1, 2, 4, 2, 3), (32, 16, 1, 1, 4, 3, 4, 2),
)  # fmt: skip
# The same for fp16, bf16, int8 and tf32.
FP16_SPACE = (
    (128, 256, 2, 4, 1, 3, 1, 1), (256, 128, 4, 2, 1, 3, 1, 1), (128, 128, 2, 2, 1, 3, 1, 2),
    (128, 128, 2, 4, 1, 4, 1, 1),
    (64, 128, 2, 2, 1, 4, 1, 2), (128, 64, 2, 2, 1, 4, 1, 2), (64, 64, 2, 2, 1, 4, 1, 3), (32, 64, 1, 2, 1, 4, 1, 4),
    (32, 32, 1, 1, 4, 4, 4, 1), (32, 16, 1, 1, 4, 6, 4, 1),
)  # fmt: skip
SPACES = {"float64": FP64_SPACE, "complex128": COMPLEX128_SPACE}


def configurations(kernel: Kernel, call: GemmCall, device: DeviceInfo) -> Iterator[MmaConfig]:
    """Every tile with and without stream-K, and with and without packing. What speaks against one is asked later."""
    assert isinstance(kernel.config, MmaConfig)
    local = max(device.local_bytes, device.static_local_bytes)
    for tile, by_registers in _tiles(kernel.config, call.dtype):
        resident = min(by_registers, local // tile.local_bytes(call))
        for stream_k, pack in product((False, True), _packs(tile, call)) if resident else ():
            yield _variant(tile, resident * device.compute_units, stream_k, pack)


def _packs(tile: MmaConfig, call: GemmCall) -> tuple[bool, ...]:
    """Whether operands are copied first: if they must be, and also if that makes copies to local memory wider."""
    if not _variant(tile, 1, False, True).packed(call):
        return (False,)
    must = isinstance(tile, MmaTmaConfig) or any(copy_form(call, name).width == 0 for name in ("A", "B"))
    return (True,) if must else (False, True)


@cache
def _variant(tile: MmaConfig, groups: int, stream_k: bool, pack: bool) -> MmaConfig:
    return replace(tile, groups=groups, stream_k=stream_k, pack=pack)


@cache
def _tiles(base: MmaConfig, dtype: str) -> tuple[tuple[MmaConfig, int], ...]:
    """A kernel's tiles, and how many such work-groups an SM's registers hold."""
    if isinstance(base, MmaTmaConfig):
        return tuple((tile, 1) for tile in (TMA_FP64_SPACE if dtype == "float64" else TMA_COMPLEX128_SPACE))
    space = SPACES.get(dtype, FP16_SPACE)
    return tuple(
        (replace(base, BM=bm, BN=bn, WARPS_M=m, WARPS_N=n, WARPS_K=k, STAGES=stages, lines=lines), by_registers)
        for bm, bn, m, n, k, stages, lines, by_registers in space
    )


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    """The kernels that an NVIDIA GPU's instructions allow, in every configuration that can solve the problem."""
    fitting = (each for each in KERNELS if call.dtype in each.dtypes and each.precision == call.precision)
    usable = [each for each in fitting if all(feature in device.features for feature, _ in each.requires)]
    by_tma = [each for each in usable if isinstance(each.config, MmaTmaConfig)]
    others = [each for each in usable if each not in by_tma]
    own = call.row_major
    for kernel in (*by_tma, *others[:1]):
        for config in configurations(kernel, own, device):
            yield once_checked(kernel, config, cost(config, own, device), call, device)
    for kernel in (each for each in ELEMENTS if call.dtype in each.dtypes and each.precision == call.precision):
        if all(feature in device.features for feature, _ in kernel.requires):
            yield from offers_of_elements(kernel, own, device)
