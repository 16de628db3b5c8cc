"""The one place where tensors are given to the library: those of CUDA as they are, those of the CPU as NumPy arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..core.precision import check_precision
from ..core.types import ELEMENT_TYPES, element_type, numpy_dtype
from ..errors import InvalidInput, Unsupported, UnsupportedType
from ..library.requests import checked_precision

# The types of tensors that the library multiplies, by PyTorch's names, which are NumPy's and those of ml_dtypes.
NAMES: dict[torch.dtype, str] = {getattr(torch, name): name for name in ELEMENT_TYPES}
BITS = {1: torch.uint8, 2: torch.int16}  # what PyTorch and NumPy both have for floats that NumPy has not, by size
DEVICES = ("cpu", "cuda")


def called(function: Callable[..., Any], *tensors: torch.Tensor, **options: Any) -> torch.Tensor:
    """What a product of the library gives for tensors, as a tensor on their device.

    Tensors of CUDA run in the caller's current stream. Those of the CPU are multiplied where NumPy arrays are: on the
    default device, which the variable TILEWRIGHT_DEVICE chooses.
    """
    if tensors[0].device.type == "cuda":
        options = {name: each.detach() if _is_tensor(each) else each for name, each in options.items()}
        return function(*(each.detach() for each in tensors), **options)
    options = {name: as_array(each) if _is_tensor(each) else each for name, each in options.items()}
    return as_tensor(np.asarray(function(*map(as_array, tensors), **options)))


def check_operands(precision: str | None, **tensors: torch.Tensor | None) -> None:
    """InvalidInput unless all tensors have one type, which offers the precision, and lie on one device.

    PyTorch does not promote types in products either: gradients have the types of their tensors. UnsupportedType for types
    that have no kernels and for sparse tensors, and Unsupported for devices that have none.
    """
    given = {name: each for name, each in tensors.items() if each is not None}
    first = next(iter(given.values()))
    for what in ("dtype", "device"):
        own = getattr(first, what)
        if any(getattr(each, what) != own for each in given.values()):
            listed = ", ".join(f"{name} has {getattr(each, what)}" for name, each in given.items())
            raise InvalidInput(f"the tensors must have one {what}: {listed}; convert them with .to()")
    for name, each in given.items():
        if each.layout is not torch.strided:
            raise UnsupportedType(f"{name} has the layout {each.layout}: pass {name}.to_dense()")
    check_precision(checked_precision(precision), name_of(first.dtype))
    if first.device.type not in (*DEVICES, "meta"):
        raise Unsupported(f"tensors on {first.device} are not multiplied: copy them to the CPU or to a CUDA GPU")


def name_of(dtype: torch.dtype) -> str:
    """The library's name of a type. UnsupportedType if no kernel multiplies it."""
    if dtype not in NAMES:
        raise UnsupportedType(
            f"no kernel multiplies {dtype}: convert the tensors to one of {', '.join(map(str, NAMES))}"
        )
    return NAMES[dtype]


def result_type(dtype: torch.dtype) -> torch.dtype:
    """The type of products of a type: its own, but int32 for int8, and float32 for 8-bit floats."""
    result: torch.dtype = getattr(torch, element_type(name_of(dtype)).result)
    return result


def as_array(tensor: torch.Tensor) -> np.ndarray:
    """A CPU tensor's memory as a NumPy array with the same strides; floats that NumPy lacks by ml_dtypes."""
    own = element_type(NAMES[tensor.dtype])
    detached = tensor.detach()
    if not own.from_ml_dtypes:
        array: np.ndarray = detached.numpy()
        return array
    bits: np.ndarray = detached.view(BITS[own.itemsize]).numpy()
    return bits.view(numpy_dtype(own.name))


def as_tensor(array: np.ndarray) -> torch.Tensor:
    """The opposite of `as_array`: no element is copied."""
    if array.dtype.isbuiltin == 1:  # NumPy's own; those of ml_dtypes have 2
        return torch.from_numpy(array)
    own = element_type(array.dtype.name)
    bits = BITS[own.itemsize]
    return torch.from_numpy(array.view(str(bits).removeprefix("torch."))).view(getattr(torch, own.name))


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)
