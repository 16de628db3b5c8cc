"""Products of blocks on NVIDIA GPUs: on one, the copies as well, and on two where there are two."""

from typing import Any

import pytest

from tilewright.blocks import gemm, matmul
from tilewright.blocks.cuda_copies import CudaCopies
from tilewright.blocks.panels import panels_of
from tilewright.errors import InvalidInput, Unsupported
from tilewright.library.memory.choice import memory_for
from tilewright.library.multiply import multiply
from tilewright.library.requests import Options, gemm_product

pytestmark = pytest.mark.usefixtures("cuda")
PLAIN = Options(1, 0, "N", "N", None, "same_kind", None, None)
LONG = 2_000_000_000  # cycles of a kernel that does nothing: some 1 s, enough for a busy host to enqueue what follows


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    found.backends.cuda.matmul.allow_tf32 = False
    return found


@pytest.fixture
def pair(torch: Any) -> tuple[int, int]:
    """Two GPUs."""
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    return 0, 1


def tensor(torch: Any, *shape: int, place: int = 0, dtype: str = "float32", seed: int = 0) -> Any:
    generator = torch.Generator(device=f"cuda:{place}").manual_seed(seed)
    found = torch.randn(shape, device=f"cuda:{place}", dtype=torch.float32, generator=generator)
    return found.to(getattr(torch, dtype))


def near(torch: Any, found: Any, a: Any, b: Any) -> bool:
    wanted = a.double() @ b.double().to(a.device)
    bound = 2e-3 if found.dtype == torch.float16 else 1e-5
    return float((found.double() - wanted).abs().max()) < bound * float(wanted.abs().max())


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_blocks_on_one_gpu(dtype: str, torch: Any) -> None:
    a = [tensor(torch, rows, 700, dtype=dtype, seed=rows) for rows in (300, 0, 129)]
    b = tensor(torch, 700, 3000, dtype=dtype, seed=1)
    for right in (b, [b, b.clone(), b]):
        found = matmul(a, right)
        assert [tuple(each.shape) for each in found] == [(300, 3000), (0, 3000), (129, 3000)]
        assert all(near(torch, got, left, b) for got, left in zip(found, a, strict=True) if left.numel())
    out = [torch.empty_like(each) for each in found]
    assert all(one is other for one, other in zip(matmul(a, b, out), out, strict=True))
    assert all(torch.equal(one, other) for one, other in zip(out, found, strict=True))


def test_cupys_arrays(torch: Any) -> None:
    cupy = pytest.importorskip("cupy")
    a = [cupy.asarray(tensor(torch, rows, 500, seed=rows)) for rows in (200, 77)]
    b, stream = cupy.asarray(tensor(torch, 500, 900, seed=1)), cupy.cuda.Stream(non_blocking=True)
    torch.cuda.synchronize()
    with stream:
        found = matmul(a, b + 1)
        bias = cupy.ones(900, cupy.float32)
        added = gemm(a, b + 1, bias=bias, activation="relu")
    stream.synchronize()
    for left, got, other in zip(a, found, added, strict=True):
        assert isinstance(got, cupy.ndarray)
        assert float(abs(got - left @ (b + 1)).max()) < 1e-2
        assert float(abs(other - cupy.maximum(left @ (b + 1) + 1, 0)).max()) < 1e-2


def test_b_may_be_freed_and_other_streams_wait(torch: Any) -> None:
    side = torch.cuda.Stream()
    a = [tensor(torch, rows, 1024, seed=rows) for rows in (512, 300)]
    wanted = tensor(torch, 1024, 2048, seed=1)
    matmul(a, wanted)  # compiles
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        b = torch.zeros_like(wanted)
        torch.cuda._sleep(LONG)
        b.copy_(wanted)
        found = matmul(a, b)
        assert not side.query()  # the call did not wait
        del b
        torch.full((1024, 2048), float("nan"), device="cuda")
    side.synchronize()
    assert all(near(torch, got, left, wanted) for got, left in zip(found, a, strict=True))


def through_copies(torch: Any, a: Any, b: Any, side: Any) -> Any:
    """The product in a stream `side` of panels that are copied from a GPU to itself, as they are from one to another."""
    home: Any = memory_for((b,), None, None, None)
    with torch.cuda.stream(side):
        receiver: Any = memory_for((a,), None, None, None)
        left = receiver.as_array(a, "a")
        target = receiver.empty((a.shape[0], b.shape[1]), left.dtype).given
        copies = CudaCopies("b", home.as_array(b, "b"), home, [receiver])
        copies.begin()
        for panel in panels_of(b.shape[1]):
            copies.send(panel)
            part = copies.taken(panel, receiver)
            seen = receiver.as_out(target[:, panel.begin : panel.end])
            multiply(receiver, gemm_product(receiver, (left, part, None, None, None, None), PLAIN), seen)
        copies.finish([receiver])
    return target


@pytest.mark.parametrize("cut", ["rows", "columns", "slice", "steps"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_copies_are_the_drivers_and_in_order(dtype: str, cut: str, torch: Any) -> None:
    """On one GPU, too: both commands of the driver, its events and streams."""
    whole, side = tensor(torch, 700, 8800, dtype=dtype, seed=1), torch.cuda.Stream()
    b = {"rows": whole, "columns": whole.T.contiguous().T, "slice": whole[:, 100:8300], "steps": whole[:, ::2]}[cut]
    a, wanted = tensor(torch, 300, 700, dtype=dtype), b.clone()
    torch.cuda.synchronize()
    through_copies(torch, a, b, side)  # compiles
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG)  # in b's stream
    b.mul_(2)
    found = through_copies(torch, a, b, side)
    b.zero_()  # in its stream: after the copies
    side.synchronize()
    assert near(torch, found, a, 2 * wanted)


def test_graphs_of_one_gpu(torch: Any) -> None:
    a = [tensor(torch, rows, 512, seed=rows) for rows in (256, 100)]
    b = tensor(torch, 512, 1024, seed=1)
    out = [torch.zeros((each.shape[0], 1024), device="cuda") for each in a]
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        matmul(a, b, out)
    b.mul_(3)
    graph.replay()
    torch.cuda.synchronize()
    assert all(near(torch, got, left, b) for got, left in zip(out, a, strict=True))


def test_tensors_that_require_grad(torch: Any) -> None:
    a, b = tensor(torch, 8, 8), tensor(torch, 8, 8, seed=1)
    out = torch.zeros((8, 8), device="cuda", requires_grad=True)
    with pytest.raises(InvalidInput, match="block 0: out requires grad"):
        matmul([a], b, [out])
    with pytest.raises(InvalidInput, match=r"a\[0\] requires grad"):
        matmul([a.clone().requires_grad_()], b)
    with pytest.raises(InvalidInput, match="numpy ndarray, which lies on no device"):
        matmul([a.cpu().numpy()], b)


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("home", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_one_b_reaches_another_gpu(dtype: str, home: int, by_columns: bool, torch: Any, pair: tuple[int, int]) -> None:
    a = [tensor(torch, 512 + place, 2048, place=place, dtype=dtype, seed=place) for place in (*pair, 1)]
    wanted = tensor(torch, 2048, 8192, place=home, dtype=dtype, seed=5)
    wanted = wanted.T.contiguous().T if by_columns else wanted
    streams = [torch.cuda.Stream(place) for place in pair]
    for place in pair:
        torch.cuda.synchronize(place)
    with torch.cuda.stream(streams[0]), torch.cuda.stream(streams[1]):
        for _ in range(3):
            with torch.cuda.device(home):
                b = torch.empty_like(wanted)
                torch.cuda._sleep(LONG)
            b.copy_(wanted)
            found = matmul(a, b)
            b.fill_(float("nan"))  # in its stream
            del b
            for place in pair:  # in memory that the copies had
                torch.full((2048, 8192), float("nan"), device=f"cuda:{place}", dtype=wanted.dtype)
            found = [each.clone() for each in found]
    for stream in streams:
        stream.synchronize()
    assert [each.device for each in found] == [each.device for each in a]
    assert all(near(torch, got, left, wanted) for got, left in zip(found, a, strict=True))
    replicas = [wanted.to(each.device) for each in a]
    assert all(near(torch, got, left, wanted) for got, left in zip(matmul(a, replicas), a, strict=True))


def test_the_epilogue_on_two_gpus(torch: Any, pair: tuple[int, int]) -> None:
    a = [tensor(torch, 300, 512, place=place, seed=place) for place in pair]
    c = [tensor(torch, 300, 4096, place=place, seed=place + 7) for place in pair]
    b, bias = tensor(torch, 512, 4096, place=1, seed=5), tensor(torch, 4096, seed=6)
    wanted = [
        torch.relu(2 * left @ b.to(left.device) + added + bias.to(left.device))
        for left, added in zip(a, c, strict=True)
    ]
    for place in pair:
        torch.cuda.synchronize(place)
    assert gemm(a, b, c, alpha=2, beta=1, bias=bias, activation="relu", out=c)[0] is c[0]
    assert all(float((got - other).abs().max()) < 1e-2 for got, other in zip(c, wanted, strict=True))


def test_a_captured_stream_takes_replicas_alone(torch: Any, pair: tuple[int, int]) -> None:
    a, b = [tensor(torch, 64, 64, place=place) for place in pair], tensor(torch, 64, 2048)
    out = [torch.zeros((64, 2048), device=each.device) for each in a]
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        matmul(a[:1], b, out[:1])
        with pytest.raises(Unsupported, match="is being captured: pass b as a list"):
            matmul(a, b, out)


def test_reproducible_products_have_the_bits_of_the_whole(torch: Any, pair: tuple[int, int]) -> None:
    a = [tensor(torch, 300, 512, place=place, seed=place) for place in pair]
    b = tensor(torch, 512, 4096, seed=5)
    found = torch.cat([each.cpu() for each in matmul(a, b, precision="reproducible")])
    (whole,) = matmul([torch.cat([each.to("cuda:0") for each in a])], b, precision="reproducible")
    assert torch.equal(found, whole.cpu())
