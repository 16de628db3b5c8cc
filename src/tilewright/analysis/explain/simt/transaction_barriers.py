"""mbarriers: phases that end when all have arrived and all announced bytes of TMA's copies are there.

The bytes of a finished phase reach local memory when somebody waits for it, so that a missing wait shows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

Finish = Callable[[], None]


@dataclass
class Barrier:
    """One barrier. `phase` counts from 0, `pending` arrivals and `bytes` are what the present phase still waits for."""

    arrivals: int
    pending: int
    phase: int = 0
    bytes: int = 0
    copies: list[Finish] = field(default_factory=list)

    def arrive(self, more_bytes: int = 0) -> None:
        self.bytes += more_bytes
        self.pending -= 1
        self._end_phase()

    def copy(self, finish: Finish, nbytes: int) -> None:
        """A copy whose bytes count here."""
        self.copies.append(finish)
        self.bytes -= nbytes
        self._end_phase()

    def _end_phase(self) -> None:
        if self.pending <= 0 and self.bytes == 0:
            self.phase += 1
            self.pending = self.arrivals

    def is_over(self, parity: int) -> bool:
        """Whether the phase of that parity is over: of a new barrier the one of parity 1 is."""
        return self.phase % 2 != parity

    def deliver(self) -> None:
        """Somebody has waited: the bytes are there."""
        copies, self.copies = self.copies, []
        for finish in copies:
            finish()


class TransactionBarriers:
    """The barriers of the work-groups of a batch, by the slot of the group and the local address."""

    def __init__(self) -> None:
        self.barriers: dict[tuple[int, int], Barrier] = {}

    def begin(self) -> None:
        self.barriers.clear()
