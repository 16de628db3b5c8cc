"""How a matrix of results is cut into tiles that fit the memory limits, and the order in which they are computed.

A tile of m x n over the whole k takes 2 m n k flops. One operand's panel stays on the device while those of the other pass by:
if A's stays, a tile needs k n elements of s bytes, which is 2 m / s flops for each byte. A device of F flop/s behind a link of
L byte/s is kept busy from m = s F / (2 L) on: 1,860 rows of float32 at 51 TFLOP/s and 55 GB/s. With k in panels both operands
pass by, which is 2 m n / (s (m + n)), or t / s for squares of side t. Bytes that grow with 1 / t are the least that any order of
the steps needs (Hong and Kung, "I/O complexity: the red-blue pebble game", 1981).
"""

from dataclasses import dataclass
from functools import cached_property

from .matrices import Part
from .orders import arrivals, strip_of
from .rates import Rates, Sizes

# Of the time for which a tile's last work-groups leave units idle, the share that is lost: the next tile's work-groups, in the
# other queue, begin meanwhile.
IDLE = 0.5
LINE_S = 3e-6  # to ask the system for a line of a file that is not read with the one before


@dataclass(frozen=True)
class Tile:
    """One tile of the result, by its number and its place: in which matrix of the batch, which rows and which columns."""

    number: int
    matrix: int
    row: int
    column: int


@dataclass(frozen=True)
class TilePlan:
    """The sizes of tiles, and how many buffers each kind has.

    `held` panels of the operand that stays are a group: the other operand's panels pass by through `kept` buffers. A device that
    computes a tile, launches the next one and stores one before needs three `results`, and one more for each other it stores.
    """

    sizes: Sizes
    m: int
    n: int
    k: int
    stays: str  # "A" or "B"
    held: int = 1
    kept: int = 2
    results: int = 2
    devices: int = 1  # that share the tiles: so many groups are somebody's first one

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
    def groups(self) -> bool:
        """Whether panels stay at all. With k in panels, and in a transpose, each step reads others."""
        return self.panels == 1 and not self.sizes.moved

    @property
    def passes_by(self) -> str:
        """The operand whose panels pass by, "A" or "B"; "" if none stay."""
        return {"A": "B", "B": "A"}[self.stays] if self.groups else ""

    @property
    def _sides(self) -> tuple[int, int]:
        """The number of panels that stay, and of those that pass by."""
        return (self.rows, self.columns) if self.stays == "A" else (self.columns, self.rows)

    @property
    def _ratio(self) -> float:
        """The bytes of a panel that stays, divided by those of one that passes by."""
        a, b = self.slot_bytes[:2]
        return 1.0 if not a or not b else a / b if self.stays == "A" else b / a

    @property
    def slots(self) -> tuple[int, int, int]:
        """Buffers for panels of A and B and tiles of C: at least two of what the next step has new."""
        most = self.sizes.batch * self.panels
        staying, passing = (self.held + (self.sizes.batch > 1), self.kept) if self.groups else (2, 2)
        a, b = (
            min(staying if self.stays == name else passing, most * count)
            for name, count in (("A", self.rows), ("B", self.columns))
        )
        return a, b, min(self.results, self.tiles)

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
        return self.bytes_loaded(1)

    def bytes_loaded(self, together: int) -> int:
        """Bytes that the host copies if `together` devices share one copy of what passes by."""
        each = self.sizes
        if each.moved:
            return each.batch * each.m * each.n * each.moved
        a, b = each.m * each.k * each.a_bytes, each.k * each.n * each.b_bytes
        c = each.m * each.n * self._tile_bytes if each.reads_c else 0
        a_times, b_times = self._passes(together)
        return each.batch * round(a * a_times + b * b_times + c)

    def _passes(self, together: int) -> tuple[float, float]:
        """How many times A and B are copied. The last panels that passed by are the first ones of the next group."""
        if self.panels > 1:
            return self.columns, self.rows
        outer, inner = self._sides
        times = -(-outer // (self.held * together))
        passing = times - (times - 1) * min(self.kept, inner) / inner
        return (1, passing) if self.stays == "A" else (passing, 1)

    @cached_property
    def lines_in(self) -> float:
        """Lines of files that are read by themselves: panels of whole lines are read at once."""
        each = self.sizes
        a_times, b_times = self._passes(1)
        a = self._lines(not each.by_columns[0], each.m, self.rows) * a_times if each.files[0] else 0
        b = self._lines(each.by_columns[1], each.n, self.columns) * b_times if each.files[1] else 0
        return each.batch * (a + b)

    def _lines(self, along_k: bool, side: int, parts: int) -> int:
        """Lines of an operand whose side is cut into so many parts, if it is read once."""
        if along_k:
            return parts if self.panels == 1 else side * self.panels
        return self.panels if parts == 1 else self.sizes.k * parts

    @cached_property
    def runs(self) -> tuple[int, int, int]:
        """The runs of contiguous elements in the caller's memory that a panel of A, one of B, and a tile of C consist of."""
        each, depth = self.sizes, self.sizes.n if self.sizes.moved else self.sizes.k
        k = self.n if each.moved else self.k

        def runs_of(by_columns: bool, rows: int, columns: int, whole: tuple[int, int]) -> int:
            lines, length, line = (columns, rows, whole[0]) if by_columns else (rows, columns, whole[1])
            return 1 if length >= line else lines

        return (
            runs_of(each.by_columns[0], self.m, k, (each.m, depth)),
            0 if each.moved else runs_of(each.by_columns[1], k, self.n, (depth, each.n)),
            runs_of(each.by_columns[2], self.m, self.n, (each.m, each.n)),
        )

    def _runs_loaded(self, together: int) -> float:
        """Runs of `bytes_loaded` that are loaded from memory: those of files are `lines_in`."""
        each, (a, b, c) = self.sizes, self.runs
        if each.moved:
            return float(self.tiles * a)
        a_times, b_times = self._passes(together)
        a_runs = 0 if each.files[0] else self.rows * a * a_times
        b_runs = 0 if each.files[1] else self.columns * b * b_times
        return each.batch * self.panels * (a_runs + b_runs) + (self.tiles * c if each.reads_c else 0)

    @cached_property
    def bytes_of_all(self) -> int:
        """Bytes that pass between the host and all devices: each loads what passes by from the beginning, and of more devices
        than groups some load a group that another has, too."""
        if not self.groups:
            return self.bytes_in + self.bytes_out
        (outer, inner), (a, b) = self._sides, self.slot_bytes[:2]
        stays, passes = (a, b) if self.stays == "A" else (b, a)
        batch, groups = self.sizes.batch, -(-outer // self.held)  # of each matrix
        begun = batch * (min(self.devices, groups) - 1) * min(self.kept, inner) * passes
        shared = max(0, self.devices - batch * groups) * self.held * stays
        return self.bytes_in + self.bytes_out + begun + shared

    @cached_property
    def bytes_out(self) -> int:
        return self.sizes.batch * self.sizes.m * self.sizes.n * self._tile_bytes

    @property
    def flops(self) -> float:
        return 2.0 * self.sizes.batch * self.sizes.m * self.sizes.n * self.sizes.k

    def seconds(self, rates: Rates) -> tuple[float, float, float]:
        """What the products, the links to the devices and the links back take by themselves."""
        m, n = min(self.m, self.sizes.m), min(self.n, self.sizes.n)
        depth = max(1, min(self.k, self.sizes.k))
        full = (m + rates.edge) * (n + rates.edge) * (depth + rates.edge) / (m * n * depth) + self._idle(m, n, rates)
        turns = self.tiles * self.panels * rates.turn_s
        computing = self.flops / rates.flops * full + self.tiles * self.panels * rates.tile_s + turns
        times = 1.0 if rates.links == 1 else (self.bytes_of_all - self.bytes_out) / max(1, self.bytes_in)
        loaded, runs = self.bytes_loaded(rates.shares), self._runs_loaded(rates.shares)
        loading = times * (loaded / rates.link + runs * rates.run_s[0]) + self.lines_in * LINE_S
        storing = self.bytes_out / rates.link + self.tiles * self._store_overhead(rates)
        return computing, loading / rates.links + turns, storing / rates.links + turns

    def _idle(self, m: int, n: int, rates: Rates) -> float:
        """How much longer a tile takes because its last work-groups leave units idle, as a part of its time."""
        if not rates.units:
            return 0.0
        groups = -(-m // rates.group[0]) * -(-n // rates.group[1])
        return IDLE * (-(-groups // rates.units) * rates.units / groups - 1)

    def _store_overhead(self, rates: Rates) -> float:
        """Seconds to store a tile beside its bytes."""
        return rates.store_s + (0 if self.sizes.files[2] else self.runs[2] * rates.run_s[1])

    def predicted(self, rates: Rates) -> float:
        """Seconds until the last tile is back, if the link and the device work side by side and wait only where they must.

        Where the host copies what passes by once for all devices, it copies a panel that stays for each of them meanwhile.
        """
        a, b = (
            (self.slot_bytes[side] / rates.link + self.runs[side] * rates.run_s[0])
            * (1 if name == self.passes_by else rates.shares)
            for side, name in enumerate("AB")
        )
        c = self.slot_bytes[2] / rates.link + self._store_overhead(rates)
        computing, loading, storing = self.seconds(rates)
        computing += rates.lost * (loading + storing)
        if not self.groups:
            return max(computing, loading, storing) + a + b + c
        return max(self._begun_to_ended(a, b, computing / self.tiles, rates), loading, storing + a + b) + c

    def _begun_to_ended(self, a: float, b: float, tile: float, rates: Rates) -> float:
        """Seconds from the first load to the last product: in each phase of a group the longer of what runs side by side.

        `a` and `b` are the seconds of a panel, `tile` those of a tile by all devices together: each computes its own groups.
        """
        devices = max(rates.links, rates.shares)
        tile *= devices
        (outer, inner), stays, passes = self._sides, *((a, b) if self.stays == "A" else (b, a))
        held = min(self.held, outer)
        first = min(self.kept, inner)
        last = min(self.kept, inner - first)
        groups = max(1.0, self.sizes.batch * outer / self.held / devices)
        between_them = inner - first - last
        middle = between_them * max(held * tile, passes)
        late = last - max(0, min(last - 1, between_them))  # of the last panels that pass by: before, they have no room
        missing = max(0.0, late * passes - (last - 1) * tile)
        beside = (first + last) * tile  # the tiles of a panel that goes, and of the one in its place
        between = max(held * beside, beside + held * stays)
        corner = self._corner(held, first, stays, passes, tile)
        return corner + groups * (middle + missing) + (groups - 1) * between + held * last * tile

    def _corner(self, held: int, kept: int, stays: float, passes: float, tile: float) -> float:
        """Seconds from the first load to the last product of the first corner."""
        arrived = computed = 0.0
        own = others = 0
        for each in arrivals(held, kept, self._ratio):
            arrived += stays if each else passes
            tiles = others if each else own
            own, others = own + each, others + (not each)
            if tiles:
                computed = max(computed, arrived) + tiles * tile
        return computed

    def part(self, tile: Tile) -> Part:
        """Where a tile lies in its matrix."""
        row, column = tile.row * self.m, tile.column * self.n
        return Part(row, min(self.m, self.sizes.m - row), column, min(self.n, self.sizes.n - column))

    def panel(self, number: int) -> tuple[int, int]:
        """Where a part of k begins, and how deep it is."""
        first = number * self.k
        return first, min(self.k, self.sizes.k - first)

    def strips(self) -> list[list[Tile]]:
        """All tiles, in strips that share the panels that stay. Every other strip goes back, from the panels that are there."""
        outer, inner = self._sides
        held, kept = (self.held, self.kept) if self.groups else (1, 1)
        found = []
        for matrix in range(self.sizes.batch):
            for number, first in enumerate(range(0, outer, held)):
                there = range(inner) if number // self.devices % 2 == 0 else range(inner - 1, -1, -1)
                pairs = strip_of(
                    range(first, min(first + held, outer)), there, kept, self._ratio, fresh=number < self.devices
                )
                found.append([self._tile(matrix, *(pair if self.stays == "A" else pair[::-1])) for pair in pairs])
        return found

    def _tile(self, matrix: int, row: int, column: int) -> Tile:
        return Tile((matrix * self.rows + row) * self.columns + column, matrix, row, column)
