"""Puts prediction and counters together into the record benchmarks/h200-counters.json."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .compare import Line, compare, counted_traffic, line_record, with_volatile
from .launches import Case, Launch, predict
from .twins import ARCHITECTURE, PLAIN, VOLATILE, twins_of

Compared = dict[tuple[str, int, int], list[Line]]


def digest(launch: Launch) -> str:
    """Names the source, geometry and arguments that a record speaks of."""
    text = f"{launch.opencl} {launch.global_size} {launch.local_size} {dict(launch.arguments)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def compare_all(folder: Path, cases: Sequence[Case]) -> tuple[dict[str, Any], Compared]:
    """The facts of the run, and the lines of every launch that was counted, by (variant, case, launch)."""
    run = json.loads((folder / "run.json").read_text())
    counters = json.loads((folder / "counters.json").read_text())
    if len(run["order"]) != len(counters):
        raise AssertionError(f"{len(run['order'])} launches ran, {len(counters)} were counted")
    predictions = [(predict(case, narrow=False), predict(case, narrow=True)) for case in cases]
    twins = {variant: twins_of(folder, cases, variant) for variant in (PLAIN, VOLATILE)}
    found: Compared = {}
    for (variant, case, launch), counted in zip(run["order"], counters, strict=True):
        traffic = counted_traffic(counted["rows"], twins[variant][case][launch].instructions)
        wide, narrow = predictions[case]
        found[variant, case, launch] = compare(wide[launch], narrow[launch], traffic)
    return run, found


def make_record(folder: Path, cases: Sequence[Case], compiler: str, profiler: str, date: str) -> dict[str, Any]:
    """The whole comparison as plain data; see docs/counters.md for what it means."""
    run, found = compare_all(folder, cases)
    rows = []
    for number, case in enumerate(cases):
        launches = []
        for place, launch in enumerate(case.launches):
            lines = with_volatile(found[PLAIN, number, place], found.get((VOLATILE, number, place), []))
            launches.append(
                {
                    "file": launch.file,
                    "digest": digest(launch),
                    "global_size": launch.global_size,
                    "local_size": launch.local_size,
                    "lines": [line_record(line) for line in lines],
                }
            )
        result = run["verdicts"][f"{case.name} ({PLAIN})"]
        rows.append({"name": case.name, "kind": case.kind, "result": result, "launches": launches})
    return {
        "device": run["device"],
        "driver": run["driver"],
        "compiler": f"{compiler}, {ARCHITECTURE}",
        "profiler": profiler,
        "date": date,
        "columns": [
            "file",
            "line",
            "operation",
            "space",
            "predicted",
            "counted",
            "instructions",
            "verdict",
            "volatile",
        ],
        "cases": rows,
    }


def save(record: dict[str, Any], path: Path) -> None:
    """One line of the file for each line of source, so that changes can be read."""
    text = json.dumps(record, separators=(",", ":"))
    for mark in ('{"name"', '{"file"', '["'):
        text = text.replace(mark, "\n" + mark)
    path.write_text(text + "\n")
