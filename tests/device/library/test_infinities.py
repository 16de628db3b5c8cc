"""Infinities and NaN come out where NumPy has them: wherever they stand, at every edge, in every way of reading, and with
factors of one."""

from dataclasses import replace

import numpy as np
import pytest

from tilewright import gemm, matmul
from tilewright.core.kernel import Kernel
from tilewright.core.operands import Layout
from tilewright.core.plan import Plan, plan_kernel
from tilewright.core.problem import Gemm, StridedGemm
from tilewright.core.types import numpy_dtype
from tilewright.dispatch.choice import plan_product
from tilewright.kernels.product.gemv.kernels import COLUMNS, ROWS
from tilewright.kernels.product.portable.config import PortableConfig
from tilewright.kernels.product.portable.kernels import TILES
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan

FLOATS = ("float16", "bfloat16", "float32", "float64", "float8_e5m2", "complex64", "complex128")
SPECIAL = (np.inf, -np.inf, np.nan)
ROWS_OF_A = 5
LENGTHS = (1, 7, 17, 22, 33, 270)  # multiples of no vector but one of 2; 270 is longer than a run of 16 vectors
RESULT = {"float8_e5m2": "float32"}


def finite(generator: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers of magnitude 0.5 to 1.5 that every type holds, and among the real ones some zeros."""

    def numbers() -> np.ndarray:
        return generator.choice((-1.5, -1.0, -0.5, 0.5, 1.0, 1.5), shape)

    if dtype.startswith("complex"):
        return (numbers() + 1j * numbers()).astype(dtype)
    return np.where(generator.random(shape) < 0.1, 0, numbers()).astype(numpy_dtype(dtype))


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def product_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A times B by one multiplication of NumPy's for each pair of elements, which no BLAS scales by 1 + 0j."""
    with np.errstate(invalid="ignore"):
        return np.asarray((wide(a)[..., :, :, None] * wide(b)[..., None, :, :]).sum(axis=-2))


def classes(array: np.ndarray) -> np.ndarray:
    """0 for a finite number, 1 and -1 for the infinities, 2 for NaN; parts of complex numbers each by itself."""
    parts = wide(array).view(np.float64) if np.iscomplexobj(array) else wide(array)
    return np.where(np.isnan(parts), 2, np.where(np.isinf(parts), np.sign(parts), 0))


def assert_same_classes(result: np.ndarray, expected: np.ndarray, what: str) -> None:
    wrong = classes(result) != classes(expected)
    first = tuple(np.argwhere(wrong)[0]) if wrong.any() else ()
    assert not wrong.any(), f"{what}: {wrong.sum()} of {wrong.size} parts, the first at {first}"


def solved(made: Plan, buffers: dict[str, np.ndarray], count: int, device: Device) -> np.ndarray:
    """C, as many elements from its buffer's start, of operands that are given as they lie in memory."""
    problem = made.problem
    assert isinstance(problem, Gemm)
    result = numpy_dtype(problem.out_dtype or problem.dtype)
    held = {name: device.allocate(array.nbytes) for name, array in buffers.items()}
    for name, array in buffers.items():
        device.write(held[name], array.view(np.uint8))
    held["C"] = held.get("C") or device.allocate(count * result.itemsize)
    for name, nbytes in made.scratch.items():
        held[name] = device.zeroed(nbytes) if name in made.zeroed else device.allocate(nbytes)
    loaded = LoadedPlan(made, device)
    loaded.bind(held)
    loaded.enqueue()
    device.finish(problem.title)
    return device.read(held["C"], count, result)


def vector_case(
    length: int, dtype: str, way: str, special: complex
) -> tuple[StridedGemm, np.ndarray, np.ndarray, np.ndarray]:
    """As many products of a matrix and a vector as the vector has elements, each with `special` in another place: the
    problem, the flat buffer of A, A and the vectors. `way` is how the matrix is read."""
    generator = np.random.default_rng(length)
    step = 2 if way == "by element" else 1
    row, column = (1, ROWS_OF_A) if way == "along columns" else (step * length, step)
    flat = finite(generator, (ROWS_OF_A * length * step,), dtype)
    a = flat[np.arange(ROWS_OF_A)[:, None] * row + np.arange(length) * column]
    vectors = finite(generator, (length, length, 1), dtype)
    vectors[np.arange(length), np.arange(length), 0] = special
    views = (Layout(0, row, column, 0), Layout(0, 1, 1, length), Layout(0, 1, 1, ROWS_OF_A))
    problem = StridedGemm(ROWS_OF_A, 1, length, dtype, out_dtype=RESULT.get(dtype), batch=length, views=views)
    return problem, flat, a, vectors


@pytest.mark.parametrize("way", ["along rows", "along columns", "by element"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_in_every_place_of_a_vector(dtype: str, way: str, device: Device) -> None:
    for length in LENGTHS:
        for special in SPECIAL:
            problem, flat, a, vectors = vector_case(length, dtype, way, special)
            made = plan_product(problem, device.info)
            found = solved(made, {"A": flat, "B": vectors.reshape(-1)}, length * ROWS_OF_A, device)
            expected = product_of(a, vectors).reshape(-1)
            what = f"{special} in {length} elements of {dtype}, {way}, by {made.steps[-1].kernel.name}"
            assert_same_classes(found, expected, what)


def scattered(matrix: np.ndarray, special: complex, by_rows: bool) -> np.ndarray:
    """The matrix with a special number in each row, or in each column, in another place each."""
    made = matrix.copy()
    lines, length = made.shape if by_rows else made.shape[::-1]
    places = np.arange(lines) * 7 % length
    (made if by_rows else made.T)[np.arange(lines), places] = special
    return made


MATRICES = ((1, 1, 1), (5, 7, 3), (13, 33, 22), (40, 70, 31), (37, 41, 300), (26, 50, 600))
BLAS_FLOATS = ("float16", "float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("orders", ["row row", "column column"])
@pytest.mark.parametrize("dtype", BLAS_FLOATS)
def test_in_rows_and_columns_of_matrices(dtype: str, orders: str, device: Device) -> None:
    a_order, b_order = orders.split()
    for m, n, k in MATRICES:
        problem = Gemm(m, n, k, dtype, a_order, b_order)
        generator = np.random.default_rng(k)
        a, b = finite(generator, (m, k), dtype), finite(generator, (k, n), dtype)
        operands = problem.operands
        for left, right in ((scattered(a, np.inf, True), b), (a, scattered(b, -np.inf, False))):
            flat = {each.name: each.flatten(array) for each, array in zip(operands, (left, right), strict=False)}
            made = plan_product(problem, device.info)
            found = solved(made, flat, m * n, device)
            what = f"{problem.title} {orders} by {made.steps[-1].kernel.name}"
            assert_same_classes(found, product_of(left, right).reshape(-1), what)


SMALL = PortableConfig(32, 32, 8, 4, 4)
PORTABLE = (
    replace(TILES, config=SMALL),
    replace(TILES, config=replace(SMALL, split_k=4)),  # with reduce.cl
    ROWS,
    COLUMNS,
)


@pytest.mark.parametrize("kernel", PORTABLE, ids=lambda each: f"{each.name} {each.config}")
def test_by_the_kernels_for_gpus(kernel: Kernel, device: Device) -> None:
    generator = np.random.default_rng(1)
    n = 1 if kernel in (ROWS, COLUMNS) else 21
    problem = Gemm(37, n, 130, "complex64", a_order="column" if kernel is COLUMNS else "row")
    a, b = scattered(finite(generator, (37, 130), "complex64"), np.inf, True), finite(generator, (130, n), "complex64")
    made = plan_kernel(replace(kernel, smaller=()), problem, device.info)
    found = solved(made, {"A": problem.operands[0].flatten(a), "B": b.reshape(-1)}, 37 * n, device)
    assert_same_classes(found, product_of(a, b).reshape(-1), f"{problem.title} by {kernel.name}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_factors_of_one_and_infinities_in_c(dtype: str, device: Device) -> None:
    """beta = 1 adds C as it is, and so do the sums of one block of K to those of the blocks before."""
    generator = np.random.default_rng(2)
    for m, n, k in ((5, 7, 3), (40, 70, 31), (26, 50, 600), (30, 1, 40)):
        a, b, c = (finite(generator, shape, dtype) for shape in ((m, k), (k, n), (m, n)))
        c = scattered(c, np.inf, True)
        found = gemm(a, b, c, alpha=1, beta=1, queue=device.queue)
        with np.errstate(invalid="ignore"):
            assert_same_classes(found, product_of(a, b) + wide(c), f"{m}x{n}x{k} {dtype}")


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 7, 3), (33, 70, 600)])
def test_complex_factors_still_turn(shape: tuple[int, int, int], device: Device) -> None:
    m, n, k = shape
    generator = np.random.default_rng(3)
    a, b, c = (finite(generator, each, "complex64") for each in ((m, k), (k, n), (m, n)))
    for alpha, beta in ((2.0, 1.0), (-1j, 0.5), (0.5 - 2j, 1j), (1.0, 0.0)):
        found = gemm(a, b, c, alpha=alpha, beta=beta, queue=device.queue)
        expected = alpha * (wide(a) @ wide(b)) + beta * wide(c)
        assert np.abs(found - expected).max() <= 1e-5 * k


def test_one_infinite_complex_number(device: Device) -> None:
    found = matmul(np.array([[np.inf]], np.complex64), np.array([[2 + 3j]], np.complex64), queue=device.queue)
    assert_same_classes(found, np.array([[complex(np.inf, np.inf)]]), "infinity times 2 + 3j")
