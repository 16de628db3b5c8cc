"""From coordinates to texels: addressing and filter modes, 8.2 and 8.3 of the OpenCL specification, in float32 throughout."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from ..clc.image_types import ADDRESS_BITS, ADDRESSING, FILTER_LINEAR, NORMALIZED
from .images import BoundImage

HALF = np.float32(0.5)
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Taps:
    """Texels to read: for each, the place along every coordinate, and its weight (None: it is the only one)."""

    places: list[tuple[Places, ...]]
    weights: list[Any]


def integer_taps(image: BoundImage, coordinates: list[Any], bits: int | None) -> Taps:
    """One texel for whole coordinates; `bits` is the sampler, None for functions without one."""
    mode = 0 if bits is None else bits & ADDRESS_BITS
    places = [np.asarray(each).astype(np.int64) for each in coordinates]
    spatial = image.kind.dimensions
    moved = [_inside(at, size, mode) for at, size in zip(places[:spatial], image.sizes, strict=False)]
    moved += [np.clip(at, 0, size - 1) for at, size in zip(places[spatial:], image.sizes[spatial:], strict=True)]
    return Taps([tuple(moved)], [None])


def float_taps(image: BoundImage, coordinates: list[Any], bits: int) -> Taps:
    """The nearest texel, or the 2, 4 or 8 around the coordinates with their weights."""
    mode, spatial = bits & ADDRESS_BITS, image.kind.dimensions
    floats = [np.asarray(each).astype(np.float32) for each in coordinates]
    layers = [
        np.clip(np.rint(at), 0, size - 1).astype(np.int64)
        for at, size in zip(floats[spatial:], image.sizes[spatial:], strict=True)
    ]
    unnormal = [
        _texels(at, size, mode, bool(bits & NORMALIZED))
        for at, size in zip(floats[:spatial], image.sizes, strict=False)
    ]
    if not bits & FILTER_LINEAR:
        nearest = [_nearest(at, size, mode) for at, size in zip(unnormal, image.sizes, strict=False)]
        return Taps([(*nearest, *layers)], [None])
    pairs = [_neighbours(at, size, mode) for at, size in zip(unnormal, image.sizes, strict=False)]
    places: list[tuple[Places, ...]] = []
    weights: list[Any] = []
    for corner in product((0, 1), repeat=spatial):
        places.append((*(pair[which] for pair, which in zip(pairs, corner, strict=True)), *layers))
        weight: Any = np.float32(1)
        for (_, _, share), which in zip(pairs, corner, strict=True):
            weight = weight * (share if which else np.float32(1) - share)
        weights.append(weight)
    return Taps(places, weights)


def _texels(at: Any, size: int, mode: int, normalized: bool) -> Any:
    """A coordinate in units of texels."""
    if not normalized:
        return at
    if mode == ADDRESSING["repeat"]:
        return (at - np.floor(at)) * np.float32(size)
    if mode == ADDRESSING["mirrored_repeat"]:
        return np.abs(at - np.float32(2) * np.rint(HALF * at)) * np.float32(size)
    return at * np.float32(size)


def _whole(value: Any) -> Places:
    """A float as an integer; what is no number, or too large, lies far outside."""
    safe = np.nan_to_num(np.clip(value, -(2.0**30), 2.0**30), nan=-(2.0**30))
    return np.asarray(safe).astype(np.int64)


def _inside(at: Places, size: int, mode: int) -> Places:
    """Clamped to the edge, or to one texel of border beyond it."""
    if mode == ADDRESSING["clamp_to_edge"]:
        return np.clip(at, 0, size - 1)
    return np.clip(at, -1, size) if mode == ADDRESSING["clamp"] else at


def _nearest(at: Any, size: int, mode: int) -> Places:
    place = _whole(np.floor(at))
    if mode == ADDRESSING["repeat"]:
        return np.where(place > size - 1, place - size, place)
    if mode == ADDRESSING["mirrored_repeat"]:
        return np.minimum(place, size - 1)
    return _inside(place, size, mode)


def _neighbours(at: Any, size: int, mode: int) -> tuple[Places, Places, Any]:
    """Two neighbouring texels, and the share of the second."""
    before = at - HALF
    low = _whole(np.floor(before))
    high, share = low + 1, (before - np.floor(before)).astype(np.float32)
    if mode == ADDRESSING["repeat"]:
        return np.where(low < 0, low + size, low), np.where(high > size - 1, high - size, high), share
    if mode == ADDRESSING["mirrored_repeat"]:
        return np.maximum(low, 0), np.minimum(high, size - 1), share
    return _inside(low, size, mode), _inside(high, size, mode), share
