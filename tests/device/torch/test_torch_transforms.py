"""`torch.compile`, `torch.export`, `torch.func` and `torch.vmap` of tilewright's products, against PyTorch's."""

import math
from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.nn import functional  # noqa: E402
from torch_cases import INDUCTOR, PRODUCTS, check_close, layer_operands, spied, tensor  # noqa: E402

from tilewright.torch import linear, matmul, products, swap_linear  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")


@pytest.fixture(autouse=True)
def nothing_compiled() -> None:
    torch._dynamo.reset()


def two_layers(x: Any, w: Any, v: Any) -> Any:
    return linear(matmul(x, w).relu(), v, activation="gelu").square().sum()


def torch_two_layers(x: Any, w: Any, v: Any) -> Any:
    return functional.gelu(functional.linear((x @ w).relu(), v)).square().sum()


@pytest.mark.parametrize("dynamic", [None, True], ids=["as it comes", "dynamic"])
@pytest.mark.parametrize("backend", ["aot_eager", INDUCTOR])
def test_compiled_code_has_the_same_values_and_gradients(backend: str, dynamic: bool | None) -> None:
    compiled = torch.compile(two_layers, fullgraph=True, backend=backend, dynamic=dynamic)
    w, v = tensor((4, 5)).requires_grad_(), tensor((3, 5), seed=1)
    for rows in (6, 7, 12):
        x = tensor((rows, 4)).requires_grad_()
        found, expected = compiled(x, w, v), torch_two_layers(x.double(), w.double(), v.double())
        check_close(found, expected, 2.0**-17)
        pairs = zip(torch.autograd.grad(found, (x, w)), torch.autograd.grad(expected, (x, w)), strict=True)
        for one, other in pairs:
            check_close(one, other.double(), 2.0**-15)


def test_one_graph_serves_all_sizes() -> None:
    graphs: list[Any] = []

    def kept(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    compiled = torch.compile(two_layers, fullgraph=True, backend=kept, dynamic=True)
    for rows in (6, 7, 12):
        compiled(tensor((rows, 4)), tensor((4, 5)), tensor((3, 5)))
    assert len(graphs) == 1
    assert "tilewright.matmul" in graphs[0].code


def test_the_context_around_and_inside_of_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = tensor((6, 4)), tensor((4, 5))

    def inside(x: Any, y: Any) -> Any:
        with products(precision="fp32_split"):
            return x @ y

    around = torch.compile(lambda x, y: x @ y, fullgraph=True, backend="aot_eager")
    calls = spied(monkeypatch)
    around(a, b)
    with products(precision="tf32"):
        around(a, b)
    around(a, b)
    torch.compile(inside, fullgraph=True, backend="aot_eager")(a, b)
    assert calls == [("matmul", "tf32"), ("matmul", "fp32_split")]


def test_swapped_layers_compile_and_export(monkeypatch: pytest.MonkeyPatch) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    x = tensor((6, 4))
    expected = model(x).double()
    swap_linear(model, precision="fp32_split")
    calls = spied(monkeypatch)
    check_close(torch.compile(model, fullgraph=True, backend="aot_eager")(x), expected, 2.0**-17)
    exported = torch.export.export(model, (x,), dynamic_shapes=({0: torch.export.Dim("rows")},))
    check_close(exported.module()(x), expected, 2.0**-17)
    assert exported.module()(tensor((11, 4))).shape == (11, 2)
    assert set(calls) == {("gemm", "fp32_split")}
    assert len(calls) == 6


def test_export_of_a_model_within_the_context() -> None:
    with products():
        exported = torch.export.export(torch.nn.Linear(4, 3), (tensor((6, 4)),), strict=False)
    assert "tilewright.linear" in exported.graph_module.code


@pytest.mark.parametrize(
    ("axes", "a", "b"),
    [
        ((0, None), (3, 2, 4), (4, 5)),
        ((None, 1), (2, 4), (4, 3, 5)),
        ((1, 0), (2, 3, 4), (3, 4)),
        ((0, 0), (3, 4), (3, 4)),
        ((0, 2), (3, 2, 4), (6, 4, 3, 5)),
        ((0, None), (3, 4), (4,)),
        ((None, 0), (4,), (3, 4)),
    ],
    ids=str,
)
def test_batches_of_products(axes: tuple[Any, ...], a: tuple[int, ...], b: tuple[int, ...]) -> None:
    operands = (tensor(a), tensor(b, seed=1))
    found, expected = (torch.vmap(each, axes)(*operands) for each in (matmul, torch.matmul))
    assert found.shape == expected.shape
    check_close(found, expected.double(), 2.0**-18)


@pytest.mark.parametrize("axes", [(0, None, None), (0, 0, None), (None, 0, 0), (1, 0, 0), (None, None, 0)], ids=str)
def test_batches_of_layers(axes: tuple[Any, ...]) -> None:
    shapes = ((2, 4), (5, 4), (5,))
    operands = [
        tensor(shape if axis is None else (*shape[:axis], 3, *shape[axis:]), seed=number)
        for number, (shape, axis) in enumerate(zip(shapes, axes, strict=True))
    ]
    found = torch.vmap(lambda *given: linear(*given, activation="relu"), axes)(*operands)
    expected = torch.vmap(lambda *given: functional.linear(*given).relu(), axes)(*operands)
    assert found.shape == expected.shape
    check_close(found, expected.double(), 2.0**-18)
    compiled = torch.compile(torch.vmap(linear, axes), fullgraph=True, backend="aot_eager")(*operands)
    check_close(compiled, torch.vmap(functional.linear, axes)(*operands).double(), 2.0**-18)


def test_derivatives_by_torch_func() -> None:
    x, w = tensor((7, 2, 4), torch.float64), tensor((5, 4), torch.float64)

    def ours(one: Any, weight: Any) -> Any:
        return linear(matmul(one, weight.T), weight.T, activation="silu").square().sum()

    def theirs(one: Any, weight: Any) -> Any:
        return functional.silu(functional.linear(one @ weight.T, weight.T)).square().sum()

    transforms: tuple[Callable[[Any], Any], ...] = (
        lambda f: torch.func.grad(f, (0, 1))(x[0], w)[1],
        lambda f: torch.vmap(torch.func.grad(f), (0, None))(x, w),
        lambda f: torch.func.grad(lambda weight: torch.vmap(f, (0, None))(x, weight).sum())(w),
        lambda f: torch.func.jvp(f, (x[0], w), (x[1], w))[1],
        lambda f: torch.func.hessian(f)(x[0], w),
    )
    for transformed in transforms:
        assert torch.allclose(transformed(ours), transformed(theirs))


@pytest.mark.parametrize("shapes", [each for each in PRODUCTS if all(math.prod(one) for one in each)], ids=str)
def test_batches_of_gradients_of_products(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    operands = tuple(tensor(each, torch.float64) for each in shapes)
    found = torch.autograd.functional.jacobian(matmul, operands, vectorize=True)
    expected = torch.autograd.functional.jacobian(torch.matmul, operands)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other)


@pytest.mark.parametrize("shape", [(3, 4), (4,), (2, 3, 4)], ids=str)
def test_batches_of_gradients_of_layers(shape: tuple[int, ...]) -> None:
    operands = tuple(each for each in layer_operands(shape, True, torch.float64) if each is not None)
    found = torch.autograd.functional.jacobian(linear, operands, vectorize=True)
    expected = torch.autograd.functional.jacobian(functional.linear, operands)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other)
    given = [each.requires_grad_() for each in operands]
    weights = tensor((7, *shape[:-1], 5), torch.float64)
    batches = torch.autograd.grad(linear(*given), given, weights, is_grads_batched=True)
    for number, one in enumerate(weights):
        for batch, other in zip(batches, torch.autograd.grad(functional.linear(*given), given, one), strict=True):
            assert torch.allclose(batch[number], other)


def test_forward_mode_is_never_lost_in_a_graph() -> None:
    """PyTorch gives zeros for the derivatives of operators in forward mode."""
    x, y = tensor((2, 4)), tensor((4, 5))

    def derivative(x: Any) -> Any:
        return torch.func.jvp(lambda each: matmul(each, y), (x,), (x,))[1]

    with pytest.raises(torch._dynamo.exc.Unsupported, match="cannot be compiled"):
        torch.compile(derivative, fullgraph=True, backend="aot_eager")(x)
    assert torch.allclose(torch.compile(derivative, backend="aot_eager")(x), x @ y, atol=1e-5)
