"""copy.cl and transpose.cl as Kernels: how elements are spelled, and which tile a work-group moves."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, NDRange, Step, Steps
from ....core.problem import Problem
from ....core.types import ELEMENT_TYPES, element_type
from .. import Move, move_of, nearer_rows

HERE = Path(__file__).parent
LINE_BYTES = 64
SCALARS = {1: ("uchar", 1), 2: ("ushort", 1), 4: ("uint", 1), 8: ("ulong", 1), 16: ("ulong", 2)}

# A transpose's tile: input rows of up to 4 KiB, a page, and as few of them as fill two cache lines of an output row.
# More rows than that fight for places in the caches where they lie a power of two apart: 32 float32 rows run at 48 GB/s,
# 64 at 44, 256 at 31 (4096 x 4096, one core). Shorter rows cost translations of pages.
TILE_ROWS = 1024
TILE_ROW_BYTES = 4096
TILE_COLUMNS = 16
TILE_COLUMN_BYTES = 128
COPY_BYTES = 256 * 1024  # what a work-group copies at least: some 10 us, against 1 us to hand it out
GROUPS_PER_UNIT = 4  # so that a busy core delays the end by a quarter of its share

MOST_ROWS = 2**31 - 1  # that transpose.cl counts; copy.cl counts further

# An output larger than this is written around the caches: it would not stay there until it is read.
STREAM_BYTES = 2 * 2**20


@dataclass(frozen=True)
class CpuCopyBase(Config):
    """Base of both kernels: vectors of `vector_bytes`, work for `units` cores."""

    vector_bytes: int
    units: int

    def oriented(self, problem: Problem) -> Move:
        """The move with the output running along its rows."""
        return move_of(problem).output_by_rows

    def tile(self, move: Move) -> tuple[int, int]:
        """Rows and columns that one work-group moves."""
        raise NotImplementedError

    def ndrange(self, problem: Problem) -> NDRange:
        move = self.oriented(problem)
        rows, columns = self.tile(move)
        return NDRange((-(-move.columns // columns), -(-move.rows // rows), move.batch), (1, 1, 1))

    def scalars(self, problem: Problem) -> dict[str, int | float]:
        move = self.oriented(problem)
        rows, columns = self.tile(move)
        nbytes = move.batch * move.rows * move.columns * element_type(move.dtype).itemsize
        return {"tile_rows": rows, "tile_columns": columns, "stream": int(nbytes > STREAM_BYTES)}

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
    """copy.cl: whole rows, as many as are worth a work-group; a single long row in parts."""

    def oriented(self, problem: Problem) -> Move:
        return super().oriented(problem).flat

    def tile(self, move: Move) -> tuple[int, int]:
        itemsize = element_type(move.dtype).itemsize
        total = max(1, move.batch * move.rows * move.columns)
        elements = max(COPY_BYTES // itemsize, -(-total // (self.units * GROUPS_PER_UNIT)))
        if move.rows == 1:
            return 1, -(-elements // LINE_BYTES) * LINE_BYTES
        return max(1, elements // max(1, move.columns)), max(1, move.columns)


@dataclass(frozen=True)
class CpuTranspose(CpuCopyBase):
    """transpose.cl: tall tiles, lower ones if there were not enough for all cores."""

    def tile(self, move: Move) -> tuple[int, int]:
        itemsize = element_type(move.dtype).itemsize
        rows, columns = min(TILE_ROWS, TILE_ROW_BYTES // itemsize), max(TILE_COLUMNS, TILE_COLUMN_BYTES // itemsize)
        while rows > columns and move.batch * -(-move.rows // rows) * -(-move.columns // columns) < 2 * self.units:
            rows //= 2
        return rows, columns

    def ndrange(self, problem: Problem) -> NDRange:
        """Tiles begin where the output's cache lines do, so that there may be one more along the columns."""
        move = self.oriented(problem)
        if 0 in (move.rows, move.columns, move.batch):
            return NDRange((0, 0, 0), (1, 1, 1))
        rows, columns = self.tile(move)
        line = LINE_BYTES // element_type(move.dtype).itemsize
        return NDRange((-(-(move.columns + line - 1) // columns), -(-move.rows // rows), move.batch), (1, 1, 1))

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        move = self.oriented(problem)
        if move.source.row != 1 or move.target.column != 1:
            yield "the input does not run along the output's columns, so that no square can be turned in registers"
        if max(move.rows, move.columns) > MOST_ROWS:
            yield f"a side of {max(move.rows, move.columns):,} elements, more than {MOST_ROWS:,}"


def move_steps(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch."""
    assert isinstance(config, CpuCopyBase)
    return (Step(kernel, config, config.oriented(problem)),)


def candidates(problem: Problem, device: DeviceInfo) -> tuple[Kernel, ...]:
    """The kernels for a Move, Copy or Transpose on a CPU device, ranked. copy.cl does any move."""
    vector_bytes = max(16, min(64, device.native_widths.get("float32", 4) * 4))
    made = [
        Kernel(HERE / file, config, problem.operation, dtypes=tuple(ELEMENT_TYPES), steps=move_steps)
        for file, config in (
            ("transpose.cl", CpuTranspose(vector_bytes, device.compute_units)),
            ("copy.cl", CpuCopy(vector_bytes, device.compute_units)),
        )
    ]
    move = move_of(problem).output_by_rows
    turned = nearer_rows(move.source, move.rows, move.columns)
    return tuple(made if turned else made[::-1])
