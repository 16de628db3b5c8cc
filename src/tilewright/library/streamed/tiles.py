"""How a matrix of results is cut into tiles that fit the memory limits, and the order in which they are computed.

A tile of m x n over the whole k takes 2 m n k flops. One operand's panel stays on the device while those of the other pass by:
if A's stays, a tile needs k n elements of s bytes, which is 2 m / s flops for each byte. A device of F flop/s behind a link of
L byte/s is kept busy from m = s F / (2 L) on: 1,860 rows of float32 at 51 TFLOP/s and 55 GB/s. With k in panels both operands
pass by, which is 2 m n / (s (m + n)), or t / s for squares of side t. Bytes that grow with 1 / t are the least that any order of
the steps needs (Hong and Kung, "I/O complexity: the red-blue pebble game", 1981).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from ...errors import InvalidInput
from .matrices import Part

SIDE = 64  # tiles are multiples of it, but for the last ones: the vectors and cache lines of all kernels fit
# Small tiles leave a device's units idle, and each tile takes some Python: as if it had so many more rows, columns and depth.
EDGE = 96
TILE_S = 4e-4
LINE_S = 3e-6  # to ask the system for a line of a file that is not read with the one before
# k is cut into panels only if that is predicted to be so many times as fast: whole sums have the bits of one product.
WHOLE_K = 4
MOST_TILES = 2**20
MOST_PARTS = 4096  # of a side


@dataclass(frozen=True)
class Rates:
    """What a device is assumed to do: flop/s of large tiles, and bytes per second of its link in each direction.

    A device that is the host's processor loses a share of the time that copies take: one core of so many does them.
    """

    flops: float
    link: float
    lost: float = 0.0


@dataclass(frozen=True)
class Sizes:
    """What is computed: `batch` matrices of m x n over k, in bytes an element of A, B and C.

    Sums that wait between panels of k may be wider than C: of `sum_bytes`. A transpose has k = 0, and its input in place of A:
    `moved` bytes are read for each element. `files` says whether A and B lie in files, `by_columns` whether by columns.
    `whole_k` says that k may not be cut: the order of an element's sum is promised.
    """

    m: int
    n: int
    k: int
    batch: int
    a_bytes: int
    b_bytes: int
    c_bytes: int
    sum_bytes: int
    reads_c: bool = False
    moved: int = 0
    files: tuple[bool, bool] = (False, False)
    by_columns: tuple[bool, bool] = (False, False)
    whole_k: bool = False


@dataclass(frozen=True)
class Tile:
    """One tile of the result, by its number and its place: in which matrix of the batch, which rows and which columns."""

    number: int
    matrix: int
    row: int
    column: int


@dataclass(frozen=True)
class TilePlan:
    """The sizes of tiles, how many buffers each kind has, and which operand's panel stays while the other's pass by.

    A panel that stays may have a single buffer: it can then be larger, but the device waits for the next one.
    """

    sizes: Sizes
    m: int
    n: int
    k: int
    stays: str  # "A" or "B"
    waits: bool = False  # for the next panel of the operand that stays

    @cached_property
    def rows(self) -> int:
        return -(-self.sizes.m // self.m)

    @cached_property
    def columns(self) -> int:
        return -(-self.sizes.n // self.n)

    @cached_property
    def panels(self) -> int:
        """Parts of k; 1 if sums are whole."""
        return max(1, -(-self.sizes.k // self.k)) if self.k else 1

    @property
    def tiles(self) -> int:
        return self.sizes.batch * self.rows * self.columns

    @property
    def slots(self) -> tuple[int, int, int]:
        """Buffers for panels of A and B and tiles of C: two of each, so that one is filled while the other is used."""
        most = self.sizes.batch * self.panels
        a, b = (
            min(1 if self.waits and self.stays == name else 2, most * count)
            for name, count in (("A", self.rows), ("B", self.columns))
        )
        return a, b, min(2, self.tiles)

    @property
    def slot_bytes(self) -> tuple[int, int, int]:
        """The bytes of one buffer of each kind; 0 for kinds that a transpose does not have."""
        each = self.sizes
        if each.moved:
            return self.m * self.n * each.moved, 0, self.m * self.n * self._tile_bytes
        return self.m * self.k * each.a_bytes, self.k * self.n * each.b_bytes, self.m * self.n * self._tile_bytes

    @property
    def _tile_bytes(self) -> int:
        """Bytes of an element of a tile of C."""
        return self.sizes.sum_bytes if self.panels > 1 else self.sizes.c_bytes

    @property
    def device_bytes(self) -> int:
        return sum(count * nbytes for count, nbytes in zip(self.slots, self.slot_bytes, strict=True))

    @cached_property
    def bytes_in(self) -> int:
        """Bytes that reach one device that computes everything."""
        each = self.sizes
        if each.moved:
            return each.batch * each.m * each.n * each.moved
        a, b = each.m * each.k * each.a_bytes, each.k * each.n * each.b_bytes
        c = each.m * each.n * self._tile_bytes if each.reads_c else 0
        a_times, b_times = self.passes
        return each.batch * round(a * a_times + b * b_times + c)

    @cached_property
    def passes(self) -> tuple[float, float]:
        """How many times A and B reach the device. Of panels that pass by, the last two are the first of the next row."""
        if self.panels > 1:
            return self.columns, self.rows
        if self.stays == "A":
            return 1, self.rows - (self.rows - 1) * min(2, self.columns) / self.columns
        return self.columns - (self.columns - 1) * min(2, self.rows) / self.rows, 1

    @cached_property
    def lines_in(self) -> float:
        """Lines of files that are read by themselves: panels of whole lines are read at once."""
        each = self.sizes
        a = self._lines(not each.by_columns[0], each.m, self.rows) * self.passes[0] if each.files[0] else 0
        b = self._lines(each.by_columns[1], each.n, self.columns) * self.passes[1] if each.files[1] else 0
        return each.batch * (a + b)

    def _lines(self, along_k: bool, side: int, parts: int) -> int:
        """Lines of an operand whose side is cut into so many parts, if it is read once."""
        if along_k:
            return parts if self.panels == 1 else side * self.panels
        return self.panels if parts == 1 else self.sizes.k * parts

    @cached_property
    def bytes_out(self) -> int:
        return self.sizes.batch * self.sizes.m * self.sizes.n * self._tile_bytes

    @property
    def flops(self) -> float:
        return 2.0 * self.sizes.batch * self.sizes.m * self.sizes.n * self.sizes.k

    def seconds(self, rates: Rates) -> tuple[float, float, float]:
        """What the products, the link to the device and the link back take by themselves."""
        m, n = min(self.m, self.sizes.m), min(self.n, self.sizes.n)
        depth = max(1, min(self.k, self.sizes.k))
        full = (m + EDGE) * (n + EDGE) * (depth + EDGE) / (m * n * depth)
        computing = self.flops / rates.flops * full + self.tiles * self.panels * TILE_S
        return computing, self.bytes_in / rates.link + self.lines_in * LINE_S, self.bytes_out / rates.link

    def predicted(self, rates: Rates) -> float:
        """Seconds of the slowest of the three, and of the first panels and the last tile, beside which nothing else runs."""
        a, b, c = self.slot_bytes
        computing, loading, storing = self.seconds(rates)
        longest = max(computing + rates.lost * (loading + storing), loading, storing)
        strips, panel = (self.rows, a) if self.stays == "A" else (self.columns, b)
        waiting = (self.sizes.batch * strips - 1) * panel / rates.link if self.waits else 0.0
        return longest + waiting + (a + b + c) / rates.link

    def part(self, tile: Tile) -> Part:
        """Where a tile lies in its matrix."""
        row, column = tile.row * self.m, tile.column * self.n
        return Part(row, min(self.m, self.sizes.m - row), column, min(self.n, self.sizes.n - column))

    def panel(self, number: int) -> tuple[int, int]:
        """Where a part of k begins, and how deep it is."""
        first = number * self.k
        return first, min(self.k, self.sizes.k - first)

    def strips(self) -> list[list[Tile]]:
        """All tiles, in strips that share the panel that stays. Every other strip goes back, from the panel that is there."""
        outer, inner = (self.rows, self.columns) if self.stays == "A" else (self.columns, self.rows)
        found = []
        for matrix in range(self.sizes.batch):
            for place in range(outer):
                order = range(inner) if place % 2 == 0 else reversed(range(inner))
                pairs = ((place, other) if self.stays == "A" else (other, place) for other in order)
                found.append([self._tile(matrix, row, column) for row, column in pairs])
        return found

    def _tile(self, matrix: int, row: int, column: int) -> Tile:
        return Tile((matrix * self.rows + row) * self.columns + column, matrix, row, column)


def tile_plans(
    sizes: Sizes, limit: int, rates: Rates, devices: int = 1, reserved: int = 0
) -> list[tuple[float, TilePlan]]:
    """The tile plans that fit, each with its predicted seconds, the fastest first. Those with whole sums come before
    others unless these are WHOLE_K times as fast.

    So many bytes of the limit are `reserved`. InvalidInput with the numbers if not even the smallest tile fits.
    """
    most_bytes = limit - reserved
    least = 1 if devices == 1 else 4 * devices  # enough tiles that the devices end together
    every = _predicted(_plans(sizes, most_bytes, sizes.k), rates)
    found = [each for each in every if each[1].tiles >= least] or every
    least_s = 2.0 * sizes.batch * sizes.m * sizes.n * sizes.k / rates.flops
    divides = sizes.k > SIDE and not sizes.whole_k
    if divides and (not found or found[0][0] > WHOLE_K * least_s):  # else no panels can be so much faster
        panels = (each for k in _sides(sizes.k) if k < sizes.k for each in _plans(sizes, most_bytes, k))
        parts = _predicted(panels, rates)
        if parts and (not found or parts[0][0] * WHOLE_K < found[0][0]):
            found = [*parts, *found]
    if not found:
        depth = sizes.k if sizes.whole_k else min(SIDE, sizes.k)
        smallest = TilePlan(sizes, min(SIDE, sizes.m), min(SIDE, sizes.n), depth, "A", sizes.whole_k)
        raise InvalidInput(
            f"a limit of {limit:,} bytes on a device is too small: the smallest tiles, of {smallest.m}x{smallest.n} over "
            f"{smallest.k} of k, need {smallest.device_bytes:,} bytes"
            + (" (reproducible sums are not divided)" if sizes.whole_k else "")
            + (f", and kernels {reserved:,} beside them" if reserved else "")
            + (f", and at most {MOST_TILES:,} tiles are made" if smallest.device_bytes <= most_bytes else "")
        )
    return found


def _predicted(plans: Iterator[TilePlan], rates: Rates) -> list[tuple[float, TilePlan]]:
    return sorted(((each.predicted(rates), each) for each in plans), key=itemgetter(0))


def _plans(sizes: Sizes, most_bytes: int, k: int) -> Iterator[TilePlan]:
    for m in _sides(sizes.m):
        for n in _sides(sizes.n):
            for stays, waits in (("A", False), ("B", False), ("A", True), ("B", True)):
                made = TilePlan(sizes, m, n, k, stays, waits)
                if waits and (made.panels > 1 or sizes.moved):
                    continue
                if made.device_bytes <= most_bytes and made.tiles * made.panels <= MOST_TILES:
                    yield made


def _sides(size: int) -> list[int]:
    """Sides of tiles: of equal parts of a size, rounded up to a multiple of SIDE, the largest first."""
    found, parts = [], 1.0
    while parts <= MOST_PARTS:
        side = min(size, -(-max(1, -(-size // round(parts))) // SIDE) * SIDE)
        if side not in found:
            found.append(side)
        if side <= SIDE:
            break
        parts = parts + 1 if parts < 8 else parts * 1.15
    return found
