"""NumPy arrays on a device with memory of its own, which the devices here pretend to have: layouts, sizes and types."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from separate import PIECE, close

from tilewright import copy, gemm, matmul, transpose
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(31)
pytestmark = pytest.mark.usefixtures("limits")


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C order": lambda values: values,
    "Fortran order": np.asfortranarray,
    "every other column": lambda values: np.repeat(values, 2, axis=-1)[..., ::2],
    "every other row": lambda values: np.repeat(values, 2, axis=-2)[..., ::2, :],
    "a transposed view with gaps": lambda values: np.repeat(values.mT.copy(), 2, axis=-1)[..., ::2].mT,
    "backwards": lambda values: values[::-1, ::-1].copy()[::-1, ::-1],
    "at an odd byte": lambda values: shifted(values),
    "an odd distance of rows": lambda values: apart(values),
    "read-only": lambda values: read_only(values),
    "byte-swapped": lambda values: values.astype(values.dtype.newbyteorder()),
}


def shifted(values: np.ndarray) -> np.ndarray:
    made = np.zeros(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
    made[...] = values
    return made


def apart(values: np.ndarray) -> np.ndarray:
    """Rows a byte more apart than their elements need."""
    row = values.shape[1] * values.itemsize
    memory = np.zeros((values.shape[0], row + 1), np.uint8)
    made = np.ndarray(values.shape, values.dtype, memory.data, 0, (row + 1, values.itemsize))
    made[...] = values
    return made


def read_only(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values.flags.writeable = False
    return values


@pytest.mark.parametrize("view", VIEWS)
def test_operands_of_any_layout(view: str, device: Device) -> None:
    a, b = VIEWS[view](random(67, 131)), VIEWS[view](random(131, 83))
    for _ in range(2):
        assert close(matmul(a, b, queue=device.queue), a, b)
        assert np.array_equal(transpose(a, queue=device.queue), a.T)
        assert np.array_equal(copy(a, queue=device.queue), a)


@pytest.mark.parametrize("view", [each for each in VIEWS if each not in ("read-only", "byte-swapped")])
def test_out_of_any_layout(view: str, device: Device) -> None:
    a, b, c = random(67, 131), random(131, 83), random(67, 83)
    out = VIEWS[view](c.copy())
    for _ in range(2):
        out[...] = 7
        assert matmul(a, b, out, queue=device.queue) is out
        assert close(out, a, b)
        out[...] = c
        gemm(a, b, out, alpha=2, beta=-1, out=out, queue=device.queue)
        assert np.allclose(out, 2 * (a @ b) - c, atol=1e-3)
        gemm(a, b, c, alpha=2, beta=-1, out=out, queue=device.queue)
        assert np.allclose(out, 2 * (a @ b) - c, atol=1e-3)


def test_what_lies_between_the_rows_of_out_stays(device: Device) -> None:
    a, b = random(60, 40), random(40, 50)
    whole = random(120, 100)
    before = whole.copy()
    matmul(a, b, whole[::2, 25:75], queue=device.queue)
    assert close(whole[::2, 25:75], a, b)
    before[::2, 25:75] = whole[::2, 25:75]
    assert np.array_equal(whole, before)


@pytest.mark.parametrize(
    "count", [PIECE // 4 + step for step in (-1, 0, 1)] + [2 * PIECE // 4 + step for step in (-1, 0, 1)]
)
def test_sizes_around_a_piece(count: int, device: Device) -> None:
    values = random(count)
    for array in (values, np.repeat(values, 2)[::2], values[:, None], np.broadcast_to(values, (3, count))):
        assert np.array_equal(copy(array, queue=device.queue), array)
    assert np.array_equal(matmul(values[:, None], np.ones((1, 1), np.float32), queue=device.queue)[:, 0], values)


@pytest.mark.parametrize(
    "shape", [(0, 5), (5, 0), (0, 0), (), (1,), (3, 1, 2), (70, 3, 1, 70), (2, 5000, 3), (40, 30, 20)]
)
def test_shapes(shape: tuple[int, ...], device: Device) -> None:
    whole = random(*(2 * side for side in shape))
    array = whole[tuple(slice(None, None, 2) for _ in shape)]
    assert np.array_equal(copy(array, queue=device.queue), array)
    assert np.array_equal(transpose(array, queue=device.queue), array.T)
    every: Any = (..., *(slice(1, None, 2) for _ in shape))  # an array, also without dimensions
    out = np.full_like(whole, 9)[every]
    copy(array, out, queue=device.queue)
    assert np.array_equal(out, array)


@pytest.mark.parametrize(
    ("m", "n", "k"), [(0, 9, 300), (300, 0, 9), (90, 80, 0), (1, 1, 5000), (5000, 1, 1), (257, 1, 129)]
)
def test_ragged_and_empty_products(m: int, n: int, k: int, device: Device) -> None:
    a, b = random(m, k), random(k, n)
    for _ in range(2):
        found = matmul(a, b, queue=device.queue)
        assert found.shape == (m, n)
        assert close(found, a, b)


@pytest.mark.parametrize(
    "dtype", [ml_dtypes.bfloat16, np.float16, np.float64, np.complex64, np.complex128, np.int8, np.int32]
)
def test_types(dtype: Any, device: Device) -> None:
    a, b = ((4 * random(*shape)).astype(dtype) for shape in ((70, 90), (90, 110)))
    for left, right in ((a, b), (np.repeat(a, 2, axis=1)[:, ::2], b.T.copy().T)):
        found = matmul(left, right, queue=device.queue)
        if np.dtype(dtype).kind == "i":
            assert np.array_equal(found, a.astype(np.int32) @ b.astype(np.int32))
        else:
            assert np.allclose(
                found.astype(np.complex128), a.astype(np.complex128) @ b.astype(np.complex128), rtol=2e-2, atol=0.5
            )


@pytest.mark.parametrize("dtype", ["V16", "u1", "<M8[s]", "i2,i2", "?"])
def test_copies_of_other_elements(dtype: str, device: Device) -> None:
    kind = np.dtype(dtype)
    array = RNG.integers(0, 2, 60 * 70 * kind.itemsize, np.uint8).view(kind).reshape(60, 70)
    assert transpose(array, queue=device.queue).tobytes() == array.T.tobytes()
    assert copy(array[::2, ::3], queue=device.queue).tobytes() == array[::2, ::3].tobytes()


def test_out_that_overlaps_operands(device: Device) -> None:
    values, whole = random(60, 60), random(90, 60)
    a = values.copy()
    assert matmul(a, a, a, queue=device.queue) is a
    assert close(a, values, values)
    before = whole.copy()
    matmul(whole[:60], whole[30:], whole[15:75], queue=device.queue)
    assert close(whole[15:75], before[:60], before[30:])
    square = values.copy()
    transpose(square, square, queue=device.queue)
    assert np.array_equal(square, values.T)
    gaps = np.repeat(values, 2, axis=1)[:, ::2]
    transpose(gaps, gaps, queue=device.queue)
    assert np.array_equal(gaps, values.T)


def test_stacks(device: Device) -> None:
    a, b = random(5, 1, 40, 30), random(1, 7, 50, 30)
    found = matmul(a, b.mT, queue=device.queue)
    assert np.allclose(found, a @ b.mT, atol=1e-3)
    apart_ = random(40, 6, 30).swapaxes(0, 1)
    assert np.allclose(matmul(apart_, b[0, 0].T, queue=device.queue), apart_ @ b[0, 0].T, atol=1e-3)
