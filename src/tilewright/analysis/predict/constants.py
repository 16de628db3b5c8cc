"""The few constants of the model that no table holds. They were fitted on half of the recorded rungs of an H200, as
[predictions.md](../../../../benchmarks/predictions.md) says, and are the same for every device."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """`overlap` and `memory_overlap` are exponents: how well a warp's waiting hides behind others' work, and memory behind
    the multiprocessors. `latency` multiplies a warp's own time: queues make it longer than on an idle device. `l2_part` is the
    part of L2 that serves one copy of what all multiprocessors read."""

    overlap: float = 3.0
    memory_overlap: float = 3.0
    latency: float = 1.3
    l2_part: float = 0.5


FITTED = Constants()
