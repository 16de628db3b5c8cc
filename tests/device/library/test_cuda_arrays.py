"""The library on CUDA arrays, on a pretended GPU: shapes, strides, types, aliasing, `out`, and what is refused."""

import ctypes
import gc
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl.array
import pytest
from pretended_cuda import PretendedArray, PretendedArrays, PretendedDevice, PretendedKernel

import tilewright
from tilewright import copy, gemm, matmul, matrix_transpose, prepare, transpose
from tilewright.errors import InvalidInput, LaunchFailed, Unsupported, UnsupportedType
from tilewright.library import lookup, prepared, products, scratch
from tilewright.library.cuda_arrays import frameworks, of_others
from tilewright.library.cuda_arrays.array import CudaArray
from tilewright.library.cuda_arrays.dlpack import make_capsule, read_capsule
from tilewright.library.cuda_arrays.exported import CudaResult
from tilewright.library.memory import choice
from tilewright.library.memory import cuda as cuda_memory
from tilewright.library.memory.cuda_ready import CudaReady
from tilewright.library.memory.cuda_streams import change_watch, stream_key
from tilewright.runtime.cuda import driver
from tilewright.runtime.cuda.programs import Buffer
from tilewright.runtime.opencl.device import Device


class PretendedPointers:
    """CUDA's answer to which GPU an address is on."""

    def cuPointerGetAttribute(self, answer: Any, attribute: int, pointer: int) -> int:
        ctypes.cast(answer, ctypes.POINTER(ctypes.c_int))[0] = 0
        return 0

    def cuEventCreate(self, answer: Any, flags: int) -> int:
        answer._obj.value = 1
        return 0

    def cuEventRecord(self, event: int, stream: int) -> int:
        return 0

    def cuEventQuery(self, event: int) -> int:
        return 0

    def cuEventDestroy_v2(self, event: int) -> int:
        return 0


@pytest.fixture
def gpu(sharing_device: Device, monkeypatch: pytest.MonkeyPatch) -> PretendedDevice:
    made = PretendedDevice(sharing_device)
    for module in (of_others, cuda_memory):
        monkeypatch.setattr(module, "library_device", lambda ordinal: made)
    monkeypatch.setattr(of_others, "driver_calls", PretendedPointers)
    return made


@pytest.fixture
def framework(gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch) -> PretendedArrays:
    made = PretendedArrays(gpu)
    monkeypatch.setitem(frameworks._found, PretendedArray, made)
    monkeypatch.setattr(choice, "MEMORIES", choice.MEMORIES.copy())
    for module in (lookup, prepared, products):
        monkeypatch.setattr(module, "MEMORIES", choice.MEMORIES)
    return made


def values(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal(shape)
    return (found * 5).astype(dtype) if dtype.startswith("int") else found.astype(dtype)


def host(result: CudaResult) -> np.ndarray:
    """A result as a NumPy array over its own memory."""
    described = dict(result.__cuda_array_interface__)
    described.pop("stream")
    holder = type("Holder", (), {"__array_interface__": described, "owner": result})()
    return np.asarray(holder)


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


def general(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls that go the general way from now on."""
    gone: list[str] = []
    own = cuda_memory.CudaMemory.run

    def run(self: Any, *arguments: Any) -> None:
        gone.append("general")
        own(self, *arguments)

    monkeypatch.setattr(cuda_memory.CudaMemory, "run", run)
    return gone


@pytest.mark.parametrize("shapes", [((5, 7), (7, 3)), ((2, 3, 5, 7), (3, 7, 4)), ((64, 200), (200, 48))])
def test_later_calls_are_ready(
    shapes: Any, framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = general(monkeypatch)
    for seed in range(3):
        a, b = values(*shapes[0], seed=seed), values(*shapes[1], seed=seed + 9)
        found = matmul(gpu.own(a), gpu.own(b))
        assert isinstance(found, PretendedArray)
        assert np.allclose(found.array, a @ b, atol=1e-3)
        out = gpu.own(np.full((a @ b).shape, 7, np.float32))
        assert matmul(gpu.own(a), gpu.own(b), out) is out
        assert np.array_equal(out.array, found.array)
    assert len(gone) == 3  # the first of a class of arrays, then the first without and with `out`
    assert framework.overwritten == 5  # three general calls, and two ready ones with `out`


def test_a_ready_call_takes_no_other_layout_or_alignment(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    whole = values(40, 41)
    gpu.own(whole)
    for cut in (
        np.s_[:8, :8],
        np.s_[:8, 1:9],
        np.s_[3:11, 2:10],
        np.s_[:8, :16:2],
        np.s_[7::-1, :8],
        np.s_[5:13, 33:41],
    ):
        for _ in range(2):
            found = matmul(PretendedArray(whole[cut]), PretendedArray(whole[cut]))
            assert np.allclose(found.array, whole[cut] @ whole[cut], atol=1e-3)


def test_a_ready_call_does_not_overwrite_its_operands(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    whole = values(30, 16)
    gpu.own(whole)
    apart = gpu.own(np.zeros((16, 16), np.float32))
    for place in (slice(0, 16), slice(4, 20), slice(14, 30)):
        a = whole[:16].copy()
        matmul(PretendedArray(whole[:16]), PretendedArray(whole[:16]), apart)
        matmul(PretendedArray(whole[:16]), PretendedArray(whole[:16]), PretendedArray(whole[place]))
        assert np.allclose(whole[place], a @ a, atol=1e-2)
        whole[:] = values(30, 16)


def test_a_ready_call_has_an_epilogue(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    for seed in range(3):
        a, b, bias = values(6, 5, seed=seed), values(5, 4, seed=seed + 1), values(4, seed=seed + 2)
        found = gemm(gpu.own(a), gpu.own(b), bias=gpu.own(bias), activation="relu", alpha=3)
        assert np.allclose(found.array, np.maximum(3 * a @ b + bias, 0), atol=1e-3)
        c = values(6, 4, seed=seed + 3)
        wanted, own = a @ b + 2 * c, gpu.own(c)
        gemm(gpu.own(a), gpu.own(b), own, beta=2, out=own)
        assert np.allclose(c, wanted, atol=1e-3)


def test_a_ready_call_adds_c(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    for seed in range(3):
        a, c = values(8, 8, seed=seed), values(16, 8, seed=seed + 1)
        gpu.own(c)
        wanted = a @ a + 2 * c[:8]
        found = gemm(gpu.own(a), gpu.own(a), PretendedArray(c[:8]), beta=2)
        assert np.allclose(found.array, wanted, atol=1e-3)
        gemm(gpu.own(a), gpu.own(a), PretendedArray(c[:8]), beta=2, out=PretendedArray(c[4 * (seed % 2) :][:8]))
        assert np.allclose(c[4 * (seed % 2) :][:8], wanted, atol=1e-3)


def test_a_matrix_times_its_own_transpose(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    """Ready calls know whether operands begin at one address."""
    a, b = values(70, 41), np.asfortranarray(values(41, 70, seed=1))
    own, other = gpu.own(a), gpu.own(b)
    transposed = PretendedArray(own.array.T)
    for _ in range(3):
        for second, expected in ((transposed, a @ a.T), (other, a @ b)):
            got = matmul(own, second).array
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
        symmetric = gemm(own, own, trans_b="T").array
        assert np.array_equal(symmetric, symmetric.T)


def test_operands_that_begin_at_one_address_have_their_own_plan(
    framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan for others is right for them, too, but does twice the work."""
    whole, launched = gpu.launcher, list[Any]()

    def launcher(kernel: Any, *arguments: Any) -> Any:
        launch = whole(kernel, *arguments)

        def noted() -> int:
            launched.append(kernel)
            return launch()

        return noted

    monkeypatch.setattr(gpu, "launcher", launcher)
    own = gpu.own(values(70, 41))
    transposed, other = PretendedArray(own.array.T), gpu.own(np.asfortranarray(values(41, 70, seed=1)))
    kernels: dict[str, set[int]] = {"own": set(), "other": set()}
    for _ in range(4):
        for name, second in (("other", other), ("own", transposed)):
            launched.clear()
            matmul(own, second)
            kernels[name] |= set(map(id, launched))
    assert kernels["own"]
    assert kernels["other"]
    assert not kernels["own"] & kernels["other"]


def test_a_prepared_product_takes_cuda_arrays(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    a, b, bias = values(6, 5), values(5, 4, seed=1), values(4, seed=2)
    product = prepare(gpu.own(a), gpu.own(b), bias=gpu.own(bias), alpha=3)
    assert "through copies" not in repr(product)
    for seed in range(3):
        a, out = values(6, 5, seed=seed), values(6, 4)
        wanted = 3 * a @ b + bias
        found = product(gpu.own(a), gpu.own(b), bias=gpu.own(bias))
        assert np.allclose(found.array, wanted, atol=1e-3)
        product(gpu.own(a), gpu.own(b), gpu.own(out), bias=gpu.own(bias))
        assert np.allclose(out, wanted, atol=1e-3)
    with pytest.raises(
        InvalidInput, match=r"a is pretended_cuda float32 \(4, 5\).*prepared for pretended_cuda float32 \(6, 5\)"
    ):
        product(gpu.own(values(4, 5)), gpu.own(b), bias=gpu.own(bias))
    with pytest.raises(InvalidInput, match="a is numpy float32"):
        product(a, gpu.own(b), bias=gpu.own(bias))
    square = values(8, 8)
    whole, wanted = prepare(gpu.own(square), gpu.own(square)), square @ square
    own = gpu.own(square)
    assert whole(own, own, own) is own
    assert np.allclose(square, wanted, atol=1e-3)


def test_no_array_of_the_caller_is_kept(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    a, b, bias = gpu.own(values(5, 6)), gpu.own(values(6, 7)), gpu.own(values(7))
    kept = [weakref.ref(each) for each in (a, b, bias)]
    for _ in range(3):
        found = gemm(a, b, bias=bias)
        kept.append(weakref.ref(found))
        gemm(a, b, bias=bias, out=found)
        transpose(a)
    prepared = tilewright.prepare(a, b, bias=bias)
    assert isinstance(prepared(a, b, bias=bias), PretendedArray)
    del a, b, bias, found
    framework._pending.clear()  # the operands of the last calls are kept until the next
    gc.collect()
    assert [each() for each in kept] == [None] * len(kept)


class PretendedStreams:
    """CUDA's answers about streams and contexts: `captures` has the captures' numbers by their streams, `context` is current.
    `numbers` has those of streams whose handle was another one's before."""

    def __init__(self) -> None:
        self.captures: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        self.context = 1
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
        counting = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64))
        self.library = {"cuStreamIsCapturing": kind(self._asked), "cuStreamGetId": counting(self._numbered)}

    def _asked(self, stream: int, status: Any) -> int:
        status[0] = int(stream in self.captures)
        return 0

    def _numbered(self, stream: int, number: Any) -> int:
        assert stream not in self.captures, "CUDA ends the capture"
        number[0] = self.numbers.get(stream, 1000 + stream)
        return 0

    def cuStreamGetId(self, stream: int, number: Any) -> int:
        assert stream not in self.captures, "CUDA ends the capture"
        number._obj.value = self.numbers.get(stream, 1000 + stream)
        return 0

    def cuStreamIsCapturing(self, stream: int, status: Any) -> int:
        status._obj.value = int(stream in self.captures)
        return 0

    def cuStreamGetCaptureInfo_v2(self, stream: int, status: Any, number: Any, *rest: Any) -> int:
        status._obj.value, number._obj.value = int(stream in self.captures), self.captures.get(stream, 0)
        return 0

    def cuStreamGetCtx(self, stream: int, context: Any) -> int:
        context._obj.value = 1
        return 0

    def cuCtxGetCurrent(self, answer: Any) -> int:
        answer._obj.value = self.context
        return 0


@pytest.fixture
def streams(gpu: PretendedDevice) -> PretendedStreams:
    made = PretendedStreams()
    gpu.driver = made  # type: ignore[assignment]
    return made


# The current stream, the `queue`, and the captures of streams.
PLACES = [
    (1, None, {}), (20, None, {}), (30, None, {}), (30, None, {30: 5}), (30, None, {30: 6}), (30, None, {20: 5}), (1, 20, {}),
    (20, 20, {}), (20, 1, {}), (20, 30, {}), (20, 30, {30: 7}), (20, 30, {30: 8}),
]  # fmt: skip


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("prepared_once", [False, True])
def test_a_ready_call_is_for_one_stream_and_one_capture(
    biased: bool, prepared_once: bool, framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    launched: list[tuple[int, dict[int, int]]] = []
    whole = gpu.launcher

    def launcher(kernel: Any, ndrange: Any, what: str, stream: int) -> Any:
        launch, seen = whole(kernel, ndrange, what, stream), (stream, dict(streams.captures))

        def noted() -> int:
            launched.append(seen)
            return launch()

        return noted

    monkeypatch.setattr(gpu, "launcher", launcher)
    gone = general(monkeypatch)
    a, b, bias = values(3, 5), values(5, 4, seed=1), values(4, seed=2)
    left, right, out = gpu.own(a), gpu.own(b), gpu.own(values(3, 4))
    added: dict[str, Any] = {"bias": gpu.own(bias)} if biased else {}
    wanted = a @ b + bias if biased else a @ b
    products: dict[int | None, Any] = {}
    matmul(left, right)  # which makes the kind of arrays known
    for new in (True, False):
        for current, queue, captures in PLACES:
            monkeypatch.setattr(framework, "current_stream", lambda *_, current=current: current)
            streams.captures = captures
            if prepared_once and queue not in products:
                products[queue] = prepare(left, right, out, queue=queue, **added)
                products[queue](left, right, out, **added)
            gone.clear()
            launched.clear()
            out.array.fill(np.nan)
            if prepared_once:
                products[queue](left, right, out, **added)
            elif biased:
                gemm(left, right, out=out, queue=queue, **added)
            else:
                matmul(left, right, out, queue=queue)
            assert np.allclose(out.array, wanted, atol=1e-4)
            stream = current if queue is None else queue
            assert [each for each, _ in launched] == [stream]
            # Launches of a captured call are its own: they were made while that capture went on.
            assert launched[0][1].get(stream) == captures.get(stream)
            if not new:
                assert gone == [], (current, queue, captures)


def test_a_stream_with_the_handle_of_a_destroyed_one_has_scratch_memory_of_its_own(
    framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The destroyed one's last kernel may still be running."""
    gpu.info = replace(gpu.info, kind="gpu", features=frozenset({"gpu"}), sub_group_width=32)
    taken: list[int] = []
    whole = gpu.allocate

    def allocate(nbytes: int) -> Any:
        taken.append(nbytes)
        return whole(nbytes)

    monkeypatch.setattr(gpu, "allocate", allocate)  # which `zeroed` calls, too
    monkeypatch.setattr(framework, "current_stream", lambda *_: 30)
    one, other = values(16, 4096), values(4096, 16, seed=1)
    a, b, out = gpu.own(one), gpu.own(other), gpu.own(values(16, 16))
    product = prepare(a, b, out)
    assert product.plans[0].scratch
    for first, call in ((10, partial(matmul, a, b, out)), (20, partial(product, a, b, out))):
        streams.numbers = {30: first}
        call()
        for number, is_new in ((first, False), (first + 1, True), (first + 1, False), (first, False)):
            streams.numbers = {30: number}
            taken.clear()
            out.array.fill(np.nan)
            call()
            assert np.allclose(out.array, one @ other, atol=1e-3)
            assert bool(taken) is is_new, number


class Owner:
    """What owns a buffer."""


@pytest.fixture
def live(gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """The bytes of each buffer that the GPU has allocated, by its address, until nothing owns it. It computes split sums."""
    gpu.info = replace(gpu.info, kind="gpu", features=frozenset({"gpu"}), sub_group_width=32)
    found: dict[int, int] = {}
    allocate = gpu.allocate

    def noted(nbytes: int) -> Buffer:
        made, owner = allocate(nbytes), Owner()
        found[made.pointer] = nbytes
        weakref.finalize(owner, freed, made)
        return made._replace(owner=owner)

    def freed(made: Buffer) -> None:
        del found[made.pointer]
        gpu.known[:] = [each for each in gpu.known if each is not made.owner]  # whoever uses it now fails

    monkeypatch.setattr(gpu, "allocate", noted)
    return found


def split_sums(gpu: PretendedDevice, rows: int) -> tuple[Any, Any, Any, np.ndarray]:
    """Operands of a product with scratch memory, an array for the result, and its values."""
    one, other = values(rows, 4096), values(4096, 16, seed=rows)
    return gpu.own(one), gpu.own(other), gpu.own(values(rows, 16)), one @ other


@pytest.mark.parametrize("limit", [1, 2**28])
def test_a_graph_keeps_the_scratch_memory_of_its_launches(
    limit: int, framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, live: dict[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Above the limit each call had another buffer, and that of the first launch was freed while the graph had its address."""
    monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", limit)
    monkeypatch.setattr(framework, "current_stream", lambda *_: 30)
    streams.captures = {30: 5}
    bound: set[int] = set()
    set_arg = PretendedKernel.set_arg

    def noted(kernel: PretendedKernel, index: int, value: Any) -> None:
        if isinstance(value, Buffer) and value.pointer in live:
            bound.add(value.pointer)
        set_arg(kernel, index, value)

    monkeypatch.setattr(PretendedKernel, "set_arg", noted)
    a, b, out, wanted = split_sums(gpu, 16)
    for _ in range(3):
        matmul(a, b, out)
        assert np.allclose(out.array, wanted, atol=1e-3)
    whole = matmul(*split_sums(gpu, 8)[:3])
    assert whole.array.shape == (8, 16)
    assert len(bound) == 1, "the launches of a graph run one after the other, and share a buffer"
    vars(gpu.per_thread).clear()
    gc.collect()
    assert bound <= set(live)


@pytest.mark.parametrize("ready", ["matmul", "prepared"])
@pytest.mark.parametrize("share", [0.9, 1.5], ids=["not of the largest", "of all"])
@pytest.mark.parametrize("currents", [(0,), (30,), (20, 30)])
def test_ready_calls_keep_no_scratch_memory_beyond_the_limit(
    ready: str, currents: tuple[int, ...], share: float, framework: PretendedArrays, gpu: PretendedDevice,
    streams: PretendedStreams, live: dict[int, int], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each kept what it had been given, when others needed more, or took the room."""
    cases = [split_sums(gpu, rows) for rows in (16, 24, 32, 40, 48, 16)]
    largest = 0
    for each in cases:
        largest = max(largest, sum(prepare(*each[:3]).plans[0].scratch.values()))
    limit = int(largest * share)
    monkeypatch.setattr(scratch, "KEPT_SCRATCH_BYTES", limit)
    vars(gpu.per_thread).clear()
    choice.MEMORIES[PretendedArray]._threads.ready.clear()
    gc.collect()
    assert not live
    products: dict[tuple[int, int], Any] = {}
    for _ in range(3):
        for current in currents:
            monkeypatch.setattr(framework, "current_stream", lambda *_, current=current: current)
            for number, (a, b, out, wanted) in enumerate(cases):
                if ready == "prepared" and (number, current) not in products:
                    products[number, current] = prepare(a, b, out)
                call = products.get((number, current), matmul)
                for _ in range(2):
                    out.array.fill(np.nan)
                    call(a, b, out)
                    assert np.allclose(out.array, wanted, atol=1e-3)
                assert 0 < sum(live.values()) <= limit


@pytest.mark.parametrize("queue", [0, 30])
@pytest.mark.parametrize("has_scratch", [True, False])
def test_what_a_plain_call_watches(
    queue: int, has_scratch: bool, gpu: PretendedDevice, streams: PretendedStreams
) -> None:
    """The plain calls of this pretended GPU have no scratch memory."""
    kept = scratch.KeptScratch()
    memory = SimpleNamespace(queue=queue, scratch_key=stream_key(gpu, queue))  # type: ignore[arg-type]
    ready: Any = SimpleNamespace(
        _memory=memory, _device=gpu, _has_scratch=has_scratch, _kept_scratch=kept, _dropped=kept.dropped
    )
    watch = CudaReady._watch(ready)
    assert (watch is None) == (queue == 0 and not has_scratch)
    if watch is None:
        return
    assert not watch()
    streams.captures = {30: 5}
    assert watch() == (queue == 30)
    streams.captures = {}
    kept.dropped += 1
    assert watch() == has_scratch


def test_what_a_plain_call_watches_of_its_stream(gpu: PretendedDevice, streams: PretendedStreams) -> None:
    own = stream_key(gpu, 30)  # type: ignore[arg-type]
    assert own == (30, 1030, 0)
    with_scratch, without = (change_watch(gpu, own, has_scratch) for has_scratch in (True, False))  # type: ignore[arg-type]
    for numbers, captures, expected in (
        ({}, {}, (False, False)),
        ({30: 7}, {}, (True, False)),
        ({}, {30: 5}, (True, True)),
        ({20: 7}, {20: 5}, (False, False)),
    ):
        streams.numbers, streams.captures = numbers, captures
        assert (with_scratch(), without()) == expected
    assert stream_key(gpu, 1) == (1, 0, 0)  # type: ignore[arg-type]


def test_a_call_without_scratch_memory_runs_on_any_stream_with_its_handle(
    framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framework, "current_stream", lambda *_: 30)
    gone = general(monkeypatch)
    a, b = gpu.own(values(3, 5)), gpu.own(values(5, 4, seed=1))
    for _ in range(2):  # the first makes the kind of arrays known
        matmul(a, b)
    gone.clear()
    for number in (7, 8):
        streams.numbers = {30: number}
        assert np.allclose(matmul(a, b).array, a.array @ b.array, atol=1e-5)
    assert gone == []


def test_a_launch_in_another_context_is_made_in_ours(
    framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA refuses launches on default streams in other contexts, and in threads without one."""
    whole, entered = gpu.launcher, list[int]()

    def launcher(kernel: Any, ndrange: Any, what: str, stream: int) -> Any:
        launch = whole(kernel, ndrange, what, stream)
        return lambda: launch() if streams.context == 1 else 400

    @contextmanager
    def current() -> Iterator[PretendedStreams]:
        before, streams.context = streams.context, 1
        entered.append(before)
        yield streams
        streams.context = before

    monkeypatch.setattr(gpu, "launcher", launcher)
    monkeypatch.setattr(gpu, "current", current)
    a, c = values(8, 8), values(8, 8, seed=1)
    own, out, bias = gpu.own(a), gpu.own(values(8, 8)), gpu.own(values(8, seed=2))
    plain, other = partial(matmul, own, gpu.own(c), out), partial(gemm, own, own, bias=bias, out=out)
    for call, wanted in ((plain, a @ c), (other, a @ a + bias.array)):
        for context in (1, 1, 7, 0, 7, 1):
            streams.context = context
            entered.clear()
            out.array.fill(np.nan)
            call()
            assert np.allclose(out.array, wanted, atol=1e-4)
            assert streams.context == context
        assert entered == [], "a call in our context"


def test_a_launch_that_fails_is_an_error(
    framework: PretendedArrays, gpu: PretendedDevice, streams: PretendedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = 0
    monkeypatch.setattr(gpu, "launcher", lambda *_: lambda: status)
    names = SimpleNamespace(cuGetErrorName=lambda *_: 0, cuGetErrorString=lambda *_: 0)
    monkeypatch.setattr(driver, "driver_calls", lambda: names)
    a = gpu.own(values(8, 8))
    b, bias = gpu.own(values(8, 8)), gpu.own(values(8))
    for call in (partial(matmul, a, b), partial(gemm, a, b, bias=bias), partial(gemm, a, b, alpha=2)):
        status = 0
        for _ in range(3):
            call()
        status = 701
        with pytest.raises(LaunchFailed, match="701"):
            call()


def test_layouts_that_take_turns_are_all_ready(
    framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them have equal numbers of elements."""
    gone = general(monkeypatch)
    wholes = [values(64, 65, dtype=dtype) for dtype in ("float32", "float64", "int32")]
    for whole in wholes:
        gpu.own(whole)
    cuts = [np.s_[:8, :8], np.s_[:8, 1:9], np.s_[:8, :16:2], np.s_[:4, :16], np.s_[:16, :4], np.s_[7::-1, :8]]
    for turn in range(4):
        for cut in cuts:
            for whole in wholes:
                b = values(*reversed(whole[cut].shape), dtype=str(whole.dtype), seed=turn)
                found = matmul(PretendedArray(whole[cut]), gpu.own(b))
                assert found.array.dtype == whole.dtype
                assert np.allclose(found.array, whole[cut] @ b, atol=1e-3)
        if turn == 1:  # the very first call makes the kind of arrays known
            gone.clear()
    assert gone == []


def test_equal_addresses_are_told_apart_by_whose_they_are(framework: PretendedArrays, gpu: PretendedDevice) -> None:
    """A times its own transpose takes half the work; A times B, where B is the bias, too, does not."""
    memory = values(40, 40)
    a, own = values(40, 40, seed=1), gpu.own(memory)
    other, bias = gpu.own(a), PretendedArray(memory[0])
    for _ in range(3):
        found = gemm(own, own, trans_b="T", bias=gpu.own(memory[0].copy())).array
        assert np.allclose(found, memory @ memory.T + memory[0], atol=1e-3)
        found = gemm(other, own, trans_b="T", bias=bias).array
        assert np.allclose(found, a @ memory.T + memory[0], atol=1e-3)


def test_a_call_from_within_a_call_changes_none_of_its_addresses(
    framework: PretendedArrays, gpu: PretendedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a destructor, which Python may run wherever memory is allocated."""
    a, b, other = gpu.own(values(8, 8)), gpu.own(values(8, 8, seed=1)), gpu.own(values(8, 8, seed=2))
    bias, inside = gpu.own(values(8, seed=3)), list[Any]()
    whole = framework.maker

    def maker(*arguments: Any) -> Any:
        make = whole(*arguments)

        def made() -> Any:
            for call in inside[:]:
                inside.clear()
                call()
            return make()

        return made

    monkeypatch.setattr(framework, "maker", maker)
    for product, added in ((matmul, 0.0), (partial(gemm, bias=bias), bias.array)):
        for _ in range(2):
            product(a, b)
        inside.append(partial(product, other, other))
        found = product(a, b).array
        assert not inside
        assert np.allclose(found, a.array @ b.array + added, atol=1e-4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("prepared_once", [False, True])
def test_forks_run_no_ready_calls(prepared_once: bool, framework: PretendedArrays, gpu: PretendedDevice) -> None:
    gpu.info = replace(gpu.info, platform="NVIDIA CUDA")
    a, b, out = gpu.own(values(8, 8)), gpu.own(values(8, 8, seed=1)), gpu.own(np.zeros((8, 8), np.float32))
    product = prepare(a, b, out) if prepared_once else matmul
    for _ in range(3):
        product(a, b, out)
    out.array.fill(7)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            product(a, b, out)
        except LaunchFailed:
            status = 0 if (out.array == 7).all() else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
