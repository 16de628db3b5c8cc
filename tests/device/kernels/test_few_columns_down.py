"""A by columns times a few columns on CPUs, where vectors run down A: ends of rows, columns and k, epilogues, infinities."""

import numpy as np
import pytest
from thin_products import check, kernel_of, random_of

import tilewright
from tilewright.kernels.product.cpu.config_few_columns_down import CpuFewColumnsDownConfig
from tilewright.runtime.opencl.device import Device

NAME = "cpu/few_columns_down"


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch, fresh_calls: None) -> None:
    """It is taken for any number of columns that it can do, whatever another kernel takes."""
    monkeypatch.setattr(CpuFewColumnsDownConfig, "pays", lambda self, call: True)


SIZES = [
    (2, 2, 2), (3, 5, 129), (15, 4, 40), (16, 7, 40), (37, 3, 143), (63, 9, 65), (64, 6, 64), (65, 9, 511), (1030, 13, 257),
    (5, 3, 4000), (129, 32, 63), (300, 31, 130), (70, 29, 300), (9001, 2, 17),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint64"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_ends_of_rows_columns_and_k(size: tuple[int, int, int], dtype: str, cpu: Device) -> None:
    m, n, k = size
    assert kernel_of(size, dtype, cpu, "TN") == NAME
    a, b = random_of((k, m), dtype, 1).T, random_of((k, n), dtype, 2)
    for placed in (b, np.asfortranarray(b), b[::-1, ::-1]):
        frame = np.full((m + 2, n + 3), 7, dtype)  # what lies around the result stays
        found = tilewright.matmul(a, placed, out=frame[1:-1, 1:-2], queue=cpu.queue)
        check(found, a, placed)
        frame[1:-1, 1:-2] = 7
        assert (frame == 7).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_few_rows_are_the_transposed_product(size: tuple[int, int, int], dtype: str, cpu: Device) -> None:
    n, m, k = size
    if n > 32:
        assert kernel_of((m, n, k), dtype, cpu, "NN") == NAME
    a, b = random_of((m, k), dtype, 3), random_of((k, n + 3), dtype, 4)[:, 1:-2]
    frame = np.full((m + 2, n + 3), 7, dtype)
    check(tilewright.matmul(a, b, out=frame[1:-1, 1:-2], queue=cpu.queue), a, b)
    frame[1:-1, 1:-2] = 7
    assert (frame == 7).all()


def test_columns_with_gaps_results_by_columns_and_batches(cpu: Device) -> None:
    a, b = random_of((3, 350, 144), "float32", 3)[:, ::2, 5:].transpose(0, 2, 1), random_of((175, 6), "float32", 4)
    out = np.empty((3, 6, 139), np.float32)
    found = tilewright.matmul(a, b, out=out.transpose(0, 2, 1), queue=cpu.queue)
    for each in range(3):
        check(found[each], a[each], b)


def test_an_epilogue(cpu: Device) -> None:
    a, b, c = (random_of(shape, "float64", 5) for shape in ((300, 91), (300, 7), (91, 7)))
    for bias in (random_of((7,), "float64", 6), random_of((91, 1), "float64", 7)):
        found = tilewright.gemm(a.T, b, c, alpha=0.5, beta=-2, bias=bias, activation="relu", queue=cpu.queue)
        np.testing.assert_allclose(found, np.maximum(0.5 * (a.T @ b) - 2 * c + bias, 0), atol=1e-12)
        out = np.empty((7, 91)).T
        found = tilewright.gemm(a.T, b, c, alpha=0.5, beta=-2, bias=bias, activation="relu", queue=cpu.queue, out=out)
        np.testing.assert_allclose(found, np.maximum(0.5 * (a.T @ b) - 2 * c + bias, 0), atol=1e-12)


def test_infinities_reach_their_own_rows_and_columns_alone(cpu: Device) -> None:
    """Rows that are left over are copied, and their last vector ends with zeros."""
    for rows in (20, 70, 133):
        for place in (0, rows - 1, rows - 5, rows - 17):
            a, b = random_of((40, rows), "float32", 8).T, random_of((40, 5), "float32", 9)
            a[place, 3], b[3, 1], b[39, 4] = np.inf, 0, np.nan
            with np.errstate(invalid="ignore"):
                wanted = a @ b
                found = tilewright.matmul(a, b, queue=cpu.queue)
            np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
            np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))


def test_rows_of_a_part_have_the_bits_of_the_whole(cpu: Device) -> None:
    a, b = random_of((3001, 900), "float32", 10).T, random_of((3001, 9), "float32", 11)
    whole = tilewright.matmul(a, b, queue=cpu.queue)
    for rows in (2, 5, 19, 333):
        part = tilewright.matmul(a[:rows], b, queue=cpu.queue)
        assert part.tobytes() == whole[:rows].tobytes()
