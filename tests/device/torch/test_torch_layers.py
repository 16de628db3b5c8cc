"""Swapped layers where models are traced, parametrised, without memory, or of unusual shapes."""

import copy
import pickle
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch_cases import check_close, spied, tensor  # noqa: E402

from tilewright.torch import Linear, restore_linear, swap_linear  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_device")
X = tensor((6, 4))


def model() -> Any:
    """Two layers of 4 to 8 to 2."""
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


def test_layers_without_memory_have_shapes() -> None:
    layers = swap_linear(model().to("meta"))
    assert layers(X.to("meta")).shape == (6, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layers(X.to("meta")).is_meta


def test_symbolic_traces_of_swapped_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = model()
    expected = layers(X)
    traced = torch.fx.symbolic_trace(swap_linear(layers, precision="fp32_split"))
    loaded = pickle.loads(pickle.dumps(traced))  # its own bytes
    calls = spied(monkeypatch)
    for each in (traced, copy.deepcopy(traced), loaded):
        check_close(each(X), expected.double(), 2.0**-17)
    assert calls == [("gemm", "fp32_split")] * 6
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert traced(X).dtype == torch.bfloat16


def test_shapes_that_are_not_a_layers_are_pytorchs(monkeypatch: pytest.MonkeyPatch) -> None:
    layer: Any = torch.nn.Linear(4, 5)
    layer.bias = torch.nn.Parameter(torch.ones(1))
    expected = layer(X)
    swap_linear(layer)
    calls = spied(monkeypatch)
    assert torch.equal(layer(X), expected)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        layer(X[:, :3])
    assert calls == []


def test_layers_that_are_parametrised_after_the_swap(monkeypatch: pytest.MonkeyPatch) -> None:
    layer: Any = swap_linear(torch.nn.Linear(4, 5), precision="tf32")
    torch.nn.utils.parametrizations.weight_norm(layer)
    swap_linear(layer, precision="fp32_split")
    calls = spied(monkeypatch)
    layer(X)
    assert calls == [("gemm", "fp32_split")]
    assert isinstance(restore_linear(layer), Linear)
    torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert type(restore_linear(layer)) is torch.nn.Linear
    layer(X)
    assert len(calls) == 1


def test_parametrised_layers_are_not_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 5))
    own = type(layer)
    calls = spied(monkeypatch)
    swap_linear(layer)(X)
    assert type(layer) is own
    assert calls == []
