"""What may be given for `out`: read-only arrays are never written, misaligned and aliased ones get the right result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest

from tilewright import copy, gemm, matmul, transpose
from tilewright.errors import InvalidInput, Unsupported
from tilewright.runtime.opencl.device import Device

RNG = np.random.default_rng(11)
A, B = RNG.standard_normal((3, 4), np.float32), RNG.standard_normal((4, 5), np.float32)


def read_only(shape: tuple[int, int]) -> np.ndarray:
    array = np.zeros(shape, np.float32)
    array.flags.writeable = False
    return array


def mapped(folder: Path, shape: tuple[int, int]) -> np.ndarray:
    np.zeros(shape, np.float32).tofile(folder / "zeros.bin")
    return np.memmap(folder / "zeros.bin", np.float32, "r", shape=shape)


READ_ONLY: dict[str, Callable[[tuple[int, int], Path], np.ndarray]] = {
    "bytes": lambda shape, folder: np.frombuffer(bytes(4 * shape[0] * shape[1]), np.float32).reshape(shape),
    "broadcast": lambda shape, folder: np.broadcast_to(np.float32(0), shape),
    "flag": lambda shape, folder: read_only(shape),
    "map": lambda shape, folder: mapped(folder, shape),
}


@pytest.mark.parametrize("kind", READ_ONLY)
def test_a_read_only_out_is_refused_and_stays_as_it_is(kind: str, one_device: Device, tmp_path: Path) -> None:
    """D3: immutable bytes were overwritten, and a read-only map killed the process."""
    queue = one_device.queue
    calls: dict[tuple[int, int], list[Callable[[Any], Any]]] = {
        (3, 5): [lambda out: matmul(A, B, out, queue=queue), lambda out: gemm(A, B, out=out, queue=queue)],
        (4, 3): [lambda out: transpose(A, out, queue=queue), lambda out: copy(A.T, out, queue=queue)],
    }
    for shape, each in calls.items():
        for call in each:
            out = READ_ONLY[kind](shape, tmp_path)
            with pytest.raises(ValueError, match="read-only"):
                call(out)
            assert not np.asarray(out).any()


def misaligned(shape: tuple[int, ...], dtype: Any, by: int = 1) -> np.ndarray:
    """An array of zeros that begins `by` bytes behind a multiple of 64."""
    kind = np.dtype(dtype)
    nbytes = int(np.prod(shape)) * kind.itemsize
    raw = np.zeros(nbytes + 128, np.uint8)
    first = -raw.__array_interface__["data"][0] % 64 + by
    array: np.ndarray = raw[first : first + nbytes].view(kind).reshape(shape)
    return array


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16", "bfloat16", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(24, 24), (1, 15), (15, 1)])
def test_a_misaligned_out_is_filled(shape: tuple[int, int], dtype: str, device: Device) -> None:
    """D4: the heap was corrupted, or the result went to a copy that nobody saw."""
    kind = np.dtype(getattr(ml_dtypes, dtype)) if dtype == "bfloat16" else np.dtype(dtype)
    a, b = np.ones((shape[0], 7), kind), np.ones((7, shape[1]), kind)
    offsets = {1, kind.itemsize // 2, 8} if kind.itemsize > 1 else {1}
    for by in sorted(offsets):
        out = misaligned(shape, kind, by)
        assert matmul(a, b, out, queue=device.queue) is out
        assert (out.astype(complex) == 7).all(), f"{by} bytes past a multiple of 64"


@pytest.mark.parametrize("dtype", ["M8[s]", "V8", "V16", "complex128", "u1,u1,u2"])
def test_elements_go_to_a_misaligned_out(dtype: str, device: Device) -> None:
    """D4: four times 1970 stood there."""
    source = np.arange(64, dtype=np.uint8).repeat(2)[:96].view(dtype)
    out = misaligned(source.shape, dtype)
    assert copy(source, out, queue=device.queue) is out
    assert out.tobytes() == source.tobytes()


def test_a_view_of_doubles_as_complex_numbers_is_no_whole_element(device: Device) -> None:
    """D4: NumPy calls complex128 aligned on 8 bytes; kernels load 16."""
    for begin in (0, 1):
        out = np.zeros(31)[begin : begin + 30].view(np.complex128).reshape(1, 15)
        matmul(np.ones((1, 1), complex), np.ones((1, 15), complex), out, queue=device.queue)
        assert (out == 1).all()


def test_an_out_whose_elements_share_memory_is_written_as_numpy_does(one_device: Device) -> None:
    base = np.zeros(5, np.float32)
    out = np.lib.stride_tricks.as_strided(base, (3, 5), (0, 4))
    matmul(A, B, out, queue=one_device.queue)
    assert np.allclose(base, (A @ B)[-1], atol=1e-5)
    on_device = cl_array.to_device(one_device.queue, base)
    shared = cl_array.Array(one_device.queue, (3, 5), np.float32, data=on_device.base_data, strides=(0, 4))
    with pytest.raises(InvalidInput, match=r"out.*\(3, 5\).*\(0, 4\)"):
        matmul(cl_array.to_device(one_device.queue, A), B, shared)


def test_interleaved_dimensions_that_share_nothing_are_taken(one_device: Device) -> None:
    """Elements 0, 3, 6 and 2, 5, 8: distinct, though no dimension lies behind the other."""
    queue = one_device.queue
    buffer = cl_array.zeros(queue, 16, np.float32)
    out = cl_array.Array(queue, (2, 3), np.float32, data=buffer.base_data, strides=(8, 12))
    matmul(cl_array.to_device(queue, A[:2]), B[:, :3].copy(), out)
    whole = buffer.get()
    assert np.allclose(whole[[0, 3, 6, 2, 5, 8]].reshape(2, 3), A[:2] @ B[:, :3], atol=1e-5)


def test_out_may_be_a_tuple_and_a_0d_array(device: Device) -> None:
    """D27: a scalar came back in place of out."""
    out = np.zeros((3, 5), np.float32)
    assert matmul(A, B, out=(out,), queue=device.queue) is out
    vector, zero_d = np.ones(3), np.zeros(())
    assert matmul(vector, vector, zero_d, queue=device.queue) is zero_d
    assert zero_d == 3
    for wrong in ((out, out), ()):
        with pytest.raises(InvalidInput, match=rf"out.*\b{len(wrong)}\b"):
            matmul(A, B, out=wrong, queue=device.queue)


@pytest.mark.parametrize("size", [30, 130, 450])
def test_c_may_be_a_view_of_out(size: int, device: Device) -> None:
    """D7: C was copied to where it was still to be read."""
    queue = device.queue
    ones = np.ones((size, 40), np.float32)
    start = RNG.random((size + 1, size), np.float32)
    on_device = cl_array.to_device(queue, ones)
    views: tuple[Callable[[Any], Any], ...] = (
        lambda x: x[:-1].T, lambda x: x[1:], lambda x: x[:-1][::-1], lambda x: x[:-1],
    )  # fmt: skip
    for view in views:
        for place in ("host", "device"):
            whole: Any = start.copy() if place == "host" else cl_array.to_device(queue, start)
            operand = ones if place == "host" else on_device
            gemm(operand, operand, view(whole), beta=1, trans_b="T", out=whole[:-1], queue=queue)
            result = whole if place == "host" else whole.get()
            assert np.allclose(result[:-1], 40 + view(start), atol=1e-4), place
            assert np.array_equal(result[-1], start[-1])


def test_out_may_be_a_sub_buffer_of_an_operand_or_its_parent(device: Device) -> None:
    """D8: the two buffers have different names and one memory."""
    queue, size = device.queue, 300
    values = RNG.standard_normal((size, size), np.float32)
    nbytes = values.nbytes
    for _ in range(3):
        parent = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, nbytes)
        whole = cl_array.Array(queue, values.shape, np.float32, data=parent)
        part = cl_array.Array(queue, values.shape, np.float32, data=parent.get_sub_region(0, nbytes))
        for operand, out in ((whole, part), (part, whole)):
            operand.set(values)
            assert np.allclose(matmul(operand, operand, out).get(), values @ values, atol=1e-3)
            operand.set(values)
            assert np.array_equal(transpose(operand, out).get(), values.T)


def test_a_buffer_for_reading_is_no_out(one_device: Device) -> None:
    buffer = cl.Buffer(one_device.context, cl.mem_flags.READ_ONLY, 60)
    out = cl_array.Array(one_device.queue, (3, 5), np.float32, data=buffer)
    with pytest.raises(InvalidInput, match="READ_ONLY"):
        matmul(cl_array.to_device(one_device.queue, A), B, out)


def test_a_refused_call_writes_nothing(one_device: Device) -> None:
    out = np.full((3, 5), 7, np.float32)
    calls: tuple[tuple[Callable[[], Any], str], ...] = (
        (lambda: matmul(A, B[:3], out), r"\(3, 4\) and \(3, 5\)"),
        (lambda: matmul(A * 1j, B, out), "out is float32.*complex64"),
        (lambda: gemm(A, B, out[:2], beta=1, out=out), r"\bc\b.*\(2, 5\).*\(3, 5\)"),
        (lambda: gemm(A, B, out, beta=1, bias=np.ones(4), out=out), r"bias.*\(4,\)"),
        (lambda: gemm(A, B, out, beta=1, alpha=1j, out=out), "alpha=1j.*float32"),
        (lambda: gemm(A, B, out * 1j, beta=1, out=out), "c is complex64.*float32"),
    )
    for call, words in calls:
        with pytest.raises(InvalidInput, match=words):
            call()
        assert (out == 7).all()


def test_a_sub_buffer_is_turned_in_place_by_its_parents_name(device: Device) -> None:
    """The launch had the offset of one array and the buffer of the other."""
    queue, size = device.queue, 40
    align = max(device.info.base_align_bytes, 16)
    values = RNG.standard_normal((size, size), np.float32)
    parent = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, align + values.nbytes)
    by_parent = cl_array.Array(queue, values.shape, np.float32, data=parent, offset=align)
    part = cl_array.Array(queue, values.shape, np.float32, data=parent.get_sub_region(align, values.nbytes))
    for a, out in ((part, by_parent), (by_parent, part)):
        part.set(values)
        assert transpose(a, out) is out
        assert np.array_equal(part.get(), values.T)


def test_a_call_refused_by_its_plan_writes_nothing(one_device: Device) -> None:
    """`c` went to `out` before the plan was made."""
    queue = one_device.queue
    buffer = cl_array.zeros(queue, 64, np.uint8)
    odd = cl_array.Array(queue, (3, 3), np.float32, data=buffer.base_data, offset=2)
    square = cl_array.to_device(queue, np.ones((3, 3), np.float32))
    out = cl_array.zeros(queue, (3, 3), np.float32)
    with pytest.raises(Unsupported, match=r"\b2\b.*\(12, 4\).*\b4\b"):
        gemm(odd, square, square, beta=1, out=out)
    with pytest.raises(InvalidInput, match=r"'fp32_split'.*float64"):
        gemm(square, square, square, beta=1, precision="fp32_split", dtype="float64", out=out)
    queue.finish()
    assert not out.get().any()
