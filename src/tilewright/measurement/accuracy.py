"""Measures the errors of each precision, on well- and ill-conditioned data, and those of the vendor's library."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..core.defaults import ACCURACY_SIZES, cpu_or_gpu
from ..core.precision import PRECISIONS
from ..core.problem import Gemm
from ..core.problems import check_memory
from ..core.records import Environment, load
from ..core.reference import float64_matmul
from ..core.types import FLOAT8, numpy_dtype
from ..dispatch.choice import plan_product
from ..dispatch.table_files import load_tables
from ..errors import InvalidInput
from ..runtime.environment import read_environment
from ..runtime.opencl.device import Device, open_device
from ..runtime.run import run_plan
from .baselines import Measurement
from .baselines.registry import baselines_for
from .progress import Announce, Estimate, silent

Array = np.ndarray
Generator = np.random.Generator
UNIT = 2.0**-24  # half the distance of 1 to the next float32: what one rounding may cost
OURS = "tilewright"


def normal(random: Generator, vectors: int, k: int) -> Array:
    """Normally distributed."""
    return random.normal(size=(vectors, k))


def uniform(random: Generator, vectors: int, k: int) -> Array:
    """Uniform between 0 and 1, so that nothing cancels."""
    return random.random((vectors, k))


def sparse(random: Generator, vectors: int, k: int) -> Array:
    """Normally distributed, negative ones replaced by zeros."""
    return np.maximum(random.normal(size=(vectors, k)), 0)


def wide(random: Generator, vectors: int, k: int) -> Array:
    """Magnitudes from 2^-40 to 2^40, evenly over the exponents."""
    return random.normal(size=(vectors, k)) * 2.0 ** random.integers(-40, 41, (vectors, k))


def rows_apart(random: Generator, vectors: int, k: int) -> Array:
    """Each row of A and column of B of its own magnitude, 2^-45 to 2^45."""
    return random.normal(size=(vectors, k)) * 2.0 ** random.integers(-45, 46, (vectors, 1))


def ill_conditioned(random: Generator, vectors: int, k: int) -> Array:
    """Rows that differ in their last bits alone: the matrices are nearly of rank 1."""
    return random.normal(size=(1, k)) * (1 + 1e-5 * random.normal(size=(vectors, k)))


def cancelling(random: Generator, vectors: int, k: int) -> Array:
    """Neighbours along k that cancel each other to 2^-20."""
    values = random.normal(size=(vectors, k))
    pairs = k // 2
    values[:, 1 : 2 * pairs : 2] = -values[:, : 2 * pairs : 2] * (1 + 2.0**-20)
    return values


def subnormal(random: Generator, vectors: int, k: int) -> Array:
    """A below the smallest normal float32, B large, so that products are normal."""
    return random.normal(size=(vectors, k)) * 1e-39


def outlier(random: Generator, vectors: int, k: int) -> Array:
    """Normally distributed after a first element of 400, next to whose product the others keep few bits."""
    values = random.normal(size=(vectors, k))
    values[:, :1] = 400
    return values


DATA: dict[str, Callable[[Generator, int, int], Array]] = {
    each.__name__.replace("_", " "): each
    for each in (normal, uniform, sparse, wide, rows_apart, ill_conditioned, cancelling, subnormal, outlier)
}
FLOAT8_DATA = ("normal", "uniform", "sparse", "outlier")  # what 8-bit floats can hold
FLOAT32_DATA = tuple(name for name in DATA if name != "outlier")


def data_for(dtype: str) -> tuple[str, ...]:
    """The kinds of data that a type is measured on."""
    return FLOAT8_DATA if dtype in FLOAT8 else FLOAT32_DATA


def operands(data: str, m: int, n: int, k: int, seed: int = 0, dtype: str = "float32") -> dict[str, Array]:
    """A (m x k) and B (k x n) of a kind of data in DATA. For "subnormal" only A is subnormal."""
    random = np.random.default_rng(seed)
    a, b = DATA[data](random, m, k), DATA[data](random, n, k).T
    if data == "cancelling":
        b = np.repeat(b[::2], 2, axis=0)[:k]  # both neighbours of A meet the same element of B
    if data == "subnormal":
        b = b * 2.0**200
    stored = numpy_dtype(dtype)
    return {"A": a.astype(np.float32).astype(stored), "B": np.ascontiguousarray(b, np.float32).astype(stored)}


@dataclass(frozen=True)
class ErrorRow:
    """The errors of one precision on one kind of data.

    `largest` is the largest error of an element relative to its |A||B|, in units of 2^-24. `normwise` is the error of the
    whole matrix in the Frobenius norm. `note` names the kernels, or the library, that computed it.
    """

    data: str
    mode: str
    by: str
    largest: float
    normwise: float
    note: str = ""


@dataclass(frozen=True)
class AccuracyRecord:
    """Errors on one device, for products of `size` (m, n, k)."""

    size: tuple[int, int, int]
    environment: Environment
    rows: tuple[ErrorRow, ...]
    dtype: str = "float32"


def default_size(device_kind: str) -> tuple[int, int, int]:
    """The size (m, n, k) if none is given."""
    return ACCURACY_SIZES[cpu_or_gpu(device_kind)]


def check_accuracy(size: tuple[int, int, int], dtype: str) -> None:
    """InvalidInput for a type or a size whose errors are not measured."""
    if dtype not in ("float32", *FLOAT8):
        raise InvalidInput(f"{dtype}: accuracy measures float32 and {' and '.join(FLOAT8)}")
    if min(size) < 1:
        raise InvalidInput(f"{'x'.join(map(str, size))}: an empty product has no errors; every size must be at least 1")


@np.errstate(all="ignore")  # subnormal operands, for example, are wanted, whatever the caller thinks of his own
def measure_accuracy(
    size: tuple[int, int, int] | None = None,
    device: str | Device | None = None,
    watch: Callable[[ErrorRow], None] = lambda row: None,
    dtype: str = "float32",
    announce: Announce = silent,
    keep: Callable[[AccuracyRecord], None] = lambda record: None,
    so_far: Callable[[AccuracyRecord], None] = lambda record: None,
) -> AccuracyRecord:
    """Multiply every kind of data in every precision of the device, and by cuBLAS or NumPy. Compare with float64.

    `size` is (m, n, k): 512, 512, 2048 on CPUs and 2048, 2048, 8192 on GPUs if left out. `dtype` is float32 or one of the
    8-bit floats; results are float32. `watch` gets each row, `announce` what is going on. If it ends early, `keep` gets the
    record of the rows until then. `so_far` gets the same after each kind of data.
    """
    check_accuracy(size or (1, 1, 1), dtype)
    opened = device if isinstance(device, Device) else open_device(device)
    size = size or default_size(opened.info.kind)
    check_memory(Gemm(*size, dtype, out_dtype="float32"), opened.info)
    rows: list[ErrorRow] = []

    def record() -> AccuracyRecord:
        return AccuracyRecord(size, read_environment(opened.info), tuple(rows), dtype)

    try:
        estimate = Estimate(announce, "kind of data", len(data_for(dtype)))
        for place, data in enumerate(data_for(dtype)):
            estimate.done(place)
            for row in _rows_of(data, size, dtype, opened):
                rows.append(row)
                watch(row)
            so_far(record())
        return record()
    except BaseException:  # a signal, too: keep what was measured
        if rows:
            keep(record())
        raise


def _rows_of(data: str, size: tuple[int, int, int], dtype: str, device: Device) -> Iterator[ErrorRow]:
    """The rows of one kind of data."""
    arrays = operands(data, *size, dtype=dtype)
    exact = float64_matmul(arrays["A"], arrays["B"])
    scale = float64_matmul(np.abs(arrays["A"]), np.abs(arrays["B"]))
    for mode, by, note, result in _results(size, dtype, arrays, device):
        error = np.abs(result.astype(np.float64) - exact)
        largest = float(np.max(error / np.maximum(scale, np.finfo(np.float64).tiny))) / UNIT
        yield ErrorRow(data, mode, by, largest, float(np.linalg.norm(error) / np.linalg.norm(exact)), note)


def _results(
    size: tuple[int, int, int], dtype: str, arrays: dict[str, Array], device: Device
) -> Iterator[tuple[str, str, str, Array]]:
    """The precision, who multiplied, by what, and the product."""
    for precision in ("", *(name for name, dtypes in PRECISIONS.items() if dtype in dtypes)):
        problem = Gemm(*size, dtype, out_dtype="float32", precision=precision)
        plan = plan_product(problem, device.info, load_tables())
        if precision and not any(step.kernel.precision == precision for step in plan.steps):
            continue  # the plan is that of "ieee", which has its own row
        result, _ = run_plan(plan, arrays, device)
        yield precision or "ieee", OURS, ", ".join(step.kernel.name for step in plan.steps), result
        for baseline, request in baselines_for(Measurement.ACCURACY, problem, device):
            with closing(baseline.make(request, arrays)) as ready:
                ready.run()
                yield precision or "ieee", baseline.name, ready.lesson, ready.result()


def load_accuracy(path: Path) -> AccuracyRecord:
    """Read a record; RecordError says what is wrong with the file."""
    return load(path, AccuracyRecord, "a record of accuracy")
