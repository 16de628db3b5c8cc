"""The operators "tilewright::matmul" and "tilewright::linear" of PyTorch: products without gradients, and their shapes.

The schemas have no default values: PyTorch would leave arguments out of the call that are equal to them, and a gradient is
due for each.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..errors import InvalidInput
from ..library.products import gemm
from ..library.products import matmul as library_matmul
from .tensors import called, check_operands, result_type


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


def _layer(input: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None, precision: str | None) -> Tensor:
    _check_layer(input, weight, bias, precision)
    return called(gemm, input, weight, trans_b="T", bias=bias, activation=activation, precision=precision)


def layer_fits(input: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Whether the shapes are (..., k), (n, k) and (n)."""
    if not input.dim() or weight.dim() != 2 or (bias is not None and bias.dim() != 1):
        return False
    fits: bool = input.shape[-1] == weight.shape[1] and (bias is None or bias.shape[0] == weight.shape[0])
    return fits


def _check_layer(input: Tensor, weight: Tensor, bias: Tensor | None, precision: str | None) -> None:
    """InvalidInput unless the shapes are (..., k), (n, k) and (n): `gemm` would take more."""
    check_operands(precision, input=input, weight=weight, bias=bias)
    if not layer_fits(input, weight, bias):
        given = f"{tuple(input.shape)}, {tuple(weight.shape)} and {None if bias is None else tuple(bias.shape)}"
        raise InvalidInput(
            f"linear got input, weight and bias of the shapes {given}; they are (..., k), (n, k) and (n,)"
        )


def _empty_layer(
    input: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None, precision: str | None
) -> Tensor:
    """The layer's shape, type and device without its elements; sizes may be symbols."""
    _check_layer(input, weight, bias, precision)
    return input.new_empty((*input.shape[:-1], weight.shape[0]), dtype=result_type(input.dtype))


def _operator(name: str, schema: str, forward: Callable[..., Tensor], fake: Callable[..., Tensor]) -> Any:
    made = torch.library.custom_op(name, forward, mutates_args=(), schema=schema)
    made.register_fake(fake)
    return made


operator_matmul = _operator(
    "tilewright::matmul", "(Tensor a, Tensor b, str? precision) -> Tensor", _multiply, _empty_product
)
operator_linear = _operator(
    "tilewright::linear",
    "(Tensor input, Tensor weight, Tensor? bias, str? activation, str? precision) -> Tensor",
    _layer,
    _empty_layer,
)
