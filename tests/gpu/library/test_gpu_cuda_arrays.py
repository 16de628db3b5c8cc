"""CUDA arrays of each framework on an NVIDIA GPU: right results, in the caller's stream, in graphs and from several threads."""

import ctypes
import threading
from typing import Any

import numpy as np
import pytest

from tilewright import copy, gemm, matmul, matrix_transpose, prepare, transpose
from tilewright.errors import InvalidInput, UnsupportedType
from tilewright.runtime.cuda.device import Device
from tilewright.runtime.cuda.driver import driver_calls

pytestmark = pytest.mark.usefixtures("cuda")
SHAPES = ((256, 256, 256), (37, 41, 31), (1, 512, 300), (512, 1, 300), (64, 64, 5000), (129, 3, 77), (2048, 1024, 512))


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    found.backends.cuda.matmul.allow_tf32 = False
    return found


def tensor(torch: Any, *shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    kind = getattr(torch, dtype)
    if dtype.startswith(("int", "uint")):
        return torch.randint(-100, 100, shape, device="cuda", generator=generator).to(kind)
    wide = torch.complex128 if dtype.startswith("complex") else torch.float64
    return torch.randn(shape, device="cuda", dtype=wide, generator=generator).to(kind)


BOUNDS = {"float32": 1e-5, "float64": 1e-13, "float16": 2e-3, "bfloat16": 2e-2, "complex64": 1e-5, "complex128": 1e-13}


def error(torch: Any, found: Any, a: Any, b: Any) -> float:
    wide = torch.complex128 if a.dtype.is_complex else torch.float64
    wanted = a.to(wide) @ b.to(wide)
    return float((found.to(wide) - wanted).abs().max() / (wanted.abs().max() + 1e-300))


@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("dtype", [*BOUNDS])
def test_products_of_tensors_are_right(dtype: str, layout: str, torch: Any) -> None:
    for m, n, k in SHAPES:
        a = tensor(torch, *((m, k) if layout[0] == "N" else (k, m)), dtype=dtype)
        b = tensor(torch, *((k, n) if layout[1] == "N" else (n, k)), dtype=dtype, seed=1)
        a, b = a if layout[0] == "N" else a.T, b if layout[1] == "N" else b.T
        found = matmul(a, b)
        assert found.dtype == a.dtype
        assert found.device == a.device
        assert error(torch, found, a, b) < BOUNDS[dtype], (m, n, k)
        out = torch.full_like(found, float("nan"))
        assert matmul(a, b, out) is out
        assert torch.equal(out, found)


def test_integers_and_narrow_floats(torch: Any) -> None:
    a, b = tensor(torch, 130, 70, dtype="int8"), tensor(torch, 70, 90, dtype="int8", seed=1)
    assert torch.equal(matmul(a, b).double(), a.double() @ b.double())
    a, b = tensor(torch, 130, 70, dtype="int32"), tensor(torch, 70, 90, dtype="int32", seed=1)
    assert torch.equal(matmul(a, b).double(), a.double() @ b.double())
    a, b = tensor(torch, 128, 256).to(torch.float8_e4m3fn), tensor(torch, 192, 256, seed=1).to(torch.float8_e4m3fn)
    wanted = a.double() @ b.double().T
    assert ((matmul(a, b.T).double() - wanted).abs() < 1e-3 * wanted.abs().max()).all()
    found = gemm(a, b, trans_b="T", scale_a=2.0, scale_b=tensor(torch, 192, seed=2), dtype="bfloat16")
    wanted = 2 * wanted * tensor(torch, 192, seed=2).double()
    assert ((found.double() - wanted).abs() < 1e-2 * wanted.abs().max()).all()


def test_stacks_views_and_the_epilogue(torch: Any) -> None:
    a, b = tensor(torch, 4, 3, 65, 70), tensor(torch, 3, 70, 50, seed=1)
    assert torch.allclose(matmul(a, b), a @ b, atol=1e-3)
    whole = tensor(torch, 300, 301)
    assert torch.allclose(matmul(whole[1:, 3:200], whole[7:204, ::2]), whole[1:, 3:200] @ whole[7:204, ::2], atol=1e-2)
    c, bias = tensor(torch, 65, 50, seed=2), tensor(torch, 50, seed=3)
    found = gemm(a[0, 0], b[0], c, alpha=0.5, beta=2, bias=bias, activation="silu")
    assert torch.allclose(found, torch.nn.functional.silu(0.5 * a[0, 0] @ b[0] + 2 * c + bias), atol=1e-3)
    gemm(a[0, 0], b[0], c, beta=1, out=c)
    assert torch.allclose(c, a[0, 0] @ b[0] + tensor(torch, 65, 50, seed=2), atol=1e-3)


def test_copies_and_transposes(torch: Any) -> None:
    for dtype in ("float32", "float16", "int8", "complex128", "bool", "bfloat16"):
        a = tensor(torch, 5, 130, 67).to(getattr(torch, dtype))
        assert torch.equal(copy(a[:, ::2]), a[:, ::2])
        assert torch.equal(transpose(a), a.permute(2, 1, 0))
        assert torch.equal(matrix_transpose(a), a.mT)
    square = tensor(torch, 257, 257)
    wanted = square.T.clone()
    assert transpose(square, square) is square
    assert torch.equal(square, wanted)


def test_lazy_conjugates_are_resolved(torch: Any) -> None:
    a, b = tensor(torch, 40, 30, dtype="complex64"), tensor(torch, 30, 20, dtype="complex64", seed=1)
    assert torch.allclose(matmul(a.T.conj().T, b.conj()), a.conj() @ b.conj(), atol=1e-3)


def test_precisions(torch: Any) -> None:
    a, b = tensor(torch, 2048, 2048), tensor(torch, 2048, 2048, seed=1)
    plain, split, tf32 = (error(torch, matmul(a, b, precision=each), a, b) for each in ("ieee", "fp32_split", "tf32"))
    assert split < 2 * plain
    assert plain < tf32 < 1e-3


def test_work_goes_to_the_current_stream(torch: Any) -> None:
    side = torch.cuda.Stream()
    a, b = tensor(torch, 2048, 2048), tensor(torch, 2048, 2048, seed=1)
    wanted = a @ b
    matmul(a, b)  # builds the program, which may take longer than the stream sleeps
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)
        early = torch.zeros_like(a)
        early.copy_(a)
        found = matmul(early, b)
        assert not side.query()  # the call did not wait
    side.synchronize()
    assert torch.allclose(found, wanted, atol=1e-2)
    out = torch.empty_like(found)
    matmul(a, b, out, queue=side)
    side.synchronize()
    assert torch.equal(out, found)


def test_a_queue_is_not_the_current_stream(torch: Any) -> None:
    side, other = torch.cuda.Stream(), torch.cuda.Stream()
    a, b = tensor(torch, 1024, 1024), tensor(torch, 1024, 1024, seed=1)
    wanted = a @ b
    torch.cuda.synchronize()
    for current in (side, torch.cuda.default_stream()):
        with torch.cuda.stream(current):
            for queue in (0, side, other, None, 0):
                found = matmul(a, b, queue=queue)
                torch.cuda.synchronize()
                assert torch.allclose(found, wanted, atol=1e-2)


def test_arrays_of_two_frameworks_wait_for_each_other(torch: Any) -> None:
    cupy = pytest.importorskip("cupy")
    a, b = tensor(torch, 1024, 1024), tensor(torch, 1024, 1024, seed=1)
    wanted = a @ b
    torch.cuda.synchronize()
    out, stream = torch.empty_like(a), cupy.cuda.Stream(non_blocking=True)
    with stream:
        other = cupy.asarray(b)
        stream.synchronize()
        matmul(other, other, out)
    assert torch.allclose(out, b @ b, atol=1e-2)
    assert torch.allclose(matmul(a, other), wanted, atol=1e-2)


@pytest.mark.parametrize("shape", [(512, 512, 512), (64, 64, 5000), (48, 1024, 4096), (37, 41, 31)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_calls_are_captured_in_graphs(dtype: str, shape: tuple[int, int, int], torch: Any) -> None:
    m, n, k = shape
    a, b = tensor(torch, m, k, dtype=dtype), tensor(torch, k, n, dtype=dtype, seed=1)
    out = torch.empty(m, n, device="cuda", dtype=a.dtype)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # the first call of these shapes: programs and scratch memory are made meanwhile
        matmul(a, b, out)
        twice = matmul(out, b) if n == k else None
    for seed in (5, 6):
        a.copy_(tensor(torch, m, k, dtype=dtype, seed=seed))
        for _ in range(3):
            matmul(b.T, b)  # other calls, with scratch memory of their own
        graph.replay()
        torch.cuda.synchronize()
        assert error(torch, out, a, b) < BOUNDS[dtype]
        if twice is not None:
            assert error(torch, twice, out, b) < 2 * BOUNDS[dtype]


def test_threads_have_their_own_launches(torch: Any) -> None:
    operands = [(tensor(torch, 300, 257, seed=seed), tensor(torch, 257, 129, seed=seed + 50)) for seed in range(8)]
    wrong: list[int] = []

    def work(place: int) -> None:
        a, b = operands[place]
        stream = torch.cuda.Stream() if place % 2 else torch.cuda.default_stream()
        with torch.cuda.stream(stream):
            stream.wait_stream(torch.cuda.default_stream())
            for _ in range(200):
                if error(torch, matmul(a, b), a, b) > 1e-5:
                    wrong.append(place)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_memory_that_is_given_back_early_is_safe(torch: Any) -> None:
    a, b = tensor(torch, 1024, 1024), tensor(torch, 1024, 1024, seed=1)
    wanted = matmul(a, b)
    for _ in range(50):
        found = matmul(a.clone(), b.clone())  # both copies are dropped while the product runs
        noise = torch.full((1024, 1024), 1e9, device="cuda")
        assert torch.equal(found, wanted)
        del noise


def test_calls_in_a_thread_with_another_context_or_none(torch: Any) -> None:
    """CUDA refuses launches on default streams there, and ready calls do not ask for the context before."""
    driver = driver_calls()
    create = driver.library["cuCtxCreate_v2"]
    own, other, none = (ctypes.c_void_p() for _ in range(3))
    driver.cuCtxGetCurrent(ctypes.byref(own))
    # Two launches with a sum over k, and one.
    sizes = [(64, 64, 5000), (48, 40, 56)]
    operands = [
        (tensor(torch, m, k), tensor(torch, k, n, seed=1), torch.empty(m, n, device="cuda")) for m, n, k in sizes
    ]
    for arrays in operands:
        for _ in range(3):
            matmul(*arrays)
    wanted = [arrays[2].clone() for arrays in operands]
    torch.cuda.synchronize()
    assert create(ctypes.byref(other), 0, 0) == 0
    try:
        for context in (other.value, own.value, None):
            for _, _, out in operands:
                driver.cuCtxSetCurrent(own.value)
                out.fill_(float("nan"))
            for arrays in operands:
                driver.cuCtxSetCurrent(context)
                matmul(*arrays)
                driver.cuCtxGetCurrent(ctypes.byref(none))
                assert none.value == context or (context is None and none.value == own.value)
            driver.cuCtxSetCurrent(own.value)
            for (_, _, out), expected in zip(operands, wanted, strict=True):
                assert torch.equal(out, expected)
    finally:
        driver.cuCtxSetCurrent(own.value)
        driver.library["cuCtxDestroy_v2"](other)


def test_prepared_products_on_streams_and_in_graphs(torch: Any) -> None:
    a, b, out = tensor(torch, 48, 56), tensor(torch, 56, 40, seed=1), torch.empty(48, 40, device="cuda")
    product, side = prepare(a, b, out), torch.cuda.Stream()
    for stream in (torch.cuda.default_stream(), side, torch.cuda.default_stream(), side):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            out.fill_(float("nan"))
            product(a, b, out)
            found = product(a, b)
        stream.synchronize()
        assert error(torch, out, a, b) < 1e-5
        assert torch.equal(found, out)
    for seed in (3, 4):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            product(a, b, out)
        a.copy_(tensor(torch, 48, 56, seed=seed))
        out.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert error(torch, out, a, b) < 1e-5
        product(a, b, out)
        torch.cuda.synchronize()
        assert error(torch, out, a, b) < 1e-5


def test_gradients_are_not_lost_silently(torch: Any) -> None:
    a, b = tensor(torch, 8, 8).requires_grad_(), tensor(torch, 8, 8)
    with pytest.raises(InvalidInput, match=r"a requires grad.*tilewright\.torch"):
        matmul(a, b)
    with torch.no_grad():
        assert not matmul(a, b).requires_grad
    with pytest.raises(InvalidInput, match="out requires grad"), torch.no_grad():
        matmul(b, b, a)
    saved = (tensor(torch, 8, 8).requires_grad_() * b).exp()
    matmul(b, b, saved.detach())  # the product that a backward pass needs is overwritten
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_what_cannot_be_is_refused(torch: Any) -> None:
    a = tensor(torch, 8, 8)
    with pytest.raises(InvalidInput, match="host's memory"):
        matmul(a, a.cpu())
    for _ in range(3):  # a ready call of such arrays takes none of the host's
        matmul(a, a, a.clone())
    for operands in ((a, a.cpu()), (a, a, a.cpu()), (a, a.to("meta"))):
        with pytest.raises((InvalidInput, UnsupportedType)):
            matmul(*operands)
    with pytest.raises(UnsupportedType, match="layout"):
        matmul(a, a.to_sparse())
    if torch.cuda.device_count() > 1:
        with pytest.raises(InvalidInput, match="is on GPU 1"):
            matmul(a, a.to("cuda:1"))
        other = torch.cuda.Stream(device=1)
        with pytest.raises(InvalidInput, match="stream"):
            matmul(a, a, queue=other)


def test_several_gpus(torch: Any) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU is here")
    for ordinal in (1, 0, 1):
        a, b = tensor(torch, 500, 300).to(f"cuda:{ordinal}"), tensor(torch, 300, 200, seed=1).to(f"cuda:{ordinal}")
        found = matmul(a, b)
        assert found.device.index == ordinal
        assert error(torch, found, a, b) < 1e-5
        assert torch.cuda.current_device() == 0


def test_cupy(cuda: Device) -> None:
    cupy = pytest.importorskip("cupy")
    for dtype in ("float32", "float64", "float16", "complex64", "int32"):
        a, b = (cupy.asarray((np.random.default_rng(seed).random((120, 120)) * 9).astype(dtype)) for seed in (0, 1))
        found = matmul(a[::-1, 3:], b[3:])
        assert type(found) is cupy.ndarray
        assert cupy.allclose(found, a[::-1, 3:] @ b[3:], rtol=1e-2 if dtype == "float16" else 1e-4)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        out = cupy.zeros_like(a)
        matmul(a, b, out)
        graph_a = a.copy()
    stream.synchronize()
    assert cupy.array_equal(out, a @ b)
    with stream:
        stream.begin_capture()
        matmul(graph_a, b, out)
        graph = stream.end_capture()
        graph_a[...] = b
        graph.launch(stream)
    stream.synchronize()
    assert cupy.array_equal(out, b @ b)


def test_jax(cuda: Device) -> None:
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU here")
    for dtype in ("float32", "float16", "bfloat16"):
        a = jax.random.normal(jax.random.key(0), (300, 200), dtype)
        b = jax.random.normal(jax.random.key(1), (200, 150), dtype)
        found = matmul(a * 2, b)
        assert isinstance(found, jax.Array)
        wanted = np.asarray(a * 2).astype(np.float64) @ np.asarray(b).astype(np.float64)
        bound = 2e-2 if dtype == "bfloat16" else 1e-2 if dtype == "float16" else 1e-4
        assert np.allclose(np.asarray(found).astype(np.float64), wanted, atol=bound * abs(wanted).max())
        again = jax.jit(lambda x: x.sum())(found)
        assert np.isfinite(float(again))
    with pytest.raises(InvalidInput, match="cannot be written to"):
        matmul(a, b, a)


def test_numba(cuda: Device) -> None:
    numba_cuda = pytest.importorskip("numba.cuda")
    a, b = (np.random.default_rng(seed).random((70, 70), np.float32) for seed in (0, 1))
    own = numba_cuda.to_device(a), numba_cuda.to_device(b)
    found = matmul(*own)
    assert type(found).__name__ == "DeviceNDArray"
    assert np.allclose(found.copy_to_host(), a @ b, atol=1e-3)
    out = numba_cuda.device_array((70, 70), np.float32)
    matmul(*own, out)
    assert np.array_equal(out.copy_to_host(), found.copy_to_host())
