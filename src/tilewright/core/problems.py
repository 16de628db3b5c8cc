"""The problem that a kernel solves at a size, and whether there is memory for it."""

import os
from collections.abc import Sequence

from ..errors import InvalidInput
from .checked import checked_count
from .device import DeviceInfo
from .kernel import Kernel
from .problem import Copy, Gemm, Problem, Transpose, output_of
from .sizes import Size, as_size


def make_problem(kernel: Kernel, size: Size, dtype: str | None = None, offset: int = 0) -> Problem:
    """The problem that `kernel` solves at `size`: n or (n,) for squares, (m, n, k) or (rows, columns).

    Without a `dtype` it is the kernel's usual one. A kernel with arguments of its own has one problem, whatever the size.
    InvalidInput if a product is given an `offset`.
    """
    if kernel.binding is not None and kernel.binding.problem is not None:
        return kernel.binding.problem
    size, offset = as_size(size), checked_count("offset", offset, 0)
    dtype = kernel.usual_dtype if dtype is None else dtype
    if kernel.operation == "gemm":
        if offset:
            raise InvalidInput(f"an offset of {offset}: a gemm cannot leave out columns; transposes and copies can")
        m, n, k = size if len(size) == 3 else _square(size, 3)
        a_order, b_order, c_order = kernel.orders
        return Gemm(m, n, k, dtype, a_order, b_order, c_order)
    rows, columns = size if len(size) == 2 else _square(size, 2)
    return (Copy if kernel.operation == "copy" else Transpose)(rows, columns, dtype, offset)


def _square(size: Sequence[int], sides: int) -> tuple[int, ...]:
    if len(size) != 1:
        raise InvalidInput(f"a size has 1 or {sides} numbers here, got {'x'.join(map(str, size))}")
    return tuple(size) * sides


def dtype_refusal(kernel: Kernel, dtype: str) -> str:
    """A sentence that says that the kernel does not compute in `dtype`; "" if it does."""
    return "" if dtype in kernel.dtypes else f"{kernel.name} has no {dtype}; it has {', '.join(kernel.dtypes)}"


def check_memory(problem: Problem, info: DeviceInfo | None = None) -> None:
    """InvalidInput if a problem's operands exceed the device's memory, or if they and the float64 reference together exceed
    the host's. To be called before anything is allocated."""
    operands = sum(each.nbytes for each in problem.operands)
    reference = 8 * output_of(problem).elements if problem.flops else 0
    places = [("this machine", operands + reference, host_bytes())]
    if info is not None:
        places.insert(0, (info.label, operands, info.global_bytes))
    for name, needed, there in places:
        if there and needed > there:
            raise InvalidInput(
                f"{problem.title} needs {needed:,} bytes, and {name} has {there:,}: ask for a smaller size"
            )


def host_bytes() -> int:
    """The memory of this machine in bytes; 0 if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
