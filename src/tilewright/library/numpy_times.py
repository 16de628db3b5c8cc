"""Times of NumPy's own product and of a kernel's for the same matrices, by turns, without disturbing each other.

A BLAS may wake other threads for a product. OpenBLAS's spin for 30 to 104 ms afterwards, so kernels wait until they rest.
"""

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter, process_time, sleep, thread_time
from typing import Any

import numpy as np

from ..core.problem import Gemm, random_arrays
from ..core.types import numpy_dtype
from ..dispatch.choice import plan_product
from ..dispatch.numpys_own import Asked
from ..dispatch.table_files import load_tables
from ..runtime.opencl.device import Device
from ..runtime.opencl.vpdpbusd import equipped
from ..runtime.resting import REST_S, let_threads_rest
from .engine import Call
from .memory.host import HostMemory
from .numpy_call import numpys_way

WATCHED_S = 0.012  # how long threads are watched: Linux counts the time of a running thread at its ticks, of up to 4 ms
WOKEN = 0.3  # of the calling thread's processor time: what others get at least while a BLAS uses them
TURNS, TURNS_WITH_RESTS = 4, 2  # of each way; fewer where kernels wait for threads to rest
BLOCK_S = 1e-3  # of calls of one way, in each turn; at least three calls, one of those that take longer
# Waking is measured after this pause. On a Zen 5 with Intel's driver 128 x 128 x 128 took 2 us more after 1 ms, 17 after 2,
# 45 after 5, and 110 after 20.
PAUSE_S = 2e-3
PAUSES = 20

Ways = tuple[Callable[[], Any], Callable[[], Any]]  # the product by NumPy, and by a kernel


def ways(device: Device, asked: Asked) -> Ways:
    """The product of random matrices by NumPy, and by a kernel."""
    a_order, b_order = ("column" if across else "row" for across in asked.across)
    problem = Gemm(
        asked.m, asked.n, asked.k, asked.read, a_order, b_order, out_dtype=asked.result, batch=asked.products
    )
    arrays = random_arrays(problem)
    shape, kind = problem.operands[2].shape, numpy_dtype(asked.result)
    for name, across in zip("AB", asked.across, strict=True):
        arrays[name] = np.ascontiguousarray(arrays[name].swapaxes(-1, -2)) if across else arrays[name]
    a, b = (
        arrays[name].swapaxes(-1, -2) if across else arrays[name]
        for name, across in zip("AB", asked.across, strict=True)
    )

    way = numpys_way(asked, kind)

    def numpys() -> Any:
        way(a, b)

    memory = HostMemory(device, None)
    call = Call([plan_product(problem, equipped(device.info, asked.read), load_tables())], device)

    def ours() -> Any:
        memory.run(call, {**arrays, "C": np.empty(shape, kind)}, "C", False)

    return numpys, ours


def least_times(pairs: Sequence[Ways], rest: float) -> list[tuple[float, float]]:
    """The least seconds of both ways of each pair. First NumPy multiplies all, then a kernel does, so that all kernels wait
    once, for up to `rest` seconds, until NumPy's threads sleep."""
    least = [[float("inf"), float("inf")] for _ in pairs]
    for _ in range(TURNS_WITH_RESTS if rest else TURNS):
        for way in (0, 1):
            if rest:
                let_threads_rest(rest)
            for place, pair in enumerate(pairs):
                pair[way]()  # fills caches
                least[place][way] = min(least[place][way], _block(pair[way]))
    return [(numpys, ours) for numpys, ours in least]


def waking_s(call: Callable[[], Any]) -> float:
    """What a call of 0.1 ms or less takes more after a pause of PAUSE_S than right after another call, in the median."""
    more = []
    for _ in range(PAUSES):
        sleep(PAUSE_S)
        begin = perf_counter()
        call()
        first = perf_counter()
        call()
        more.append(first - begin - (perf_counter() - first))
    return max(0.0, median(more))


def wakes_threads(call: Callable[[], Any], rest: float = REST_S) -> bool:
    """Whether other threads of this process, which rested, work while this one makes the call again and again."""
    let_threads_rest(rest)
    call()
    end, all_before, own_before = perf_counter() + WATCHED_S, process_time(), thread_time()
    while perf_counter() < end:
        call()
    own = thread_time() - own_before
    return process_time() - all_before - own > WOKEN * own


def _block(call: Callable[[], Any]) -> float:
    """The least time of several calls, or the time of one that takes longer than BLOCK_S."""
    least, end, calls = float("inf"), perf_counter() + BLOCK_S, 0
    while not calls or perf_counter() < end or (calls < 3 and least < BLOCK_S):
        begin = perf_counter()
        call()
        least = min(least, perf_counter() - begin)
        calls += 1
    return least
