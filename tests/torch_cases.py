"""What tests of `tilewright.torch` share on the CPU and on GPUs: shapes, tensors, and float64 results of PyTorch's own."""

from collections.abc import Callable
from shutil import which
from typing import Any

import pytest
import torch
from torch import Tensor

from tilewright.torch import operators

# Operands by the rules of `torch.matmul`: matrices, vectors, stacks that broadcast, empty sizes.
PRODUCTS = (
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((4,), (2, 4, 3)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((1, 3, 4), (5, 4, 2)),
    ((0, 4), (4, 3)),
    ((3, 0), (0, 4)),
    ((2, 3, 0), (0,)),
    ((0, 3, 4), (4, 2)),
)
LAYERS = ((3, 4), (4,), (2, 3, 4), (0, 4), (2, 0, 4))  # inputs of a layer of 4 to 5
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128)
# A backend of `torch.compile` that writes C++.
INDUCTOR = pytest.param(
    "inductor", marks=pytest.mark.skipif(not (which("g++") and which("gcc")), reason="inductor needs gcc and g++")
)
# Parts of |A| |B| that may be lost at k of up to 64: sums in float32 or float64, and the rounding of the result.
TOLERANCES = {
    torch.float32: 2.0**-17,
    torch.float64: 2.0**-46,
    torch.float16: 2.0**-10,
    torch.bfloat16: 2.0**-7,
    torch.complex64: 2.0**-16,
    torch.complex128: 2.0**-45,
}


def tensor(shape: tuple[int, ...], dtype: Any = torch.float32, device: str = "cpu", seed: int = 0) -> Tensor:
    """Normal random numbers, the same on every device."""
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    wide = torch.complex128 if dtype.is_complex else torch.float64
    return torch.randn(shape, dtype=wide, generator=generator).to(device=device, dtype=dtype)


def exact(*tensors: Tensor | None) -> tuple[Tensor | None, ...]:
    """The tensors in float64 or complex128, leaves that record gradients."""
    return tuple(
        None
        if each is None
        else each.detach().to(torch.complex128 if each.is_complex() else torch.float64).requires_grad_()
        for each in tensors
    )


def check_product(
    ours: Callable[..., Tensor], theirs: Callable[..., Tensor], *operands: Tensor | None, scale: float = 1.0
) -> Tensor:
    """Compare the result and all gradients of `ours` with float64 ones of `theirs`. Gives our result.

    `scale` widens the bound, which is a part of the norm of each tensor and of the product's factors.
    """
    given = tuple(None if each is None else each.detach().requires_grad_() for each in operands)
    wide = exact(*operands)
    result, reference = ours(*given), theirs(*wide)
    assert result.shape == reference.shape
    weights = tensor(tuple(result.shape), result.dtype, str(result.device), seed=7)
    (result * weights).sum().abs().backward()
    (reference * weights.to(reference.dtype)).sum().abs().backward()
    tolerance = scale * TOLERANCES[result.dtype]
    check_close(result, reference, tolerance)
    for one, other in zip(given, wide, strict=True):
        if one is not None and other is not None:
            assert one.grad is not None
            assert one.grad.shape == one.shape
            assert one.grad.dtype == one.dtype
            check_close(one.grad, other.grad, 4 * tolerance)
    return result


def check_close(result: Tensor, reference: Tensor, tolerance: float) -> None:
    """Whether the norm of the error is small beside the reference's, whose elements are sums of a few normal numbers."""
    error = (result.detach().to(reference.dtype) - reference.detach()).abs()
    allowed = tolerance * (float(reference.detach().abs().max()) + 4 if reference.numel() else 1)
    assert error.numel() == 0 or float(error.max()) <= 4 * allowed, f"{float(error.max())} > {4 * allowed}"


def torch_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """PyTorch's own layer."""
    result: Tensor = torch.nn.functional.linear(input, weight, bias)
    return result


def layer_operands(shape: tuple[int, ...], bias: bool, dtype: Any, device: str = "cpu") -> tuple[Tensor | None, ...]:
    """Input, weight and bias of a layer of 4 to 5."""
    added = tensor((5,), dtype, device, seed=2) if bias else None
    return tensor(shape, dtype, device), tensor((5, 4), dtype, device, seed=1), added


def spied(monkeypatch: Any) -> list[tuple[str, str | None]]:
    """A list that gets the name and the precision of each product that the library computes from now on."""
    calls: list[tuple[str, str | None]] = []
    for name in ("library_matmul", "gemm"):
        own = getattr(operators, name)

        def recorded(*arguments: Any, _own: Any = own, _name: str = name, **options: Any) -> Any:
            calls.append((_name.removeprefix("library_"), options.get("precision")))
            return _own(*arguments, **options)

        monkeypatch.setattr(operators, name, recorded)
    return calls
