"""The operators "tilewright::matmul" and "tilewright::linear": forward, shapes, gradients, batches of `torch.vmap`.

Gradients are products of the same operators in the same precision, so they have gradients, too. The schemas have no default
values: PyTorch would leave arguments out of the call that are equal to them, and a gradient is due for each.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import InvalidInput, Unsupported
from ..library.products import gemm
from ..library.products import matmul as library_matmul
from .tensors import called, check_operands, result_type

# PyTorch's functions for the names of `gemm`'s activations.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "silu": functional.silu,
}


def _multiply(a: Tensor, b: Tensor, precision: str | None) -> Tensor:
    check_operands(precision, a=a, b=b)
    return called(library_matmul, a, b, precision=precision)


def _empty_product(a: Tensor, b: Tensor, precision: str | None) -> Tensor:
    """The product's shape, type and device without its elements; sizes may be symbols."""
    check_operands(precision, a=a, b=b)
    if not a.dim() or not b.dim():
        raise InvalidInput(f"matmul needs at least one dimension, got shapes {tuple(a.shape)} and {tuple(b.shape)}")
    torch._check(a.shape[-1] == b.shape[-2 if b.dim() > 1 else 0], lambda: f"k differs: {a.shape} and {b.shape}")
    stack = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty((*stack, *a.shape[-2:-1], *(b.shape[-1:] if b.dim() > 1 else ())), dtype=result_type(a.dtype))


def _keep_factors(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    a, b, ctx.precision = inputs
    ctx.save_for_backward(a, b)


def _product_gradients(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
    """gradient B^H and A^H gradient, summed over the dimensions that were broadcast."""
    a, b = ctx.saved_tensors
    rows, columns = a if a.dim() > 1 else a.unsqueeze(0), b if b.dim() > 1 else b.unsqueeze(1)
    gradient = gradient if b.dim() > 1 else gradient.unsqueeze(-1)
    gradient = gradient if a.dim() > 1 else gradient.unsqueeze(-2)
    of_a, of_b = None, None
    if ctx.needs_input_grad[0]:
        of_a = operator_matmul(gradient, columns.mH, ctx.precision).sum_to_size(rows.shape).view(a.shape)
    if ctx.needs_input_grad[1]:
        if columns.dim() == 2:  # a sum over all rows of the stack is one product
            rows, gradient = rows.flatten(0, -2), gradient.flatten(0, -2)
        of_b = operator_matmul(rows.mH, gradient, ctx.precision).sum_to_size(columns.shape).view(b.shape)
    return of_a, of_b, None


def _product_of_batches(
    info: Any, in_dims: tuple[int | None, ...], a: Tensor, b: Tensor, precision: str | None
) -> tuple[Tensor, int]:
    """For `torch.vmap`: its dimension becomes the first of the stack."""
    a_rank, b_rank = a.dim() - (in_dims[0] is not None), b.dim() - (in_dims[1] is not None)
    rank = max(a_rank, b_rank, 2)
    product = operator_matmul(
        _stacked(a, in_dims[0], rank, -2 if a_rank == 1 else None),
        _stacked(b, in_dims[1], rank, -1 if b_rank == 1 else None),
        precision,
    )
    product = product.squeeze(-2) if a_rank == 1 else product
    return product.squeeze(-1) if b_rank == 1 else product, 0


def _stacked(tensor: Tensor, axis: int | None, rank: int, added: int | None) -> Tensor:
    """The tensor with `axis` first and the rest of that rank, so that leading dimensions meet. A vector gets the axis `added`."""
    first = tensor if axis is None else tensor.movedim(axis, 0)
    first = first if added is None else first.unsqueeze(added)
    if axis is None:
        return first
    return first.reshape(first.shape[0], *(1,) * (rank + 1 - first.dim()), *first.shape[1:])


def _layer(
    input: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None, precision: str | None
) -> Tensor:
    _check_layer(input, weight, bias, precision)
    return called(gemm, input, weight, trans_b="T", bias=bias, activation=activation, precision=precision)


def _check_layer(input: Tensor, weight: Tensor, bias: Tensor | None, precision: str | None) -> None:
    """InvalidInput unless the shapes are (..., k), (n, k) and (n): `gemm` would take more."""
    check_operands(precision, input=input, weight=weight, bias=bias)
    fits = input.dim() > 0 and weight.dim() == 2 and (bias is None or bias.dim() == 1)
    if not fits or input.shape[-1] != weight.shape[1] or (bias is not None and bias.shape[0] != weight.shape[0]):
        given = f"{tuple(input.shape)}, {tuple(weight.shape)} and {None if bias is None else tuple(bias.shape)}"
        raise InvalidInput(f"linear got input, weight and bias of the shapes {given}; they are (..., k), (n, k) and (n,)")


def _empty_layer(
    input: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None, precision: str | None
) -> Tensor:
    """The layer's shape, type and device without its elements; sizes may be symbols."""
    _check_layer(input, weight, bias, precision)
    return input.new_empty((*input.shape[:-1], weight.shape[0]), dtype=result_type(input.dtype))


def _keep_layer(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    input, weight, _, activation, ctx.precision = inputs
    if activation is not None:
        raise Unsupported(
            f"torch.ops.tilewright.linear has no gradient with activation={activation!r}: tilewright.torch.linear has one"
        )
    ctx.save_for_backward(input, weight)


def _layer_gradients(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    """gradient W, gradient^H input, and the sum of the gradient over all rows."""
    input, weight = ctx.saved_tensors
    of_input, of_weight, of_bias = None, None, None
    if ctx.needs_input_grad[0]:
        of_input = operator_matmul(gradient, weight.conj(), ctx.precision)
    rows = gradient.unsqueeze(0) if gradient.dim() == 1 else gradient.flatten(0, -2)
    if ctx.needs_input_grad[1]:
        inputs = input.unsqueeze(0) if input.dim() == 1 else input.flatten(0, -2)
        of_weight = operator_matmul(rows.mT, inputs.conj(), ctx.precision)
    if ctx.needs_input_grad[2]:
        of_bias = rows.sum(0)
    return of_input, of_weight, of_bias, None, None


def _layer_of_batches(
    info: Any,
    in_dims: tuple[int | None, ...],
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    activation: str | None,
    precision: str | None,
) -> tuple[Tensor, int]:
    """For `torch.vmap`: a batch of inputs is one layer, batches of weights or biases are products of stacks."""

    def composed(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        product = operator_matmul(input, weight.mT, precision)
        product = product if bias is None else product + bias
        return product if activation is None else ACTIVATIONS[activation](product)

    if in_dims[1] is None and in_dims[2] is None:
        return operator_linear(input.movedim(in_dims[0], 0), weight, bias, activation, precision), 0
    return torch.vmap(composed, in_dims[:3], randomness=info.randomness)(input, weight, bias), 0


def _operator(
    name: str,
    schema: str,
    forward: Callable[..., Tensor],
    fake: Callable[..., Tensor],
    keep: Callable[..., None],
    gradients: Callable[..., tuple[Tensor | None, ...]],
    batches: Callable[..., tuple[Tensor, int]],
) -> Any:
    """An operator of PyTorch, registered with all that PyTorch asks for."""
    made = torch.library.custom_op(name, forward, mutates_args=(), schema=schema)
    made.register_fake(fake)
    made.register_autograd(gradients, setup_context=keep)
    made.register_vmap(batches)
    return made


operator_matmul = _operator(
    "tilewright::matmul", "(Tensor a, Tensor b, str? precision) -> Tensor",
    _multiply, _empty_product, _keep_factors, _product_gradients, _product_of_batches,
)  # fmt: skip
operator_linear = _operator(
    "tilewright::linear", "(Tensor input, Tensor weight, Tensor? bias, str? activation, str? precision) -> Tensor",
    _layer, _empty_layer, _keep_layer, _layer_gradients, _layer_of_batches,
)  # fmt: skip
