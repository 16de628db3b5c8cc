"""Which configurations of main_loop.cl and main_loop_tma.cl a product on an NVIDIA GPU may run, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ..call import GemmCall
from ..family import Group, once_checked
from .config import WarpConfig, copy_form
from .config_tma import FetchedConfig
from .cost import cost
from .kernels import KERNELS

FETCHED_SPACE = (
    FetchedConfig(128, 128, 2, 4, 6), FetchedConfig(64, 128, 2, 4, 8), FetchedConfig(128, 64, 4, 2, 8),
    FetchedConfig(64, 64, 2, 4, 8),
)  # fmt: skip
FETCHED_COMPLEX_SPACE = (
    FetchedConfig(128, 64, 2, 4, 6), FetchedConfig(64, 128, 2, 4, 6), FetchedConfig(64, 64, 2, 4, 8),
)  # fmt: skip
# Tiles of C: BM, BN, WARPS_M, WARPS_N, WARPS_K, STAGES, lines, and how many such work-groups a compute unit's registers hold.
DOUBLE_SPACE = (
    (128, 128, 2, 4, 1, 4, 1, 1), (128, 128, 2, 4, 1, 3, 2, 1), (64, 128, 2, 4, 1, 4, 1, 1), (128, 64, 4, 2, 1, 4, 1, 1),
    (64, 64, 2, 2, 1, 4, 1, 2), (64, 64, 2, 2, 2, 4, 2, 1), (32, 64, 1, 2, 1, 4, 1, 4), (64, 32, 2, 1, 1, 4, 1, 4),
    (32, 64, 1, 2, 2, 3, 2, 2), (64, 32, 2, 1, 2, 3, 2, 2), (32, 32, 1, 1, 4, 5, 4, 1), (32, 16, 1, 1, 4, 5, 4, 1),
)  # fmt: skip
WORD_SPACE = (
    (128, 256, 2, 4, 1, 3, 1, 1), (256, 128, 4, 2, 1, 3, 1, 1), (128, 128, 2, 2, 1, 3, 1, 2),
    (128, 128, 2, 4, 1, 4, 1, 1),
    (64, 128, 2, 2, 1, 4, 1, 2), (128, 64, 2, 2, 1, 4, 1, 2), (64, 64, 2, 2, 1, 4, 1, 3), (32, 64, 1, 2, 1, 4, 1, 4),
)  # fmt: skip


def configurations(kernel: Kernel, call: GemmCall, device: DeviceInfo) -> Iterator[WarpConfig]:
    """Every configuration that nothing speaks against."""
    return (each for each in _tried(kernel, call, device) if not any(each.violations(call, device)))


def _tried(kernel: Kernel, call: GemmCall, device: DeviceInfo) -> Iterator[WarpConfig]:
    """Every tile with and without sharing out what is left, and with and without packing."""
    assert isinstance(kernel.config, WarpConfig)
    local = max(device.local_bytes, device.static_local_bytes)
    for tile, by_registers in _tiles(kernel.config, call.dtype):
        resident = min(by_registers, local // tile.local_bytes(call))
        for shared, pack in product((False, True), _packs(tile, call)) if resident else ():
            yield _variant(tile, resident * device.compute_units, shared, pack)


def _packs(tile: WarpConfig, call: GemmCall) -> tuple[bool, ...]:
    """Whether operands are copied first: if they must be, and also if that makes copies to local memory wider."""
    if not _variant(tile, 1, False, True).packed(call):
        return (False,)
    fetched = isinstance(tile, FetchedConfig)
    must = fetched or any(copy_form(call, name).width == 0 for name in ("A", "B"))
    return (True,) if must else (False, True)


@cache
def _variant(tile: WarpConfig, groups: int, shared: bool, pack: bool) -> WarpConfig:
    return replace(tile, groups=groups, shared=shared, pack=pack)


@cache
def _tiles(base: WarpConfig, dtype: str) -> tuple[tuple[WarpConfig, int], ...]:
    """A kernel's tiles, and how many such work-groups a compute unit's registers hold."""
    if isinstance(base, FetchedConfig):
        return tuple((tile, 1) for tile in (FETCHED_SPACE if dtype == "float64" else FETCHED_COMPLEX_SPACE))
    space = DOUBLE_SPACE if dtype == "float64" else WORD_SPACE
    return tuple(
        (replace(base, BM=bm, BN=bn, WARPS_M=m, WARPS_N=n, WARPS_K=k, STAGES=stages, lines=lines), by_registers)
        for bm, bn, m, n, k, stages, lines, by_registers in space
    )


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    """The kernels that an NVIDIA GPU's instructions allow, in every configuration that can solve the problem."""
    fitting = (each for each in KERNELS if call.dtype in each.dtypes and each.precision == call.precision)
    usable = [each for each in fitting if all(feature in device.features for feature, _ in each.requires)]
    fetched = [each for each in usable if isinstance(each.config, FetchedConfig)]
    others = [each for each in usable if each not in fetched]
    own = call.row_major
    for kernel in (*fetched, *others[:1]):
        for config in _tried(kernel, own, device):
            yield once_checked(kernel, config, cost(config, own, device), call, device)
