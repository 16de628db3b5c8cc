"""Tensors of PyTorch. Imported when the first tensor comes, so PyTorch is loaded already."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from ...core.types import ELEMENT_TYPES, numpy_dtype
from ...errors import InvalidInput, UnsupportedType
from ..shapes import Shape
from .array import ALIGNED, UNCAPTURED, CudaArray

# NumPy's type for each of PyTorch's: by name, as ours are named as both name them.
_NAMES = {getattr(torch, name): name for name in ELEMENT_TYPES if hasattr(torch, name)}
TENSORS = (torch.Tensor, torch.nn.Parameter)  # subclasses go the general way
_known: dict[torch.dtype, np.dtype] = {}
_own: dict[np.dtype, torch.dtype] = {}
_increment_version = torch.autograd.graph.increment_version
_raw_stream = torch._C._cuda_getCurrentRawStream if hasattr(torch._C, "_cuda_getCurrentRawStream") else None


class TorchArrays:
    """PyTorch's tensors on CUDA devices. Results come from its caching allocator, on the caller's current stream."""

    name = "PyTorch"
    has_ready = True
    address = staticmethod(torch.Tensor.data_ptr)

    def holds(self, value: Any) -> bool:
        return bool(value.is_cuda)

    def ordinal(self, value: Any) -> int:
        return int(value.get_device())

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
        if _raw_stream is not None:
            return int(_raw_stream(ordinal))
        return int(torch.cuda.current_stream(ordinal).cuda_stream)

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
            _increment_version(value)
        except RuntimeError:  # a tensor of inference mode, which has no version
            if not value.is_inference():
                raise

    def call_key(self, arrays: Sequence[Any], out: Any) -> tuple[Any, ...] | None:
        ordinal = arrays[0].get_device()
        if ordinal < 0:
            return None
        records = torch.is_grad_enabled()
        key = [ordinal, _raw_stream(ordinal) if _raw_stream is not None else self.current_stream(ordinal, ())]
        try:
            for array in (out, *arrays):
                if array is None:
                    key.append(None)
                    continue
                if type(array) not in TENSORS or array.is_neg():
                    return None
                if (records or array is out) and array.requires_grad:
                    return None
                dtype, pointer = array.dtype, array.data_ptr()
                if array.get_device() != ordinal or not pointer or (dtype.is_complex and array.is_conj()):
                    return None
                key += (array.shape, array.stride(), dtype, pointer % ALIGNED)
        except RuntimeError:  # a tensor without strides, such as a sparse one
            return None
        return tuple(key)

    def settled(self, value: Any) -> bool:
        return bool(value.numel())

    def maker(self, shape: Shape, dtype: np.dtype, ordinal: int, stream: int) -> Callable[[], Any]:
        device = torch.device("cuda", ordinal)
        make = partial(torch.empty, shape, dtype=torch_type(dtype), device=device)
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
