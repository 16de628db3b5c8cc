"""`tilewright.torch` on CUDA tensors: values, gradients, streams, graphs, and the accuracy of "fp32_split"."""

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("PyTorch sees no CUDA GPU", allow_module_level=True)

from torch.nn import functional  # noqa: E402
from torch_cases import (  # noqa: E402
    FLOATS,
    INDUCTOR,
    LAYERS,
    PRODUCTS,
    check_close,
    check_product,
    layer_operands,
    spied,
    tensor,
    torch_linear,
)

from tilewright.errors import InvalidInput  # noqa: E402
from tilewright.torch import linear, matmul, products, swap_linear  # noqa: E402

pytestmark = pytest.mark.usefixtures("nvidia")
GPU = "cuda"


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_products_and_their_gradients(shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: Any) -> None:
    result = check_product(matmul, torch.matmul, tensor(shapes[0], dtype, GPU), tensor(shapes[1], dtype, GPU, seed=1))
    assert result.dtype == dtype
    assert result.is_cuda


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("bias", [False, True], ids=["plain", "bias"])
@pytest.mark.parametrize("shape", LAYERS, ids=str)
def test_layers_and_their_gradients(shape: tuple[int, ...], bias: bool, dtype: Any) -> None:
    check_product(linear, torch_linear, *layer_operands(shape, bias, dtype, GPU))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64], ids=str)
def test_any_strides(dtype: Any) -> None:
    block = tensor((40, 60), dtype, GPU)
    check_product(matmul, torch.matmul, block.T, block)
    check_product(matmul, torch.matmul, block[::3, 5:15], block[10:20, 1::2])
    check_product(matmul, torch.matmul, block.reshape(5, 8, 60).transpose(0, 1), block.T)
    check_product(matmul, torch.matmul, block[:1].expand(7, 60), block.T)
    check_product(linear, torch_linear, block.reshape(5, 8, 60)[:, ::2], block[:7], block[:7, 3])


@pytest.mark.parametrize("name", ["relu", "gelu", "gelu_tanh", "silu"])
def test_fused_activations(name: str) -> None:
    operands = layer_operands((7, 4), True, torch.float32, GPU)
    with torch.no_grad():
        fused = linear(*operands, activation=name)
    apart = linear(*(each.requires_grad_() for each in operands if each is not None), activation=name)
    check_close(fused, apart.double(), 2.0**-17)


@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_derivatives_by_differences(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    operands = [tensor(each, torch.float64, GPU).requires_grad_() for each in shapes]
    assert torch.autograd.gradcheck(matmul, operands, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(matmul, operands)


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # PyTorch's own code is warned of
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_the_operators_are_as_pytorch_wants_them(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = (tensor(each, device=GPU).requires_grad_() for each in shapes)
    torch.library.opcheck(torch.ops.tilewright.matmul.default, (a, b, None))


@pytest.mark.parametrize("backend", ["aot_eager", INDUCTOR])
def test_compiled_code(backend: str) -> None:
    def layers(x: Any, w: Any) -> Any:
        return linear(matmul(x, w).relu(), w, activation="gelu").square().sum()

    w = tensor((4, 4), device=GPU).requires_grad_()
    compiled = torch.compile(layers, fullgraph=True, backend=backend, dynamic=True)
    for rows in (6, 7, 12):
        x = tensor((rows, 4), device=GPU)
        wide = w.double()
        found = compiled(x, w)
        expected = functional.gelu(functional.linear((x.double() @ wide).relu(), wide)).square().sum()
        check_close(found, expected, 2.0**-17)
        (one,), (other,) = torch.autograd.grad(found, (w,)), torch.autograd.grad(expected, (w,))
        check_close(one, other.double(), 2.0**-15)


def test_products_run_in_the_current_stream() -> None:
    """Each stream is kept busy before its product, so a product in another stream would read operands too early."""
    streams = [torch.cuda.Stream() for _ in range(4)]
    results = []
    for number, stream in enumerate(streams):
        with torch.cuda.stream(stream):
            a = torch.zeros(512, 512, device=GPU)
            torch.cuda._sleep(20_000_000)
            a += number + 1
            with products():
                result = (a @ a) + 1
            results.append((result, a))
    torch.cuda.synchronize()
    for number, (result, a) in enumerate(results):
        assert torch.equal(result, torch.full_like(result, 512.0 * (number + 1) ** 2 + 1)), number
        assert float(a.max()) == number + 1


def test_backward_passes_run_in_the_streams_of_their_forward_passes() -> None:
    a = tensor((256, 256), device=GPU).requires_grad_()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        result = matmul(a, a)
        torch.cuda._sleep(20_000_000)
        result.sum().backward()
    torch.cuda.current_stream().wait_stream(stream)
    ones = torch.ones(256, 256, device=GPU, dtype=torch.float64)
    assert a.grad is not None
    check_close(a.grad, ones @ a.detach().double().T + a.detach().double().T @ ones, 2.0**-15)


@pytest.mark.parametrize("precision", [None, "fp32_split"])
@pytest.mark.parametrize("rows", [64, 2048])
def test_a_layer_is_captured_in_a_cuda_graph(precision: str | None, rows: int) -> None:
    weight, bias = tensor((1024, 768), device=GPU), tensor((1024,), device=GPU)
    input = tensor((rows, 768), device=GPU)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):  # kernels are built, and memory is allocated, before the capture
            linear(input, weight, bias, activation="gelu", precision=precision)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        captured = linear(input, weight, bias, activation="gelu", precision=precision)
    for seed in (3, 4):
        input.copy_(tensor((rows, 768), device=GPU, seed=seed))
        graph.replay()
        expected = functional.gelu(functional.linear(input.double(), weight.double(), bias.double()))
        check_close(captured, expected, 2.0**-17)


@pytest.mark.usefixtures("hopper")
@pytest.mark.parametrize("shape", [(2048, 2048, 2048), (8192, 1024, 4096)], ids=str)
def test_fp32_split_is_at_least_half_as_exact_as_pytorchs_float32(shape: tuple[int, int, int]) -> None:
    """Norms of errors of a layer and its gradients. PyTorch must not use TF32, which is its default."""
    assert not torch.backends.cuda.matmul.allow_tf32
    m, n, k = shape
    operands = tensor((m, k), device=GPU), tensor((n, k), device=GPU, seed=1), tensor((n,), device=GPU, seed=2)
    upstream = tensor((m, n), device=GPU, seed=3)

    def passes(layer: Any, dtype: Any) -> list[Any]:
        given = [each.detach().to(dtype).requires_grad_() for each in operands]
        result = layer(*given)
        return [result.detach(), *torch.autograd.grad(result, given, upstream.to(dtype))]

    exact = passes(torch_linear, torch.float64)
    ours = passes(lambda *given: linear(*given, precision="fp32_split"), torch.float32)
    theirs = passes(torch_linear, torch.float32)
    for name, right, one, other in zip(("result", "input", "weight"), exact, ours, theirs, strict=False):
        mine, reference = ((each.double() - right).norm() / right.norm() for each in (one, other))
        assert float(mine) < 2 * float(reference), f"{name}: {float(mine):.3g} beside {float(reference):.3g}"


def test_models_in_the_context_and_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    model = torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, dropout=0.0).to(GPU)
    x = tensor((4, 128, 256), device=GPU)
    expected = model(x).detach()
    calls = spied(monkeypatch)
    with products(precision="fp32_split"):
        check_close(model(x), expected.double(), 2.0**-14)
    assert calls == [("gemm", "fp32_split")] * 2
    check_close(swap_linear(model, precision="fp32_split")(x), expected.double(), 2.0**-14)
    assert len(calls) == 4
    with torch.autocast(GPU, dtype=torch.bfloat16), products(precision="fp32_split"):
        assert (x[0] @ x[0].T).dtype == torch.bfloat16
    assert len(calls) == 4


def test_tensors_of_the_host_and_of_a_gpu_do_not_mix() -> None:
    with pytest.raises(InvalidInput, match="a has cuda:0, b has cpu"):
        matmul(tensor((3, 4), device=GPU), tensor((4, 3)))
