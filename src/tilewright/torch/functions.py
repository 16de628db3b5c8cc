"""`matmul` and `linear` for callers: products and layers with their defaults."""

import torch
from torch import Tensor

from ..library.requests import check_activation_name, checked_precision
from .gradients import ACTIVATIONS, forward_mode, layer, product


def matmul(a: Tensor, b: Tensor, *, precision: str | None = None) -> Tensor:
    """Multiply tensors by the rules of `torch.matmul`, with gradients.

    Shapes: `a` is (..., m, k), `b` is (..., k, n), and the result is (..., m, n). Leading dimensions broadcast. A 1-D `a`
    is a row, a 1-D `b` is a column, and the result loses that dimension.

    Tensors: both lie on the CPU or on one CUDA GPU, with any strides, and have one type: float32, float64, float16,
    bfloat16, complex64, complex128, any integers or bool (int8 gives int32), float8_e4m3fn or float8_e5m2 (the result is
    float32). Those of a GPU are multiplied in the current stream. Gradients are computed of floats of 16 bits and more
    and of complex types.

    Arguments:
        precision: as in `tilewright.matmul`: None or "ieee" for the type's own arithmetic; for float32, also "tf32" and
            "fp32_split"; or "reproducible". The products of the backward pass have the same precision. `torch.autocast`
            changes nothing.

    Raises:
        InvalidInput: shapes do not fit, types or devices differ, or the type does not offer the precision.
        UnknownName: no precision has that name.
        UnsupportedType: no kernel multiplies the type, a tensor is sparse, or a float of 8 bits requires a gradient.
        Unsupported: the tensors lie on a device of another kind.

    >>> import torch, tilewright.torch
    >>> a = torch.tensor([[1.0, 2.0]], requires_grad=True)
    >>> tilewright.torch.matmul(a, torch.tensor([3.0, 4.0])).backward()
    >>> a.grad
    tensor([[3., 4.]])
    """
    checked_precision(precision)
    return product(a, b, precision)


def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    activation: str | None = None,
    precision: str | None = None,
) -> Tensor:
    """activation(input weight^T + bias), as `torch.nn.functional.linear`, with gradients.

    Shapes: `input` is (..., k), `weight` is (n, k), `bias` is (n,), and the result is (..., n). What is said of the tensors,
    precisions and errors of `matmul` holds here, too.

    Arguments:
        activation: "relu", "gelu" (by erf), "gelu_tanh" or "silu". It is applied by the product's kernel, before the result
            is rounded. Where gradients are recorded, PyTorch applies it to the result instead, because the backward pass
            needs the values before it.

    Raises, in addition to the errors of `matmul`:
        UnknownName: no activation has that name.

    >>> import torch, tilewright.torch
    >>> tilewright.torch.linear(torch.ones(2), torch.tensor([[1.0, 2.0], [-3.0, 1.0]]), activation="relu")
    tensor([3., 0.])
    """
    check_activation_name(activation)
    checked_precision(precision)
    recorded = torch.is_grad_enabled() and any(
        each is not None and each.requires_grad for each in (input, weight, bias)
    )
    if activation is not None and (recorded or forward_mode()):
        return ACTIVATIONS[activation](layer(input, weight, bias, None, precision))
    return layer(input, weight, bias, activation, precision)
