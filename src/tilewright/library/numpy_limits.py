"""Measures up to which amount of work NumPy's own product is faster than a kernel, once for each machine and type.

A measurement runs when the first product comes whose amount is in question, takes 0.05 to 0.3 s, and is kept on disk for this
processor, driver, NumPy and BLAS with its number of threads. It bisects a list of sizes. At each size both ways take turns in
short blocks, and their least times are compared, because other programs only ever make a time longer. If others kept the
machine busy meanwhile, the answer serves this process alone.

The threads of a BLAS spin after a product, for 26 ms with OpenBLAS, and would take a core from our next block, which therefore
waits until this process does no work while it sleeps.
"""

import json
import os
import threading
from collections.abc import Callable
from functools import cache
from math import sqrt
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np

from ..core.problem import Gemm, random_arrays
from ..core.types import numpy_dtype
from ..dispatch.choice import plan_product
from ..dispatch.numpys_own import BLAS_TYPES, Asked, Limit, amounts
from ..dispatch.table_files import load_tables
from ..runtime.cache import BinaryCache, cache_folder, content_key
from ..runtime.load import OtherLoad
from ..runtime.opencl.device import Device
from ..runtime.opencl.vpdpbusd import equipped, processor_flags
from .engine import Call
from .memory.host import HostMemory

SIDES = (16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512)  # of squares that are compared, by a BLAS
LOOP_SIDES = (6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96)  # without one
OUTER_SIDES = (16, 24, 32, 48, 64, 96, 128, 192)  # of outer products
STACKS = (2, 4, 8, 16, 32, 64, 128, 256)  # how many products of STACKED x STACKED x STACKED
STACKED = 32
MANY = 256  # products in a stack that has "any number"
EACH_SIDES = (2, 4, 6, 8, 12, 16, 24, 32, 48)
GAIN = 0.9  # NumPy's own must take at most this part of our time
ROUNDS = 4
BLOCK_S = 1e-3  # of calls of one way, in each round; at least three calls
QUIET_S = 0.03  # the longest wait for a BLAS's threads, and for the caller's, which may never rest
LITTLE_LOAD = 0.3  # cores that others may keep busy, if an answer is to be kept

_measuring = threading.Lock()


def limit_for(device: Device, read: str, result: str, kind: str) -> Limit:
    """The limit for a kind of product of these types on this machine: from this process, or the disk, or measured now."""
    with _measuring:
        return _limit(device, read, result, kind)


@cache
def _limit(device: Device, read: str, result: str, kind: str) -> Limit:
    kept = BinaryCache(cache_folder() / "numpy")
    key = content_key(kind, read, result, machine(device))
    answer = kept.get(key)
    if answer is not None:
        return Limit(**json.loads(answer))
    load = OtherLoad()
    limit = bisected(kind, read, result, lambda asked: _wins(device, asked))
    others = load.cores()
    if others is None or others <= LITTLE_LOAD:
        kept.put(key, json.dumps({"amount": limit.amount, "like": limit.like}).encode())
    return limit


def machine(device: Device) -> str:
    """What a limit depends on: the processor and its cores, the driver, and NumPy with its BLAS."""
    from threadpoolctl import threadpool_info  # looks at every loaded library

    info = device.info
    blas = sorted(
        f"{each['internal_api']} {each['version']} {each.get('architecture')} {each['num_threads']}"
        for each in threadpool_info()
        if each["user_api"] == "blas"
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    own = (info.platform, info.version, info.driver, info.name, info.compute_units)
    return json.dumps([*own, processor_flags(), cores, np.__version__, blas])


def sizes_of(kind: str, read: str, result: str) -> list[Asked]:
    """What is compared for a kind, from little work to much."""
    loops = result not in BLAS_TYPES
    if kind == "loops" and not loops:
        return [Asked(1, side, side, 1, read, result) for side in OUTER_SIDES]
    if kind == "stack":
        return [Asked(count, STACKED, STACKED, STACKED, read, result, count) for count in STACKS]
    if kind == "each":
        return [Asked(MANY, side, side, side, read, result, MANY) for side in EACH_SIDES]
    return [Asked(1, side, side, side, read, result) for side in (LOOP_SIDES if loops else SIDES)]


def bisected(kind: str, read: str, result: str, wins: Callable[[Asked], bool]) -> Limit:
    """The limit between the last size at which NumPy `wins` and the next: their geometric mean."""
    sizes = sizes_of(kind, read, result)
    won, lost = -1, len(sizes)
    while lost - won > 1:
        middle = (won + lost) // 2
        won, lost = (middle, lost) if wins(sizes[middle]) else (won, middle)
    if won < 0:
        return Limit(0.0, "none")
    last = amounts(sizes[won])[kind]
    beyond = amounts(sizes[lost])[kind] if lost < len(sizes) else last
    count, m, n, k = sizes[won][:4]
    return Limit(sqrt(last * beyond), f"{f'{count} of ' if count > 1 else ''}{m}x{n}x{k}")


def _wins(device: Device, asked: Asked) -> bool:
    """Whether NumPy's own product of this size takes at most GAIN of our time."""
    problem = Gemm(asked.m, asked.n, asked.k, asked.read, out_dtype=asked.result, batch=asked.products)
    arrays = random_arrays(problem)
    memory = HostMemory(device, None)
    call = Call([plan_product(problem, equipped(device.info, asked.read), load_tables())], device)
    shape, kind = problem.operands[2].shape, numpy_dtype(asked.result)

    def ours() -> Any:
        memory.run(call, {**arrays, "C": np.empty(shape, kind)}, "C", False)

    def numpys() -> Any:
        np.matmul(arrays["A"], arrays["B"], dtype=kind)

    return compared(numpys, ours) <= GAIN


def compared(one: Callable[[], Any], other: Callable[[], Any]) -> float:
    """The least time of one as a part of the least time of the other, whose blocks begin when it is quiet."""
    one()
    other()
    least = {one: float("inf"), other: float("inf")}
    for turn in range(ROUNDS):
        for call in (one, other) if turn % 2 else (other, one):
            if call is other:
                _wait_for_quiet()
            call()  # wakes threads
            least[call] = min(least[call], _block(call))
    return least[one] / least[other]


def _block(call: Callable[[], Any]) -> float:
    """The least time of several calls."""
    least, end, calls = float("inf"), perf_counter() + BLOCK_S, 0
    while calls < 3 or perf_counter() < end:
        begin = perf_counter()
        call()
        least = min(least, perf_counter() - begin)
        calls += 1
    return least


def _wait_for_quiet() -> None:
    """Wait until no thread of this process works: those of a BLAS spin after a product."""
    end = perf_counter() + QUIET_S
    while perf_counter() < end:
        before = process_time()
        sleep(5e-4)
        if process_time() - before < 1e-4:
            return
