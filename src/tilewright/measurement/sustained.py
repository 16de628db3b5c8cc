"""Sustained measurement: workloads take turns of seconds without a pause, at the clock that the power limit allows.

A burst of a few calls runs at the highest clock. Work without a pause may be slowed down to stay within the board's power
limit. Then the library that needs less energy for a product is the faster one.
"""

from collections.abc import Callable, Sequence

from ..core.records import Samples, Turn
from ..errors import LaunchFailed, ProcessFailed
from ..runtime.telemetry import Sampler
from .measure import RunFailed, Workload

TURNS = 3


def take_turns(
    workloads: Sequence[Workload],
    seconds: float,
    sampler: Sampler,
    turns: int = TURNS,
    failed: Callable[[int, RunFailed], None] | None = None,
) -> list[tuple[Turn, ...]]:
    """`turns` turns of at least `seconds` for each workload, in order, with the device's clock and power during each.

    A workload whose turn fails is left out of later turns and reported to `failed`. Without `failed` the measurement ends.
    """
    taken: list[tuple[Turn, ...]] = [() for _ in workloads]
    out: set[int] = set()
    for _ in range(turns):
        for index, workload in enumerate(workloads):
            if index in out:
                continue
            sampler.start()
            try:
                work = workload.sustain(seconds)
            except (LaunchFailed, ProcessFailed) as failure:
                if failed is None:
                    raise
                out.add(index)
                failed(index, failure)
                continue
            finally:
                reading = sampler.stop()
            taken[index] += (Turn(work.seconds, work.calls, reading.clock_mhz, reading.power_w),)
    return taken


def as_samples(turns: Sequence[Turn]) -> Samples:
    """The mean seconds of a call in each turn, on the host's clock, whose delays are small next to a turn."""
    return Samples(tuple(each.seconds / each.calls for each in turns))
