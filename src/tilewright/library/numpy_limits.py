"""Measures up to which amount of work NumPy's own product is faster than a kernel, once for each machine and type.

A measurement runs when the first product comes whose amount is in question, takes 0.1 to 0.3 s, and is kept on disk for this
processor, driver, NumPy and BLAS with its number of threads. It bisects a list of sizes. At each size both ways take turns in
short blocks, and their least times are compared, because other programs only ever make a time longer. If others kept the
machine busy meanwhile, or other threads of this process did, the answer serves this process alone.

The BLAS may wake other threads for a product, which is seen by the processor time that this process gets beyond the calling
thread's. OpenBLAS's spin for 26 ms afterwards, so the next turn waits for them. Such products are NumPy's where they are faster:
float32 squares of 100 to some 250 took up to 1.7 times as long by a kernel on two quiet cores of a Zen 5, random shapes a third
longer in the geometric mean. It costs something: a 1024 x 1024 product of ours right after takes 1.3 to 1.5 times as long, and
where other programs keep a core busy, NumPy's threads wait for each other.
"""

import json
import threading
from collections.abc import Callable
from functools import cache
from time import perf_counter, process_time, sleep, thread_time
from typing import Any

import numpy as np

from ..core.problem import Gemm, random_arrays
from ..core.types import numpy_dtype
from ..dispatch.choice import plan_product
from ..dispatch.numpys_own import BLAS_TYPES, THIN, Asked, Limit, amounts
from ..dispatch.table_files import load_tables
from ..runtime.cache import BinaryCache, cache_folder, content_key
from ..runtime.load import SHORTEST_S, OtherLoad
from ..runtime.opencl.device import Device
from ..runtime.opencl.vpdpbusd import equipped, processor_flags
from ..runtime.processors import usable_processors
from .engine import Call
from .memory.host import HostMemory

SIDES = (
    16,
    24,
    32,
    40,
    48,
    56,
    64,
    72,
    80,
    88,
    96,
    100,
    112,
    128,
    144,
    160,
    192,
    224,
    256,
    320,
    384,
    512,
)  # of squares
VECTOR_SIDES = (32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024, 1536, 2048)  # of matrices times a vector
LOOP_SIDES = (6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 96)  # of squares without a BLAS
OUTER_SIDES = (16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192)  # of outer products
STACKS = (2, 4, 8, 16, 32, 64, 128, 256)  # how many products of STACKED x STACKED x STACKED
STACKED = 32
MANY = 256  # products in a stack that has "any number"
THIN_SIDES = (4, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # the other two
EACH_SIDES = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
GAIN = 0.9  # NumPy's own must take at most this part of our time
WATCHED_S = 0.012  # how long threads are watched: Linux counts the time of a running thread at its ticks, of up to 4 ms
WOKEN = 0.3  # of the calling thread's processor time: what others get at least while a BLAS uses them
SPIN_S = 0.03  # how long they may spin
ROUNDS = 4
BLOCK_S = 1e-3  # of calls of one way, in each round; at least three calls
LITTLE_LOAD = 0.3  # cores that others may keep busy, if an answer is to be kept

_measuring = threading.Lock()


def limit_for(device: Device, read: str, result: str, kind: str) -> Limit:
    """The limit for a kind of product of these types on this machine: from this process, or the disk, or measured now."""
    with _measuring:
        return _limit(device, read, result, kind)


@cache
def _limit(device: Device, read: str, result: str, kind: str) -> Limit:
    kept = BinaryCache(cache_folder() / "numpy")
    key = content_key(kind, read, result, machine(device), str(GAIN))
    answer = kept.get(key)
    if answer is not None:
        return Limit(**json.loads(answer))
    begin, load = perf_counter(), OtherLoad()
    sleep(SPIN_S)  # the caller may have used the BLAS
    own_work = process_time()
    sleep(WATCHED_S)
    restless = process_time() - own_work > WOKEN * WATCHED_S
    limit = bisected(kind, read, result, lambda asked: _wins(device, asked))
    sleep(max(0.0, 1.2 * SHORTEST_S - (perf_counter() - begin)))  # for a count of what others do
    others = load.cores()
    if not restless and (others is None or others <= LITTLE_LOAD):
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
    own = (info.platform, info.version, info.driver, info.name, info.compute_units)
    return json.dumps([*own, processor_flags(), usable_processors(), np.__version__, blas])


def sizes_of(kind: str, read: str, result: str) -> list[Asked]:
    """What is compared for a kind, from little work to much."""
    loops = result not in BLAS_TYPES
    if kind == "loops" and not loops:
        return [Asked(1, side, side, 1, read, result) for side in OUTER_SIDES]
    if kind == "vector":
        return [Asked(1, 1, side, side, read, result) for side in VECTOR_SIDES]
    if kind == "stack":
        return [Asked(count, STACKED, STACKED, STACKED, read, result, count) for count in STACKS]
    if kind == "thin":
        return [Asked(MANY, side, THIN, side, read, result, MANY) for side in THIN_SIDES]
    if kind == "each":
        return [Asked(MANY, side, side, side, read, result, MANY) for side in EACH_SIDES if loops or side > THIN]
    return [Asked(1, side, side, side, read, result) for side in (LOOP_SIDES if loops else SIDES)]


def bisected(kind: str, read: str, result: str, wins: Callable[[Asked], bool]) -> Limit:
    """The amount of the last size at which NumPy `wins`."""
    sizes = sizes_of(kind, read, result)
    won, lost = -1, len(sizes)
    while lost - won > 1:
        middle = (won + lost) // 2
        won, lost = (middle, lost) if wins(sizes[middle]) else (won, middle)
    if won < 0:
        return Limit(0.0, "none")
    products, m, n, k = sizes[won][:4]
    return Limit(amounts(sizes[won])[kind], f"{f'{products} of ' if products > 1 else ''}{m}x{n}x{k}")


def _wins(device: Device, asked: Asked) -> bool:
    """Whether NumPy multiplies this size fast enough to be called."""
    problem = Gemm(asked.m, asked.n, asked.k, asked.read, out_dtype=asked.result, batch=asked.products)
    arrays = random_arrays(problem)
    shape, kind = problem.operands[2].shape, numpy_dtype(asked.result)

    def numpys() -> Any:
        np.matmul(arrays["A"], arrays["B"], dtype=kind)

    woken = wakes_threads(numpys)
    memory = HostMemory(device, None)
    call = Call([plan_product(problem, equipped(device.info, asked.read), load_tables())], device)

    def ours() -> Any:
        memory.run(call, {**arrays, "C": np.empty(shape, kind)}, "C", False)

    return compared(numpys, ours, SPIN_S if woken else 0.0) <= GAIN


def wakes_threads(call: Callable[[], Any]) -> bool:
    """Whether other threads of this process work while this one makes the call again and again: both of two times, because
    those of an earlier product may still spin in the first, on a busy machine for longer than SPIN_S."""
    for _ in range(2):
        if not _others_work(call):
            return False
        sleep(SPIN_S)
    return True


def _others_work(call: Callable[[], Any]) -> bool:
    call()
    end, all_before, own_before = perf_counter() + WATCHED_S, process_time(), thread_time()
    while perf_counter() < end:
        call()
    own = thread_time() - own_before
    return process_time() - all_before - own > WOKEN * own


def compared(one: Callable[[], Any], other: Callable[[], Any], rest: float = 0.0) -> float:
    """The least time of one as a part of the least time of the other, from blocks in turns, the other's after a `rest` in s."""
    least = {one: float("inf"), other: float("inf")}
    for turn in range(ROUNDS):
        for call in (one, other) if turn % 2 else (other, one):
            sleep(rest if call is other else 0.0)
            call()  # fills caches
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
