"""Finds out in a child process whether kernels on a CPU can use vpdpbusd, which adds four products of int8 at a time.

`python -m tilewright.runtime.opencl.vpdpbusd --platform NAME --device INDEX` builds and runs the trial and prints a JSON
line. A processor without the instruction, or a compiler without inline assembly, ends that process, not ours.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from ...core.device import DeviceInfo
from ...core.types import element_type
from ..cache import BinaryCache, cache_folder, content_key
from ..children import run_child, tell
from ..icd.registration import register
from ..processors import code_facts
from .smoke import find_device, source_of

VPDPBUSD = "vpdpbusd"
VECTORS, LANES, QUAD = 8, 16, 4  # vectors of 64 bytes, the ints of a vector, the bytes of an int
TIME_LIMIT_S = 60.0


def equipped(info: DeviceInfo, dtype: str) -> DeviceInfo:
    """The device's facts with the instructions for `dtype`. For bools and integers of 8 and 16 bits on CPUs: `vpdpbusd` as a
    feature, or as missing with the reason. A child process tries it, and the answer is kept on disk for this driver and
    processor."""
    kind = element_type(dtype)
    if info.kind != "cpu" or not kind.exact or kind.itemsize > 2 or VPDPBUSD in info.features | set(info.missing):
        return info
    reason = _tried(info.platform, info.version, info.driver, info.name, info.place)
    if reason:
        return replace(info, missing={**info.missing, VPDPBUSD: reason})
    return replace(info, features=info.features | {VPDPBUSD})


@cache
def _tried(platform: str, version: str, driver: str, name: str, place: int) -> str:
    """Why the instruction cannot be used there; "" if it can."""
    kept = BinaryCache(cache_folder() / "trials")
    key = content_key(source_of(VPDPBUSD), platform, version, driver, name, code_facts("cpu"))
    answer = kept.get(key)
    if answer is not None:
        return answer.decode()
    reason, lasting = _try(platform, version, place)
    if lasting:
        kept.put(key, reason.encode())
    return reason


def _try(platform: str, version: str, place: int) -> tuple[str, bool]:
    """Why the instruction cannot be used, or "", and whether the answer can be kept: a busy machine, or one without free
    memory, proves nothing."""
    own = ["--platform", platform, "--version", version, "--device", str(place)]
    child = run_child([sys.executable, "-m", "tilewright.runtime.opencl.vpdpbusd", *own], TIME_LIMIT_S)
    stage = child.stages().get(VPDPBUSD)
    if stage is not None:
        return str(stage["reason"]), True
    line = child.telling_line()
    reason = child.ending or "it ended without an answer"
    said = f"the trial was {reason}: {line}" if line else f"the trial was {reason}"
    return said, child.faulted


def main(arguments: Sequence[str] | None = None) -> None:
    """The child's entry."""
    parser = argparse.ArgumentParser(description="Try vpdpbusd on one OpenCL device.")
    parser.add_argument("--platform", required=True)
    parser.add_argument("--version", default="")
    parser.add_argument("--device", type=int, default=0)
    options = parser.parse_args(arguments)
    register()
    tell(VPDPBUSD, reason=trial(options))


def trial(options: argparse.Namespace) -> str:
    """Run the instruction on bytes of all values. Why it cannot be used, or ""."""
    import pyopencl as cl

    device = find_device(options.platform, options.version, options.device)
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    random = np.random.default_rng(1)
    left = random.integers(0, 256, (VECTORS, LANES, QUAD)).astype(np.uint8)
    right = random.integers(-128, 128, (VECTORS, LANES, QUAD)).astype(np.int8)
    left[0], right[0] = 255, -128  # a saturating instruction would show
    start = np.full((VECTORS, LANES), -(2**31) + 1, np.int32)
    output = start.copy()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (left, right, output)]
    try:
        program = cl.Program(context, source_of(VPDPBUSD)).build()
        cl.Kernel(program, "trial")(queue, (VECTORS,), None, *buffers)
        cl.enqueue_copy(queue, output, buffers[2])
    except cl.Error as error:
        line = next((each.strip() for each in str(error).splitlines() if "error:" in each), "its compiler refused it")
        return f"inline assembly was refused: {line}"
    products = (left.astype(np.int64) * right).sum(-1) + start
    return "" if np.array_equal(output, products.astype(np.int32)) else "the trial gave a wrong result"


if __name__ == "__main__":
    main()
