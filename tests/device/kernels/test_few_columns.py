"""A matrix times a few columns on CPUs, where vectors run along k: ends of k and of rows, strides, epilogues, infinities."""

import numpy as np
import pytest
from thin_products import check, kernel_of, random_of

import tilewright
from tilewright.kernels.product.cpu import config_few_columns
from tilewright.runtime.opencl.device import Device

NAME = "cpu/few_columns"


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch, fresh_calls: None) -> None:
    """It is taken for any number of columns that it can do, whatever another kernel takes."""
    for name in ("WASTE", "CROWDED_WASTE", "STEPS"):
        monkeypatch.setattr(config_few_columns, name, 0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint64"])
@pytest.mark.parametrize(
    "size",
    [
        (2, 2, 128),
        (3, 5, 129),
        (37, 3, 143),
        (64, 9, 511),
        (1030, 13, 2049),
        (5, 3, 40000),
        (300, 13, 9001),
        (70, 29, 300),
    ],
    ids=str,
)
def test_ends_of_rows_columns_and_k(size: tuple[int, int, int], dtype: str, cpu: Device) -> None:
    m, n, k = size
    assert kernel_of(size, dtype, cpu) == NAME
    a, b = random_of((m, k), dtype, 1), random_of((k, n), dtype, 2)
    for placed in (b, np.asfortranarray(b), b[::-1, ::-1]):
        frame = np.full((m + 2, n + 3), 7, dtype)  # what lies around the result stays
        found = tilewright.matmul(a, placed, out=frame[1:-1, 1:-2], queue=cpu.queue)
        check(found, a, placed)
        frame[1:-1, 1:-2] = 7
        assert (frame == 7).all()


@pytest.mark.usefixtures("always")
def test_rows_with_gaps_results_by_columns_and_batches(cpu: Device) -> None:
    a, b = random_of((3, 70, 901), "float32", 3)[:, ::2, 5:], random_of((896, 6), "float32", 4)
    out = np.empty((3, 6, 35), np.float32)
    found = tilewright.matmul(a, b, out=out.transpose(0, 2, 1), queue=cpu.queue)
    for each in range(3):
        check(found[each], a[each], b)


@pytest.mark.usefixtures("always")
def test_an_epilogue(cpu: Device) -> None:
    a, b, c = (random_of(shape, "float64", 5) for shape in ((41, 300), (300, 7), (41, 7)))
    for bias in (random_of((7,), "float64", 6), random_of((41, 1), "float64", 7)):
        found = tilewright.gemm(a, b, c, alpha=0.5, beta=-2, bias=bias, activation="relu", queue=cpu.queue)
        np.testing.assert_allclose(found, np.maximum(0.5 * (a @ b) - 2 * c + bias, 0), atol=1e-12)


@pytest.mark.usefixtures("always")
def test_infinities_reach_their_own_rows_and_columns_alone(cpu: Device) -> None:
    """The last vector of k is read twice in part, and surplus rows and columns are computed."""
    k = 16 * 40 + 5
    for place in (0, k - 1, k - 5, k - 6, k - 16, k - 17):
        a, b = random_of((6, k), "float32", 8), random_of((k, 5), "float32", 9)
        a[5, place], b[place, 1], b[place, 4] = np.inf, 0, np.nan
        with np.errstate(invalid="ignore"):
            wanted = a @ b
            found = tilewright.matmul(a, b, queue=cpu.queue)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))


@pytest.mark.usefixtures("always")
def test_rows_of_a_part_have_the_bits_of_the_whole(cpu: Device) -> None:
    a, b = random_of((900, 3001), "float32", 10), random_of((3001, 9), "float32", 11)
    whole = tilewright.matmul(a, b, queue=cpu.queue)
    for rows in (2, 5, 333):
        part = tilewright.matmul(a[:rows], b, queue=cpu.queue)
        assert part.tobytes() == whole[:rows].tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_a_by_columns_is_read_as_it_lies(dtype: str, cpu: Device) -> None:
    """By few_columns_down.cl; what that does not take by the kernel of few rows, as the transposed product."""
    for m, n, k in ((300, 8, 300), (16, 16, 64), (500, 3, 1)):
        a, b = (random_of(shape, "float32", 12).astype(dtype) for shape in ((k, m), (k, n)))
        found = tilewright.matmul(a.T, b, queue=cpu.queue)
        np.testing.assert_allclose(found, a.T.astype("c16") @ b, rtol=1e-4, atol=1e-3)
    complexes = dtype.startswith("complex")
    wanted = "cpu/06_production" if complexes else "cpu/few_columns_down"
    assert kernel_of((300, 8, 300), dtype, cpu, "TN") == wanted


@pytest.mark.parametrize("k", [64, 200, 256])
def test_parts_that_another_kernel_multiplies_have_the_bits_of_the_whole(k: int, cpu: Device) -> None:
    """Both sum in ascending k: few rows of A by columns, and as many rows as another kernel takes for columns."""
    a, b = random_of((k, 900), "float32", 13).T, random_of((k, 9), "float32", 14)
    assert kernel_of((900, 9, k), "float32", cpu, "TN") == "cpu/few_columns_down"
    whole = tilewright.matmul(a, b, queue=cpu.queue)
    for rows in (3, 19, 100):
        assert kernel_of((rows, 9, k), "float32", cpu, "TN") == "cpu/06_production"
        assert tilewright.matmul(a[:rows], b, queue=cpu.queue).tobytes() == whole[:rows].tobytes()
    for n in (500, 514):
        a, b = random_of((40, k), "float32", 15), random_of((k, n), "float32", 16)
        assert kernel_of((40, n, k), "float32", cpu) == "cpu/06_production"
        whole = tilewright.matmul(a, b, queue=cpu.queue)
        for rows in (3, 19, 28):
            taken = kernel_of((rows, n, k), "float32", cpu)
            assert taken == ("cpu/06_production" if n == 514 and k >= 128 else "cpu/few_columns_down")
            assert tilewright.matmul(a[:rows], b, queue=cpu.queue).tobytes() == whole[:rows].tobytes()
