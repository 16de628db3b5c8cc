"""Puts predictions and counters into the record benchmarks/h200-counters.json."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tilewright.errors import InvalidInput

from .code import CodeLine, code_lines, normalised, number_of
from .compare import Line, compare, counted_traffic, line_record, with_volatile
from .counterparts import ARCHITECTURE, PLAIN, VOLATILE, counterparts_of
from .launches import Case, Launch, predict

Compared = dict[tuple[str, int, int], list[Line]]


def digest(launch: Launch) -> str:
    """Names the code, geometry and arguments that a record speaks of; comments and white space do not count."""
    text = f"{normalised(launch.opencl)} {launch.global_size} {launch.local_size} {dict(launch.arguments)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stale(cases: Sequence[Case], record: dict[str, Any]) -> list[Case]:
    """The cases that the record lacks, or whose code, geometry or arguments have changed since they were counted."""
    recorded = {case["name"]: [launch["digest"] for launch in case["launches"]] for case in record["cases"]}
    return [case for case in cases if recorded.get(case.name) != [digest(launch) for launch in case.launches]]


def uncounted(cases: Sequence[Case], record: dict[str, Any]) -> list[str]:
    """The names of the cases that the record lacks: new kernels."""
    known = {case["name"] for case in record["cases"]}
    return [case.name for case in cases if case.name not in known]


def edited(cases: Sequence[Case], record: dict[str, Any]) -> list[str]:
    """The names of the cases that were counted with other code, geometry or arguments than they have now."""
    new = uncounted(cases, record)
    return [case.name for case in stale(cases, record) if case.name not in new]


def located(cases: Sequence[Case], record: dict[str, Any]) -> dict[str, Any]:
    """The record with today's file and line where a case's code is as it was: comments may have moved it."""
    changed = {case.name for case in stale(cases, record)}
    texts = {case.name: [code_lines(each.opencl) for each in case.launches] for case in cases}

    def moved(launch: dict[str, Any], code: list[CodeLine]) -> dict[str, Any]:
        def today(line: list[Any]) -> list[Any]:
            if line[-1] is None:  # a place in the middle of a line of code that was joined: it stays as it was counted
                return line
            return [code[line[-1]].file, code[line[-1]].line, *line[2:]]

        return launch | {"lines": list(map(today, launch["lines"]))}

    def current(case: dict[str, Any]) -> dict[str, Any]:
        if case["name"] in changed or case["name"] not in texts:
            return case
        return case | {"launches": list(map(moved, case["launches"], texts[case["name"]]))}

    return record | {"cases": list(map(current, record["cases"]))}


def merged(record: dict[str, Any], counted: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The cases of these names: as they were just counted, else as the record has them. InvalidInput if the two were not
    counted by the same device and tools, or one case is in neither."""
    differing = [each for each in ("device", "driver", "compiler", "profiler") if record[each] != counted[each]]
    if differing:
        both = "; ".join(f"{each}: {record[each]!r}, now {counted[each]!r}" for each in differing)
        raise InvalidInput(f"a record is of one device and its tools ({both}): count all cases anew")
    known = {case["name"]: case for each in (record, counted) for case in each["cases"]}
    missing = [name for name in names if name not in known]
    if missing:
        raise InvalidInput(f"never counted: {', '.join(missing)}; build with --stale, run, read")
    return counted | {"cases": [known[name] for name in names]}


def compare_all(folder: Path, cases: Sequence[Case]) -> tuple[dict[str, Any], Compared]:
    """The facts of the run, and the lines of every launch that was counted, by (variant, case, launch)."""
    run = json.loads((folder / "run.json").read_text())
    counters = json.loads((folder / "counters.json").read_text())
    if len(run["order"]) != len(counters):
        raise AssertionError(f"{len(run['order'])} launches ran, {len(counters)} were counted")
    predictions = [(predict(case, narrow=False), predict(case, narrow=True)) for case in cases]
    counterparts = {variant: counterparts_of(folder, cases, variant) for variant in (PLAIN, VOLATILE)}
    found: Compared = {}
    for (variant, case, launch), counted in zip(run["order"], counters, strict=True):
        traffic = counted_traffic(counted["rows"], counterparts[variant][case][launch].instructions)
        wide, narrow = predictions[case]
        found[variant, case, launch] = compare(wide[launch], narrow[launch], traffic)
    return run, found


def make_record(folder: Path, cases: Sequence[Case], compiler: str, profiler: str, date: str) -> dict[str, Any]:
    """The whole comparison as plain data; see benchmarks/counters.md for what it means."""
    run, found = compare_all(folder, cases)
    rows = []
    for number, case in enumerate(cases):
        launches = []
        for place, launch in enumerate(case.launches):
            lines = with_volatile(found[PLAIN, number, place], found.get((VOLATILE, number, place), []))
            code = code_lines(launch.opencl)
            launches.append(
                {
                    "file": launch.file,
                    "digest": digest(launch),
                    "global_size": launch.global_size,
                    "local_size": launch.local_size,
                    "lines": [[*line_record(line), number_of(code, *line.place[:2])] for line in lines],
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
            "code line",
        ],
        "cases": rows,
    }


def save(record: dict[str, Any], path: Path) -> None:
    """One line of the file for each line of source, so that changes can be read."""
    text = json.dumps(record, separators=(",", ":"))
    for mark in ('{"name"', '{"file"', '["'):
        text = text.replace(mark, "\n" + mark)
    path.write_text(text + "\n")
