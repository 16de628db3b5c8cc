"""Measures which products NumPy's own is faster for than a kernel, once for each machine, type and kind of product.

A measurement runs when the first product comes that is in question, takes 0.3 to 4 s, and is kept on disk for this
processor, driver, NumPy and BLAS with its number of threads. For a limit it bisects a list of sizes. For costs it takes
SAMPLES products that spread over their sizes, and fits the costs to their times. Large matrices times a vector have one answer,
by two of them. At each size both ways take turns in short blocks, and their least times are compared, because other programs only
ever make a time longer. Where NumPy wakes no threads, what the driver takes to wake its own after a pause is added to the
kernel's time (`waking_s`). If others kept the machine busy meanwhile, or other threads of this process did, the answer serves
this process alone.

The BLAS may wake other threads for a product, which is seen by the processor time that this process gets beyond the calling
thread's. Such products are NumPy's where they are faster. It costs something: a 1024 x 1024 product of ours right after takes
1.3 to 1.5 times as long, and where other programs keep a core busy, NumPy's threads wait for each other.
"""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from itertools import pairwise
from time import perf_counter, process_time, sleep
from typing import Any

import msgspec
import numpy as np

from ..dispatch.numpys_own import BLAS_TYPES, Asked, Costs, Limit, amount_of, kernels_amounts, numpys_amounts
from ..runtime.cache import BinaryCache, cache_folder, content_key
from ..runtime.load import SHORTEST_S, OtherLoad
from ..runtime.opencl.device import Device
from ..runtime.processors import code_facts, usable_processors
from ..runtime.resting import REST_S, let_threads_rest
from .numpy_samples import MOST, large_vectors, samples_of, sizes_of
from .numpy_times import WATCHED_S, WOKEN, least_times, wakes_threads, waking_s, ways

# Squares that NumPy's threads are watched with. No BLAS wakes threads for the first.
WATCHED_SIDES = (64, 72, 80, 88, 96, 100, 112, 128, 160, 192, 256, 384)
GROUP = 32  # samples whose kernels wait together for NumPy's threads to rest
ENOUGH_S = 1.0  # if the first group takes longer, it must do
FIT_ROUNDS = 1000
GAIN = 0.9  # below a limit NumPy's own takes at most this part of our time
LARGE_GAIN = 0.95  # the same of large matrices times a vector, beside which what NumPy's threads disturb is small
ONE_THREAD = WATCHED_SIDES[0] ** 3  # multiply-adds
BRIEF_REST_S = 0.03  # the wait for threads that do not come to rest anyway
LITTLE_LOAD = 0.3  # cores that others may keep busy, if an answer is to be kept

# What changed last: what was measured before it is measured anew.
KERNELS_SINCE = "numpy.dot for more, few_columns_down.cl, panels of B, columns as rows, crowded, few rows"

_measuring = threading.RLock()  # a destructor, or a signal's handler, may multiply meanwhile


def measured_for(device: Device, read: str, result: str, kind: str) -> Limit | Costs:
    """What decides for a kind of product of these types on this machine: from this process, or the disk, or measured now."""
    with _measuring, np.errstate(all="ignore"):  # the caller may want errors, but not for our numbers
        return _measured(device, read, result, kind)


@cache
def _measured(device: Device, read: str, result: str, kind: str) -> Limit | Costs:
    kept = BinaryCache(cache_folder() / "numpy")
    answers: type[Limit] | type[Costs] = Costs if kind in MOST else Limit
    key = content_key(kind, read, result, machine(device), f"{GAIN} {LARGE_GAIN}", repr(answers), KERNELS_SINCE)
    answer = kept.get(key)
    if answer is not None:
        return msgspec.convert(json.loads(answer), answers)  # tuples, not lists
    begin, load = perf_counter(), OtherLoad()
    let_threads_rest(REST_S)  # the caller may have used the BLAS
    own_work = process_time()
    sleep(WATCHED_S)
    restless = process_time() - own_work > WOKEN * WATCHED_S
    rest = BRIEF_REST_S if restless else REST_S
    waking = waking_s(ways(device, Asked(1, 128, 128, 128, read, result))[1])
    found: Limit | Costs
    if kind in MOST:
        found = _costs(device, samples_of(kind, read, result), rest, waking)
    elif kind == "large vector":
        found = large_limit(large_vectors(read, result), lambda asked: _times(device, asked, rest, waking))
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


def _costs(device: Device, samples: Sequence[Asked], rest: float, waking: float) -> Costs:
    """The costs by the times of the samples. On a slow or busy machine the first group must do: it spreads over all sizes."""
    alone = _alone(device, samples[0].read, samples[0].result, rest)
    found: list[tuple[float, float]] = []
    end = perf_counter() + ENOUGH_S
    for first in range(0, len(samples), GROUP):
        if found and perf_counter() > end:
            break
        group = samples[first : first + GROUP]
        woken = any(each.wakes(alone) for each in group)
        found += least_times([ways(device, each) for each in group], rest if woken else 0.0)
    return costs_of(samples[: len(found)], found, alone, waking)


def costs_of(samples: Sequence[Asked], times: Sequence[tuple[float, float]], alone: float, waking: float) -> Costs:
    """The costs by the `times` of NumPy and of a kernel in seconds."""
    measured = np.array(times) * 1e9
    return Costs(
        fitted([numpys_amounts(asked, asked.wakes(alone)) for asked in samples], measured[:, 0]),
        fitted([kernels_amounts(asked) for asked in samples], measured[:, 1]),
        alone,
        waking * 1e9,
    )


@cache
def _alone(device: Device, read: str, result: str, rest: float) -> float:
    """The multiply-adds of the largest square in WATCHED_SIDES that NumPy multiplies without waking threads."""
    if result not in BLAS_TYPES:
        return float("inf")

    for quiet, side in pairwise(WATCHED_SIDES):  # upwards, so that no threads spin yet
        if wakes_threads(ways(device, Asked(1, side, side, side, read, result))[0], rest):
            return float(quiet**3)
    return float("inf")


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


def large_limit(samples: Sequence[Asked], times: Callable[[Asked], tuple[float, float]]) -> Limit:
    """No limit if NumPy's `times` of all samples together are less than a kernel's, and else none of them is NumPy's."""
    numpys, ours = map(sum, zip(*map(times, samples), strict=True))
    _, m, n, k = samples[0][:4]
    return Limit(float("inf") if numpys <= LARGE_GAIN * ours else 0.0, f"{m}x{n}x{k}")


def _wins(device: Device, asked: Asked, rest: float, waking: float) -> bool:
    """Whether NumPy multiplies this size fast enough to be called, in one of two comparisons: its threads may wait for each
    other during all of one, and an unlucky comparison would end the search far below the limit. Of one row the product with
    one column counts, too: of 1536 x 1536 elements of float32 NumPy took 0.72 to 0.91 of the kernel's time for a row on a Zen 5,
    and 0.67 for a column."""
    alike = [asked] if asked.m > 1 else [asked, asked._replace(m=asked.n, n=1)]
    for _ in range(2):
        numpys, ours = map(sum, zip(*(_times(device, each, rest, waking) for each in alike), strict=True))
        if numpys <= GAIN * ours:
            return True
    return False


def _times(device: Device, asked: Asked, rest: float, waking: float) -> tuple[float, float]:
    """The seconds that NumPy, and a kernel, take for a product. Threads of the other one get up to `rest` seconds to stop.

    A kernel takes `waking` more where NumPy wakes no threads; threads of a BLAS that it wakes take time, too.
    """
    both = ways(device, asked)
    woken = asked.m * asked.n * asked.k >= ONE_THREAD and wakes_threads(both[0], rest)
    ((numpys, ours),) = least_times([both], rest if woken else 0.0)
    return numpys, ours if woken else ours + waking
