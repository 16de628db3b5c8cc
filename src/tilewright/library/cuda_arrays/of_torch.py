"""Tensors of PyTorch. Imported when the first tensor comes, so PyTorch is loaded already."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from ...core.types import ELEMENT_TYPES, numpy_dtype
from ...errors import InvalidInput, UnsupportedType
from ..shapes import Shape
from .array import UNCAPTURED, CudaArray, dense_strides
from .torch_alike import alike

# NumPy's type for each of PyTorch's: by name, as ours are named as both name them.
_NAMES = {getattr(torch, name): name for name in ELEMENT_TYPES if hasattr(torch, name)}
TENSORS = (torch.Tensor, torch.nn.Parameter)  # subclasses go the general way
_known: dict[torch.dtype, np.dtype] = {}
_own: dict[np.dtype, torch.dtype] = {}
_stream_of = getattr(
    torch._C, "_cuda_getCurrentRawStream", lambda ordinal: int(torch.cuda.current_stream(ordinal).cuda_stream)
)


def _version_counter() -> Callable[[tuple[Any, ...]], None]:
    """What `torch.autograd.graph.increment_version` calls, which takes twice as long; itself where that is something else."""
    try:
        own: Callable[[tuple[Any, ...]], None] = torch._C._increment_version
        own((torch.zeros(0, device="cpu"),))
    except (AttributeError, TypeError):
        return lambda tensors: torch.autograd.graph.increment_version(tensors[0])
    return own


_increment_versions = _version_counter()


class TorchArrays:
    """PyTorch's tensors on CUDA devices. Results come from its caching allocator, on the caller's current stream."""

    name = "PyTorch"
    has_ready = True
    # Called for each tensor of a ready call, so no method of Python's lies between.
    address = staticmethod(torch.Tensor.data_ptr)
    ordinal = staticmethod(torch.Tensor.get_device)
    count = staticmethod(torch.Tensor.numel)
    stream_of = staticmethod(_stream_of)
    alike = staticmethod(alike)

    def holds(self, value: Any) -> bool:
        return bool(value.is_cuda)

    def read(self, value: Any, name: str, stream: int) -> CudaArray:
        if value.requires_grad and torch.is_grad_enabled():
            raise InvalidInput(
                f"{name} requires grad, and this call records none: use tilewright.torch, or pass {name}.detach()"
            )
        if value.layout is not torch.strided:
            raise UnsupportedType(f"{name} has the layout {value.layout}: pass {name}.to_dense()")
        if value._is_zerotensor():
            raise UnsupportedType(
                f"{name} is a tensor of zeros without memory, as forward mode makes them: pass a copy"
            )
        if value.is_conj() or value.is_neg():  # a flag that stands for work not yet done
            value = value.resolve_conj().resolve_neg()
        return _array(value, name)

    def read_out(self, value: Any, stream: int) -> CudaArray:
        if value.requires_grad:
            raise InvalidInput("out requires grad, and results written there would have none: pass out.detach()")
        if value.layout is not torch.strided or value.is_conj() or value.is_neg():
            raise InvalidInput("out is a sparse tensor or a lazy conjugate: pass a tensor of its own memory")
        return _array(value, "out")

    def current_stream(self, ordinal: int, values: Sequence[Any]) -> int:
        return int(self.stream_of(ordinal))

    def empty(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> CudaArray:
        made = self.maker(shape, dtype, ordinal, stream)()
        return CudaArray(made.data_ptr(), shape, tuple(made.stride()), dtype, ordinal, made)

    def result(self, array: CudaArray, stream: int) -> Any:
        return array.given

    def permuted(self, value: Any, order: Sequence[int]) -> Any:
        return value.permute(*order)

    def enqueued(self, arrays: Sequence[CudaArray], stream: int, captured: bool) -> None:
        """Nothing to do: the allocator gives memory back in the order of its stream, and a graph has its own."""

    def written(self, value: Any) -> None:
        """A backward pass that has saved what was overwritten must fail."""
        try:
            _increment_versions((value,))
        except RuntimeError:  # a tensor of inference mode, which has no version
            if not value.is_inference():
                raise

    def settled(self, value: Any) -> bool:
        return type(value) in TENSORS and bool(value.numel()) and not (value.is_neg() or value.is_conj())

    def maker(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> Callable[[], Any]:
        device = torch.device("cuda", ordinal)
        # `torch.empty` takes a microsecond longer
        make = partial(torch.empty_strided, shape, dense_strides(shape), dtype=torch_type(dtype), device=device)
        if stream == self.current_stream(ordinal, ()):
            return make
        default = stream in UNCAPTURED
        own = torch.cuda.default_stream(device) if default else torch.cuda.ExternalStream(stream, device=device)

        def made_there() -> Any:
            """In memory of the stream that it is used on."""
            with torch.cuda.stream(own):
                return make()

        return made_there


def _array(value: Any, name: str) -> CudaArray:
    dtype = _known.get(value.dtype) or _numpy_type(value.dtype, name)
    return CudaArray(value.data_ptr(), tuple(value.shape), value.stride(), dtype, value.get_device(), value)


def _numpy_type(dtype: torch.dtype, name: str) -> np.dtype:
    if dtype not in _NAMES:
        raise UnsupportedType(f"{name} has elements of {dtype}, for which there is no kernel: convert it")
    _known[dtype] = numpy_dtype(_NAMES[dtype])
    return _known[dtype]


def torch_type(dtype: np.dtype) -> torch.dtype:
    """PyTorch's type of a NumPy type; UnsupportedType if it has none."""
    if dtype not in _own:
        found = next((own for own, name in _NAMES.items() if name == dtype.name), None)
        if found is None:
            raise UnsupportedType(f"PyTorch has no type for {dtype}")
        _own[dtype] = found
    return _own[dtype]
