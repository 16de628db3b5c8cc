"""The problems that `bench` measures, in sets by name."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..core.defaults import BENCHMARK_SETS, cpu_or_gpu
from ..core.in_place import InPlaceTranspose
from ..core.problem import Copy, Gemm, Problem, Transpose
from ..core.types import ELEMENT_TYPES, EXACT, FLOAT8
from ..errors import InvalidInput, UnknownName

LAYOUTS = {"NN": ("row", "row"), "NT": ("row", "column"), "TN": ("column", "row"), "TT": ("column", "column")}
SIZES = (16, 32, 64, 96, 127, 128, 192, 256, 384, 511, 512, 768, 1000, 1024, 1536, 2048, 4096)
SKINNY = ((64, 4096, 4096), (4096, 64, 4096), (4096, 4096, 64), (8192, 8192, 32), (1, 4096, 4096), (4096, 1, 4096))
# Products with few columns, or few rows, and the layouts in which they take different ways on CPUs.
FEW_COLUMNS = (
    *((4096, n, 4096, "NN") for n in (2, 4, 8, 16, 24, 32)), (4096, 4, 4096, "TN"), (4096, 16, 4096, "TN"),
    (4, 4096, 4096, "NT"), (16, 4096, 4096, "NT"), (4000, 4, 500, "NN"), (4000, 12, 500, "NN"), (4000, 8, 500, "TN"),
)  # fmt: skip
DECODE_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)
DECODERS = (
    (4096, 4096),
    (11008, 4096),
    (4096, 11008),
)  # N x K of the layers of a language model with 7 billion weights
# N x K of projections in several language models.
PREFILLS = ((7168, 2112), (7168, 16384), (4096, 7168), (24576, 1536), (32768, 512), (2048, 7168))
PREFILL_ROWS = (64, 128, 512, 4096, 8192)
BATCHES = (
    (512, 64), (128, 64), (32, 64), (512, 128), (256, 128), (32, 128), (128, 256), (64, 256), (32, 256), (64, 512), (32, 512)
)  # fmt: skip
# The type of a product, where it differs from the operands'. Language models store products of 8-bit floats as bfloat16.
STORED = {
    name: "bfloat16" if name in FLOAT8 else kind.result for name, kind in ELEMENT_TYPES.items() if kind.result != name
}
# Elements of 1, 2, 4, 8 and 16 bytes, each with the side of a square that is larger than an H200's L2.
ELEMENTS = {"int8": 8192, "float16": 8192, "float32": 6144, "float64": 4096, "complex128": 3072}


class Called(NamedTuple):
    """A product as programs make it: batch, m, n, k, and the letters of the operands' layouts."""

    what: str
    batch: int
    m: int
    n: int
    k: int
    layout: str = "NN"

    def __str__(self) -> str:
        stack = f"{self.batch} of " if self.batch > 1 else ""
        return f"{stack}{self.m} x {self.n} x {self.k} {self.layout}"


CALLED = (
    *(Called("square", 1, side, side, side) for side in (64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096)),
    *(Called("square", 1, side, side, side, layout) for side in (1024, 4096) for layout in ("NT", "TN")),
    Called("convolution", 1, 12544, 64, 147), Called("convolution", 1, 3136, 256, 64),
    Called("convolution", 1, 784, 512, 1152), Called("convolution", 1, 100000, 64, 64),
    Called("convolution", 1, 65536, 256, 256), Called("convolution", 1, 196, 1024, 2304),
    Called("attention", 256, 128, 128, 64, "NT"), Called("attention", 64, 1024, 1024, 128, "NT"),
    Called("attention", 64, 1024, 128, 1024), Called("attention", 32, 512, 512, 64, "NT"),
    Called("attention", 16, 2048, 64, 2048),
    *(Called("decoder", 1, rows, 6144, 4096, "NT") for rows in (1, 2, 4, 8, 16, 32, 48, 64)),
    Called("decoder", 1, 1, 14336, 4096, "NT"), Called("decoder", 1, 7, 14336, 4096, "NT"),
    Called("decoder", 1, 16, 4096, 14336, "NT"), Called("prefill", 1, 512, 4096, 4096, "NT"),
    Called("prefill", 1, 2048, 4096, 4096, "NT"), Called("prefill", 1, 128, 1024, 1024),
    Called("small", 4000, 31, 31, 31), Called("small", 1000, 16, 16, 16), Called("small", 512, 64, 64, 64),
    Called("small", 100, 100, 100, 100), Called("long", 1, 16, 16, 65536), Called("long", 1, 128, 128, 20000, "TN"),
    Called("long", 1, 32, 32, 16384), *(Called("prime", 1, side, side, side) for side in (127, 509, 1021, 2039)),
    Called("prime", 1, 1021, 2039, 4093), Called("prime", 1, 3001, 3001, 3001), Called("prime", 1, 997, 31, 1009),
    Called("odd", 1, 1000, 7777, 333), *(Called("thin", 1, 4096, n, 4096) for n in (1, 8, 32)),
    Called("thin", 1, 4096, 4096, 32), Called("thin", 1, 100, 4096, 100), Called("tall", 1, 20000, 100, 100),
    Called("tall", 1, 8192, 512, 512), Called("wide", 1, 512, 8192, 512),
)  # fmt: skip


MakeSet = Callable[[str], Iterator[Problem]]
SETS: dict[str, MakeSet] = {}


def benchmark_set(name: str) -> Callable[[MakeSet], MakeSet]:
    """Register a function of an element type as the set of that name. `bench`, `tune`, help and tests read SETS."""

    def entered(make: MakeSet) -> MakeSet:
        if name in SETS:
            raise InvalidInput(f"two benchmark sets are called {name!r}; give one of them another name")
        SETS[name] = make
        return make

    return entered


def product(m: int, n: int, k: int, dtype: str, letters: str = "NN", batch: int = 1) -> Gemm:
    """A product whose A and B are row-major ("N") or column-major ("T")."""
    return Gemm(m, n, k, dtype, *LAYOUTS[letters], out_dtype=STORED.get(dtype), batch=batch)


@benchmark_set("squares")
def squares(dtype: str) -> Iterator[Problem]:
    """Square products, of powers of two and of other sizes."""
    for n in (256, 512, 1000, 1024, 2048, 4096):
        yield product(n, n, n, dtype)


@benchmark_set("sizes")
def sizes(dtype: str) -> Iterator[Problem]:
    """Square products from 16 to 4096, for which a CPU takes 1 us to 1 s."""
    for n in SIZES:
        yield product(n, n, n, dtype)


@benchmark_set("quick")
def quick(dtype: str) -> Iterator[Problem]:
    """Some of the squares and of the products with short sides: two CPU cores need less than a minute."""
    for m, n, k in ((256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (64, 2048, 2048), (2048, 2048, 64)):
        yield product(m, n, k, dtype)
    yield product(1, 4096, 4096, dtype)
    yield product(4096, 1, 4096, dtype)


def default_sets(device_kind: str) -> tuple[str, ...]:
    """The sets that are measured if none are named."""
    return BENCHMARK_SETS[cpu_or_gpu(device_kind)]


@benchmark_set("layouts")
def layouts(dtype: str) -> Iterator[Problem]:
    """NN, NT, TN and TT at one size."""
    for letters in LAYOUTS:
        yield product(1024, 1024, 1024, dtype, letters)


@benchmark_set("skinny")
def skinny(dtype: str) -> Iterator[Problem]:
    """Products with one short side, and matrix-vector products."""
    for m, n, k in SKINNY:
        yield product(m, n, k, dtype)


@benchmark_set("columns")
def few_columns(dtype: str) -> Iterator[Problem]:
    """Products with few columns or few rows."""
    for m, n, k, letters in FEW_COLUMNS:
        yield product(m, n, k, dtype, letters)


@benchmark_set("large")
def large(dtype: str) -> Iterator[Problem]:
    """A square product that fills a GPU."""
    yield product(8192, 8192, 8192, dtype)


@benchmark_set("16k")
def squares_16k(dtype: str) -> Iterator[Problem]:
    """A square product whose operands are much larger than any cache."""
    yield product(16384, 16384, 16384, dtype)


@benchmark_set("sustained")
def sustained(dtype: str) -> Iterator[Problem]:
    """Squares that take much longer than a launch: for `--sustained`."""
    for n in (2048, 4096, 8192, 16384):
        yield product(n, n, n, dtype)


@benchmark_set("layouts-large")
def layouts_large(dtype: str) -> Iterator[Problem]:
    """A large square in the layouts NT, TN and TT."""
    for letters in ("NT", "TN", "TT"):
        yield product(8192, 8192, 8192, dtype, letters)


@benchmark_set("squares-nt")
def squares_nt(dtype: str) -> Iterator[Problem]:
    """Squares in the layout NT: both operands lie along k, which tensor cores need for 8-bit types."""
    for n in (1024, 2048, 4096, 8192):
        yield product(n, n, n, dtype, "NT")


@benchmark_set("unaligned")
def unaligned(dtype: str) -> Iterator[Problem]:
    """Sizes that are not multiples of a tile, with unaligned leading dimensions, and the next multiples."""
    for n in (4095, 4096, 4097, 4104, 5000, 5120):
        yield product(n, n, n, dtype)
    yield product(1000, 7777, 333, dtype)
    yield product(1000, 7784, 336, dtype)


@benchmark_set("llm-decode")
def llm_decode(dtype: str) -> Iterator[Problem]:
    """LLM decode shapes (small M), also in the layout NT, and with small N."""
    for n, k in DECODERS:
        for m in DECODE_ROWS:
            yield product(m, n, k, dtype)
    for m in DECODE_ROWS:
        yield product(m, 4096, 4096, dtype, "NT")
    for n in (1, 4, 16, 64):
        yield product(4096, n, 4096, dtype)


@benchmark_set("batched")
def batched(dtype: str) -> Iterator[Problem]:
    """Batches of small squares."""
    for batch, n in BATCHES:
        yield product(n, n, n, dtype, batch=batch)
    for batch, n in ((512, 64), (128, 128), (64, 256)):
        yield product(n, n, n, dtype, "NT", batch=batch)


@benchmark_set("gemv")
def gemv(dtype: str) -> Iterator[Problem]:
    """Matrix-vector products larger than any cache, and a copy for comparison."""
    for letters in ("NN", "TN"):
        yield product(8192, 1, 8192, dtype, letters)
    for letters in ("NN", "NT"):
        yield product(1, 8192, 8192, dtype, letters)
    yield Copy(8192, 8192, dtype)


@benchmark_set("llm-prefill")
def llm_prefill(dtype: str) -> Iterator[Problem]:
    """LLM prefill shapes, with row-major weights."""
    yield from _layers(dtype, "NN")


@benchmark_set("llm-prefill-nt")
def llm_prefill_nt(dtype: str) -> Iterator[Problem]:
    """LLM prefill shapes, with column-major weights."""
    yield from _layers(dtype, "NT")


def _layers(dtype: str, letters: str) -> Iterator[Problem]:
    for n, k in PREFILLS:
        for m in PREFILL_ROWS:
            yield product(m, n, k, dtype, letters)


@benchmark_set("dtypes")
def dtypes(dtype: str) -> Iterator[Problem]:
    """The same products in float32, float16, bfloat16 and int8. `--dtype` has no effect."""
    for n in (512, 1000, 1024, 2048):
        for each in ("float32", "float16", "bfloat16"):
            yield product(n, n, n, each)
        if n <= 1024:  # NumPy multiplies integers without a BLAS, which takes minutes
            yield product(n, n, n, "int8")


@benchmark_set("integers")
def integers(dtype: str) -> Iterator[Problem]:
    """Squares of every type of integers, and of bools. `--dtype` has no effect."""
    for n in (512, 1024):  # NumPy multiplies integers without a BLAS, which takes minutes
        for each in EXACT:
            yield product(n, n, n, each)


@benchmark_set("random")
def random_shapes(dtype: str, count: int = 1000, least_flops: int = 2**26) -> Iterator[Problem]:
    """Of `count` shapes with sides uniform in 1..2048, those with more than `least_flops` flops. Every run has the same."""
    generator = np.random.default_rng(2048)
    for m, n, k in generator.integers(1, 2049, (count, 3)).tolist():
        if 2 * m * n * k > least_flops:
            yield product(m, n, k, dtype)


@benchmark_set("calls")
def calls(dtype: str) -> Iterator[Problem]:
    """What networks and programs multiply in many calls: convolutions, attention, decoders, small, long, thin, odd."""
    for each in CALLED:
        yield product(each.m, each.n, each.k, dtype, each.layout, each.batch)


@benchmark_set("transposes")
def transposes(dtype: str) -> Iterator[Problem]:
    """Square transposes, and copies of the same size for comparison."""
    for n in (1024, 2048, 4096, 8192):
        yield Transpose(n, n, dtype)
        yield Copy(n, n, dtype)


@benchmark_set("copies-transposes")
def copies_transposes(dtype: str) -> Iterator[Problem]:
    """Copies and transposes of elements of 1 to 16 bytes: unaligned, batched, with an offset, in place. `--dtype` has no
    effect."""
    for each, side in ELEMENTS.items():
        yield Copy(side, side, each)
        yield Transpose(side, side, each)
        yield Transpose(side - 1, side + 1, each)
        yield Transpose(side, side, each, offset=5)
        yield Transpose(1000, 333, each, batch=100)
        yield InPlaceTranspose(side, each)
    yield Copy(1000, 333, "float32", batch=100)
    yield Transpose(512, 512, "float32", batch=64)
    yield InPlaceTranspose(5001)
    yield InPlaceTranspose(512, batch=64)


def problems_of(name: str, dtype: str) -> Iterator[Problem]:
    """The problems of a set. UnknownName lists the sets if the name is not one."""
    if name not in SETS:
        raise UnknownName("benchmark set", name, SETS)
    return SETS[name](dtype)
