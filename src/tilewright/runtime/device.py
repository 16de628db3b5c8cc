"""What an opened device can do, whatever runtime it is reached by: the verbs that plans are run with."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..core.device import DeviceInfo
from ..core.kernel import NDRange
from ..core.source import Signature
from ..core.tensor_map import TensorMap


class Program(Protocol):
    """A built program and how its kernel's arguments are bound."""

    @property
    def scalar_types(self) -> tuple[Any, ...]: ...

    @property
    def log(self) -> str: ...

    def new_kernel(self) -> Any:
        """A kernel object of its own, with `set_arg(index, value)`."""


class Device(Protocol):
    """An opened device. Buffers, kernels and events are the runtime's own; events have `profile.start` and `.end` in ns."""

    @property
    def info(self) -> DeviceInfo: ...

    @property
    def backend(self) -> str:
        """The runtime's name in records: "opencl" or "cuda"."""

    @property
    def dialect(self) -> str:
        """The language that `build` takes, as `kernel.render` names it."""

    @property
    def supports_timestamps(self) -> bool:
        """Whether kernels that read the device's clock can time a burst on `plain_queue`."""

    @property
    def plain_queue(self) -> Any:
        """A queue whose launches are not timed one by one, for `launch` and `finish`; None for the device's only one."""

    def build(
        self, source: str, name: str, signature: Signature, dtype: str, options: Sequence[str] = (), target: str = ""
    ) -> Program: ...

    def allocate(self, nbytes: int) -> Any: ...

    def tensor_map(self, map_: TensorMap) -> Any: ...

    def part(self, buffer: Any, origin: int, nbytes: int) -> Any: ...

    def fill(self, buffer: Any, byte: int, origin: int, nbytes: int) -> None: ...

    def write(self, buffer: Any, array: np.ndarray) -> None: ...

    def read(self, buffer: Any, count: int, dtype: np.dtype, origin: int = 0) -> np.ndarray: ...

    def launch(
        self, kernel: Any, ndrange: NDRange, what: str, queue: Any = None, wait_for: Any = None, event: bool = True
    ) -> Any:
        """Enqueue one launch; its event, or None if none is wanted and the runtime can do without."""

    def finish(self, what: str, queue: Any = None) -> None: ...
