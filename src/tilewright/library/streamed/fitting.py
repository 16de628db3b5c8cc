"""Which tiles fit a limit of memory, the fastest first: all sides of tiles are tried, with as many panels that stay as fit."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf
from operator import itemgetter

from ...errors import InvalidInput
from .rates import Rates, Sizes
from .tiles import TilePlan

SIDE = 64  # tiles are multiples of it, but for the last ones: the vectors and cache lines of all kernels fit
LARGE, LARGE_SIDE = 2048, 256  # larger ones are multiples of this: of the sides of all work-groups' tiles
# k is cut into panels only if that is predicted to be so many times as fast: whole sums have the bits of one product.
WHOLE_K = 4
NEARLY = 1.15  # times the fastest plan's seconds: among those there may be one whose tiles have the bits of the whole product
MOST_TILES = 2**20
MOST_PARTS = 4096  # of a side
# Buffers for panels that pass by, tried in turn: the first with a tile of C for each thread, the other with two tiles of C.
KEPT = (4, 2)
# With two tiles of C a thread that stores keeps the next but one from its buffer: float16 of 16384 a side took an H100 38 ms from
# pinned arrays, and 33 with four.
FEW_RESULTS = 1.05


def tile_plans(
    sizes: Sizes,
    limit: int,
    rates: Rates,
    devices: int = 1,
    reserved: int = 0,
    largest: int | None = None,
    stores: int = 1,
) -> list[tuple[float, TilePlan]]:
    """The tile plans that fit and are nearly as fast as the fastest, each with its predicted seconds, the fastest first. Those
    with whole sums come before others unless these are WHOLE_K times as fast.

    `reserved` bytes of the limit stay free, no buffer has more than `largest` bytes, and `stores` tiles are stored at a time.
    InvalidInput with the numbers if not even the smallest tile fits.
    """
    most_bytes = limit - reserved
    least = 1 if devices == 1 else 4 * devices  # enough tiles that the devices end together
    every = list(_plans(sizes, most_bytes, sizes.k, devices, largest, stores))
    found = _predicted([each for each in every if each.tiles >= least] or every, rates)
    least_s = 2.0 * sizes.batch * sizes.m * sizes.n * sizes.k / rates.flops
    divides = sizes.k > SIDE and not sizes.whole_k
    if divides and (not found or found[0][0] > WHOLE_K * least_s):  # else no panels can be so much faster
        depths = (k for k in _sides(sizes.k) if k < sizes.k)
        cut = [each for k in depths for each in _plans(sizes, most_bytes, k, devices, largest, stores)]
        parts = _predicted([each for each in cut if each.tiles >= least] or cut, rates)
        if parts and (not found or parts[0][0] * WHOLE_K < found[0][0]):
            found = [*parts, *found]
    if not found:
        depth = sizes.k if sizes.whole_k else min(SIDE, sizes.k)
        smallest = TilePlan(sizes, min(SIDE, sizes.m), min(SIDE, sizes.n), depth, "A")
        raise InvalidInput(
            f"a limit of {limit:,} bytes on a device is too small: the smallest tiles, of {smallest.m}x{smallest.n} over "
            f"{smallest.k} of k, need {smallest.device_bytes:,} bytes"
            + (" (reproducible sums are not divided)" if sizes.whole_k else "")
            + (f", and kernels {reserved:,} beside them" if reserved else "")
            + (
                f", of which it allocates {largest:,} at once"
                if largest is not None and max(smallest.slot_bytes) > largest
                else ""
            )
            + (f", and at most {MOST_TILES:,} tiles are made" if smallest.device_bytes <= most_bytes else "")
        )
    return found


def _predicted(plans: Iterable[TilePlan], rates: Rates) -> list[tuple[float, TilePlan]]:
    """The plans with their seconds, the fastest first; without those that cannot be nearly as fast."""
    bounded = sorted(((max(each.seconds(rates)), each) for each in plans), key=itemgetter(0))
    found: list[tuple[float, TilePlan]] = []
    best = inf
    for least, each in bounded:
        if least > NEARLY * best:
            break
        found.append((each.predicted(rates) * (FEW_RESULTS if each.slots[2] == 2 else 1), each))
        best = min(best, found[-1][0])
    return sorted((each for each in found if each[0] <= NEARLY * best), key=itemgetter(0))


def _plans(sizes: Sizes, most_bytes: int, k: int, devices: int, largest: int | None, stores: int) -> Iterator[TilePlan]:
    """Plans of all sides of tiles, with as many panels that stay as there is room for."""
    for m in _sides(sizes.m):
        for n in _sides(sizes.n):
            for stays in ("A", "B"):
                one = TilePlan(sizes, m, n, k, stays, devices=devices)
                if one.tiles * one.panels > MOST_TILES or one.device_bytes > most_bytes:
                    continue
                if largest is not None and max(one.slot_bytes) > largest:
                    continue
                if not one.groups:
                    yield one
                    continue
                for kept, results in zip(KEPT, (2 + stores, 2), strict=True):
                    held = _held(replace(one, kept=kept, results=results), most_bytes)
                    if held:
                        yield replace(one, held=held, kept=kept, results=results)
                    if held > 1:  # fewer buffers would make little difference
                        break


def _held(plan: TilePlan, most_bytes: int) -> int:
    """How many panels can stay: with as few groups as there must be, and at least one for each device."""
    outer, panel = (plan.rows, plan.slot_bytes[0]) if plan.stays == "A" else (plan.columns, plan.slot_bytes[1])
    room = 1 + (most_bytes - plan.device_bytes) // max(1, panel)
    most = max(1, min(room, -(-outer // plan.devices)))
    return -(-outer // -(-outer // most)) if room > 0 else 0


def _sides(size: int) -> list[int]:
    """Sides of tiles: of equal parts of a size, rounded up to a multiple of SIDE, the largest first."""
    found, parts = [], 1.0
    while parts <= MOST_PARTS:
        step = SIDE if size < LARGE * parts else LARGE_SIDE
        side = min(size, -(-max(1, -(-size // round(parts))) // step) * step)
        if side not in found:
            found.append(side)
        if side <= SIDE:
            break
        parts = parts + 1 if parts < 8 else parts * 1.15
    return found
