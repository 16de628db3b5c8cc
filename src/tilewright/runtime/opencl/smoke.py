"""The program of the child that tries one OpenCL device, or lists them all; children.py starts it.

`python -m tilewright.runtime.opencl.smoke --platform NAME --device INDEX` prints a JSON line after each
stage, so that a crash in a late stage does not hide the answers of early ones. `--list` prints a line for
each device.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..children import tell
from ..icd.registration import register

if TYPE_CHECKING:
    import pyopencl

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

SIZE = 64  # M = N = K of the trial product: 4 x 4 work-groups of the largest tile
ROUNDS, LAUNCHES = 5, 20
LOOP_ROUNDS = 1 << 17  # twice what llvmpipe's loops reach, and few enough for an exact float32 sum

PROBES = Path(__file__).parents[2] / "kernels" / "probes"
TYPES: dict[str, tuple[str, type[np.float64] | type[np.float16]]] = {
    "fp64": ("double", np.float64),
    "fp16": ("half", np.float16),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """The child's entry."""
    parser = argparse.ArgumentParser(description="Try one OpenCL device, or list them all, as JSON lines.")
    parser.add_argument("--list", action="store_true", help="list the devices instead")
    parser.add_argument("--platform", default="", help="the platform's name")
    parser.add_argument("--version", default="", help="the platform's version, where two have one name")
    parser.add_argument("--device", type=int, default=0, help="the device's place in its platform")
    options = parser.parse_args(arguments)
    register()
    if options.list:
        _print_devices()
        return
    device = find_device(options.platform, options.version, options.device)
    tell("gemm", **try_gemm(device, source_of("smoke_gemm")))
    tell("loop", rounds=rounds_of_a_long_loop(device), expected=LOOP_ROUNDS)
    for name in TYPES:
        tell(name, answer=_try_type(device, name))


def source_of(name: str) -> str:
    """The text of a probe."""
    return (PROBES / f"{name}.cl").read_text(encoding="utf-8")


def _print_devices() -> None:
    import pyopencl as cl

    from .information import describe

    for platform in cl.get_platforms():
        try:
            devices = platform.get_devices()
        except cl.Error as error:  # DEVICE_NOT_FOUND: the driver is there, its hardware is not
            tell("empty", platform=platform.name, reason=str(error))
            continue
        for place, device in enumerate(devices):
            record = asdict(describe(device, place)) | {"features": device.extensions.split()}
            tell("device", c_version=device.opencl_c_version.strip(), **record)


def find_device(name: str, version: str, index: int) -> "pyopencl.Device":
    import pyopencl as cl

    for platform in cl.get_platforms():
        if platform.name.strip() == name and version in ("", platform.version.strip()):
            return platform.get_devices()[index]
    sys.exit(f"no OpenCL platform is called {name!r} {version}".rstrip())


def try_gemm(device: "pyopencl.Device", source: str) -> dict[str, float]:
    """Build and run the trial product on `device`: build_seconds, gflops, max_error, error_over_bound."""
    import pyopencl as cl

    sizes = device.max_work_item_sizes
    most = min(device.max_work_group_size, sizes[0] ** 2, sizes[1] ** 2)
    tile = next(each for each in (16, 8, 4, 2, 1) if each * each <= most)
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    random = np.random.default_rng(1)
    left, right = (random.uniform(-1, 1, (SIZE, SIZE)).astype(np.float32) for _ in range(2))
    output = np.full((SIZE, SIZE), np.nan, np.float32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (left, right, output)]
    began = time.perf_counter()
    program = cl.Program(context, source).build(["-D", f"TILE={tile}", "-D", f"SIZE={SIZE}"])
    kernel = cl.Kernel(program, "smoke_gemm")

    def launch(times: int) -> float:
        start = time.perf_counter()
        for _ in range(times):
            kernel(queue, (SIZE, SIZE), (tile, tile), *buffers)
        queue.finish()
        return (time.perf_counter() - start) / times

    launch(1)  # some drivers compile at the first launch
    build_seconds = time.perf_counter() - began
    cl.enqueue_copy(queue, output, buffers[2])
    gflops = 2 * SIZE**3 / min(launch(LAUNCHES) for _ in range(ROUNDS)) / 1e9
    return {"build_seconds": build_seconds, "gflops": gflops, **errors(left, right, output)}


def rounds_of_a_long_loop(device: "pyopencl.Device") -> int:
    """The number of rounds that a loop of LOOP_ROUNDS rounds really ran."""
    import pyopencl as cl

    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    counted = np.zeros(1, np.float32)
    output = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)  # a log is no fault: some drivers always write one
        program = cl.Program(context, source_of("long_loop")).build(cache_dir=False)
    kernel = cl.Kernel(program, "long_loop")
    kernel(queue, (1,), (1,), np.int32(LOOP_ROUNDS), np.float32(1), output)
    cl.enqueue_copy(queue, counted, output)
    return int(counted[0])


def errors(left: Matrix, right: Matrix, output: Matrix) -> dict[str, float]:
    """The errors of `output` against `left @ right` in float64. max_error is the largest. error_over_bound is the largest
    ratio to (k + 2) * eps * (|A| |B|), the bound of float32 rounding. A NaN in the output makes both NaN."""
    wide_left, wide_right = left.astype(np.float64), right.astype(np.float64)
    error = np.abs(output - wide_left @ wide_right)
    bound = (left.shape[1] + 2) * float(np.finfo(np.float32).eps) * (np.abs(wide_left) @ np.abs(wide_right))
    return {"max_error": float(error.max()), "error_over_bound": float((error / bound).max())}


def _try_type(device: "pyopencl.Device", name: str) -> str:
    import pyopencl as cl

    word, dtype = TYPES[name]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    values = np.array([1 + 3 * np.finfo(dtype).eps, -0.25, 5.0, 100.0], dtype)
    output = np.empty_like(values)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    try:
        options = ["-D", f"REAL={word}", "-D", f"USE_DOUBLE={int(name == 'fp64')}"]
        program = cl.Program(context, source_of("smoke_type")).build(options)
        cl.Kernel(program, "smoke_type")(queue, values.shape, None, buffer)
        cl.enqueue_copy(queue, output, buffer)
    except cl.Error:
        return "refused"
    expected = values.astype(np.float64) * 2 + 1
    return "works" if np.allclose(output, expected, rtol=2 * float(np.finfo(dtype).eps), atol=0) else "wrong"


if __name__ == "__main__":
    main()
