"""`matmul(a, a.T)` and its like: half of the result is computed, and the other half has the same bits."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from pyopencl.array import to_device
from symmetric_products import is_mirrored, laid_out

import tilewright
from tilewright.core.types import numpy_dtype
from tilewright.library import numpy_first
from tilewright.library.memory.host import HostMemory
from tilewright.runtime.opencl.device import Device

BOUNDS = {"float32": 1e-6, "float64": 1e-15, "float16": 2e-3, "bfloat16": 1e-2, "complex64": 1e-6, "complex128": 1e-15}
SIZES = ((2, 1), (3, 5), (12, 16), (13, 40), (31, 33), (64, 600), (129, 17), (300, 300), (257, 1030))


class Subclass(np.ndarray):
    """As `np.memmap` and `np.matrix` are: its views have it as their base, not what it is a view of."""


@pytest.fixture
def queue(device: Device) -> cl.CommandQueue:
    return device.plain_queue


def elements(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    target = numpy_dtype(dtype)
    if target.kind in "iu":
        return generator.integers(-100 if target.kind == "i" else 0, 100, shape).astype(target)
    values = generator.standard_normal(shape)
    return (values + 1j * generator.standard_normal(shape) if target.kind == "c" else values).astype(target)


def exact(a: np.ndarray) -> np.ndarray:
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.int64 if a.dtype.kind in "iu" else np.float64)


def check(got: np.ndarray, a: np.ndarray, dtype: str, factor: float = 1) -> None:
    """Bitwise symmetric, and right for a @ a.T."""
    transposed = np.ascontiguousarray(got.swapaxes(-1, -2))
    assert np.ascontiguousarray(got).tobytes() == transposed.tobytes(), "not symmetric"
    wide = exact(a)
    expected = factor * (wide @ wide.swapaxes(-1, -2))
    if dtype not in BOUNDS:
        assert (got == expected.astype(got.dtype)).all()
        return
    size = abs(factor) * (np.abs(wide) @ np.abs(wide).swapaxes(-1, -2))
    assert (np.abs(got - expected) <= 4 * BOUNDS[dtype] * size).all()


@pytest.mark.parametrize("dtype", [*BOUNDS, "int32", "int64", "uint8", "int16"])
def test_sizes_and_types(dtype: str, queue: cl.CommandQueue) -> None:
    for n, k in SIZES:
        a = elements((n, k), dtype)
        check(tilewright.matmul(a, a.T, queue=queue), a, dtype)
        check(tilewright.matmul(a.T, a, queue=queue), a.T, dtype)
        check(tilewright.gemm(a, a, trans_b="T", alpha=3, queue=queue), a, dtype, 3)


def test_stacks_and_strides(queue: cl.CommandQueue) -> None:
    a = elements((3, 40, 30), "float32")
    for each in (a, a[:, ::2, ::-1], a.swapaxes(-1, -2), a[::2], np.broadcast_to(a[0], (4, 40, 30))):
        check(tilewright.matmul(each, each.swapaxes(-1, -2), queue=queue), each, "float32")
    one = np.broadcast_to(a[0, :1], (40, 30))
    check(tilewright.matmul(one, one.T, queue=queue), one, "float32")


@pytest.mark.parametrize("order", ["C", "F", "strided", "reversed"])
def test_out_of_any_strides(order: str, queue: cl.CommandQueue) -> None:
    a = elements((57, 200), "float32")
    whole = np.full((150, 180), np.nan, np.float32)
    out = {"C": np.empty((57, 57), np.float32), "F": np.empty((57, 57), np.float32, "F"), "strided": whole[3:117:2, 4:175:3],
           "reversed": whole[60:3:-1, 100:43:-1]}[order]  # fmt: skip
    for _ in range(2):
        out[...] = np.nan
        assert tilewright.matmul(a, a.T, out=out, queue=queue) is out
        check(out, a, "float32")
    out[...] = np.nan
    assert np.isnan(whole).all(), "something was written outside of out"


def test_out_may_be_the_operand_itself(queue: cl.CommandQueue) -> None:
    a = elements((50, 50), "float64")
    before = a.copy()
    tilewright.matmul(a, a.T, out=a, queue=queue)
    check(a, before, "float64")
    stack = elements((2, 20, 20), "float64")
    before = stack[0].copy()
    tilewright.matmul(stack[0], stack[0].T, out=stack[0].T, queue=queue)
    check(stack[0].T, before, "float64")


@pytest.mark.parametrize("n", [12, 70])
def test_epilogues(n: int, queue: cl.CommandQueue) -> None:
    a, c = elements((n, 33), "float32"), elements((n, n), "float32", 1)
    bias = elements((n,), "float32", 2)
    product = a.astype(np.float64) @ a.T.astype(np.float64)
    for got, expected in (
        (tilewright.gemm(a, a, c, trans_b="T", beta=-2, queue=queue), product - 2 * c),
        (tilewright.gemm(a, a, trans_b="T", bias=bias, queue=queue), product + bias),
        (tilewright.gemm(a, a, trans_b="T", bias=bias[:, None], queue=queue), product + bias[:, None]),
        (tilewright.gemm(a, a, trans_b="T", activation="relu", queue=queue), np.maximum(product, 0)),
        (tilewright.gemm(a, a, trans_b="T", alpha=0, queue=queue), 0 * product),
    ):
        assert np.abs(got - expected).max() < 1e-4
    halved = tilewright.gemm(a, a, trans_b="T", activation="gelu", queue=queue)
    assert np.array_equal(halved, halved.T)


def test_nan_and_infinities(queue: cl.CommandQueue) -> None:
    for n, k in ((40, 30), (300, 600)):
        a = elements((n, k), "float32")
        a[3, 4], a[7, 2], a[9, 2], a[11, 5] = np.nan, np.inf, -np.inf, 0
        got = tilewright.matmul(a, a.T, queue=queue)
        wide = a.astype(np.float64)
        np.testing.assert_allclose(got, wide @ wide.T, rtol=1e-3, atol=1e-3)
        assert np.array_equal(got, got.T, equal_nan=True)


def test_a_conjugate_transpose_is_no_transpose(queue: cl.CommandQueue) -> None:
    a = elements((30, 20), "complex64")
    for _ in range(2):
        assert np.abs(tilewright.gemm(a, a, trans_b="C", queue=queue) - a @ a.conj().T).max() < 1e-4
        check(tilewright.matmul(a, a.T, queue=queue), a, "complex64")
    both = tilewright.gemm(a, a, trans_a="C", trans_b="N", queue=queue)
    assert np.abs(both - a.conj().T @ a).max() < 1e-4


def called(a: Any, b: Any, call: Callable[..., Any]) -> None:
    for _ in range(2):
        assert np.abs(call(a, b) - a @ b).max() < 1e-4


def test_equal_shapes_of_other_memory_are_other_products(queue: cl.CommandQueue) -> None:
    """Keys of ready calls know where operands begin."""
    a = elements((40, 30), "float32")
    other = np.asfortranarray(elements((30, 40), "float32", 1))
    long = elements((41, 30), "float32", 2)
    pairs = [
        (a, a.T),
        (a, other),
        (long[:-1], long[1:].T),
        (long[1:], long[1:].T),
        (long[:-1], long[:-1].T),
        (a, other),
    ]
    prepared = tilewright.prepare(a, a.T, queue=queue)
    for order in (pairs, pairs[::-1]):
        for one, two in order:
            called(one, two, lambda x, y: tilewright.matmul(x, y, queue=queue))
            called(one, two, lambda x, y: tilewright.gemm(x, y, queue=queue))
            called(one, two, prepared)
    square = elements((30, 30), "float32", 3)
    called(square, square, lambda x, y: tilewright.matmul(x, y, queue=queue))
    called(square, square.T, lambda x, y: tilewright.matmul(x, y, queue=queue))


def test_device_arrays(queue: cl.CommandQueue) -> None:
    host = elements((65, 130), "float32")
    a = to_device(queue, host)
    other = to_device(queue, np.ascontiguousarray(elements((65, 130), "float32", 1)))
    for _ in range(2):
        check(tilewright.matmul(a, a.T).get(), host, "float32")
        check(tilewright.matmul(a.T, a).get(), host.T, "float32")
        got = tilewright.matmul(a, other.T).get()
        assert np.abs(got - host @ other.get().T).max() < 1e-3
        upper = tilewright.matmul(a[:32], a[32:64].T).get()
        assert np.abs(upper - host[:32] @ host[32:64].T).max() < 1e-3


def test_the_library_plans_half(queue: cl.CommandQueue) -> None:
    a = elements((100, 64), "float32")
    assert tilewright.prepare(a, a.T, queue=queue).plans[0].problem.symmetric  # type: ignore[attr-defined]
    assert tilewright.prepare(a, a, trans_b="T", queue=queue).plans[0].problem.symmetric  # type: ignore[attr-defined]
    for b in (a.T.copy(), a.T.copy("F")):
        assert not tilewright.prepare(a, b, queue=queue).plans[0].problem.symmetric  # type: ignore[attr-defined]
    c = np.zeros((100, 100), np.float32)
    assert not tilewright.prepare(a, a, c=c, beta=1, trans_b="T", queue=queue).plans[0].problem.symmetric  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_other_arrays_in_the_same_memory(dtype: str, tmp_path: Path) -> None:
    a = elements((203, 171), dtype)
    matrix, passed = a.view(Subclass), np.from_dlpack(a)
    kept = np.memmap(tmp_path / "a", dtype, "w+", shape=a.shape)
    kept[...] = a
    for left, right in ((matrix, matrix.T), (kept, kept.T), (np.asarray(kept), np.asarray(kept.T)), (a, passed.T)):
        for device in (None, "cpu"):
            for _ in range(2):
                check(np.asarray(tilewright.matmul(left, right, device=device)), a, dtype)
    check(np.asarray(tilewright.gemm(matrix, matrix, trans_b="T")), a, dtype)


@pytest.mark.parametrize("kind", ["a column", "a stack of columns", "swapped bytes", "no alignment"])
@pytest.mark.usefixtures("numpys")
def test_kept_calls_are_not_those_of_other_arrays_in_one_memory(kind: str) -> None:
    """NumPy's own product of these is not symmetric: a kept call of such shapes and types may not stand for them."""
    if "column" in kind:
        a = elements((11, 1) if kind == "a column" else (3, 11, 1), "complex64")
    else:
        a = elements((31, 36), "float64").astype(">f8" if kind == "swapped bytes" else "f8")
    if kind == "no alignment":
        a = np.frombuffer(b"1234" + a.tobytes(), np.uint8)[4:].view("f8").reshape(a.shape)
    others = [np.array(each, order="C") for each in (a, a.swapaxes(-1, -2))]
    for _ in range(3):
        tilewright.matmul(*others)
    assert numpy_first.NUMPYS
    one = a.view(Subclass)
    left, right = np.asarray(one), np.asarray(one.swapaxes(-1, -2))
    assert left.base is not right.base
    assert numpy_first.numpys_key(left, right, None) not in numpy_first.NUMPYS
    for _ in range(3):
        found = tilewright.matmul(left, right)
        assert (found == found.swapaxes(-1, -2)).all()


def test_where_numpy_arrays_begin() -> None:
    a = elements((6, 8), "float32")
    lent = np.frombuffer(bytearray(96), np.float64).reshape(3, 4)
    whole = np.broadcast_to(a[0], (6, 8))
    matrix, passed = a.view(Subclass), np.from_dlpack(a)  # NumPy keeps other bases for their views
    for one, other in (
        (a, a),
        (a, a.T),
        (a.T, a),
        (a[1:], a[1:].T),
        (a[:, 1:], a[:, 1:].T),
        (lent, lent.T),
        (whole, whole.T),
        (np.asarray(matrix), np.asarray(matrix.T)),
        (a, passed.T),
        (passed, a.T),
    ):
        assert HostMemory.one_place(one, other)
    others = ((a, a.copy()), (a, a[::-1].T), (a[1:], a[:-1].T), (a[:, ::-1], a.T), (a[:, 1:], a[:, :-1].T), (a, lent))
    for one, other in (*others, (np.asarray(matrix), a[1:].T), (a[1:], passed[:-1].T)):
        assert not HostMemory.one_place(one, other)


def test_no_steps_and_no_rows(queue: cl.CommandQueue) -> None:
    for n, k in ((3, 0), (0, 3), (1, 0), (1, 4)):
        a = elements((n, k), "float32")
        for _ in range(2):
            check(tilewright.matmul(a, a.T, queue=queue), a, "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_operands_that_are_copied_first(dtype: str, queue: cl.CommandQueue) -> None:
    """Both would be copied each by itself, and be two matrices then."""
    wider = {"float32": "float64", "complex64": "complex128"}.get(dtype)
    for shape in ((6, 6), (17, 5), (50, 70), (2, 33, 20)):
        for name, a in laid_out(elements(shape, dtype)).items():
            turned = a.swapaxes(-1, -2)
            assert is_mirrored(tilewright.matmul(a, turned, queue=queue)), (shape, name)
            assert is_mirrored(tilewright.gemm(a, a, trans_b="T", alpha=2, queue=queue)), (shape, name)
            if wider:
                assert is_mirrored(tilewright.matmul(a, turned, dtype=wider, queue=queue)), (shape, name, wider)


def test_stacks_that_are_copied_into_few_launches(queue: cl.CommandQueue) -> None:
    scattered = elements((9, 9, 2, 20, 30), "complex64")[::2, ::2, :, ::2, 1:17]
    many = np.broadcast_to(scattered[:, :, None], (5, 5, 3, 2, 10, 16))
    for _ in range(2):
        check(tilewright.matmul(many, many.swapaxes(-1, -2), queue=queue), many, "complex64")
    held = to_device(queue, elements((9, 9, 4, 20, 30), "complex64"))
    few = held[::2, ::2, :, ::2, 1:17]
    seen = held.get()[::2, ::2, :, ::2, 1:17]
    check(tilewright.matmul(few, few.transpose((0, 1, 2, 4, 3))).get(), seen, "complex64")


def test_one_memory_read_as_two_types(queue: cl.CommandQueue) -> None:
    a = elements((8, 6), "float32")
    b = a.T.view("int32")
    expected = a.astype(np.float64) @ b.astype(np.float64)
    assert np.allclose(tilewright.matmul(a, b, queue=queue), expected)
