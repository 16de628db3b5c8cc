"""Which tiles a product may be computed by on any GPU, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from ....core.device import DeviceInfo
from ....core.precision import REPRODUCIBLE
from ..call import GemmCall
from ..chain import form_of
from ..cost import SPLITS, fixup_cycles
from ..family import Candidate, Group
from .config import PortableConfig
from .cost import TILE_SPACE, cost_without_fixup, least_cost, least_tile_cost, packing_cycles, terms
from .kernels import SPLIT_K, TILES


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    """Every tile, with K in as many splits as fill the device a few times, and with and without packing.

    Tiles that the device cannot run are among them: the plan says why it cannot.

    Pure: it needs the device's facts alone. Buffers are taken to start on 16 bytes, as a device's allocations do.
    """
    own = call.row_major
    yield Group(least_cost(own, device), partial(_groups, own, device), form_of(TILES, own).precision)


def _groups(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    nvidia = "nvidia" in device.features
    for tile in TILE_SPACE:
        most = _most_splits(tile, call, device)
        floor = least_tile_cost(tile, most, nvidia, call, device)
        for pack in (False, True) if _variant(tile, tile.LANE_SWIZZLE, 1, True).packed(call) else (False,):
            copying = packing_cycles(_variant(tile, tile.LANE_SWIZZLE, 1, pack), call, device)
            ways = partial(_ways, tile, pack, most, call, device)
            yield Group(floor + copying, ways, form_of(TILES, call).precision)


def _most_splits(tile: PortableConfig, call: GemmCall, device: DeviceInfo) -> int:
    """Into how many parts K is split at most: no more than keep the device busy, and one for reproducible products."""
    if call.precision == REPRODUCIBLE:
        return 1
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
        if splits == 1 or not call.symmetric:  # a launch that adds up splits would want all tiles
            yield Candidate(form_of(TILES, call), config, cycles + adding + own.packing)
        if splits > 1 and nvidia:
            adding = fixup_cycles(config.BM * config.BN, splits, call, device)
            yield Candidate(SPLIT_K, config, cycles + adding + own.packing)


@cache
def _variant(tile: PortableConfig, swizzle: int, split_k: int, pack: bool) -> PortableConfig:
    return replace(tile, LANE_SWIZZLE=swizzle, split_k=split_k, pack=pack)
