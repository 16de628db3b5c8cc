"""Which tiles a product may be computed by on any GPU, the cheapest first."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from ....core.device import DeviceInfo
from ..call import GemmCall
from ..cost import PIECES
from ..family import Candidate, Group
from .config import TileConfig
from .cost import TILE_SPACE, least_cost, packing_cycles, terms, tile_cost, tile_floor
from .kernels import JOINED, TILES


def offers(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    """Every tile, with K in as many pieces as fill the device a few times, and with and without packing; whether or not the
    device can run it: the plan says why it cannot.

    Pure: it needs the device's facts alone. Buffers are taken to start on 16 bytes, as a device's allocations do.
    """
    own = call.row_major
    yield Group(least_cost(own, device), partial(_groups, own, device))


def _groups(call: GemmCall, device: DeviceInfo) -> Iterator[Group]:
    nvidia = "nvidia" in device.features
    for tile in TILE_SPACE:
        most = _most_pieces(tile, call, device)
        floor = tile_floor(tile, most, nvidia, call, device)
        for pack in (False, True) if _variant(tile, tile.LANE_SWIZZLE, 1, True).packed(call) else (False,):
            copying = packing_cycles(_variant(tile, tile.LANE_SWIZZLE, 1, pack), call, device)
            yield Group(floor + copying, partial(_ways, tile, pack, most, call, device))


def _most_pieces(tile: TileConfig, call: GemmCall, device: DeviceInfo) -> int:
    """Into how many pieces K is cut at most: no more than keep the device busy."""
    groups = max(1, tile.tiles(call) * call.batch)
    most = min(10 * device.compute_units // groups, call.k // (2 * tile.BK))
    return max((pieces for pieces in PIECES if pieces <= most), default=1)


def _ways(tile: TileConfig, pack: bool, most: int, call: GemmCall, device: DeviceInfo) -> Iterator[Candidate]:
    """The tile with K in each number of pieces, by each kernel that adds them up."""
    nvidia = "nvidia" in device.features
    swizzle = tile.LANE_SWIZZLE if nvidia else 0
    own = terms(_variant(tile, swizzle, 1, pack), call, device)
    for pieces in (each for each in PIECES if each <= most):
        for kernel in (TILES, JOINED) if pieces > 1 and nvidia else (TILES,):
            config = _variant(tile, swizzle, pieces, pack)
            yield Candidate(kernel, config, tile_cost(config, kernel is JOINED, call, device, own))


@cache
def _variant(tile: TileConfig, swizzle: int, split: int, pack: bool) -> TileConfig:
    return replace(tile, LANE_SWIZZLE=swizzle, split=split, pack=pack)
