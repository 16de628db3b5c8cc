"""What the memories of devices share: kernels convert and copy arrays there, and the host waits for none of it."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ...core.types import DOUBLES
from ...errors import Unsupported
from ...kernels.copy.copy_nd import SPELLED
from ..copy_calls import STANDS_FOR, converting_copy, strided_copy
from ..engine import Call, call_for
from ..shapes import Shape, View


class DeviceCopies(ABC):
    """Conversions and copies of device arrays. A memory of a kind of arrays adds the rest."""

    device: Any
    key: tuple[Hashable, ...]
    binds_scratch = False  # whether a ready call has the addresses of scratch memory, and others get it by the call

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Whether the value is an array of this memory's kind."""

    @abstractmethod
    def as_operand(self, array: Any, dtype: np.dtype) -> Any:
        """The operand in that type, in memory of the device."""

    @abstractmethod
    def signature(self, array: Any) -> tuple[Any, ...] | None:
        """What a prepared call depends on: equal signatures can share one."""

    @abstractmethod
    def view(self, array: Any) -> View: ...

    @abstractmethod
    def empty(self, shape: Shape, dtype: np.dtype) -> Any: ...

    @abstractmethod
    def run(self, call: Call, arrays: Mapping[str, Any], output: str, reads_output: bool) -> None: ...

    def check_conversion(self, source: np.dtype, target: np.dtype) -> None:
        """Unsupported if no kernel has the conversion. Called before anything is enqueued."""
        if source == target:
            return
        if not source.isnative:
            raise Unsupported(f"a device array is byte-swapped ({source}): swap its bytes on the host")
        for name in (source.name, target.name):
            if name not in SPELLED:
                raise Unsupported(f"no kernel converts {source} to {target} on a device: pass operands of one type")
            if name in DOUBLES and not self.device.info.fp64:
                raise Unsupported(f"{self.device.info.label} has no fp64, which {name} needs")

    def _cast(self, array: Any, dtype: np.dtype) -> Any:
        """A dense copy of the array in another type."""
        self.check_conversion(array.dtype, dtype)
        converted = self.empty(array.shape, dtype)
        self._copy(converted, array, self.view(array))
        return converted

    def dense(self, array: Any, shape: Shape) -> Any:
        """The array broadcast to a shape, as a dense copy."""
        copied = self.empty(shape, array.dtype)
        self._copy(copied, array, self.view(array).broadcast(shape))
        return copied

    def assign(self, target: Any, source: Any) -> None:
        """Copy elements into `target` and convert them to its type. The arrays share no memory."""
        taken = source if self.holds(source) else self.as_operand(source, target.dtype)
        self._copy(target, taken, self.view(taken))

    def _copy(self, target: Any, source: Any, seen: View) -> None:
        """Copy the elements of `source` in the view `seen` into `target`, and convert them if the types differ."""
        key = ("assign", self.key, seen, self.signature(source), self.signature(target))
        call = call_for(self.device, key, lambda: self._prepare_copy(target, source, seen))
        self.run(call, {"input": source, "output": target}, "output", False)

    def _prepare_copy(self, target: Any, source: Any, seen: View) -> Call:
        if source.dtype == target.dtype:
            return strided_copy(self.device, seen, self.view(target), STANDS_FOR[target.dtype.itemsize])
        self.check_conversion(source.dtype, target.dtype)
        return converting_copy(self.device, seen, self.view(target), (source.dtype, target.dtype))
