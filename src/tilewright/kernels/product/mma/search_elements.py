"""Which configurations of main_loop_elements.cl a product on an NVIDIA GPU may run."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from ....core.device import DeviceInfo
from ....core.kernel import Kernel
from ....core.types import DOUBLES
from ..call import GemmCall
from ..cost import SPLITS
from ..family import Group, once_checked
from .config import copy_form
from .config_elements import MmaElementsConfig
from .cost_elements import cost, least_cost

# Tiles of C: BM, BN, BK, WARPS_M, WARPS_N, WARPS_K. Of equal ones the first counts: rows of C had better be long.
SPACE = tuple(
    MmaElementsConfig(*shape)
    for shape in (
        (32, 32, 32, 2, 2), (32, 64, 32, 1, 4), (64, 32, 32, 4, 1), (64, 64, 32, 2, 2), (64, 64, 16, 2, 2),
        (64, 64, 64, 4, 2), (64, 128, 32, 2, 4), (128, 64, 32, 4, 2), (128, 128, 32, 2, 4), (128, 128, 16, 2, 4),
        (64, 128, 16, 2, 4), (128, 64, 16, 4, 2), (32, 128, 32, 1, 4), (128, 32, 32, 4, 1), (16, 64, 64, 1, 4),
        (64, 16, 64, 4, 1), (16, 128, 32, 1, 4), (128, 16, 32, 4, 1), (16, 32, 256, 1, 1, 8), (16, 32, 128, 1, 1, 4),
        (32, 32, 128, 1, 2, 4), (32, 32, 64, 2, 2, 2), (16, 64, 128, 1, 2, 4),
    )
)  # fmt: skip
# The same for doubles, real and complex.
FP64_SPACE = tuple(
    MmaElementsConfig(*shape)
    for shape in (
        (32, 32, 16, 2, 2), (16, 32, 16, 1, 2), (32, 16, 16, 2, 1), (16, 32, 32, 1, 2, 2), (32, 16, 32, 2, 1, 2),
        (32, 32, 32, 2, 2, 2), (32, 64, 16, 2, 4), (64, 32, 16, 4, 2), (32, 64, 16, 2, 2), (64, 32, 16, 2, 2),
        (64, 64, 16, 4, 2),
    )
)  # fmt: skip
WIDEST = 16  # bytes of a copy
LEAST_DEPTH = 64  # elements of k in a split
MOST_GROUPS = 4  # for each compute unit, with K split


def offers(kernel: Kernel, call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    """Every tile, with K in as many splits as keep the device busy, once nothing surely cheaper is left.

    Doubles that are copied by 16 bytes are left to main_loop.cl: its copies run ahead of the products by more than a panel.
    """
    copied = call.dtype == "float64" and all(copy_form(call, name).width == WIDEST for name in ("A", "B"))
    if call.k and call.batch and not copied:
        yield Group(least_cost(call, device), partial(_configurations, kernel, call, device), kernel.precision)


def _configurations(kernel: Kernel, call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    for tile in FP64_SPACE if call.dtype in DOUBLES else SPACE:
        groups = max(1, tile.tiles(call) * call.batch)
        most = 1 if tile.WARPS_K > 1 else min(MOST_GROUPS * device.compute_units // groups, call.k // LEAST_DEPTH)
        for splits in (each for each in SPLITS if each <= max(most, 1)):
            config = _variant(tile, splits)
            yield once_checked(kernel, config, cost(config, call, device), call, device)


@cache
def _variant(tile: MmaElementsConfig, splits: int) -> MmaElementsConfig:
    return replace(tile, split_k=splits)
