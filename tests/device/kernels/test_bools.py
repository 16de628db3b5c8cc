"""Products of bools by bits on CPUs: ends of rows, columns and k, layouts, stacks, bytes that are neither 0 nor 1, epilogues."""

import numpy as np
import pytest

import tilewright
from tilewright.core.plan import Plan
from tilewright.runtime.opencl.device import Device

NAME = "cpu/bools"
SIZES = [
    (1, 64, 1), (2, 65, 4), (5, 90, 7), (3, 70, 9), (200, 2, 77), (70, 257, 1000), (61, 1025, 513), (3, 5000, 17),
    (300, 100, 1500), (64, 64, 64), (259, 511, 1), (2, 4099, 520),
]  # fmt: skip
LAYOUTS = ("NN", "NT", "TN", "TT")


def kernel_of(size: tuple[int, int, int], device: Device, layout: str = "NN") -> str:
    found = tilewright.plan(size, dtype="bool", layout=layout, device=device.info.name)
    assert isinstance(found, Plan)
    return found.steps[-1].kernel.name


def random_of(rows: int, columns: int, share: float, seed: int, transposed: bool = False) -> np.ndarray:
    made = np.random.default_rng(seed).random((rows, columns)) < share
    return np.asfortranarray(made) if transposed else made


def wanted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By counting, in float64."""
    found: np.ndarray = (a.astype("f8") @ b.astype("f8")) > 0
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_end(size: tuple[int, int, int], layout: str, cpu: Device) -> None:
    m, n, k = size
    assert kernel_of(size, cpu, layout) == NAME
    for share in (1 / k, 0.03, 0.5):  # about one of k, few, and many
        a = random_of(m, k, share, 1, layout[0] == "T")
        b = random_of(k, n, share, 2, layout[1] == "T")
        frame = np.ones((m + 2, n + 3), np.bool_)  # what lies around the result stays
        frame[0, ::2] = False
        before = frame.copy()
        found = tilewright.matmul(a, b, out=frame[1:-1, 1:-2], queue=cpu.queue)
        np.testing.assert_array_equal(found, wanted(a, b))
        frame[1:-1, 1:-2] = before[1:-1, 1:-2]
        np.testing.assert_array_equal(frame, before)


def test_a_single_true_element_reaches_its_own_place_alone(cpu: Device) -> None:
    """Each column is a bit of its own: of any vector, byte and bit, in any block of k."""
    m, n, k = 5, 1100, 530
    for row, column, depth in ((0, 0, 0), (4, 1099, 529), (3, 255, 511), (2, 256, 512), (1, 1023, 8), (4, 1024, 7)):
        a, b = np.zeros((m, k), np.bool_), np.zeros((k, n), np.bool_)
        a[row, depth] = b[depth, column] = True
        for right in (b, np.asfortranarray(b)):
            found = tilewright.matmul(a, right, queue=cpu.queue)
            assert np.argwhere(found).tolist() == [[row, column]]


def test_gaps_negative_strides_stacks_and_results_by_columns(cpu: Device) -> None:
    a, b = random_of(80, 90, 0.05, 3), random_of(90, 300, 0.05, 4)
    for left, right in ((a[::2, ::-1], b[::-1, ::3]), (a[::-1, ::3], b[::3, ::-1]), (a[5:6], b), (a, b[:, 7:8])):
        np.testing.assert_array_equal(tilewright.matmul(left, right, queue=cpu.queue), wanted(left, right))
    stack = np.random.default_rng(5).random((3, 40, 90)) < 0.05
    out = np.empty((3, 300, 40), np.bool_)
    found = tilewright.matmul(stack, b, out=out.transpose(0, 2, 1), queue=cpu.queue)
    for each in range(3):
        np.testing.assert_array_equal(found[each], wanted(stack[each], b))
    gaps = np.ones((80, 600), np.bool_)
    np.testing.assert_array_equal(tilewright.matmul(a, b, out=gaps[:, ::2], queue=cpu.queue), wanted(a, b))
    assert gaps[:, 1::2].all()


def test_any_byte_that_is_not_zero_is_true(cpu: Device) -> None:
    """NumPy makes 0 and 1, but a view of other bytes is a bool, too."""
    bytes_of_a = np.random.default_rng(6).integers(0, 256, (33, 70)).astype(np.uint8)
    bytes_of_b = np.random.default_rng(7).integers(0, 256, (70, 290)).astype(np.uint8)
    for sparse in (bytes_of_a, bytes_of_b):
        sparse[np.random.default_rng(8).random(sparse.shape) < 0.9] = 0
    a, b = bytes_of_a.view(np.bool_), bytes_of_b.view(np.bool_)
    for right in (b, np.asfortranarray(bytes_of_b).view(np.bool_)):
        found = tilewright.matmul(a, right, queue=cpu.queue)
        np.testing.assert_array_equal(found, wanted(bytes_of_a != 0, bytes_of_b != 0))
        assert set(np.unique(found.view(np.uint8))) <= {0, 1}


def test_empty_products_are_false(cpu: Device) -> None:
    out = np.ones((4, 5), np.bool_)
    tilewright.matmul(np.ones((4, 0), np.bool_), np.ones((0, 5), np.bool_), out=out, queue=cpu.queue)
    assert not out.any()
    assert tilewright.matmul(np.ones((0, 3), np.bool_), np.ones((3, 5), np.bool_), queue=cpu.queue).shape == (0, 5)


def test_a_product_with_its_own_transpose(cpu: Device) -> None:
    a = random_of(130, 400, 0.02, 9)
    found = tilewright.matmul(a, a.T, queue=cpu.queue)
    np.testing.assert_array_equal(found, wanted(a, a.T))


def test_few_rows_and_columns_are_left_to_others(cpu: Device) -> None:
    assert kernel_of((16, 16, 5000), cpu) != NAME
    assert kernel_of((5000, 16, 16), cpu) == NAME  # as 16 rows of 5000 columns
    a, b = random_of(16, 5000, 0.01, 13), random_of(5000, 16, 0.01, 14)
    np.testing.assert_array_equal(tilewright.matmul(a, b, queue=cpu.queue), wanted(a, b))


def test_counts_and_sums_with_factors_are_left_to_others(cpu: Device) -> None:
    a, b = random_of(40, 60, 0.3, 10), random_of(60, 50, 0.3, 11)
    counts = tilewright.matmul(a, b, dtype="int32", queue=cpu.queue)
    np.testing.assert_array_equal(counts, a.astype("i4") @ b.astype("i4"))
    c = random_of(40, 50, 0.5, 12)
    either = tilewright.gemm(a, b, c, beta=1, queue=cpu.queue)
    np.testing.assert_array_equal(either, wanted(a, b) | c)
