"""What a reproducible product is to be, by the kernel chain.cl on a device of its own."""

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.core.types import element_type, numpy_dtype

from .cases import Case

SOURCE = (Path(__file__).parent / "chain.cl").read_text(encoding="utf-8")


def expected(case: Case, queue: Any) -> np.ndarray:
    """The product of a case, in its type."""
    import pyopencl as cl

    wide = np.dtype(np.float64 if case.dtype == "float64" else np.float32)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    zeros = np.zeros(case.n, wide)
    given = (case.a, case.b, case.c, zeros if case.bias is None else case.bias)
    # A buffer has a byte at least, also of an empty operand.
    arrays = [np.ascontiguousarray(each, wide).reshape(-1) if each.size else np.zeros(1, wide) for each in given]
    buffers = [cl.Buffer(queue.context, flags, hostbuf=each) for each in arrays]
    result = np.empty((case.m, case.n), wide)
    target = cl.Buffer(queue.context, cl.mem_flags.WRITE_ONLY, result.nbytes)
    sizes = np.int32(case.n), np.int32(case.k), wide.type(case.alpha), wide.type(case.beta)
    _kernel(queue.context, wide.name)(queue, (case.n, case.m), None, *sizes, *buffers, target)
    cl.enqueue_copy(queue, result, target)
    if case.activation == "relu":
        result = np.where(result < 0, wide.type(0), result)
    with np.errstate(over="ignore"):  # a type of 16 bits has infinities sooner
        return result.astype(numpy_dtype(case.dtype))


@cache
def _kernel(context: Any, wide: str) -> Any:
    import pyopencl as cl

    name = "double" if wide == "float64" else "float"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)  # some compilers say that they are done
        return cl.Program(context, SOURCE).build([f"-DT={name}"], cache_dir=False).chain


def bits(array: np.ndarray) -> bytes:
    """An array's bits. All NaNs count as one: which NaN comes of others is the device's choice."""
    array = np.ascontiguousarray(array)
    kind = element_type(array.dtype.name)
    if kind.exact:
        return array.tobytes()
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array).tobytes()
