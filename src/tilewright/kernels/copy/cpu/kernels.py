"""copy.cl and transpose.cl as Kernels: their types of elements and their tiles."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, NDRange, Step, Steps
from ....core.problem import Problem
from ....core.types import ELEMENT_TYPES, element_type
from .. import StridedCopy, nearer_rows, strided_copy_of

HERE = Path(__file__).parent
LINE_BYTES = 64
SCALARS = {1: ("uchar", 1), 2: ("ushort", 1), 4: ("uint", 1), 8: ("ulong", 1), 16: ("ulong", 2)}

# A transpose's tile: input rows of up to 4 KiB, a page, and as few of them as fill two cache lines of an output row.
# More rows share cache sets where they lie a power of two apart: 32 float32 rows run at 48 GB/s,
# 64 at 44, 256 at 31 (4096 x 4096, one core). Shorter rows cost TLB misses.
TILE_ROWS = 1024
TILE_ROW_BYTES = 4096
TILE_COLUMNS = 16
TILE_COLUMN_BYTES = 128

# Where vectors are shorter than a line, each line of the input is read in parts, and must be found again for the next one. Rows
# that fill one line of an output row are enough then, if whole lines are stored and the output is larger than this. Two cores of
# a Zen 3, medians in GB/s with two lines and with one, float32: 16 and 21 at 1040, 11 and 16 at 2048, 12 and 17 at 4096, 19.7
# and 26.5 at 4112, but 19 and 17 at 1024; float64, beside other programs: 9.3 and 15.2 at 1000, 7.6 and 14.6 at 2064, 5.8 and 6.0
# at 2048, 7.7 and 6.9 at 4096.
NARROW_BYTES = 4 * 2**20
COPY_BYTES = 256 * 1024  # the least that a work-group copies: some 10 us, against 1 us to schedule it
GROUPS_PER_UNIT = 4  # so that a busy core delays the end by a quarter of its work

MOST_ROWS = 2**31 - 1  # the limit of transpose.cl, which counts by int; copy.cl counts by long

# A larger output is written by non-temporal stores: it would not stay in the caches until it is read.
STREAM_BYTES = 2 * 2**20


def nbytes(copy: StridedCopy) -> int:
    """The bytes that are written."""
    return copy.batch * copy.rows * copy.columns * element_type(copy.dtype).itemsize


def whole_lines(copy: StridedCopy) -> bool:
    """Whether rows of the output lie alike in cache lines, so that these can be stored whole."""
    return copy.target.row * element_type(copy.dtype).itemsize % LINE_BYTES == 0


@dataclass(frozen=True)
class CpuCopyBase(Config):
    """Base of both kernels: vectors of `vector_bytes`, work for `units` cores."""

    vector_bytes: int
    units: int

    def oriented(self, problem: Problem) -> StridedCopy:
        """The copy with the output running along its rows."""
        return strided_copy_of(problem).output_by_rows

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        """Rows and columns that one work-group copies."""
        raise NotImplementedError

    def ndrange(self, problem: Problem) -> NDRange:
        copy = self.oriented(problem)
        rows, columns = self.tile(copy)
        return NDRange((-(-copy.columns // columns), -(-copy.rows // rows), copy.batch), (1, 1, 1))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        copy = self.oriented(problem)
        rows, columns = self.tile(copy)
        return {"tile_rows": rows, "tile_columns": columns, "stream": int(nbytes(copy) > STREAM_BYTES)}

    def macros(self, problem: Problem) -> dict[str, str | int]:
        itemsize = element_type(problem.dtype).itemsize
        unit, units = SCALARS[itemsize]
        width = min(16, self.vector_bytes // itemsize)  # OpenCL C has no longer vectors
        pieces = max(1, LINE_BYTES // (width * itemsize))
        return {
            **super().macros(problem),
            "SCALAR": unit, "SCALARS": units, "VW": width, "VECTOR_SCALARS": width * units, "PIECES": pieces,
        }  # fmt: skip


@dataclass(frozen=True)
class CpuCopy(CpuCopyBase):
    """copy.cl: whole rows, at least COPY_BYTES for a work-group; a single long row in parts."""

    def oriented(self, problem: Problem) -> StridedCopy:
        return super().oriented(problem).flat

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        itemsize = element_type(copy.dtype).itemsize
        total = max(1, copy.batch * copy.rows * copy.columns)
        elements = max(COPY_BYTES // itemsize, -(-total // (self.units * GROUPS_PER_UNIT)))
        if copy.rows == 1:
            return 1, -(-elements // LINE_BYTES) * LINE_BYTES
        return max(1, elements // max(1, copy.columns)), max(1, copy.columns)


@dataclass(frozen=True)
class CpuTranspose(CpuCopyBase):
    """transpose.cl: tall tiles, or lower ones where there would be too few for all cores."""

    def tile(self, copy: StridedCopy) -> tuple[int, int]:
        itemsize = element_type(copy.dtype).itemsize
        rows, columns = min(TILE_ROWS, TILE_ROW_BYTES // itemsize), max(TILE_COLUMNS, TILE_COLUMN_BYTES // itemsize)
        if self.vector_bytes < LINE_BYTES and whole_lines(copy) and nbytes(copy) > NARROW_BYTES:
            columns = LINE_BYTES // itemsize
        while rows > columns and copy.batch * -(-copy.rows // rows) * -(-copy.columns // columns) < 2 * self.units:
            rows //= 2
        return rows, columns

    def ndrange(self, problem: Problem) -> NDRange:
        """Tiles begin where the output's cache lines do, so that there may be one more along the columns."""
        copy = self.oriented(problem)
        if 0 in (copy.rows, copy.columns, copy.batch):
            return NDRange((0, 0, 0), (1, 1, 1))
        rows, columns = self.tile(copy)
        line = LINE_BYTES // element_type(copy.dtype).itemsize
        return NDRange((-(-(copy.columns + line - 1) // columns), -(-copy.rows // rows), copy.batch), (1, 1, 1))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        copy = self.oriented(problem)
        if copy.source.row != 1 or copy.target.column != 1:
            yield "the input does not run along the output's columns, so blocks cannot be transposed in registers"
        if max(copy.rows, copy.columns) > MOST_ROWS:
            yield f"a side of {max(copy.rows, copy.columns):,} elements is more than {MOST_ROWS:,}"


def copy_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch."""
    assert isinstance(config, CpuCopyBase)
    return (Step(kernel, config, config.oriented(problem)),)


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a StridedCopy, Copy or Transpose on a CPU device, ranked. copy.cl takes any strides."""
    vector_bytes = max(16, min(64, device.native_widths.get("float32", 4) * 4))
    made = [
        Kernel(HERE / file, config, problem.operation, dtypes=tuple(ELEMENT_TYPES), steps=copy_steps)
        for file, config in (
            ("transpose.cl", CpuTranspose(vector_bytes, device.compute_units)),
            ("copy.cl", CpuCopy(vector_bytes, device.compute_units)),
        )
    ]
    copy = strided_copy_of(problem).output_by_rows
    transposed = nearer_rows(copy.source, copy.rows, copy.columns)
    return tuple(made if transposed else made[::-1])
