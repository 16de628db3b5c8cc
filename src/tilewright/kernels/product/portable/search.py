"""Which tiles a product may be computed by on any GPU, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..cost import SPLITS, fixup_cycles
from ..family import Candidate, Group
from .config import PortableConfig
from .config_any_layout import AnyLayoutConfig
from .cost import TILE_SPACE, cost_without_fixup, least_cost, least_tile_cost, packing_cycles, terms
from .kernels import ANY_LAYOUT, SPLIT_K, TILES

# The tiles that few programs compute small products by, whatever their layouts: those that lose least by the model.
FEW_TILES = (
    AnyLayoutConfig(16, 32, 32, 4, 4, SLICED_K=4), AnyLayoutConfig(64, 64, 16, 8, 4),
    AnyLayoutConfig(128, 16, 32, 4, 4, 16, 2, SLICED_K=2), AnyLayoutConfig(32, 32, 8, 4, 4),
)  # fmt: skip


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    """Every tile, with K in as many splits as fill the device a few times, and with and without packing.

    Tiles that the device cannot run are among them: the plan says why it cannot.

    Pure: it needs the device's facts alone. Buffers are taken to start on 16 bytes, as a device's allocations do.
    """
    own = call.row_major
    yield Group(least_cost(own, device), partial(_groups, own, device))
    if "nvidia" in device.features:
        for tile in FEW_TILES:
            most = _most_splits(tile, own, device)
            floor = least_tile_cost(tile, most, True, own, device)
            yield Group(floor, partial(_any_layout, tile, most, own, device), few=True)


def _groups(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    nvidia = "nvidia" in device.features
    for tile in TILE_SPACE:
        most = _most_splits(tile, call, device)
        floor = least_tile_cost(tile, most, nvidia, call, device)
        for pack in (False, True) if _variant(tile, tile.LANE_SWIZZLE, 1, True).packed(call) else (False,):
            copying = packing_cycles(_variant(tile, tile.LANE_SWIZZLE, 1, pack), call, device)
            yield Group(floor + copying, partial(_ways, tile, pack, most, call, device))


def _most_splits(tile: PortableConfig, call: GemmCall, device: DeviceInfo) -> int:
    """Into how many parts K is split at most: no more than keep the device busy."""
    groups = max(1, tile.tiles(call) * call.batch)
    most = min(10 * device.compute_units // groups, call.k // (2 * tile.BK))
    return max((splits for splits in SPLITS if splits <= most), default=1)


def _ways(tile: PortableConfig, pack: bool, most: int, call: GemmCall, device: DeviceInfo) -> Iterator[Candidate]:
    """The tile with K in each number of splits, by each kernel that adds them up."""
    nvidia = "nvidia" in device.features
    swizzle = tile.LANE_SWIZZLE if nvidia else 0
    own = terms(_variant(tile, swizzle, 1, pack), call, device)
    for splits in (each for each in SPLITS if each <= most):
        config = _variant(tile, swizzle, splits, pack)
        if config.has_empty_split(call):
            continue
        cycles = cost_without_fixup(config, call, device, own)
        adding = fixup_cycles(0, splits, call, device)
        yield Candidate(TILES, config, cycles + adding + own.packing)
        if splits > 1 and nvidia:
            adding = fixup_cycles(config.BM * config.BN, splits, call, device)
            yield Candidate(SPLIT_K, config, cycles + adding + own.packing)


def _any_layout(tile: AnyLayoutConfig, most: int, call: GemmCall, device: DeviceInfo) -> Iterator[Candidate]:
    """The tile's one program, with K in each number of splits."""
    own = terms(tile, call, device)
    for splits in (each for each in SPLITS if each <= most):
        config = replace(tile, split_k=splits)
        if not config.has_empty_split(call):
            cycles = cost_without_fixup(config, call, device, own)
            adding = fixup_cycles(config.BM * config.BN, splits, call, device)
            yield Candidate(ANY_LAYOUT, config, cycles + adding, few=True)


@cache
def _variant(tile: PortableConfig, swizzle: int, split_k: int, pack: bool) -> PortableConfig:
    return replace(tile, LANE_SWIZZLE=swizzle, split_k=split_k, pack=pack)
