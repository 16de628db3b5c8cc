"""The ladder `rows`: from a naive kernel to vectors of eight, most rungs computing one row of C per work-item."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ....core.device import DeviceInfo
from ....core.kernel import Config, Kernel, Ladder, NDRange, Publication, Step, Steps, round_up
from ....core.problem import Problem
from ....core.types import element_type
from ...sizes import size

HERE = Path(__file__).parent

# A private array is reserved for every work-item that can be resident at once, whether or not it runs: 32 KiB for the
# 2048 of each of a large GPU's 132 cores are 8.6 GB of device memory. CPU drivers put it on a thread's stack.
PRIVATE_BYTES_LIMIT = 32768


@dataclass(frozen=True)
class Sequential(Config):
    """`sequential`: a single work-item."""

    LOOP: int  # which of the six orders of the three loops, counted as in the file

    def ndrange(self, problem: Problem) -> NDRange:
        elements = size(problem, "M") * size(problem, "N")
        return NDRange((1 if elements else 0,), (1,))


@dataclass(frozen=True)
class Grid2D(Config):
    """`naive` to `private_sum`: one work-item per element of C; dimension 0 runs down the rows."""

    GROUP_ROWS: int  # rows of C that one work-group computes
    GROUP_COLUMNS: int  # columns of C that one work-group computes

    def ndrange(self, problem: Problem) -> NDRange:
        rows = round_up(size(problem, "M"), self.GROUP_ROWS)
        columns = round_up(size(problem, "N"), self.GROUP_COLUMNS)
        return NDRange((rows, columns), (self.GROUP_ROWS, self.GROUP_COLUMNS))


@dataclass(frozen=True)
class Grid1D(Config):
    """`row_per_item`: one work-item per row of C."""

    GROUP_ROWS: int  # rows of C that one work-group computes

    def ndrange(self, problem: Problem) -> NDRange:
        rows = size(problem, "M") if size(problem, "N") else 0
        return NDRange((round_up(rows, self.GROUP_ROWS),), (self.GROUP_ROWS,))


@dataclass(frozen=True)
class PrivateRow(Grid1D):
    """`private_row` to `float8_row`: one work-item per row of C, holding its row of A in private memory."""

    VEC: int = 1  # elements that one load takes and one step of the dot product multiplies
    CHUNK: int = 0  # elements of a column of B that the work-group holds in local memory (`local_column`)

    def macros(self, problem: Problem) -> dict[str, str | int]:
        row_length = max(size(problem, "K"), self.VEC)  # an array needs an element, even if K = 0
        return {**super().macros(problem), "ROW_LENGTH": row_length}

    def local_bytes(self, problem: Problem) -> int:
        return self.CHUNK * element_type(problem.dtype).itemsize

    def violations(self, problem: Problem, device: DeviceInfo) -> Iterator[str]:
        k = size(problem, "K")
        if k % self.VEC:
            yield f"K={k} is not a multiple of {self.VEC}, which an inner product in steps of VEC={self.VEC} needs"
        private_bytes = k * element_type(problem.dtype).itemsize
        if private_bytes > PRIVATE_BYTES_LIMIT:
            yield (
                f"K={k} makes a private row of {private_bytes:,} bytes, more than the {PRIVATE_BYTES_LIMIT:,} that are "
                f"allowed: the driver reserves as much for every work-item that can be resident"
            )


@dataclass(frozen=True)
class WholeColumn(PrivateRow):
    """`local_column` with the whole column of B in local memory, as it was published."""

    def macros(self, problem: Problem) -> dict[str, str | int]:
        macros = super().macros(problem)
        return {**macros, "CHUNK": macros["ROW_LENGTH"]}

    def local_bytes(self, problem: Problem) -> int:
        return max(size(problem, "K"), 1) * element_type(problem.dtype).itemsize


CPU_ONLY = (("cpu", "a single work-item stands for the sequential host program, which only a CPU device can"),)


def _sequential(loop: int, order: str, published: tuple[tuple[str, float], ...] = ()) -> Kernel:
    return Kernel(HERE / "00_sequential.cl", Sequential(loop), variant=order, requires=CPU_ONLY, published=published)


def _rung(file: str, config: Config, figures: tuple[float, float] = (0, 0), smaller: tuple[Config, ...] = ()) -> Kernel:
    """A rung that reads B by columns, with the published GFLOP/s of both devices if they are of this very kernel."""
    published = tuple((device, rate) for device, rate in zip((CPU, HD_4870), figures, strict=True) if rate)
    return Kernel(HERE / file, config, smaller=smaller, orders=("row", "column", "row"), published=published)


def added_to_zeros(kernel: Kernel, config: Config, problem: Problem) -> Steps:
    """One launch; C holds zeros before it, as the host program of the source sets it."""
    return (Step(kernel, config, problem, initial=(("C", 0.0),)),)


def _original(
    rung: str, variant: str, file: str, config: Config, figures: tuple[float, float], smaller: tuple[Config, ...] = ()
) -> Kernel:
    """A kernel of the source as it was published, a variant of a rung."""
    return replace(_rung(file, config, figures, smaller), rung=f"rows/{rung}", variant=variant)


HOST, CPU, HD_4870 = "CPU of 2012, one core", "CPU device of 2012", "Radeon HD 4870"
PUBLICATION = Publication(
    title="OpenCL: From Naive Towards More Insightful Programming",
    author="Sceptic Philozoff",
    year=2012,
    link="https://www.mql5.com/en/articles/407",
    licence="all rights reserved by MetaQuotes Ltd., copying prohibited; the kernels here are our own",
    size=(2000, 2000, 2000),
    settings="float, uniform in [-0.5, 0.5]; the driver chose the work-groups",
    timing="from the launch until the result was back in host memory, once",
    devices=(HOST, CPU, HD_4870),
    others=((HOST, "r-k-c with B by columns", 0.172),),
    claims=(
        "the slowest of the six loop orders took 1.73 times as long as the fastest on the host",
        "the fastest, r-k-c, took 10.53 s at N = 1000 and 83.66 s at N = 2000",
        "all in all 200 times the host program on one core; its last table says 185.6",
    ),
)
ORIGINALS = (
    replace(
        _original("01_naive", "published", "published/01_naive.cl", Grid2D(16, 16), (1.727, 1.257), (Grid2D(8, 8),)),
        orders=("row", "row", "row"), steps=added_to_zeros,
    ),
    replace(
        _original("02_coalesced", "published", "published/02_coalesced.cl", Grid2D(16, 16), (2.780, 1.233), (Grid2D(8, 8),)),
        steps=added_to_zeros,
    ),
    replace(
        _original("06_local_column", "whole column", "06_local_column.cl", WholeColumn(32), (3.061, 10.05)),
        published_with="there without its second barrier: a data race",
    ),
    _original("07_float4_dot", "published", "published/07_float4_dot.cl", PrivateRow(32, VEC=4), (3.236, 13.49)),
    _original("08_float4_row", "published", "published/08_float4_row.cl", PrivateRow(32, VEC=4), (4.221, 32.06)),
)  # fmt: skip

LADDER = Ladder(
    "rows",
    "From naive to vectorised, one row per work-item",
    "an MQL5 article of 2012",
    (
        _sequential(0, "r-c-k"),
        _sequential(1, "r-k-c", ((HOST, 0.191),)),  # the host program of the source
        _sequential(2, "c-r-k", ((HOST, 0.138),)),
        _sequential(3, "c-k-r"),
        _sequential(4, "k-r-c"),
        _sequential(5, "k-c-r"),
        replace(_rung("01_naive.cl", Grid2D(16, 16), smaller=(Grid2D(8, 8),)), orders=("row", "row", "row")),
        _rung("02_coalesced.cl", Grid2D(16, 16), smaller=(Grid2D(8, 8),)),
        _rung("03_private_sum.cl", Grid2D(16, 16), (4.257, 12.07), (Grid2D(8, 8),)),
        _rung("04_row_per_item.cl", Grid1D(32), (2.982, 9.587)),
        _rung("05_private_row.cl", PrivateRow(32), (3.225, 12.06)),
        _rung("06_local_column.cl", PrivateRow(32, CHUNK=1024)),
        _rung("07_float4_dot.cl", PrivateRow(32, VEC=4)),
        _rung("08_float4_row.cl", PrivateRow(32, VEC=4)),
        replace(
            _rung("09_float8_row.cl", PrivateRow(32, VEC=8), (7.273, 29.30)), published_with="its loads of B may differ"
        ),
    ),
    (PUBLICATION,),
    ORIGINALS,
)
