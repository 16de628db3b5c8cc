"""Random reproducible products, each computed in ten ways and by the kernel that states the promise: all bits must be equal.

    python -m tools.reproducible --cases 1000 --device 0

The digest is that of all results: it must be the same on every device, and with any number of threads. `--threads 1,2`
begins a child for each, in which drivers for CPUs use as many.
"""

import argparse
import functools
import hashlib
import os
import subprocess
import sys
from typing import Any

import tilewright
from tilewright.runtime.opencl.device import open_device

from .cases import make_case
from .oracle import bits, expected
from .ways import WHOLE, pieces

POCL_THREADS = (
    "POCL_MAX_PTHREAD_COUNT"  # which PoCL reads; Intel's driver has a thread for each core that a process may use
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.reproducible", description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first case's number")
    parser.add_argument("--device", default="0")
    parser.add_argument("--threads", default="", help="numbers of threads, each in a child")
    options = parser.parse_args()
    if options.threads:
        return max(_in_child(options, count) for count in options.threads.split(","))
    wrong, digest = check(options.device, range(options.first, options.first + options.cases))
    print(f"{options.cases} products, {wrong} results with other bits, digest {digest}")
    return int(wrong > 0)


def _in_child(options: argparse.Namespace, threads: str) -> int:
    """The same with another number of threads: the exit status."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[: int(threads)]))
    own = [sys.executable, "-m", "tools.reproducible", "--cases", str(options.cases), "--first", str(options.first)]
    command = ["taskset", "-c", cores, *own, "--device", options.device]
    return subprocess.run(command, env={**os.environ, POCL_THREADS: threads}).returncode


def check(wanted: str, seeds: range) -> tuple[int, str]:
    """How many results had other bits than promised, and the digest of all whole products."""
    device = open_device(wanted)
    print(f"{device.info.name} ({device.info.platform}), {device.info.compute_units} units", flush=True)
    gemm = functools.partial(tilewright.gemm, queue=device.queue)
    wrong, digest = 0, hashlib.sha256()
    for seed in seeds:
        case = make_case(seed)
        right = expected(case, device.queue)
        for way, found, (rows, columns) in pieces(case, gemm):
            if way == WHOLE:
                digest.update(bits(found))
            wrong += not _same(case, way, found, right[rows][:, columns])
    return wrong, digest.hexdigest()[:16]


def _same(case: Any, way: str, found: Any, right: Any) -> bool:
    if bits(found) == bits(right):
        return True
    differing = (found != right) & ~((found != found) & (right != right))
    print(f"{case}, {way}: {differing.sum()} of {differing.size} elements differ")
    return False


if __name__ == "__main__":
    sys.exit(main())
