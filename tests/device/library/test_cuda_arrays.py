"""The library on CUDA arrays, on a pretended GPU: shapes, strides, types, aliasing, `out`, and what is refused."""

from typing import Any

import numpy as np
import pyopencl.array
import pytest
from cuda_fixtures import host, values
from pretended_cuda import PretendedArray, PretendedDevice

from tilewright import copy, gemm, matmul, matrix_transpose, transpose
from tilewright.errors import InvalidInput, Unsupported, UnsupportedType
from tilewright.library.cuda_arrays.array import CudaArray
from tilewright.library.cuda_arrays.dlpack import make_capsule, read_capsule, tensor_of
from tilewright.library.cuda_arrays.exported import CudaResult
from tilewright.runtime.opencl.device import Device


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "complex64"])
@pytest.mark.parametrize(
    "shapes", [((5, 7), (7, 3)), ((1, 33), (33, 1)), ((64, 48), (48, 80)), ((2, 3, 5, 7), (3, 7, 4))]
)
def test_products_are_right(shapes: Any, dtype: str, gpu: PretendedDevice) -> None:
    a, b = (values(*shape, dtype=dtype, seed=seed) for seed, shape in enumerate(shapes))
    wide = np.complex128 if dtype == "complex64" else np.float64
    found = host(matmul(gpu.own(a), gpu.own(b)))
    assert found.dtype == np.dtype(dtype)
    assert np.allclose(found, a.astype(wide) @ b.astype(wide), atol=0.1 if dtype == "float16" else 1e-4)


@pytest.mark.parametrize(
    "cut", [np.s_[1:, 1:], np.s_[::-1, ::2], np.s_[3:9, :], np.s_[:, 5:6], np.s_[:0, :], np.s_[:, ::-3]]
)
def test_views_of_any_strides_and_offsets_are_read_in_place(cut: Any, gpu: PretendedDevice) -> None:
    whole = values(12, 13)
    gpu.own(whole)
    a = whole[cut]
    b = values(a.shape[1], 4, seed=1)
    assert np.allclose(host(matmul(PretendedArray(a), gpu.own(b))), a @ b, atol=1e-4)
    assert np.array_equal(host(copy(PretendedArray(a))), a)
    assert np.array_equal(host(transpose(PretendedArray(a))), a.T)


def test_vectors_and_stacks_follow_numpy(gpu: PretendedDevice) -> None:
    a, x, stack = values(6, 9), values(9, seed=1), values(3, 2, 9, 4, seed=2)
    one, vector, many = (gpu.own(each) for each in (a, x, stack))
    assert host(matmul(one, vector)).shape == (6,)
    assert np.allclose(host(matmul(vector, vector)), x @ x, atol=1e-4)
    assert np.allclose(host(matmul(one, many)), a @ stack, atol=1e-4)
    assert np.array_equal(host(matrix_transpose(many)), stack.swapaxes(-1, -2))


def test_the_epilogue_takes_cuda_arrays_and_numbers(gpu: PretendedDevice) -> None:
    a, b, c, bias = values(8, 5), values(7, 5, seed=1), values(8, 7, seed=2), values(7, seed=3)
    found = gemm(
        gpu.own(a), gpu.own(b), gpu.own(c), alpha=2, beta=-1.5, trans_b="T", bias=gpu.own(bias), activation="relu"
    )
    assert np.allclose(host(found), np.maximum(2 * a @ b.T - 1.5 * c + bias, 0), atol=1e-4)


def test_operands_of_other_types_are_converted_on_the_device(gpu: PretendedDevice) -> None:
    a, b = values(6, 5, dtype="int32"), values(5, 4, seed=1)
    found = host(matmul(gpu.own(a), gpu.own(b), dtype="float64"))
    assert found.dtype == np.float64
    assert np.allclose(found, a @ b.astype(np.float64), atol=1e-5)


def test_results_are_written_to_out(gpu: PretendedDevice) -> None:
    a, b, whole = values(8, 5), values(5, 6, seed=1), np.full((10, 20), 7.0, np.float32)
    gpu.own(whole)
    out = PretendedArray(whole[1:9, 2:14:2])
    assert matmul(gpu.own(a), gpu.own(b), out) is out
    assert np.allclose(whole[1:9, 2:14:2], a @ b, atol=1e-4)
    whole[1:9, 2:14:2] = 7
    assert (whole == 7).all()


@pytest.mark.parametrize("place", [np.s_[:], np.s_[2:18, :], np.s_[1:17, 1:17]])
def test_out_may_overlap_an_operand(place: Any, gpu: PretendedDevice) -> None:
    whole = values(20, 20)
    gpu.own(whole)
    out = whole[:16, :16] if place == np.s_[:] else whole[place][:16, :16]
    a = whole[:16, :16].copy()
    matmul(PretendedArray(whole[:16, :16]), PretendedArray(whole[:16, :16]), PretendedArray(out))
    assert np.allclose(out, a @ a, atol=1e-3)


def test_c_may_be_out(gpu: PretendedDevice) -> None:
    a, c = values(6, 6), values(6, 6, seed=1)
    wanted = a @ a + 2 * c
    taken = gpu.own(c)
    gemm(gpu.own(a), gpu.own(a), taken, beta=2, out=taken)
    assert np.allclose(c, wanted, atol=1e-4)
    gemm(gpu.own(a), gpu.own(a), PretendedArray(c), beta=0.5, out=PretendedArray(c))
    assert np.allclose(c, a @ a + wanted / 2, atol=1e-4)


def test_squares_are_transposed_in_place(gpu: PretendedDevice) -> None:
    a = values(33, 33)
    wanted, own = a.T.copy(), gpu.own(a)
    assert transpose(own, own) is own
    assert np.array_equal(a, wanted)


def test_no_elements_and_no_steps(gpu: PretendedDevice) -> None:
    assert host(matmul(gpu.own(values(0, 5)), gpu.own(values(5, 3)))).shape == (0, 3)
    assert (host(matmul(gpu.own(values(4, 0)), gpu.own(values(0, 3)))) == 0).all()


def test_what_cannot_be_is_refused_by_a_sentence(gpu: PretendedDevice) -> None:
    a = gpu.own(values(4, 4))
    cases: list[tuple[type[Exception], str, Any]] = [
        (InvalidInput, r"b \(\(4, 4\) float32\) lies in the host's memory", lambda: matmul(a, values(4, 4))),
        (InvalidInput, "out is a ndarray in the host's memory", lambda: matmul(a, a, values(4, 4))),
        (InvalidInput, "read-only", lambda: matmul(a, a, PretendedArray(a.array, read_only=True))),
        (InvalidInput, "leave it out", lambda: matmul(a, a, device="cpu")),
        (InvalidInput, "wait_for takes OpenCL's events", lambda: matmul(a, a, wait_for=[])),
        (InvalidInput, "pass a stream", lambda: matmul(a, a, queue="fast")),
        (InvalidInput, r"shape \(3, 3\)", lambda: matmul(a, a, gpu.own(values(3, 3)))),
        (UnsupportedType, "datetime64", lambda: matmul(gpu.own(np.zeros((4, 4), "M8[s]")), a)),
        (InvalidInput, "elements of out share", lambda: matmul(a, a, shared(gpu))),
    ]
    for error, words, call in cases:
        with pytest.raises(error, match=words):
            call()


def shared(gpu: PretendedDevice) -> PretendedArray:
    row = values(4)
    gpu.own(row)
    return PretendedArray(np.lib.stride_tricks.as_strided(row, (4, 4), (0, 4)))


def test_a_pyopencl_array_beside_a_cuda_array_is_refused(gpu: PretendedDevice, one_device: Device) -> None:
    other = pyopencl.array.to_device(one_device.queue, values(4, 4))
    with pytest.raises(InvalidInput, match="PyOpenCL array stands beside a CUDA array"):
        matmul(gpu.own(values(4, 4)), other)


def test_elements_that_are_not_aligned_are_refused(gpu: PretendedDevice) -> None:
    memory = np.zeros(200, np.uint8)
    gpu.own(memory)
    crooked = memory[2 : 2 + 64].view(np.float32).reshape(4, 4)
    with pytest.raises(Unsupported, match="no multiple"):
        matmul(PretendedArray(crooked), gpu.own(values(4, 4)))


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128", "bool", "bfloat16", "float8_e5m2"])
def test_capsules_hold_what_was_put_in(dtype: str) -> None:
    kind = np.dtype(getattr(pytest.importorskip("ml_dtypes"), dtype)) if "float" in dtype and dtype[0] != "f" else None
    kind = kind or (np.dtype(getattr(pytest.importorskip("ml_dtypes"), dtype)) if "8_" in dtype else np.dtype(dtype))
    owner = object()
    array = CudaArray(0x10_0000, (3, 1, 5), (10, 4, -2), kind, 1, owner)
    capsule = make_capsule(array)
    found = read_capsule(capsule, "a", "given")
    assert (found.pointer, found.shape, found.strides) == (array.pointer, array.shape, array.strides)
    assert (found.dtype, found.ordinal) == (kind, 1)
    assert found.given[0] == "given"


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "M8[s]"])
def test_the_array_interface_has_no_name_for_narrow_floats(dtype: str, gpu: PretendedDevice) -> None:
    """float8_e5m2 calls itself a float, as NumPy's do."""
    kind = np.dtype(dtype) if dtype == "M8[s]" else np.dtype(getattr(pytest.importorskip("ml_dtypes"), dtype))
    result = CudaResult(CudaArray(0x10_0000, (3,), (1,), kind, 0), gpu, 0)  # type: ignore[arg-type]
    assert not hasattr(result, "__cuda_array_interface__")


@pytest.mark.parametrize(("code", "bits", "lanes"), [(5, 32, 1), (2, 8, 1), (0, 4, 1), (2, 32, 4), (99, 32, 1)])
def test_elements_that_numpy_has_not_are_refused(code: int, bits: int, lanes: int) -> None:
    capsule = make_capsule(CudaArray(0x10_0000, (3,), (1,), np.dtype(np.float32), 0))
    tensor = tensor_of(capsule)
    tensor.code, tensor.bits, tensor.lanes = code, bits, lanes
    with pytest.raises(UnsupportedType, match=f"DLPack's type {code} with {bits} bits and {lanes} lanes"):
        read_capsule(capsule, "a", "given")
