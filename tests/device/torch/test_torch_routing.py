"""`products` and `swap_linear`: what goes through tilewright, what stays PyTorch's, and that nothing else changes."""

from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.nn import functional  # noqa: E402
from torch_cases import check_close, spied, tensor  # noqa: E402

import tilewright.torch  # noqa: E402
from tilewright.errors import InvalidInput, UnknownName  # noqa: E402
from tilewright.torch import products, restore_linear, swap_linear  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")
SQUARE, OTHER, VECTOR, STACK = tensor((8, 8)), tensor((8, 8), seed=1), tensor((8,)), tensor((3, 8, 8))
LAYER: Any = torch.nn.Linear(8, 5)
ATTENTION: Any = torch.nn.MultiheadAttention(8, 2, batch_first=True)
Call = Callable[[], Any]
ROUTED: dict[str, Call] = {
    "matmul": lambda: torch.matmul(SQUARE, OTHER),
    "matmul by names": lambda: torch.matmul(input=SQUARE, other=OTHER),
    "linalg.matmul": lambda: torch.linalg.matmul(SQUARE, STACK),
    "@": lambda: SQUARE @ OTHER,
    "@ of a view": lambda: SQUARE.T @ OTHER[:, ::2],
    "method": lambda: SQUARE.matmul(VECTOR),
    "reversed": lambda: SQUARE.__rmatmul__(OTHER),
    "mm": lambda: torch.mm(SQUARE, OTHER),
    "mm by names": lambda: torch.mm(SQUARE, mat2=OTHER),
    "bmm": lambda: STACK.bmm(STACK),
    "mv": lambda: SQUARE.mv(VECTOR),
    "addmm of a row": lambda: torch.addmm(VECTOR, SQUARE, OTHER),
    "addmm": lambda: torch.addmm(SQUARE, SQUARE, OTHER, beta=0.5, alpha=2),
    "addmm of a column": lambda: torch.addmm(SQUARE[:, :1], SQUARE, OTHER),
    "addmm without": lambda: torch.addmm(SQUARE * torch.nan, SQUARE, OTHER, beta=0),
    "baddbmm": lambda: torch.baddbmm(SQUARE, STACK, STACK),
    "linear": lambda: functional.linear(STACK, SQUARE, VECTOR),
    "linear without bias": lambda: functional.linear(VECTOR, SQUARE),
    "Linear": lambda: torch.nn.functional.relu(LAYER(STACK)),
}
LEFT: dict[str, Call] = {
    "out": lambda: torch.mm(SQUARE, OTHER, out=torch.empty(8, 8)),
    "integers": lambda: SQUARE.int() @ OTHER.int(),
    "sparse": lambda: torch.mm(SQUARE.to_sparse(), OTHER),
    "einsum": lambda: torch.einsum("ij,jk", SQUARE, OTHER),
    "attention": lambda: functional.scaled_dot_product_attention(STACK, STACK, STACK),
    "multi-head attention": lambda: ATTENTION(STACK, STACK, STACK)[0],
    "a vector by linear": lambda: functional.linear(SQUARE, VECTOR),
    "no product": lambda: SQUARE + OTHER,
}


class OfAnotherKind(torch.Tensor):  # type: ignore[misc]
    """A subclass may mean anything by a product."""


@pytest.mark.parametrize("name", ROUTED)
def test_products_are_routed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ROUTED[name]()
    calls = spied(monkeypatch)
    with products(precision="fp32_split"):
        found = ROUTED[name]()
    assert [precision for _, precision in calls] == ["fp32_split"]
    assert found.shape == expected.shape
    check_close(found, expected.double(), 2.0**-18)


@pytest.mark.parametrize("name", LEFT)
def test_the_rest_stays_pytorchs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = LEFT[name]()
    calls = spied(monkeypatch)
    with products():
        found = LEFT[name]()
    assert calls == []
    assert torch.equal(found, expected)


def test_subclasses_and_other_types_stay_pytorchs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = spied(monkeypatch)
    with products(precision="fp32_split"):
        assert (SQUARE.double() @ OTHER.double()).dtype == torch.float64
        assert type(SQUARE.as_subclass(OfAnotherKind) @ OTHER) is OfAnotherKind
        assert (SQUARE.to("meta") @ OTHER.to("meta")).shape == (8, 8)
    assert calls == []


def test_wrong_products_raise_pytorchs_errors() -> None:
    wrong: tuple[Call, ...] = (
        lambda: torch.mm(STACK, STACK),
        lambda: torch.bmm(STACK, STACK[:2]),
        lambda: torch.mm(SQUARE, OTHER.double()),
        lambda: torch.matmul(SQUARE, torch.tensor(1.0)),
        lambda: torch.addmm(tensor((4, 8)), SQUARE[:1], OTHER),
    )
    for call in wrong:
        with pytest.raises(RuntimeError):
            call()
        with products(), pytest.raises(RuntimeError):
            call()


def test_backward_passes_go_the_same_way_after_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = SQUARE.clone().requires_grad_(), OTHER.clone().requires_grad_()
    calls = spied(monkeypatch)
    with products(precision="tf32"):
        result = a @ b
    result.sum().backward()
    assert calls == [("matmul", "tf32")] * 3
    check_close(a.grad, torch.ones(8, 8).double() @ OTHER.double().T, 2.0**-18)


def multiply_and_fail() -> None:
    with products(precision="fp32_split"):
        raise ZeroDivisionError(SQUARE @ OTHER)


def test_contexts_nest_and_end_also_by_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = spied(monkeypatch)
    outer = products(precision="tf32")
    with outer:
        with pytest.raises(ZeroDivisionError):
            multiply_and_fail()
        _ = SQUARE @ OTHER
        with products(precision="fp32_split"), outer:
            _ = SQUARE @ OTHER
            _ = SQUARE.half() @ OTHER.half()  # neither takes it
        with products():
            _ = SQUARE.half() @ OTHER.half()
    _ = SQUARE @ OTHER
    assert [precision for _, precision in calls] == ["fp32_split", "tf32", "tf32", None]
    with pytest.raises(UnknownName, match="fp32_slit"):
        products(precision="fp32_slit")


def test_the_import_routes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = spied(monkeypatch)
    assert tilewright.torch.__all__
    for call in ROUTED.values():
        call()
    assert calls == []


def test_autocast_is_pytorchs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = spied(monkeypatch)
    layer = swap_linear(torch.nn.Linear(8, 5), precision="fp32_split")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with products(precision="fp32_split"):
            assert (SQUARE @ OTHER).dtype == torch.bfloat16
        assert layer(SQUARE).dtype == torch.bfloat16
        assert calls == []
        assert tilewright.torch.matmul(SQUARE, OTHER).dtype == torch.float32
        assert tilewright.torch.linear(SQUARE, OTHER).dtype == torch.float32
    assert len(calls) == 2


def small_model() -> Any:
    """Layers of several depths, one of them shared and one of a subclass."""
    shared = torch.nn.Linear(8, 8)
    return torch.nn.Sequential(
        shared, torch.nn.ReLU(), torch.nn.Sequential(shared, torch.nn.Linear(8, 5, bias=False)), torch.nn.Linear(5, 8),
        torch.nn.MultiheadAttention(8, 2).out_proj,
    )  # fmt: skip


def test_layers_are_swapped_and_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model()
    parameters = dict(model.named_parameters())
    seen: list[Any] = []
    model[3].register_forward_hook(lambda *given: seen.append(given[0]))
    expected, state = model(SQUARE), {name: each.clone() for name, each in model.state_dict().items()}
    calls = spied(monkeypatch)
    assert swap_linear(model, precision="fp32_split") is model
    found = model(SQUARE)
    assert calls == [("gemm", "fp32_split")] * 4
    check_close(found, expected.double(), 2.0**-17)
    assert len(seen) == 2
    assert all(each is parameters[name] for name, each in model.named_parameters())
    assert list(model.state_dict()) == list(state)
    assert model.load_state_dict(state).missing_keys == []
    assert "precision='fp32_split'" in repr(model)
    calls.clear()
    swap_linear(model, precision="tf32")(SQUARE).sum().backward()
    assert {precision for _, precision in calls} == {"tf32"}
    calls.clear()
    assert torch.equal(restore_linear(model)(SQUARE), expected)
    assert calls == []
    assert type(model[0]) is torch.nn.Linear
    assert "precision" not in repr(model)


def test_a_layer_alone_is_swapped_and_says_what_it_cannot_do() -> None:
    layer = swap_linear(torch.nn.Linear(8, 5), precision="fp32_split")
    assert isinstance(layer, tilewright.torch.Linear)
    with pytest.raises(InvalidInput, match="float16 does not support"):
        layer.half()(SQUARE.half())
    with pytest.raises(UnknownName, match="double"):
        swap_linear(layer, precision="double")
    assert layer.precision == "fp32_split"
    assert type(restore_linear(layer)) is torch.nn.Linear
