"""Makes tuned tables: each problem's candidates are measured on the device, and the fastest that is right is kept.

A kernel that faults poisons its process, so candidates are measured in child processes, several problems in each. If a
child dies, the candidate is reported and left out, and a new child goes on. Other children build the candidates before, on
all cores. The table is written after every round of children, and problems that are already in it are skipped: a run that
was interrupted, or reached its time budget, is resumed by the next one.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from ...core.device import DeviceInfo
from ...core.kernel import render
from ...core.problem import Gemm
from ...core.records import to_json
from ...dispatch.table_files import load_table
from ...dispatch.tuned import Entry, Table, key_of
from ...runtime.children import ChildRun, run_child
from ...runtime.processors import usable_processors
from .candidates import name_of, tuning_candidates

MOST_DEATHS = 4  # of children at one problem, before it is skipped
GRACE_S = 60.0  # for a child to build a problem's candidates
TOGETHER = 48  # problems in a round of children: starting a child takes about as long as a problem
WORTH = 1.02  # the gain over the cost model's choice that is worth an entry: less is noise
CHILD = [sys.executable, "-P", "-m", "tilewright.measurement.tuning.child"]
# NVIDIA's driver keeps machine code in a cache, where the next child finds what one has built.
CACHES = {"CUDA_CACHE_DISABLE": "0"}

Runner = Callable[[list[str], float], ChildRun]
run_with_caches: Runner = partial(run_child, settings=CACHES)


@dataclass(frozen=True)
class Outcome:
    """The result for one problem: its entry or None, and the reasons of candidates that failed."""

    problem: str
    entry: Entry | None
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Effort:
    """How much to try: seconds and candidates for one problem, and the seconds after which no problem is started."""

    seconds: float = 3.0
    candidates: int = 12
    time_budget: float = float("inf")


def tune(
    problems: Iterable[Gemm],
    device: DeviceInfo,
    wanted: str | None,
    path: Path,
    effort: Effort = Effort(),
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> Table:
    """Measure the candidates of each problem, and keep the winners that gain enough in the table at `path`.

    `wanted` names the device for `open_device` in the children; `device` describes it.
    """
    begin = perf_counter()
    table = load_table(path) if path.exists() else _empty_table(device)
    known = {*table.settled, *(entry.problem for entry in table.entries)}
    missing = [problem for problem in problems if key_of(problem) not in known]
    for first in range(0, len(missing), TOGETHER):
        left = effort.time_budget - (perf_counter() - begin)
        if left <= 0:
            break
        together = missing[first : first + TOGETHER]
        build_in_children(together, device, wanted, effort)
        left = effort.time_budget - (perf_counter() - begin)
        outcomes = measure_in_children(together, wanted, replace(effort, time_budget=left))
        for outcome in outcomes:
            watch(outcome)
        table = with_outcomes(table, outcomes)
        save_table(table, path)
    return table


def with_outcomes(table: Table, outcomes: Sequence[Outcome]) -> Table:
    """The table with the winners that gain something, and the problems where the cost model's choice is as good."""
    entries = {entry.problem: entry for entry in table.entries}
    settled = set(table.settled)
    for entry in (outcome.entry for outcome in outcomes if outcome.entry is not None):
        if entry.untuned_seconds >= WORTH * entry.seconds:
            entries[entry.problem] = entry
        else:
            settled.add(entry.problem)
    return replace(
        table,
        entries=tuple(entries[problem] for problem in sorted(entries)),
        settled=tuple(sorted(settled)),
        date=_now(),
    )


def _empty_table(device: DeviceInfo) -> Table:
    return Table(
        device.name, device.vendor, device.compute_capability, device.driver, _now(), compute_units=device.compute_units
    )  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def save_table(table: Table, path: Path) -> None:
    """Write under another name first, so that an interrupted write leaves the old table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(to_json(table), encoding="utf-8")
    temporary.replace(path)


def build_in_children(
    problems: Sequence[Gemm],
    device: DeviceInfo,
    wanted: str | None,
    effort: Effort,
    run: Runner = run_with_caches,
    workers: int | None = None,
) -> None:
    """Build all candidates of the problems, each program once, in as many children as there are cores.

    If a child dies, the measuring child builds the rest.
    """
    count = workers or usable_processors()
    builds: dict[tuple[str, str], tuple[int, str]] = {}
    for index, problem in enumerate(problems):
        for kernel in islice(tuning_candidates(problem, device), effort.candidates):
            builds.setdefault((kernel.name, render(kernel, kernel.config, problem)), (index, name_of(kernel)))
    share = -(-len(builds) // count)
    waiting = list(builds.values())
    shares = [waiting[first : first + share] for first in range(0, len(waiting), max(share, 1))]

    def build(own: Sequence[tuple[int, str]]) -> None:
        task = {"problems": [asdict(each) for each in problems], "builds": own, "device": wanted}
        run([*CHILD, json.dumps({**task, "candidates": effort.candidates})], min(GRACE_S, max(effort.time_budget, 1.0)))

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(build, shares))


@dataclass
class Remaining:
    """The problems without an outcome, with what children reported about them so far."""

    problems: dict[str, Gemm]
    skipped: dict[str, list[str]] = field(default_factory=dict)
    complaints: dict[str, list[str]] = field(default_factory=dict)

    def of(self, kind: dict[str, list[str]], key: str) -> list[str]:
        return kind.setdefault(key, [])

    def ended(self, key: str, entry: Entry | None) -> Outcome:
        return Outcome(self.problems.pop(key).title, entry, tuple(self.complaints.get(key, ())))


def measure_in_children(
    problems: Sequence[Gemm], wanted: str | None, effort: Effort, run: Runner = run_with_caches
) -> list[Outcome]:
    """Measure the problems in a child process; if it dies, a new one goes on with the next candidate.

    Problems that the time budget does not reach have no outcome.
    """
    remaining = Remaining({key_of(problem): problem for problem in problems})
    outcomes: list[Outcome] = []
    begin = perf_counter()
    while remaining.problems:
        left = effort.time_budget - (perf_counter() - begin)
        if left <= 0:
            break
        limit = (effort.seconds + GRACE_S) * len(remaining.problems)
        child = run([*CHILD, json.dumps(_measuring_task(remaining, wanted, replace(effort, time_budget=left)))], limit)
        last, over = _read_stages(child, remaining, outcomes)
        if not remaining.problems or over:
            break
        key = next(iter(remaining.problems))
        cause = child.ending or child.telling_line() or "it ended without an answer"
        remaining.of(remaining.complaints, key).append(f"the child died at {last}: {cause}" if last else cause)
        skipped = remaining.of(remaining.skipped, key)
        skipped.append(last)
        if not last or len(skipped) >= MOST_DEATHS:
            outcomes.append(remaining.ended(key, None))
    return outcomes


def _measuring_task(remaining: Remaining, wanted: str | None, effort: Effort) -> dict[str, Any]:
    return {
        "problems": [asdict(problem) for problem in remaining.problems.values()],
        "skip": [remaining.skipped.get(key, []) for key in remaining.problems],
        "device": wanted, "seconds": effort.seconds, "candidates": effort.candidates,
        "time_budget": min(effort.time_budget, 1e9),
    }  # fmt: skip


def _read_stages(child: ChildRun, remaining: Remaining, outcomes: list[Outcome]) -> tuple[str, bool]:
    """Read a child's stages: the candidate that it was trying at its end, and whether its time was over."""
    last = ""
    for stage in child.records():
        key = str(stage.get("problem", ""))
        if stage["stage"] == "over":
            return "", True
        if stage["stage"] == "trying":
            last = str(stage["candidate"])
        elif stage["stage"] == "failed":
            remaining.of(remaining.complaints, key).append(str(stage["complaint"]))
        elif stage["stage"] in ("won", "nothing"):
            entry = msgspec.convert(stage["entry"], Entry) if stage["stage"] == "won" else None
            outcomes.append(remaining.ended(key, entry))
            last = ""
    return last, False
