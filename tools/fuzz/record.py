"""The record of a run: plain data for JSON, and a table."""

import platform
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from tilewright.core.records import load
from tilewright.runtime.environment import version_of

from .cases import CALLS, PLACES, Case

FORMAT = 1


@dataclass(frozen=True)
class Failure:
    """A case that failed, what was wrong, and the smallest case found that fails alike."""

    seed: int
    reason: str
    case: Case
    smallest: Case | None = None

    @property
    def kind(self) -> str:
        """What failures of one cause have in common, roughly: the call, and the sentence without its numbers."""
        first = self.reason.splitlines()[0] if self.reason else ""
        words = "".join(" " if letter.isdigit() else letter for letter in first).split()
        return " ".join((self.case.call, *words[:8]))


@dataclass(frozen=True)
class Record:
    """A run of cases: `seeds` done are `first_seed` up to `next_seed`, gaps in `ahead` aside."""

    first_seed: int = 0
    next_seed: int = 0
    ahead: tuple[int, ...] = ()  # seeds beyond next_seed that are done: several children work at once
    device: str = ""
    driver: str = ""
    version: str = ""
    versions: dict[str, str] | None = None
    kinds: tuple[str, ...] = ()
    counts: dict[str, int] | None = None  # by "call place verdict"
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0  # of all cases, one after the other
    programs: int = 0  # built or loaded, once in each process
    format: int = FORMAT

    @property
    def cases(self) -> int:
        return sum((self.counts or {}).values())

    def on_device(self, device: str, driver: str, version: str) -> "Record":
        """The record with what it ran on. ValueError if it holds cases of another device."""
        if self.device and (self.device, self.driver) != (device, driver):
            raise ValueError(f"the record is of {self.device} ({self.driver}), not of {device} ({driver})")
        versions = {name: version_of(name) for name in ("tilewright", "numpy", "pyopencl")}
        return replace(
            self,
            device=device,
            driver=driver,
            version=version,
            versions={"python": platform.python_version(), **versions},
        )

    def counted(
        self, seed: int, call: str, place: str, verdict: str, seconds: float, failure: Failure | None
    ) -> "Record":
        """The record with one more case."""
        counts = dict(self.counts or {})
        key = f"{call} {place} {verdict}"
        counts[key] = counts.get(key, 0) + 1
        done, following = {*self.ahead, seed}, self.next_seed
        while following in done:
            done.discard(following)
            following += 1
        failures = self.failures if failure is None else (*self.failures, failure)
        return replace(
            self, counts=counts, failures=failures, next_seed=following, ahead=tuple(sorted(done)),
            seconds=self.seconds + seconds,
        )  # fmt: skip

    @property
    def progress(self) -> str:
        return f"{self.cases:,} cases, {len(self.failures)} failed, next seed {self.next_seed}"

    def save(self, path: Path) -> None:
        """Write it under a temporary name first, so that the file is always whole."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(path.name + ".part")
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n")
        draft.replace(path)

    def table(self) -> str:
        """Cases by call, place and outcome."""
        counts = self.counts or {}
        lines = [f"{'call':18}{'place':8}{'right':>8}{'refused':>9}{'failed':>8}"]
        for call in CALLS:
            for place in PLACES:
                own = [counts.get(f"{call} {place} {verdict}", 0) for verdict in ("right", "refused", "failed")]
                if any(own):
                    lines.append(f"{call:18}{place:8}{own[0]:8}{own[1]:9}{own[2]:8}")
        lines.append(
            f"{self.cases:,} cases, seeds {self.first_seed} to {self.next_seed - 1}, on {self.device}, {self.driver}"
        )
        lines.append(f"{self.programs} programs in all processes, {self.seconds:.0f} s in all cases")
        return "\n".join(lines)


def load_fuzz(path: Path) -> Record:
    """A record from its file; RecordError says what is wrong with it."""
    return load(path, Record, "a record of the fuzzer")
