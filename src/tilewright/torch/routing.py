"""`products`: a context in which the products of any code go through tilewright's operators."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from ..core.precision import PRECISIONS, REPRODUCIBLE
from ..library.requests import checked_precision
from .functions import linear, matmul
from .operators import layer_fits
from .tensors import DEVICES, NAMES, result_type

# Subclasses of tensors may mean anything by a product. FakeTensor is a tensor of `torch.export`.
PLAIN = (Tensor, torch.nn.Parameter, FakeTensor)
# A product rounded to one of these may be infinite where alpha a b + beta input is not. PyTorch rounds once.
SHORT = (torch.float16, torch.bfloat16)


def products(*, precision: str | None = None) -> "Products":
    """A context in which PyTorch's products are computed by tilewright.

    Routed are `torch.matmul` and the operator @, `torch.mm`, `bmm`, `mv`, `addmm`, `baddbmm`, the methods of these names, and
    `torch.nn.functional.linear`, which `torch.nn.Linear` calls; also in code that `torch.compile` compiles within the
    context. Their backward passes go through tilewright with the same precision, inside of the context and after it.

    Left to PyTorch are tensors of other types than those that offer the precision (integers in any case), on other devices,
    sparse ones and subclasses, calls with `out=` or `out_dtype`, shapes that do not fit, everything within
    `torch.autocast`, and the products inside of PyTorch's own functions: `scaled_dot_product_attention`,
    `multi_head_attention_forward`, `einsum`, recurrent layers.

    `addmm` and `baddbmm` of float16 and bfloat16 are left, too, unless alpha is 1 and either beta is 0 or `addmm` adds a row
    with beta=1: PyTorch rounds the product and the rest once. With "reproducible" they are computed in float32 and rounded
    once.

    Arguments:
        precision: as in `matmul`.

    Raises:
        UnknownName: no precision has that name.

    >>> import torch, tilewright.torch
    >>> with tilewright.torch.products():
    ...     torch.ones(2, 3) @ torch.ones(3)
    tensor([3., 3.])
    """
    return Products(precision)


def types_with(precision: str | None) -> frozenset[torch.dtype]:
    """The types of floats that offer a precision and whose products have their own type, as PyTorch's have."""
    offered = PRECISIONS.get(checked_precision(precision), NAMES.values())
    return frozenset(
        dtype
        for dtype, name in NAMES.items()
        if name in offered and result_type(dtype) == dtype and (dtype.is_floating_point or dtype.is_complex)
    )


def autocasts(tensor: Tensor) -> bool:
    """Whether `torch.autocast` is on for the tensor's device: it asks PyTorch for products in 16 bits."""
    enabled: bool = tensor.device.type != "meta" and torch.is_autocast_enabled(tensor.device.type)  # "meta" raises
    return enabled


class Products(TorchFunctionMode):  # type: ignore[misc]
    """The context that `products` makes. It may be entered again, and within another: then the inner one comes first."""

    def __init__(self, precision: str | None) -> None:
        super().__init__()
        self.precision = precision
        self.types = types_with(precision)

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute a product of tensors that tilewright takes; anything else is called as it is."""
        route = ROUTES.get(func)
        if route is not None:
            found = route(self, *args, **kwargs or {})
            if found is not None:
                return found
        return func(*args, **kwargs or {})

    def takes(self, *tensors: Any) -> bool:
        """Whether these are tensors of one type on one device, and tilewright multiplies such."""
        first = tensors[0]
        return (
            all(type(each) in PLAIN and each.layout == torch.strided for each in tensors)
            and all(each.dtype == first.dtype and each.device == first.device for each in tensors)
            and first.dtype in self.types
            and first.device.type in DEVICES
            and not autocasts(first)
        )


# The routes have the parameters of PyTorch's functions. None means that the call is left to PyTorch, which also raises what
# is to be raised for wrong shapes, and knows further forms of arguments.
def _matmul(mode: Products, input: Any = None, other: Any = None, *more: Any, **rest: Any) -> Tensor | None:
    if more or rest or not mode.takes(input, other) or not input.dim() or not other.dim() or not _meet(input, other):
        return None
    return matmul(input, other, precision=mode.precision)


def _reversed_matmul(mode: Products, input: Any, other: Any) -> Tensor | None:
    return _matmul(mode, other, input)


def _of_ranks(a_rank: int, b_rank: int, name: str) -> Callable[..., Tensor | None]:
    """The route of a product of operands that have exactly so many dimensions; the second is called `name`."""

    def route(mode: Products, input: Any = None, *others: Any, **rest: Any) -> Tensor | None:
        other, *more = others or (rest.pop(name, None),)
        if rest or more or not mode.takes(input, other) or not _stacks(input, other, a_rank, b_rank):
            return None
        return matmul(input, other, precision=mode.precision)

    return route


def _added(rank: int) -> Callable[..., Tensor | None]:
    """The route of beta input + alpha a b, of matrices or of stacks. `input` is not read if beta is 0."""

    def route(
        mode: Products, input: Any = None, *factors: Any, alpha: Any = 1, beta: Any = 1, **rest: Any
    ) -> Tensor | None:
        if rest or len(factors) != 2 or not mode.takes(input, *factors) or not _stacks(*factors, rank, rank):
            return None
        a, b = factors
        shape = (*a.shape[:-1], b.shape[-1])
        if not _expands(input.shape, shape) or not _scales(alpha, a) or not _scales(beta, a):
            return None
        if alpha == 1 and beta == 1 and rank == 2 and input.shape == b.shape[1:]:
            return linear(a, b.mT, input, precision=mode.precision)
        if alpha == 1 and beta == 0:
            return _with_gradient(input, matmul(a, b, precision=mode.precision))
        if a.dtype not in SHORT:
            return _sum(input, matmul(a, b, precision=mode.precision), alpha, beta)
        if mode.precision != REPRODUCIBLE:
            return None
        # In float32 the sums are the same chains, which are rounded once, at the end.
        wide = _sum(input.float(), matmul(a.float(), b.float(), precision=REPRODUCIBLE), alpha, beta)
        return wide.to(a.dtype)

    return route


def _sum(input: Tensor, product: Tensor, alpha: float, beta: float) -> Tensor:
    """beta input + alpha product. Each operation rounds by itself, so that the bits are the same on every device."""
    scaled = product if alpha == 1 else alpha * product
    if beta == 0:
        return _with_gradient(input, scaled)
    return (input if beta == 1 else beta * input) + scaled


def _with_gradient(input: Tensor, result: Tensor) -> Tensor:
    """A result that does not depend on `input`, whose gradient is zero all the same, as PyTorch's is."""
    if not input.requires_grad:
        return result
    return torch.where(torch.zeros((), dtype=torch.bool, device=input.device), input, result)


def _linear(
    mode: Products, input: Any = None, weight: Any = None, bias: Any = None, *more: Any, **rest: Any
) -> Tensor | None:
    given = (input, weight) if bias is None else (input, weight, bias)
    if more or rest or not mode.takes(*given) or not layer_fits(input, weight, bias):
        return None
    return linear(input, weight, bias, precision=mode.precision)


def _stacks(a: Tensor, b: Tensor, a_rank: int, b_rank: int) -> bool:
    """Whether operands have these ranks and fit, and stacks have one length: these functions broadcast nothing."""
    return (a.dim(), b.dim()) == (a_rank, b_rank) and (a_rank < 3 or a.shape[0] == b.shape[0]) and _meet(a, b)


def _meet(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have one k, and their other leading dimensions broadcast."""
    pairs = zip(a.shape[:-2][::-1], b.shape[:-2][::-1], strict=False)
    same: bool = a.shape[-1] == b.shape[-2 if b.dim() > 1 else 0]
    return same and all(one == other or one == 1 or other == 1 for one, other in pairs)


def _expands(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a tensor of one shape expands to the other."""
    pairs = zip(shape[::-1], wanted[::-1], strict=False)
    return len(shape) <= len(wanted) and all(size == 1 or size == other for size, other in pairs)


def _scales(factor: Any, tensor: Tensor) -> bool:
    """Whether a factor is a number that leaves the tensor's type as it is."""
    return isinstance(factor, (int, float)) or (tensor.is_complex() and isinstance(factor, complex))


ROUTES: dict[Any, Callable[..., Tensor | None]] = {
    **dict.fromkeys((torch.matmul, torch.linalg.matmul, Tensor.matmul, Tensor.__matmul__), _matmul),
    Tensor.__rmatmul__: _reversed_matmul,
    **dict.fromkeys((torch.mm, Tensor.mm), _of_ranks(2, 2, "mat2")),
    **dict.fromkeys((torch.bmm, Tensor.bmm), _of_ranks(3, 3, "mat2")),
    **dict.fromkeys((torch.mv, Tensor.mv), _of_ranks(2, 1, "vec")),
    **dict.fromkeys((torch.addmm, Tensor.addmm), _added(2)),
    **dict.fromkeys((torch.baddbmm, Tensor.baddbmm), _added(3)),
    functional.linear: _linear,
}
