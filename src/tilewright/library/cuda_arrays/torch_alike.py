"""Whether tensors can stand in the places of others in a ready call: asked for all tensors of each call."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

Alike = Callable[..., bool]


def by_attributes(*tensors: Any) -> Alike:
    """By some ten attributes of each tensor."""
    wanted = tuple(map(_attributes, tensors))

    def compared(*others: Any) -> bool:
        try:
            return tuple(map(_attributes, others)) == wanted
        except (AttributeError, RuntimeError):  # no tensor; one without strides or memory, such as those inside vmap
            return False

    return compared


def _attributes(tensor: Any) -> tuple[Any, ...]:
    lazy = tensor.is_neg(), tensor.is_conj(), tensor._is_zerotensor(), not tensor.data_ptr()
    return type(tensor), tensor.device, tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad, lazy


def by_guards(*tensors: Any) -> Alike:
    """By the guards of torch.compile, one call of C that takes a fifth of the time.

    They compare type, device, dtype, layout, shape, strides, requires_grad, and all flags of work not yet done.
    """
    compared: Alike = torch._C._dynamo.guards.TensorGuards(
        *tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None
    ).check
    return compared


def discerns(compare: Callable[..., Alike]) -> bool:
    """Whether a comparison tells all tensors apart that ready calls must: guards are no public part of PyTorch."""
    make = partial(torch.zeros, device="cpu")
    whole, lazy, other = make(2, 3), make(2, 3, dtype=torch.complex64), make(4)
    apart = [
        make(3, 2).t(), make(2, 3, 1), make(3, 3), make(3), make(2, 3, dtype=torch.int32), make(2, 3, dtype=torch.float64),
        make(2, 3, requires_grad=True), torch.nn.Parameter(whole, requires_grad=False), whole.to("meta"),
        whole.to_sparse(), torch._efficientzerotensor((2, 3)), lazy.conj().imag, None, 1,
    ]  # fmt: skip
    try:
        alike, pair = compare(whole), compare(other, whole)
        conjugate, part, grown = compare(lazy), compare(lazy.imag), compare(make(2, 3, requires_grad=True))
        same = [alike(make(2, 3)), pair(make(4), make(2, 3)), conjugate(lazy), part(lazy.imag)]
        found = [alike(each) for each in apart] + [pair(other, each) for each in apart]
        with torch.no_grad():  # a tensor that requires grad is another one there, too
            found += [alike(each) for each in apart] + [grown(whole)]
        return all(same) and not any((*found, conjugate(lazy.conj()), part(lazy.conj().imag)))
    except (AttributeError, TypeError, RuntimeError):
        return False


_compare = by_guards if discerns(by_guards) else by_attributes


def alike(*tensors: Any) -> Alike:
    """A function that tells whether as many tensors have the types, devices, dtypes, shapes, strides and flags of these.

    Tensors that require grad are only taken where none is recorded.
    """
    compared = _compare(*tensors)
    if not any(each.requires_grad for each in tensors):
        return compared
    return lambda *others: not torch.is_grad_enabled() and compared(*others)
