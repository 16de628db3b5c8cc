"""How much of a program's time watching may take, and what `--fail-on` may name."""

from dataclasses import dataclass

# Groups of faults, bank conflicts, every fault, and launches that were not explained.
FAIL_ON = ("race", "bounds", "uninitialised", "conflicts", "faults", "unexplained")


@dataclass(frozen=True)
class Limits:
    """Times in seconds: `seconds` in all, besides half of the program's own time, and `launch_seconds` for one launch. Of each
    kernel at most `samples` launches with different NDRanges are explained."""

    seconds: float = 3.0
    launch_seconds: float = 2.0
    samples: int = 4


LIMITS = Limits()
