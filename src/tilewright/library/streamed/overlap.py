"""Products of NumPy arrays that fit a GPU, and end sooner in tiles: copies run beside the product, not before and after it."""

from typing import Any

import numpy as np

from ...core.device import DeviceInfo
from ...core.problem import Gemm
from ...core.types import FLOAT8, element_type, numpy_dtype
from ...runtime.opencl.conveyor import THREADS
from ...runtime.opencl.device import Device
from ..requests import Options
from ..result_types import asked_type, product_types
from .device_rates import PINNED_LINK, flops_of
from .limits import OVERLAPPED_BYTES, result_elements
from .mappings import mapped_root, span_of

# Bytes per second of the copies of a product in one piece, to the device and back: what 8 threads moved beside an H100.
PLAIN_COPIES = 35e9
# What tiles hide is the shorter of copies and product, but for the first tiles and the last ones. On an H100, float32 of 4096 and
# 6144 a side (2 and 9 ms to hide) took 3 ms longer in tiles, of 8192 (20 ms) 37 to 40 ms and not 46 to 56, float16 of 16384
# (14 ms) 45 to 57 and not 50 to 58, and float32 of 16384 x 512 x 16384 (5 of 38 ms) the same.
LEAST_HIDDEN_S, LEAST_HIDDEN = 0.01, 0.15  # in seconds, and of the sum of both
# That copy: on few processors the threads that load, compute and store slow copies down. Measured: 12, 16.
LEAST_THREADS = 4


def ends_sooner_in_tiles(device: Device, arrays: tuple[Any, ...], out: Any, options: Options) -> bool:
    """Whether the product is plain, and tiles are predicted to gain. Plain: dense matrices of one type, each its own memory.

    `arrays` are those of `gemm`. The product in one piece refuses what is wrong with them.
    """
    a, b, c = arrays[:3]
    if c is not None or options.precision not in (None, "ieee") or not _plain(a) or not _plain(b):
        return False
    read, written = product_types(a.dtype, b.dtype, None if options.dtype is None else asked_type(options.dtype))
    if a.dtype != b.dtype or a.dtype.name != read:
        return False
    result = numpy_dtype(written)
    k, inner = a.shape[-1 if options.trans_a == "N" else 0], b.shape[0 if options.trans_b == "N" else -1]
    if k != inner or np.may_share_memory(a, b):
        return False
    if out is not None and not (_plain(out) and out.dtype == result and _apart(out, a, b)):
        return False
    elements = result_elements(a, b, options.trans_a, options.trans_b)
    pinned = out is not None and all(device.pinned.holding(each) is not None for each in (a, b, out))
    return _pays(elements * k, a.nbytes + b.nbytes + elements * result.itemsize, read, device.info, pinned)


def hides_copies(computing: float, copying: float) -> bool:
    """Whether tiles gain, by the seconds of a product and of its copies."""
    hidden = min(computing, copying)
    return hidden >= LEAST_HIDDEN_S and hidden >= LEAST_HIDDEN * (computing + copying)


def note_on_copies(problem: Gemm, info: DeviceInfo, pinned: bool = False) -> str:
    """That NumPy arrays of this product are multiplied in tiles; "" if they are not."""
    nbytes = sum(each.nbytes for each in problem.operands)
    if info.kind == "cpu" or problem.batch != 1 or problem.precision or nbytes < OVERLAPPED_BYTES:
        return ""
    if not _pays(problem.m * problem.n * problem.k, nbytes, problem.dtype, info, pinned):
        return ""
    return "NumPy arrays are multiplied in tiles, with their copies beside the product: max_device_bytes= shows tiles"


def _pays(multiply_adds: int, nbytes: int, dtype: str, info: DeviceInfo, pinned: bool) -> bool:
    """Whether tiles gain for a product of this type, by its multiply-adds and by the bytes of its matrices.

    `flops_of` holds neither for integers nor for 8-bit floats, which are converted first.
    """
    if element_type(dtype).exact or dtype in FLOAT8 or (THREADS < LEAST_THREADS and not pinned):
        return False
    return hides_copies(2.0 * multiply_adds / flops_of(dtype, info), nbytes / (PINNED_LINK if pinned else PLAIN_COPIES))


def _plain(array: Any) -> bool:
    """A dense matrix of NumPy's own class, in memory that is no file's."""
    if type(array) is not np.ndarray or array.ndim != 2:
        return False
    if not (array.flags.forc and array.flags.aligned and array.dtype.isnative):
        return False
    return mapped_root(array) is None and span_of(array) is None


def _apart(out: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    return out.flags.writeable and not np.may_share_memory(out, a) and not np.may_share_memory(out, b)
