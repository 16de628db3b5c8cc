"""Makes tuned tables: for each problem the plan's candidates race on the device, and the fastest that is right is kept.

A kernel that faults poisons its process, so races run in child processes, some problems in each; a candidate at which a
child dies is reported with its launch and left out when a new child goes on. The table is written after every child, and
problems that it holds already are passed over: a run that was interrupted goes on where it ended.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ..backend.children import ChildRun, run_child
from ..device import DeviceInfo
from ..problem import Gemm
from ..records import to_json
from ..tuned import Entry, Table, key_of, load_table

MOST_DEATHS = 4  # of children at one problem, before it is given up
GRACE_S = 60.0  # for a child to build a problem's candidates, beside the time to measure them
TOGETHER = 8  # problems of one child: starting it takes about as long as one of them


@dataclass(frozen=True)
class Outcome:
    """What became of one problem: its entry or None, and the sentences about candidates that failed."""

    problem: str
    entry: Entry | None
    complaints: tuple[str, ...] = ()


def tune(
    problems: Iterable[Gemm],
    device: DeviceInfo,
    wanted: str | None,
    path: Path,
    seconds: float = 3.0,
    candidates: int = 12,
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> Table:
    """Race the first `candidates` candidates of each problem for `seconds`, and keep the winners in the table at `path`.

    `wanted` names the device for the children, as `open_device` takes it; `device` is what it is.
    """
    table = load_table(path) if path.exists() else _empty_table(device)
    known = {entry.problem for entry in table.entries}
    missing = [problem for problem in problems if key_of(problem) not in known]
    for first in range(0, len(missing), TOGETHER):
        outcomes = race_in_children(missing[first : first + TOGETHER], wanted, seconds, candidates)
        for outcome in outcomes:
            watch(outcome)
        found = {outcome.entry.problem: outcome.entry for outcome in outcomes if outcome.entry is not None}
        entries = sorted((*table.entries, *found.values()), key=lambda entry: entry.problem)
        table = replace(table, entries=tuple(entries), date=_now())
        save_table(table, path)
    return table


def _empty_table(device: DeviceInfo) -> Table:
    return Table(device.name, device.vendor, device.compute_capability, device.driver, _now())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def save_table(table: Table, path: Path) -> None:
    """Write under another name first: a table is whole or as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(to_json(table), encoding="utf-8")
    temporary.replace(path)


def race_in_children(
    problems: Sequence[Gemm],
    wanted: str | None,
    seconds: float,
    candidates: int,
    run: Callable[[list[str], float], ChildRun] = run_child,
) -> list[Outcome]:
    """The problems' races in a child process, or in more than one: a new one goes on where a child died."""
    remaining = {key_of(problem): problem for problem in problems}
    skipped: dict[str, list[str]] = {key: [] for key in remaining}
    complaints: dict[str, list[str]] = {key: [] for key in remaining}
    outcomes: list[Outcome] = []
    while remaining:
        task = {
            "problems": [asdict(problem) for problem in remaining.values()],
            "skip": [skipped[key] for key in remaining],
            "device": wanted, "seconds": seconds, "candidates": candidates,
        }  # fmt: skip
        limit = (seconds + GRACE_S) * len(remaining)
        child = run([sys.executable, "-m", "tilewright.tuning.child", json.dumps(task)], limit)
        last = ""
        for stage in child.records():
            key = str(stage.get("problem", ""))
            if stage["stage"] == "trying":
                last = str(stage["candidate"])
            elif stage["stage"] == "failed":
                complaints[key].append(str(stage["complaint"]))
            elif stage["stage"] in ("won", "nothing"):
                entry = msgspec.convert(stage["entry"], Entry) if stage["stage"] == "won" else None
                outcomes.append(Outcome(remaining.pop(key).title, entry, tuple(complaints[key])))
                last = ""
        if not remaining:
            break
        key = next(iter(remaining))
        cause = child.ending or child.telling_line() or "it ended without an answer"
        complaints[key].append(f"the child died at {last}: {cause}" if last else cause)
        skipped[key].append(last)
        if not last or len(skipped[key]) >= MOST_DEATHS:
            outcomes.append(Outcome(remaining.pop(key).title, None, tuple(complaints[key])))
    return outcomes
