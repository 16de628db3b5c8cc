"""Latencies and rates of an NVIDIA GPU's caches, for its table. Needs NumPy and CuPy, and nothing of tilewright.

`python -m predictions.micro FOLDER OUT.json`, in the folder that `build` wrote. The kernels are those of `kernels/caches.cl`.
"""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MULTIPROCESSORS = 132
CHASED_KB = (16, 64, 128, 180, 256, 1024, 4096, 16384, 24576, 32768, 49152, 65536)
WRITTEN_MB = (4, 16, 32, 64, 1024)


def best(cupy: Any, launch: Callable[[], None], repeats: int = 5) -> float:
    """Seconds of the fastest of several launches, after one that is not timed."""
    launch()
    found = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        launch()
        end.record()
        end.synchronize()
        found.append(float(cupy.cuda.get_elapsed_time(begin, end)) * 1e-3)
    return min(found)


def launches(cupy: Any, module: Any, output: Any) -> dict[str, float]:
    """Seconds of kernels that do nothing, by work-groups of 256."""
    kernel = module.get_function("nothing")
    found = {"launch_event_s": best(cupy, lambda: kernel((1,), (32,), (output, np.int32(0))), 50)}
    for each in (1, 8, 64, 512):
        groups = MULTIPROCESSORS * each
        seconds = best(cupy, lambda groups=groups: kernel((groups,), (256,), (output, np.int32(0))), 20)  # type: ignore[misc]
        found[f"launch_groups_{groups}_s"] = seconds
    return found


def chases(cupy: Any, module: Any, output: Any) -> dict[str, float]:
    """Nanoseconds of one of a chain of loads, by the kilobytes that the chain visits, a line at a time in random order."""
    kernel, chance = module.get_function("chase"), np.random.default_rng(1)
    found = {}
    for kilobytes in CHASED_KB:
        lines = kilobytes * 1024 // 128
        order, following = chance.permutation(lines), np.zeros(lines * 32, np.int32)
        following[order * 32] = np.roll(order, -1) * 32
        chain, steps = cupy.asarray(following), min(200_000, max(4 * lines, 20_000))
        long, short = (chain, output, np.int32(steps)), (chain, output, np.int32(steps // 2))
        whole = best(cupy, lambda own=long: kernel((1,), (1,), own), 3)  # type: ignore[misc]
        half = best(cupy, lambda own=short: kernel((1,), (1,), own), 3)  # type: ignore[misc]
        found[f"chase_{kilobytes}KB_ns"] = (whole - half) / (steps - steps // 2) * 1e9
    return found


def rates(cupy: Any, module: Any, sums: Any) -> dict[str, float]:
    """GB/s of loads from L1, each work-group reading its own 64 KB, and of stores by the megabytes that are written."""
    big, found = cupy.ones(1 << 29, cupy.float32), {}
    kernel, region, rounds, groups = module.get_function("reads"), 64 * 256, 1024, MULTIPROCESSORS * 2
    arguments = (big, sums, np.int32(region), np.int32(region), np.int32(rounds))
    seconds = best(cupy, lambda: kernel((groups,), (512,), arguments))
    found["l1_read_64KBpergroup_gbs"] = groups * region * 4 * rounds / seconds * 1e-9
    kernel = module.get_function("writes")
    for megabytes in WRITTEN_MB:
        again = max(1, 512 // megabytes)
        own = (big, np.int32(megabytes << 18), np.int32(again))
        seconds = best(cupy, lambda own=own: kernel((MULTIPROCESSORS * 8,), (256,), own))  # type: ignore[misc]
        found[f"write_{megabytes}MB_gbs"] = (megabytes << 20) * again / seconds * 1e-9
    return found


def updates(cupy: Any, module: Any, output: Any) -> dict[str, float]:
    """Atomic updates in G a second, by the words among which they are spread."""
    kernel, found = module.get_function("adds"), {}
    for places in (1, 32, 1024, 1 << 16, 1 << 20):
        own = (output, np.int32(places), np.int32(64))
        seconds = best(cupy, lambda own=own: kernel((MULTIPROCESSORS * 8,), (256,), own))  # type: ignore[misc]
        found[f"adds_{places}_gops"] = MULTIPROCESSORS * 8 * 256 * 64 / seconds * 1e-9
    return found


def main() -> None:
    cupy = importlib.import_module("cupy")
    text = (Path(sys.argv[1]) / "caches.cu").read_text()
    module = cupy.RawModule(code=text, options=("--device-as-default-execution-space",))
    output, sums = cupy.zeros(1 << 22, cupy.int32), cupy.zeros(1 << 24, cupy.float32)
    found = {**launches(cupy, module, output), **chases(cupy, module, output), **rates(cupy, module, sums)}
    found.update(updates(cupy, module, output))
    Path(sys.argv[2]).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
