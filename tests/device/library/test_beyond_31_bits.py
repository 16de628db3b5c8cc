"""Operands of more than 2^31 elements: every element is where it belongs, beyond the reach of 32-bit indices too."""

from pathlib import Path

import numpy as np
import pytest

from tilewright import copy, matmul, transpose
from tilewright.core.operands import Layout
from tilewright.core.plan import plan_kernel
from tilewright.errors import Unsupported
from tilewright.kernels.copy import TRANSPOSE_UNALIGNED, StridedCopy
from tilewright.runtime.opencl.device import Device
from tilewright.runtime.run import LoadedPlan

ROWS, COLUMNS = 2**16 + 3, 2**15 + 5  # 2^31 and some hundred thousand elements, of a byte each
BYTES_FREE = 3 * ROWS * COLUMNS + 2**30  # operand, result, the comparison's own, and something to live on


def free_bytes() -> int:
    """What the system could still give without swapping; 0 if it does not tell."""
    path = Path("/proc/meminfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else 0


@pytest.fixture(scope="module")
def large() -> np.ndarray:
    """A matrix that repeats nothing within reach of a wrapped index."""
    if free_bytes() < BYTES_FREE:
        pytest.skip(f"needs {BYTES_FREE >> 20:,} MiB of free memory, {free_bytes() >> 20:,} are there")
    rows = np.random.default_rng(31).integers(-128, 128, (ROWS, 1), np.int8)
    columns = np.random.default_rng(32).integers(-128, 128, COLUMNS, np.int8)
    sums: np.ndarray = rows + columns  # wraps, as it may
    return sums


def fitting(device: Device) -> Device:
    limit = device.info.max_alloc_bytes
    if device.info.kind != "cpu" or limit < ROWS * COLUMNS:
        pytest.skip(f"{device.info.label} allows {limit:,} bytes in a buffer, {ROWS * COLUMNS:,} are needed")
    return device


def test_copies_and_transposes(large: np.ndarray, device: Device) -> None:
    queue = fitting(device).queue
    result = copy(large, queue=queue)
    assert np.array_equal(result, large)
    del result
    turned = transpose(large, queue=queue)
    for row in (0, 1, 2**14, COLUMNS - 1):
        assert np.array_equal(turned[row], large[:, row])
    assert np.array_equal(turned[:, -1], large[-1])


def test_lines_that_no_int_reaches_from_a_tiles_corner(device: Device) -> None:
    """The GPU's transpose of bytes, whose tiles count in ints where all of their lines are near: here they are not."""
    rows, columns, stride = 130, 140, 2**24 + 3
    if free_bytes() < 2 * rows * stride + 2**30 or fitting(device).info.max_alloc_bytes < rows * stride:
        pytest.skip(f"needs {rows * stride >> 20:,} MiB twice, and in one buffer")
    source = np.zeros(rows * stride, np.int8)
    wanted = np.random.default_rng(33).integers(-128, 128, (rows, columns), np.int8)
    for row in range(rows):
        source[row * stride : row * stride + columns] = wanted[row]
    move = StridedCopy(rows, columns, "int8", Layout(0, stride, 1), Layout(0, 1, rows + 1))
    buffers = {"input": device.allocate(source.nbytes), "output": device.allocate(columns * (rows + 1))}
    device.write(buffers["input"], source)
    loaded = LoadedPlan(plan_kernel(TRANSPOSE_UNALIGNED, move, device.info), device)
    loaded.bind(buffers)
    loaded.enqueue()
    device.finish("move")
    turned = device.read(buffers["output"], columns * (rows + 1), np.dtype(np.int8)).reshape(columns, rows + 1)
    assert np.array_equal(turned[:, :rows], wanted.T)


@pytest.mark.parametrize("n", [1, 3])
def test_products_by_a_tall_matrix(n: int, large: np.ndarray, device: Device) -> None:
    queue = fitting(device).queue
    b = np.random.default_rng(n).integers(-128, 128, (COLUMNS, n), np.int8)
    result = matmul(large, b, queue=queue)
    for row in (0, 1, ROWS // 2, 2**16, ROWS - 1):
        assert np.array_equal(result[row], large[row].astype(np.int64) @ b)
    turned = matmul(large.T, np.ones((ROWS, n), np.int8), queue=queue)
    for column in (0, 1, 2**14, COLUMNS - 1):
        assert np.array_equal(turned[column], np.full(n, large[:, column].astype(np.int64).sum()))


def test_a_side_of_more_than_31_bits_is_refused(device: Device) -> None:
    one = np.ones(1, np.float32)
    row, column = np.broadcast_to(one, (1, 2**31)), np.broadcast_to(one, (2**31, 1))
    with pytest.raises(Unsupported, match=r"K=2,147,483,648\b.*2,147,483,647"):
        matmul(row, column, queue=device.plain_queue)


def test_a_result_of_more_than_31_bits(device: Device) -> None:
    """A thin product whose C has 2^31 elements: float16, since a byte is no type of results."""
    needed = 2 * ROWS * COLUMNS
    if free_bytes() < needed + 2**30:
        pytest.skip(f"needs {(needed + 2**30) >> 20:,} MiB of free memory, {free_bytes() >> 20:,} are there")
    if device.info.kind != "cpu" or device.info.max_alloc_bytes < needed:
        pytest.skip(
            f"{device.info.label} allows {device.info.max_alloc_bytes:,} bytes in a buffer, {needed:,} are needed"
        )
    random = np.random.default_rng(16)
    a, b = random.integers(-9, 9, (ROWS, 1)).astype(np.float16), random.integers(-9, 9, (1, COLUMNS)).astype(np.float16)
    result = matmul(a, b, queue=device.queue)
    for row in (0, 2**15, 2**16, ROWS - 1):
        assert np.array_equal(result[row], a[row] * b[0])
