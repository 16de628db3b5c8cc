"""The few constants of the model that no table holds. They were fitted on half of the recorded rungs of an H200, as
[predictions.md](../../../../benchmarks/predictions.md) says, and are the same for every device."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """Exponents of power means say how well one kind of work hides behind another: at 1 times add up, at infinity the longest
    counts alone. `units` is that of a multiprocessor's units without other warps, `units_full` what a full multiprocessor adds
    to it; `memory` is that of L2 and memory, and `beside` that of units, starts of warps, latency and memory together.
    `latency` and `starts` multiply a warp's own time and the cost of its start: queues make both longer. `l2_copies` is how
    often L2 holds what several multiprocessors read."""

    units: float = 1.0
    units_full: float = 3.0
    memory: float = 2.7
    beside: float = 3.3
    latency: float = 1.04
    starts: float = 1.2
    l2_copies: float = 2.0


FITTED = Constants()
