"""The configurations of main_loop.cl and split_k.cl: their geometry, their macros, and what speaks against them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ....core.device import DeviceInfo
from ....core.problem import Problem
from ....core.types import element_type
from ..call import GemmCall
from ..chain import division_of_k
from ..config import SplitTilesConfig
from ..macros import LOAD_BYTES, Elements, Reading, element_macros, elements, index_type, reading, result_width

PANELS = 2  # one is computed on while the next is filled


@dataclass(frozen=True)
class PortableConfig(SplitTilesConfig):
    """main_loop.cl: tiles of C from panels in local memory. The fields are explained at its top."""

    TM: int
    TN: int
    LANES_M: int = 4
    LANES_N: int = 8
    LANE_SWIZZLE: int = 1
    GROUP_M: int = 8
    SLICED_K: int = 1
    pack: bool = False  # copy operands that cannot be read by whole vectors into aligned scratch memory first

    @property
    def items(self) -> int:
        return (self.BM // self.TM) * (self.BN // self.TN) * self.SLICED_K

    def packed(self, call: GemmCall) -> tuple[str, ...]:
        """Which of "A" and "B" are copied first: those whose loads are narrow."""
        if not self.pack:
            return ()
        widest = max(1, LOAD_BYTES // element_type(call.dtype).itemsize)
        return tuple(name for name in ("A", "B") if name not in call.packed and reading(call, name).width < widest)

    def readings(self, call: GemmCall) -> tuple[Reading, Reading]:
        """How the panels of A and B are read, by loads no wider than divide the work among the items."""
        return self._divided(reading(call, "A"), self.BM), self._divided(reading(call, "B"), self.BN)

    def _divided(self, wanted: Reading, side: int) -> Reading:
        width = wanted.width
        length = self.BK if wanted.order == "PANEL_ALONG_K" else side
        while width > 1 and (length % width or side * self.BK % (self.items * width)):
            width //= 2
        return Reading(wanted.order, width)

    def pads(self, call: GemmCall) -> tuple[int, int]:
        kind = elements(call.dtype)
        a, b = self.readings(call)
        return self._pad(a, self.BM, kind), self._pad(b, self.BN, kind)

    def _pad(self, how: Reading, side: int, kind: Elements) -> int:
        if how.order == "PANEL_ACROSS":
            return 0
        return best_pad(side, self.BK, how.width, self.items, kind)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        call = self.oriented(problem)
        (a, b), (a_pad, b_pad), kind = self.readings(call), self.pads(call), elements(call.dtype)
        return {
            **super().macros(problem),
            **element_macros(call),
            "A_ORDER": a.order, "A_VEC": a.width, "A_PAD": a_pad,
            "B_ORDER": b.order, "B_VEC": b.width, "B_PAD": b_pad,
            "C_VEC": result_width(call, kind.fragment), "GATHERED": self.gathered(call),
            "FRAGMENT": kind.fragment, "WORDS": kind.fragment * kind.parts,
            "INDEX": index_type(call, self.BM, self.BN, self.BK),
        }  # fmt: skip

    def local_bytes(self, problem: Problem) -> int:
        call = self.oriented(problem)
        kind, gathered = elements(call.dtype), self.gathered(call) * self.BM // self.TM * self.BN
        return max(self._held(call), gathered) * kind.parts * kind.component_bytes

    def _held(self, call: GemmCall) -> int:
        """Elements that panels, or the sums of slices, take of local memory."""
        a_pad, b_pad = self.pads(call)
        panels = PANELS * self.BK * (self.BM + a_pad + self.BN + b_pad)
        return max(panels, self.SLICED_K // 2 * self.BM * self.BN)

    def gathered(self, call: GemmCall) -> int:
        """Rows of a work-item's tile that go through local memory together, as many as its panels have room for.

        0 if a work-item stores whole fragments by itself, and for doubles: on an H100 4000 of 31 x 31 x 31 took 26 us by this
        way instead of 34 in float32, and 40 by either in float64.
        """
        kind = elements(call.dtype)
        fragment = kind.fragment
        if kind.component_bytes == 8 or result_width(call, fragment) == fragment:
            return 0
        row = self.BM // self.TM * self.BN
        return next((rows for rows in (self.TM, fragment) if rows * row <= self._held(call)), 1)

    def registers(self, call: GemmCall) -> int:
        kind, (a, b) = elements(call.dtype), self.readings(call)
        words = kind.parts * kind.component_bytes // 4
        stored = -(-element_type(call.dtype).itemsize // 4)
        read_ahead = stored * (self.BM + self.BN) * self.BK // self.items
        offsets = self.BM * self.BK // a.width // self.items + self.BN * self.BK // b.width // self.items
        return words * (self.TM * self.TN + self.TM + self.TN) + read_ahead + offsets + 24

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        call = self.oriented(problem)
        yield from self._geometry(elements(call.dtype))
        if self.pack and not call.packed:
            yield "A and B can be read by whole vectors where they are: packing them gains nothing"
        yield from division_of_k(call, self)
        yield from super().violations(problem, device)

    def _geometry(self, kind: Elements) -> Iterator[str]:
        """What is wrong with the numbers themselves, for any size of the problem."""
        for name, block, tile, lanes in (("M", self.BM, self.TM, self.LANES_M), ("N", self.BN, self.TN, self.LANES_N)):
            if block % (tile * lanes):
                yield f"B{name}={block} is not a multiple of T{name}={tile} times LANES_{name}={lanes}"
            if tile % kind.fragment:
                yield f"T{name}={tile} is not a multiple of the {kind.fragment} elements of one local read"
            if block * self.BK % self.items:
                yield f"a panel of {block}x{self.BK} cannot be divided evenly among {self.items} work-items"
        if self.BK % self.SLICED_K or self.SLICED_K & (self.SLICED_K - 1):
            yield f"SLICED_K={self.SLICED_K} is no power of two that divides BK={self.BK}"
        if self.LANE_SWIZZLE and self.LANES_M % 2:
            yield f"LANE_SWIZZLE needs an even LANES_M, not {self.LANES_M}"


@cache
def best_pad(side: int, depth: int, width: int, items: int, kind: Elements) -> int:
    """Unused elements at the end of a panel's rows for which writing `width` elements along k takes fewest wavefronts.

    Rows stay a multiple of the fragment, which is read as a whole. Those reads are conflict-free with any padding.
    """
    candidates = range(0, 8 * kind.fragment + 1, kind.fragment)
    return min(candidates, key=lambda pad: (store_wavefronts(side + pad, depth, width, items, kind), pad))


def store_wavefronts(pitch: int, depth: int, width: int, items: int, kind: Elements) -> int:
    """Passes through 32 banks of 4 bytes that a warp's write of one component into a panel takes.

    Components of 8 bytes go in two halves of the warp. The rule was confirmed by an H200's counters.
    """
    words = kind.component_bytes // 4
    lanes = [(lane // (depth // width), lane % (depth // width) * width) for lane in range(min(32, items))]
    places = [(k * pitch + row) * kind.parts * words for row, k in lanes]
    passes = 0
    for start in range(0, len(places), 32 // words):
        banks: dict[int, set[int]] = {}
        for place in places[start : start + 32 // words]:
            for word in range(place, place + words):
                banks.setdefault(word % 32, set()).add(word)
        passes += max(len(each) for each in banks.values())
    return passes
