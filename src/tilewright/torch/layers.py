"""`swap_linear`: the linear layers of a model computed by tilewright, with the same parameters."""

from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from .functions import linear
from .operators import layer_fits
from .routing import autocasts, types_with

Module = TypeVar("Module", bound=nn.Module)


def compute_layer(input: Tensor, weight: Tensor, bias: Tensor | None, precision: str | None) -> Tensor:
    """The layer by tilewright; by PyTorch within `torch.autocast` and for shapes that are not a layer's."""
    if autocasts(input) or not layer_fits(input, weight, bias):
        result: Tensor = functional.linear(input, weight, bias)
        return result
    return linear(input, weight, bias, precision=precision)


# `torch.fx.symbolic_trace` has no tensors whose device and shape could be asked for: the call is a node of its graph.
torch.fx.wrap("compute_layer")


class Linear(nn.Linear):  # type: ignore[misc]
    """`torch.nn.Linear` by `tilewright.torch.linear`. `swap_linear` makes it of a layer, `restore_linear` the opposite.

    Within `torch.autocast` PyTorch computes it: there products are asked for in 16 bits. Shapes that do not fit, or broadcast
    as a bias of one element does, are PyTorch's too.
    """

    precision: str | None = None

    def forward(self, input: Tensor) -> Tensor:
        """The layer's result, (..., out_features)."""
        return compute_layer(input, self.weight, self.bias, self.precision)

    def extra_repr(self) -> str:
        """What printed models say about the layer."""
        return f"{super().extra_repr()}, precision={self.precision!r}"


def swap_linear(module: Module, *, precision: str | None = None) -> Module:
    """Let tilewright compute every `torch.nn.Linear` in a module, and the module itself if it is one.

    Layers change their class in place. So parameters, names in `state_dict`, hooks, and references to a layer stay as they
    are. Subclasses of `torch.nn.Linear` are left alone, parametrised layers among them: their `forward` is their own. A layer
    that is parametrised after the swap (`torch.nn.utils.parametrizations`) stays swapped.

    Arguments:
        precision: as in `matmul`. A layer that was swapped before gets the new one.

    Returns the module.

    Raises:
        UnknownName: no precision has that name.
        A layer raises InvalidInput when it is called with a type that does not offer the precision.

    >>> import torch, tilewright.torch
    >>> tilewright.torch.swap_linear(torch.nn.Sequential(torch.nn.Linear(2, 3)), precision="fp32_split")
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True, precision='fp32_split')
    )
    """
    types_with(precision)  # raises for names that do not exist
    for layer in module.modules():
        if type(layer) is nn.Linear:
            layer.__class__ = Linear
        if isinstance(layer, Linear):
            layer.precision = precision
    return module


def restore_linear(module: Module) -> Module:
    """Undo `swap_linear`: PyTorch computes the layers again. Returns the module.

    A layer that was parametrised after the swap has a class of its own and stays swapped. Remove its parametrisations first.
    """
    for layer in module.modules():
        if type(layer) is Linear:
            layer.__dict__.pop("precision", None)
            layer.__class__ = nn.Linear
    return module
