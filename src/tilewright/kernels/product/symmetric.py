"""Symmetric products, A times its own transpose, on GPUs: half of the tiles are computed, and the rest is a mirror image.

Families walk the tiles that touch the lower triangle (triangle.cl in the place of scheduler.cl), and store them as they would
any others. One launch more then copies what lies below the diagonal to above it, so that C equals its transpose bit by bit.
"""

from dataclasses import dataclass, replace
from math import gcd
from pathlib import Path

from ...core.kernel import MOST_GROUPS, Kernel, Step, Steps
from ...core.problem import Problem
from ...core.types import ELEMENT_TYPES, element_type
from ..copy.strided_copy import StridedCopy
from ..copy.transpose_in_place import TransposeInPlaceConfig
from .call import GemmCall, call_of

TRIANGLE = {"../scheduler.cl": "../triangle.cl"}
HERE = Path(__file__).parent


def tiles_of_triangle(tiles_m: int, tiles_n: int, bm: int, bn: int) -> int:
    """Of a square matrix of tiles_m x tiles_n tiles, of bm x bn elements, those with elements on or below the diagonal.

    Column j of tiles lacks the first j * bn // bm, which repeats itself after bm // gcd columns.
    """
    period = bm // gcd(bm, bn)
    periods, rest = divmod(tiles_n, period)
    rise = period * bn // bm
    above = period * rise * (periods * (periods - 1) // 2) + rest * rise * periods
    above += periods * sum(j * bn // bm for j in range(period)) + sum(j * bn // bm for j in range(rest))
    return tiles_m * tiles_n - above


@dataclass(frozen=True)
class MirrorConfig(TransposeInPlaceConfig):
    """mirror.cl: the square tiles of an in-place transpose, of which those below the diagonal are read."""

    def oriented(self, problem: Problem) -> StridedCopy:
        call = call_of(problem)
        return StridedCopy(call.m, call.m, call.result, call.c, call.c.swapped, call.batch)


MIRROR = Kernel(HERE / "mirror.cl", MirrorConfig(256, 256), dtypes=tuple(ELEMENT_TYPES))


def mirrored(call: GemmCall) -> Steps:
    """The launches that complete a symmetric product of which the lower triangle is there; none of any other."""
    if not call.symmetric or call.m < 2:
        return ()
    parts = range(0, max(call.batch, 1), MOST_GROUPS)
    batches = (call.batches(first, min(MOST_GROUPS, call.batch - first)) for first in parts)
    return tuple(Step(MIRROR, MIRROR.config, each, each.buffers) for each in batches)


def mirror_bytes(call: GemmCall) -> int:
    """Bytes that mirroring reads and writes: half of C each."""
    return call.batch * call.m * call.n * element_type(call.result).itemsize


def whole(call: GemmCall) -> GemmCall:
    """The same product, of which every element is computed."""
    return replace(call, symmetric=False)
