"""What the fuzzer does with CuPy and PyTorch: bytes to the GPU and back, views of them, streams. Imported when first needed."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .memory import Geometry
from .types import MULTIPLIED, dtype_of

NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
TYPES = {"cupy": tuple(name for name in MULTIPLIED if name not in NARROW), "torch": MULTIPLIED}
LATE_BYTES, LATE_FILLS = 2**28, 20  # fills of memory that take some milliseconds on any GPU
LATE_CYCLES = 4_000_000
POISON = 0xEE  # of memory that no operand has reached yet


class Framework(Protocol):
    """One kind of CUDA arrays."""

    def staged(self, data: np.ndarray) -> tuple[Any, Any]:
        """Bytes on the GPU, and as many others there, which `land` fills with them: until then each is POISON."""

    def land(self, staged: Any, whole: Any) -> None:
        """Copy what was staged to its place, as work of the current stream."""

    def view(self, whole: Any, place: Geometry, begin: int) -> Any:
        """The array whose first element lies `begin` bytes from the beginning of those bytes."""

    def holds(self, value: Any) -> bool:
        """Whether it is an array of this kind on the GPU."""

    def fetched(self, array: Any) -> np.ndarray:
        """The elements of a result, after the work of the current stream."""

    def late(self) -> None:
        """Keep the current stream busy for some milliseconds."""

    def side(self) -> Any:
        """A stream that is not the default one, always the same."""

    def on(self, stream: Any) -> AbstractContextManager[Any]:
        """A context in which that stream is the current one."""

    def handle(self, stream: Any) -> int:
        """CUDA's number of it."""

    def finish(self) -> None:
        """Wait for all work on the GPU."""


class Cupy:
    """CuPy's arrays: any strides."""

    def __init__(self) -> None:
        import cupy

        self._cupy = cupy

    def staged(self, data: np.ndarray) -> tuple[Any, Any]:
        staged = self._cupy.asarray(np.ascontiguousarray(data))
        return staged, self._cupy.full_like(staged, POISON)

    def land(self, staged: Any, whole: Any) -> None:
        whole[...] = staged

    def view(self, whole: Any, place: Geometry, begin: int) -> Any:
        if 0 in place.shape:
            return self._cupy.empty(place.shape, place.dtype)
        return self._cupy.ndarray(place.shape, place.dtype, whole.data + begin, place.strides)

    def holds(self, value: Any) -> bool:
        return type(value) is self._cupy.ndarray

    def fetched(self, array: Any) -> np.ndarray:
        found: np.ndarray = self._cupy.asnumpy(array)  # on the current stream, for which it waits
        return found

    @cached_property
    def _ballast(self) -> Any:
        return self._cupy.empty(LATE_BYTES, np.uint8)

    def late(self) -> None:
        for _ in range(LATE_FILLS):
            self._ballast.fill(0)

    @cached_property
    def _side(self) -> Any:
        return self._cupy.cuda.Stream(non_blocking=True)

    def side(self) -> Any:
        return self._side

    def on(self, stream: Any) -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = stream
        return context

    def handle(self, stream: Any) -> int:
        return int(stream.ptr)

    def finish(self) -> None:
        self._cupy.cuda.runtime.deviceSynchronize()


class Torch:
    """PyTorch's tensors: strides of 0 and more. Tests have it on "cpu", where there are no streams."""

    def __init__(self, device: str = "cuda") -> None:
        import torch

        self._torch, self._device = torch, device

    def staged(self, data: np.ndarray) -> tuple[Any, Any]:
        staged = self._torch.from_numpy(np.array(data)).to(self._device)
        return staged, self._torch.full_like(staged, POISON)

    def land(self, staged: Any, whole: Any) -> None:
        whole.copy_(staged)

    def view(self, whole: Any, place: Geometry, begin: int) -> Any:
        dtype, size = getattr(self._torch, place.dtype.name), place.dtype.itemsize
        made = self._torch.empty(0, dtype=dtype, device=whole.device)
        if 0 in place.shape:
            return made.reshape(place.shape)
        if begin % size or any(stride < 0 or stride % size for stride in place.strides):
            raise ValueError(
                f"no tensor of {dtype} lies {begin} bytes behind another with strides of {place.strides} bytes"
            )
        return made.set_(
            whole.untyped_storage(), begin // size, place.shape, [stride // size for stride in place.strides]
        )

    def holds(self, value: Any) -> bool:
        return isinstance(value, self._torch.Tensor) and value.device.type == self._device

    def fetched(self, array: Any) -> np.ndarray:
        dense = array.detach().resolve_conj().resolve_neg().cpu().contiguous()
        dtype = dtype_of(str(array.dtype).removeprefix("torch."))
        if not dense.numel():
            return np.empty(tuple(array.shape), dtype)
        raw: np.ndarray = dense.reshape(-1).view(self._torch.uint8).numpy()
        return raw.view(dtype).reshape(tuple(array.shape))

    def late(self) -> None:
        self._torch.cuda._sleep(LATE_CYCLES)

    @cached_property
    def _side(self) -> Any:
        return self._torch.cuda.Stream()

    def side(self) -> Any:
        return self._side

    def on(self, stream: Any) -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = self._torch.cuda.stream(stream)
        return context

    def handle(self, stream: Any) -> int:
        return int(stream.cuda_stream)

    def finish(self) -> None:
        if self._device == "cuda":
            self._torch.cuda.synchronize()

    def on_the_host(self, array: np.ndarray) -> Any:
        """A tensor of the same elements in the host's memory, which no call takes beside tensors on a GPU."""
        dtype = getattr(self._torch, array.dtype.name)
        raw = self._torch.from_numpy(np.ascontiguousarray(array).reshape(-1).view(np.uint8).copy())
        return raw.view(dtype).reshape(array.shape)


MADE: dict[str, Callable[[], Framework]] = {"cupy": Cupy, "torch": Torch}


class Frameworks:
    """The frameworks of a bench, each made when its first array is."""

    def __init__(self, made: dict[str, Callable[[], Framework]] | None = None) -> None:
        self._make = made or MADE
        self._made: dict[str, Framework] = {}

    def __getitem__(self, name: str) -> Framework:
        if name not in self._made:
            self._made[name] = self._make[name]()
        return self._made[name]

    def finish(self) -> None:
        for each in self._made.values():
            each.finish()
