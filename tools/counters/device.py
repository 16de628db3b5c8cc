"""Runs the counterparts on a GPU, checks their results, and reads the profiler's report. Needs CuPy, but not a compiler."""

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .counterparts import PLAIN, VOLATILE, Counterpart, counterparts_of
from .launches import Case, typed_arguments

COUNTERS = (
    "inst_executed",
    "thread_inst_executed_true",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
)


def run(folder: Path, cases: Sequence[Case]) -> dict[str, str]:
    """Launches every counterpart that was built, case by case, and says whether the outputs are right. What ran in which order
    goes to run.json, with the device and its driver."""
    cupy: Any = importlib.import_module("cupy")
    order: list[tuple[str, int, int]] = []
    verdicts: dict[str, str] = {}
    for variant in (PLAIN, VOLATILE):
        for number, (case, counterparts) in enumerate(zip(cases, counterparts_of(folder, cases, variant), strict=True)):
            if all(counterpart.cubin.exists() for counterpart in counterparts):
                verdicts[f"{case.name} ({variant})"] = run_case(cupy, case, counterparts)
                order += [(variant, number, launch) for launch in range(len(counterparts))]
    version = cupy.cuda.runtime.driverGetVersion()
    facts = {
        "device": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "driver": f"CUDA {version // 1000}.{version % 1000 // 10}",
        "order": order,
        "verdicts": verdicts,
    }
    (folder / "run.json").write_text(json.dumps(facts))
    return verdicts


def run_case(cupy: Any, case: Case, counterparts: Sequence[Counterpart]) -> str:
    buffers = {name: cupy.asarray(np.ascontiguousarray(array)) for name, array in case.buffers.items()}
    for counterpart in counterparts:
        function = cupy.RawModule(path=str(counterpart.cubin)).get_function(counterpart.launch.entry)
        arguments = [buffers[each] if isinstance(each, str) else each for each in typed_arguments(counterpart.launch)]
        function(counterpart.launch.grid, counterpart.launch.local_size, tuple(arguments))
    cupy.cuda.Device().synchronize()
    return case.check(buffers[case.output].get()) if case.output else "not checked"


def read_report(report: Path) -> list[dict[str, Any]]:
    """For each launch in the report: its name, and per instruction its offset and COUNTERS, where any is not 0."""
    home = next(iter(sorted(Path("/opt/nvidia/nsight-compute").glob("*/extras/python"), reverse=True)), None)
    if home is not None:
        sys.path.insert(0, str(home))
    reader: Any = importlib.import_module("ncu_report")
    context = reader.load_report(str(report))
    actions = context.range_by_idx(0)
    return [read_action(actions.action_by_idx(number)) for number in range(actions.num_actions())]


def read_action(action: Any) -> dict[str, Any]:
    rows: dict[int, list[int]] = {}
    for column, name in enumerate(COUNTERS):
        metric = action.metric_by_name(name)
        if metric is None:
            raise KeyError(f"{name} is not in the report; it has {', '.join(sorted(action.metric_names()))}")
        places = metric.correlation_ids()
        for number in range(metric.num_instances()):
            row = rows.setdefault(int(places.as_uint64(number)), [0] * len(COUNTERS))
            row[column] = int(metric.as_uint64(number))
    base = min(rows)
    kept = [[address - base, *row] for address, row in sorted(rows.items()) if any(row[2:])]
    return {"name": action.name(), "instructions": len(rows), "rows": kept}
