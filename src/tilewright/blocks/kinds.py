"""The kinds of arrays that blocks can be: CUDA arrays of any framework, and PyOpenCL arrays."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from pyopencl.array import Array

from ..errors import InvalidInput
from ..library.cuda_arrays.frameworks import framework_of
from ..library.memory.opencl_arrays import memory_of
from ..library.views import device_view, refuse_sparse
from . import cuda_copies, opencl_copies


class Kind(NamedTuple):
    """What products of blocks need of a kind of arrays."""

    name: str
    holds: Callable[[Any], bool]
    place_of: Callable[[Any], Hashable]  # the device of a call's memory
    label: Callable[[Any], str]  # of that device
    place_of_value: Callable[[Any], Hashable]  # the device of the caller's array
    # An allocation, and the first and last byte of an array's elements in it.
    span: Callable[[Any], tuple[Hashable, int, int]]
    columns_of: Callable[..., Any]  # a view of some columns
    as_row: Callable[[Any], Any]  # a vector as a matrix of one row
    as_vector: Callable[[Any], Any]  # and back
    start: Callable[[Any], None]  # let the device begin with what was enqueued by a call's memory
    order: Callable[[Any, Any], None]  # let later work in one queue of a device wait for what another one has
    copies: Callable[..., Any]


def _opencl_place(value: Array) -> Hashable:
    if value.queue is None:
        raise InvalidInput(f"an array ({value.shape} {value.dtype}) has no queue: pass array.with_queue(queue)")
    return value.queue.context.int_ptr, value.queue.device.int_ptr


def _opencl_span(array: Array) -> tuple[Hashable, int, int]:
    if not array.size:
        return 0, 0, 0
    allocation, begin, _ = memory_of(array)
    view = device_view(array)
    reach = [(side - 1) * stride for side, stride in zip(view.shape, view.strides, strict=True)]
    low, high = sum(min(step, 0) for step in reach), sum(max(step, 0) for step in reach)
    itemsize = array.dtype.itemsize
    return allocation, begin + (view.offset + low) * itemsize, begin + (view.offset + high + 1) * itemsize


def _cuda_place(value: Any) -> int:
    framework = framework_of(value)
    assert framework is not None
    return framework.ordinal(value)


CUDA = Kind(
    "CUDA arrays", lambda value: framework_of(value) is not None, lambda memory: memory.device.info.place,
    lambda memory: f"GPU {memory.device.info.place}", _cuda_place, lambda array: (array.ordinal, *array.span),
    cuda_copies.columns_of, cuda_copies.as_row, cuda_copies.as_vector, lambda memory: None,
    cuda_copies.order, cuda_copies.CudaCopies,
)  # fmt: skip
OPENCL = Kind(
    "PyOpenCL arrays", lambda value: isinstance(value, Array), opencl_copies.place_of,
    lambda memory: memory.device.info.label, _opencl_place, _opencl_span,
    opencl_copies.columns_of, opencl_copies.as_row, opencl_copies.as_vector, lambda memory: memory.queue.flush(),
    opencl_copies.order, opencl_copies.OpenCLCopies,
)  # fmt: skip


def kind_of(values: dict[str, Any]) -> Kind:
    """The one kind of all arrays, which stand under the names of arguments. InvalidInput for two kinds, or another one."""
    found: dict[str, tuple[str, Kind]] = {}
    for name, value in values.items():
        kind = next((each for each in (OPENCL, CUDA) if each.holds(value)), None)
        if kind is None:
            refuse_sparse(value, name)
            package = type(value).__module__.partition(".")[0]
            raise InvalidInput(
                f"{name} is a {package} {type(value).__name__}, which lies on no device: copy it to one; "
                'tilewright.matmul(a, b, device="all") multiplies arrays of the host on several devices'
            )
        found.setdefault(kind.name, (name, kind))
    if len(found) > 1:
        (one, first), (other, second) = found.values()
        raise InvalidInput(
            f"{one} is one of {first.name}, {other} of {second.name}: copy one of them to the other's kind"
        )
    return next(iter(found.values()))[1]
