"""Measures which products NumPy's own is faster for than a kernel, once for each machine, type and kind of product.

A measurement runs when the first product comes that is in question, takes 0.1 to 2 s, and is kept on disk for this
processor, driver, NumPy and BLAS with its number of threads. For a limit it bisects a list of sizes, for costs of stacks it takes
SAMPLES products that spread over their sizes, and fits the costs to their times. At each size both ways take turns in
short blocks, and their least times are compared, because other programs only ever make a time longer. Where NumPy wakes no
threads, what the driver takes to wake its own after a pause is added to the kernel's time (`waking_s`). If others kept the
machine busy meanwhile, or other threads of this process did, the answer serves this process alone.

The BLAS may wake other threads for a product, which is seen by the processor time that this process gets beyond the calling
thread's. OpenBLAS's spin for 30 to 104 ms afterwards, so the next turn waits until they rest. Such products are NumPy's where
they are faster. It costs something: a 1024 x 1024 product of ours right after takes 1.3 to 1.5 times as long, and where other
programs keep a core busy, NumPy's threads wait for each other.
"""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from math import exp, log
from statistics import median
from time import perf_counter, process_time, sleep, thread_time
from typing import Any

import numpy as np

from ..core.problem import Gemm, random_arrays
from ..core.types import numpy_dtype
from ..dispatch.choice import plan_product
from ..dispatch.numpys_own import (
    BLAS_TYPES,
    SHALLOW,
    Asked,
    Costs,
    Limit,
    amount_of,
    kernels_amounts,
    numpys_amounts,
)
from ..dispatch.table_files import load_tables
from ..runtime.cache import BinaryCache, cache_folder, content_key
from ..runtime.load import SHORTEST_S, OtherLoad
from ..runtime.opencl.device import Device
from ..runtime.opencl.vpdpbusd import equipped
from ..runtime.processors import code_facts, usable_processors
from ..runtime.resting import REST_S, let_threads_rest
from .engine import Call
from .memory.host import HostMemory
from .numpy_call import numpys_way

SIDES = (
    16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 100, 112, 128, 144, 160, 192, 224, 256, 320, 384, 512,
)  # fmt: skip  # of squares
VECTOR_SIDES = (32, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024, 1536, 2048)  # of matrices times a vector
OUTER_SIDES = (16, 32, 64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024)  # of outer products
LOOP_SIDES = (6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 96)  # of squares without a BLAS
SAMPLES = 24  # products that costs are fitted to
FEWEST = 12  # of them, if the others would take longer than ENOUGH_S
ENOUGH_S = 1.5
# The most products, rows, columns and depth of the samples of a kind; 0 rows: one row, or one column, by turns.
MOST = {
    "stack": (1000, 256, 256, 256),
    "shallow": (1000, 1024, 1024, SHALLOW),
    "vectors": (1000, 0, 512, 256),
    "outers": (1000, 1000, 1000, 1),
    "looped": (1000, 64, 64, 64),
}
MOST_AMOUNT = {"outers": 2**18, "looped": 2**17}  # of one sample: 0.1 to 1 ms
MOST_BY_BLAS = 2**23
GOLDEN = 1.1673039782614187  # x^5 = x + 1: the golden ratio of four dimensions
FIT_ROUNDS = 1000
GAIN = 0.9  # NumPy's own must take at most this part of our time
WATCHED_S = 0.012  # how long threads are watched: Linux counts the time of a running thread at its ticks, of up to 4 ms
WOKEN = 0.3  # of the calling thread's processor time: what others get at least while a BLAS uses them
ONE_THREAD = 64**3  # multiply-adds of a product that no BLAS wakes threads for
BRIEF_REST_S = 0.03  # the wait for threads that do not come to rest anyway
ROUNDS = 4
BLOCK_S = 1e-3  # of calls of one way, in each round; at least three calls
# The pause of which waking is measured. On a Zen 5 with Intel's driver 128 x 128 x 128 took 2 us more after 1 ms, 17 after 2,
# 45 after 5, and 110 after 20.
PAUSE_S = 2e-3
PAUSES = 20
LITTLE_LOAD = 0.3  # cores that others may keep busy, if an answer is to be kept

# What changed last: what was measured before it is measured anew.
KERNELS_SINCE = "rested, outer.cl, numpy.dot, bools.cl, waking of singles"

_measuring = threading.RLock()  # a destructor, or a signal's handler, may multiply meanwhile


def measured_for(device: Device, read: str, result: str, kind: str) -> Limit | Costs:
    """What decides for a kind of product of these types on this machine: from this process, or the disk, or measured now."""
    with _measuring, np.errstate(all="ignore"):  # the caller may want errors, but not for our numbers
        return _measured(device, read, result, kind)


@cache
def _measured(device: Device, read: str, result: str, kind: str) -> Limit | Costs:
    kept = BinaryCache(cache_folder() / "numpy")
    answers = Costs if kind in MOST else Limit
    key = content_key(kind, read, result, machine(device), str(GAIN), repr(answers), KERNELS_SINCE)
    answer = kept.get(key)
    if answer is not None:
        return answers(**json.loads(answer))
    begin, load = perf_counter(), OtherLoad()
    let_threads_rest(REST_S)  # the caller may have used the BLAS
    own_work = process_time()
    sleep(WATCHED_S)
    restless = process_time() - own_work > WOKEN * WATCHED_S
    rest = BRIEF_REST_S if restless else REST_S
    waking = waking_s(_ways(device, Asked(1, 128, 128, 128, read, result))[1])
    found: Limit | Costs
    if kind in MOST:
        found = costs_of(samples_of(kind, read, result), lambda asked: _times(device, asked, rest, waking))
    else:
        found = bisected(kind, read, result, lambda asked: _wins(device, asked, rest, waking))
    sleep(max(0.0, 1.2 * SHORTEST_S - (perf_counter() - begin)))  # for a count of what others do
    others = load.cores()
    if not restless and (others is None or others <= LITTLE_LOAD):
        kept.put(key, json.dumps(asdict(found)).encode())
    return found


def machine(device: Device) -> str:
    """What an answer depends on: the processor and its cores, the driver, and NumPy with its BLAS, if the system tells it."""
    from threadpoolctl import threadpool_info  # looks at every loaded library

    info = device.info
    try:
        loaded = threadpool_info()
    except OSError:  # a container or a changed root without /proc
        loaded = []
    blas = sorted(
        f"{each['internal_api']} {each['version']} {each.get('architecture')} {each['num_threads']}"
        for each in loaded
        if each["user_api"] == "blas"
    )
    own = (info.platform, info.version, info.driver, info.name, info.compute_units)
    return json.dumps([*own, code_facts(info.kind), usable_processors(), np.__version__, blas])


def sizes_of(kind: str, read: str, result: str) -> list[Asked]:
    """What is compared for a limit, from little work to much."""
    if kind == "vector":
        return [Asked(1, 1, side, side, read, result) for side in VECTOR_SIDES]
    if kind == "product":
        return [Asked(1, side, side, side, read, result) for side in SIDES]
    if kind == "outer":
        return [Asked(1, side, side, 1, read, result) for side in OUTER_SIDES]
    gaps = result in BLAS_TYPES
    return [Asked(1, side, side, side, read, result, gaps=gaps) for side in LOOP_SIDES]


def samples_of(kind: str, read: str, result: str) -> list[Asked]:
    """What costs are fitted to: sizes that spread evenly over the logarithms, with every layout."""
    most, samples = MOST[kind], []
    for number in range(SAMPLES):
        count, m, n, k = (logarithmic(part, end) for part, end in zip(spread(number), most, strict=True))
        if most[1] == 0:
            m, n = (1, n) if number % 2 else (n, 1)
        elif kind != "outers":
            m, n = max(m, 2), max(n, 2)
        k = {"outers": 1, "stack": max(k, SHALLOW + 1)}.get(kind, max(k, 2))
        across = (number // 2 % 2 == 1, number // 4 % 2 == 1) if kind != "outers" else (False, False)
        one = Asked(1, m, n, k, read, result, across=across)
        fitting = min(count, int(MOST_AMOUNT.get(kind, MOST_BY_BLAS) / amount_of(one)))
        fitting = max(1 if kind == "shallow" else 2, fitting)
        samples.append(one._replace(products=fitting, ours=fitting))
    return samples


def spread(number: int) -> list[float]:
    """The point of that number of a sequence that fills the four-dimensional unit cube evenly (M. Roberts' R sequence)."""
    return [(0.5 + number * GOLDEN**-place) % 1 for place in (1, 2, 3, 4)]


def logarithmic(part: float, most: int) -> int:
    """A size from 1 to `most`: at half of the part the square root."""
    return round(exp(part * log(max(1, most))))


def costs_of(samples: Sequence[Asked], times: Callable[[Asked], tuple[float, float]]) -> Costs:
    """The costs by the `times` of NumPy and of a kernel in seconds. On a slow or busy machine the first samples must do:
    they spread over all sizes, too."""
    found: list[tuple[float, float]] = []
    end = perf_counter() + ENOUGH_S
    for asked in samples:
        if len(found) >= FEWEST and perf_counter() > end:
            break
        found.append(times(asked))
    measured, taken = np.array(found) * 1e9, samples[: len(found)]
    return Costs(
        fitted([numpys_amounts(asked) for asked in taken], measured[:, 0]),
        fitted([kernels_amounts(asked) for asked in taken], measured[:, 1]),
    )


def fitted(amounts: Any, times: Any) -> tuple[float, ...]:
    """What each amount costs, at least 0, so that the squares of the relative errors of all times are least.

    Coordinate descent: each cost in turn gets its best value with the others as they are.
    """
    relative = np.array(amounts, float) / np.array(times, float)[:, None]
    scale = np.sqrt((relative**2).sum(axis=0))
    scale[scale == 0] = 1
    squares, wanted = (relative / scale).T @ (relative / scale), (relative / scale).sum(axis=0)
    costs = np.zeros(len(wanted))
    for _ in range(FIT_ROUNDS):
        for place in np.flatnonzero(squares.diagonal()):
            rest = wanted[place] - squares[place] @ costs + squares[place, place] * costs[place]
            costs[place] = max(0.0, rest / squares[place, place])
    return tuple((costs / scale).tolist())


def bisected(kind: str, read: str, result: str, wins: Callable[[Asked], bool]) -> Limit:
    """The amount of the last size at which NumPy `wins`."""
    sizes = sizes_of(kind, read, result)
    won, lost = -1, len(sizes)
    while lost - won > 1:
        middle = (won + lost) // 2
        won, lost = (middle, lost) if wins(sizes[middle]) else (won, middle)
    if won < 0:
        return Limit(0.0, "none")
    _, m, n, k = sizes[won][:4]
    return Limit(amount_of(sizes[won]), f"{m}x{n}x{k}")


def _wins(device: Device, asked: Asked, rest: float, waking: float) -> bool:
    """Whether NumPy multiplies this size fast enough to be called, in one of two comparisons: its threads may wait for each
    other during all of one, and an unlucky comparison would end the search far below the limit."""
    for _ in range(2):
        numpys, ours = _times(device, asked, rest, waking)
        if numpys <= GAIN * ours:
            return True
    return False


def _times(device: Device, asked: Asked, rest: float, waking: float) -> tuple[float, float]:
    """The seconds that NumPy, and a kernel, take for a product. Threads of the other one get up to `rest` seconds to stop.

    A kernel takes `waking` more where NumPy wakes no threads; threads of a BLAS that it wakes take time, too.
    """
    numpys, ours = _ways(device, asked)
    woken = asked.m * asked.n * asked.k >= ONE_THREAD and wakes_threads(numpys, rest)
    least, own = compared(numpys, ours, rest if woken else 0.0)
    return least, own if woken else own + waking


def _ways(device: Device, asked: Asked) -> tuple[Callable[[], Any], Callable[[], Any]]:
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


def compared(one: Callable[[], Any], other: Callable[[], Any], rest: float = 0.0) -> tuple[float, float]:
    """The least times of both, from blocks in turns. Before each block other threads get up to `rest` seconds to stop."""
    least = {one: float("inf"), other: float("inf")}
    for turn in range(ROUNDS // 2 if rest else ROUNDS):
        for call in (one, other) if turn % 2 else (other, one):
            if rest:
                let_threads_rest(rest)
            call()  # fills caches
            least[call] = min(least[call], _block(call))
    return least[one], least[other]


def _block(call: Callable[[], Any]) -> float:
    """The least time of several calls."""
    least, end, calls = float("inf"), perf_counter() + BLOCK_S, 0
    while calls < 3 or perf_counter() < end:
        begin = perf_counter()
        call()
        least = min(least, perf_counter() - begin)
        calls += 1
    return least
