"""Gradients of products: backward, forward mode, and batches of `torch.vmap`, each made of products in the same precision.

The same formulas serve the operators, and functions of `torch.autograd` for forward mode and `torch.func`, which operators do
not know. Products in them are differentiable themselves, to any order.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional

from ..errors import Unsupported, UnsupportedType
from .operators import operator_linear, operator_matmul

Dimensions = tuple[int | None, ...]

# PyTorch's functions for the names of `gemm`'s activations.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "silu": functional.silu,
}


def forward_mode() -> bool:
    """Whether derivatives are computed in forward mode here."""
    level: int = forward_ad._current_level
    return level >= 0


def _within_transform() -> bool:
    """Whether forward mode or `torch.func` is at work, which operators do not know: in forward mode they would give zeros.

    Unsupported in forward mode while PyTorch makes a graph, which can hold operators alone.
    """
    if not torch.compiler.is_compiling():
        active: bool = torch._C._are_functorch_transforms_active()
        return active or forward_mode()
    if forward_mode():
        raise Unsupported("forward-mode derivatives of tilewright's products cannot be compiled: call them uncompiled")
    return False


def product(a: Tensor, b: Tensor, precision: str | None) -> Tensor:
    """a b by the rules of `torch.matmul`, with gradients."""
    multiply = Product.apply if _within_transform() else operator_matmul
    result: Tensor = multiply(a, b, precision)
    return result


def layer(input: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None, precision: str | None) -> Tensor:
    """activation(input weight^T + bias), with gradients if there is no activation."""
    compute = Layer.apply if _within_transform() else operator_linear
    result: Tensor = compute(input, weight, bias, activation, precision)
    return result


class Product(torch.autograd.Function):  # type: ignore[misc]
    """The product of two tensors; their shapes are those of `torch.matmul`."""

    @staticmethod
    def forward(a: Tensor, b: Tensor, precision: str | None) -> Tensor:
        """The operator's result."""
        result: Tensor = operator_matmul(a, b, precision)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Keep both factors."""
        a, b, ctx.precision = inputs
        _check_type(ctx, a)
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        """gradient B^H and A^H gradient, summed over the dimensions that were broadcast."""
        a, b = ctx.saved_tensors
        rows, columns = a if a.dim() > 1 else a.unsqueeze(0), b if b.dim() > 1 else b.unsqueeze(1)
        gradient = gradient if b.dim() > 1 else gradient.unsqueeze(-1)
        gradient = gradient if a.dim() > 1 else gradient.unsqueeze(-2)
        of_a, of_b = None, None
        if ctx.needs_input_grad[0]:
            of_a = product(gradient, columns.mH, ctx.precision).sum_to_size(rows.shape).reshape(a.shape)
        if ctx.needs_input_grad[1]:
            if columns.dim() == 2:  # a sum over all rows of the stack is one product
                rows, gradient = _rows(rows), _rows(gradient)
            of_b = product(rows.mH, gradient, ctx.precision).sum_to_size(columns.shape).reshape(b.shape)
        return of_a, of_b, None

    @staticmethod
    def jvp(ctx: Any, of_a: Tensor | None, of_b: Tensor | None, _: None) -> Tensor:
        """The derivative in a direction: dA B + A dB."""
        a, b = ctx.saved_tensors
        parts = [] if of_a is None else [product(of_a, b, ctx.precision)]
        return _sum(parts if of_b is None else [*parts, product(a, of_b, ctx.precision)])

    @staticmethod
    def vmap(info: Any, in_dims: Dimensions, a: Tensor, b: Tensor, precision: str | None) -> tuple[Tensor, int]:
        """The dimension of `torch.vmap` becomes the first of the stack."""
        a_rank, b_rank = a.dim() - (in_dims[0] is not None), b.dim() - (in_dims[1] is not None)
        rank = max(a_rank, b_rank, 2)
        left = _stacked(a, in_dims[0], rank, -2 if a_rank == 1 else None)
        right = _stacked(b, in_dims[1], rank, -1 if b_rank == 1 else None)
        result = product(left, right, precision)
        result = result.squeeze(-2) if a_rank == 1 else result
        return result.squeeze(-1) if b_rank == 1 else result, 0


class Layer(torch.autograd.Function):  # type: ignore[misc]
    """A linear layer: input (..., k), weight (n, k), bias (n,) or none."""

    @staticmethod
    def forward(
        input: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None, precision: str | None
    ) -> Tensor:
        """The operator's result."""
        result: Tensor = operator_linear(input, weight, bias, activation, precision)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Keep input and weight."""
        input, weight, _, activation, ctx.precision = inputs
        _check_type(ctx, input)
        ctx.activation = activation
        ctx.save_for_backward(input, weight)
        ctx.save_for_forward(input, weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """gradient W, gradient^H input, and the sum of the gradient over all rows."""
        _check_no_activation(ctx)
        input, weight = ctx.saved_tensors
        of_input, of_weight, of_bias = None, None, None
        if ctx.needs_input_grad[0]:
            of_input = product(gradient, weight.conj(), ctx.precision)
        rows, inputs = _rows(gradient), _rows(input)
        if ctx.needs_input_grad[1]:
            of_weight = product(rows.mT, inputs.conj(), ctx.precision)
        if ctx.needs_input_grad[2]:
            of_bias = rows.sum(0)
        return of_input, of_weight, of_bias, None, None

    @staticmethod
    def jvp(ctx: Any, of_input: Tensor | None, of_weight: Tensor | None, of_bias: Tensor | None, *_: None) -> Tensor:
        """The derivative in a direction: dX W^T + X dW^T + db."""
        _check_no_activation(ctx)
        input, weight = ctx.saved_tensors
        parts = [] if of_input is None else [product(of_input, weight.mT, ctx.precision)]
        parts += [] if of_weight is None else [product(input, of_weight.mT, ctx.precision)]
        parts += [] if of_bias is None else [of_bias.expand(*input.shape[:-1], -1)]
        return _sum(parts)

    @staticmethod
    def vmap(
        info: Any,
        in_dims: Dimensions,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        activation: str | None,
        precision: str | None,
    ) -> tuple[Tensor, int]:
        """A batch of inputs is one layer. Batches of weights or biases are products of stacks."""
        if in_dims[1] is None and in_dims[2] is None:
            return layer(input.movedim(in_dims[0], 0), weight, bias, activation, precision), 0
        axis = None if in_dims[1] is None else 0
        weights = (weight if axis is None else weight.movedim(in_dims[1], 0)).mT
        if in_dims[0] is None and axis is None:
            result = product(input, weights, precision).unsqueeze(0)
        else:
            result, _ = Product.vmap(info, (in_dims[0], axis), input, weights, precision)
        if bias is not None:
            result = result + _stacked(bias, in_dims[2], result.dim() - 1, None)
        return result if activation is None else ACTIVATIONS[activation](result), 0


def _rows(tensor: Tensor) -> Tensor:
    """The tensor as a matrix of all its rows. `flatten` would fail in batches of gradients, and -1 for rows of no elements."""
    return tensor.reshape(math.prod(tensor.shape[:-1]), tensor.shape[-1])


def _stacked(tensor: Tensor, axis: int | None, rank: int, added: int | None) -> Tensor:
    """The tensor with `axis` first and the rest of that rank, so that leading dimensions meet. A vector gets the axis `added`."""
    first = tensor if axis is None else tensor.movedim(axis, 0)
    first = first if added is None else first.unsqueeze(added)
    if axis is None:
        return first
    return first.reshape(first.shape[0], *(1,) * (rank + 1 - first.dim()), *first.shape[1:])


def _sum(parts: list[Tensor]) -> Tensor:
    result = parts[0]
    for each in parts[1:]:
        result = result + each
    return result


def _check_type(ctx: Any, tensor: Tensor) -> None:
    """UnsupportedType if a gradient of 8-bit floats would be recorded: they have products in float32, which meet no factors."""
    if tensor.dtype.itemsize == 1 and any(ctx.needs_input_grad):
        raise UnsupportedType(
            f"products of {tensor.dtype} have no gradients: convert the tensors to float32 or to 16 bits, or detach them"
        )


def _check_no_activation(ctx: Any) -> None:
    """Unsupported for a fused activation: the values before it were not kept."""
    if ctx.activation is not None:
        raise Unsupported(
            f"the operator tilewright::linear has no gradient with activation={ctx.activation!r}; "
            f"tilewright.torch.linear has one, if it is called where gradients are recorded"
        )


operator_matmul.register_vmap(Product.vmap)
operator_linear.register_vmap(Layer.vmap)
operator_matmul.register_autograd(Product.backward, setup_context=Product.setup_context)
operator_linear.register_autograd(Layer.backward, setup_context=Layer.setup_context)
