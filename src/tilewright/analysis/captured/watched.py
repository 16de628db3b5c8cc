"""What was found in the launches of a program: a row for each kernel, NDRange and macros."""

from dataclasses import dataclass
from math import prod
from typing import Any

from ...core.captured import CapturedKernel
from ...core.language import in_english
from ..explain import PrintedExplanation
from ..explain.profile import SECTORS
from ..explain.serialise import to_dict
from ..explain.simt.findings import BOUNDS, GROUPS, RACE, READ_ONLY, UNINITIALISED, WILD
from ..explain.totals import totals
from ..explain.verdict import findings_and_costs

FORMAT = "tilewright watch 1"

# What `--fail-on` takes, and the kinds of findings that it means. Conflicts are counted, not found.
FAULT_GROUPS: dict[str, tuple[str, ...]] = {
    "race": (RACE, GROUPS),
    "bounds": (BOUNDS, WILD, READ_ONLY),
    "uninitialised": (UNINITIALISED,),
}


@dataclass(frozen=True)
class WatchedLaunch:
    """Launches of one kernel with one NDRange and one set of build options. `explanation` is that of the launch with the
    number `sample`, counted from 1, or None; then `reason` says why. `seconds` is the time that explaining took."""

    kernel: CapturedKernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    launches: int = 0
    explanation: PrintedExplanation | None = None
    sample: int = 0
    notes: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0

    @property
    def entry(self) -> str:
        return self.kernel.entry

    @property
    def ndrange(self) -> str:
        """ "1024x16 by 16x16"; a local size that the driver chose is "?"."""
        local = "?" if self.local_size is None else "x".join(map(str, self.local_size))
        return f"{'x'.join(map(str, self.global_size))} by {local}"

    @property
    def moved_bytes(self) -> int:
        """Bytes of global memory that the requests of one launch move, in whole sectors."""
        return self._scaled(sum(each.sector * each.cost for each in self._global_accesses()))

    @property
    def useful_bytes(self) -> int:
        """Different bytes that these requests ask for."""
        return self._scaled(sum(each.useful_bytes for each in self._global_accesses()))

    @property
    def conflicts(self) -> int:
        """Wavefronts of local memory beyond the fewest possible, in one launch."""
        return 0 if self.explanation is None else totals(self.explanation).conflicts

    @property
    def faults(self) -> int:
        return 0 if self.explanation is None else len(self.explanation.faults)

    @property
    def verdict(self) -> str:
        """The first sentence about it, or why there is none."""
        if self.explanation is None:
            return f"not explained: {self.reason}"
        return next(iter(findings_and_costs(self.explanation))).text

    def has(self, what: str) -> bool:
        """Whether it has what a name of `--fail-on` means."""
        if what == "unexplained" or self.explanation is None:
            return what == "unexplained" and self.explanation is None
        if what == "conflicts":
            return self.conflicts > 0
        kinds = FAULT_GROUPS.get(what)
        return any(kinds is None or each.kind in kinds for each in self.explanation.faults)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the row of the table, and the explanation as `tilewright explain --json` has it."""
        return {
            **self.row(),
            "build_options": self.kernel.options,
            "sample": self.sample,
            "notes": list(self.notes),
            "reason": self.reason,
            "seconds": self.seconds,
            "explanation": None if self.explanation is None else to_dict(self.explanation),
        }

    @in_english()
    def row(self) -> dict[str, Any]:
        explained = self.explanation is not None
        return {
            "kernel": self.entry,
            "global_size": list(self.global_size),
            "local_size": None if self.local_size is None else list(self.local_size),
            "launches": self.launches,
            "useful_bytes": self.useful_bytes if explained else None,
            "moved_bytes": self.moved_bytes if explained else None,
            "conflicts": self.conflicts if explained else None,
            "faults": self.faults if explained else None,
            "verdict": self.verdict,
        }

    def rank(self) -> tuple[float, ...]:
        """The worst first: faults, then bytes moved for nothing and conflicts of all launches, then what is unknown."""
        wasted = self.moved_bytes - self.useful_bytes
        return (
            -self.faults, -self.launches * wasted, -self.launches * self.conflicts, self.explanation is None,
            -self.launches * prod(self.global_size),
        )  # fmt: skip

    def _global_accesses(self) -> list[Any]:
        """Those of buffers: images and a constant cache are not counted in sectors."""
        every = () if self.explanation is None else self.explanation.accesses
        return [each for each in every if each.unit == SECTORS]

    def _scaled(self, counted: int) -> int:
        """A count of the groups that ran, scaled to all."""
        if self.explanation is None or not self.explanation.groups:
            return 0
        return round(counted * self.explanation.group_count / len(self.explanation.groups))
