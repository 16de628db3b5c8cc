"""Predicts what was measured, and sets both side by side."""

import csv
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tilewright.analysis.explain.plans import starting_buffers
from tilewright.analysis.inspect.nvidia import compile_for_nvidia
from tilewright.analysis.inspect.sass import parse_sass
from tilewright.analysis.predict.answer import launch_of_step, timed
from tilewright.analysis.predict.constants import FITTED
from tilewright.analysis.predict.devices import find_device
from tilewright.analysis.predict.facts import DeviceFacts
from tilewright.analysis.predict.launch import Code, SourceLaunch, count
from tilewright.core.kernel import PRELUDE, Dialect
from tilewright.core.source import read_source

from .build import ARCHITECTURE, rungs
from .cases import CASES, ForeignCase, cuda_text, opencl_text

# A single launch between two events takes longer than one of many back to back, by the same time for every kernel.
SINGLE_S = 4.2e-6
SLOW = ("04", "05", "06", "07", "08", "09")  # of `rows`: their work-items make more loop iterations than are run
COUNTED = {
    "instructions": "smsp__inst_executed",
    "l1_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
    "l1_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit",
    "l2_sectors": "lts__t_sectors_srcunit_tex_op_read",
    "l2_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit",
    "dram_read": "dram__bytes_read",
    "dram_written": "dram__bytes_write",
}


@dataclass(frozen=True)
class Compared:
    """One kernel: predicted and measured seconds, and what was counted with caches empty at the beginning. Rates are parts,
    sizes bytes; counts are of the whole launch."""

    name: str
    kind: str  # "fitted" or "tested" for rungs, "foreign"
    seconds: float
    low: float
    high: float
    measured: float
    limiter: str
    runner_up: str
    predicted_counts: dict[str, float]
    counts: dict[str, float]

    @property
    def ratio(self) -> float:
        return self.seconds / self.measured


def read_counters(path: Path, names: list[str]) -> dict[str, dict[str, float]]:
    """The profiler's table. Its rows are the launches in the order of `names`, and CuPy's own, which are left out."""
    rows = list(csv.DictReader(path.open()))
    units, launches = rows[0], [each for each in rows[1:] if not each["Kernel Name"].startswith("cupy_")]
    if len(launches) != len(names):
        raise ValueError(f"{path} has {len(launches)} launches, the manifest {len(names)}")

    def number(row: dict[str, str], key: str) -> float:
        scale = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}.get(units[key], 1.0)
        return float(row[key].replace(",", "")) * scale

    return {
        name: {word: number(row, f"{metric}.sum") for word, metric in COUNTED.items()}
        for name, row in zip(names, launches, strict=True)
    }


def measured_seconds(times: dict[str, list[float]]) -> float:
    """Of a launch among many; single launches, of kernels that find other work the second time, less what they take longer."""
    return median(times["burst"]) if times["burst"] else median(times["warm"]) - SINGLE_S


def launches(facts: DeviceFacts) -> Iterator[tuple[str, str, SourceLaunch, Code]]:
    """Every kernel that was measured and can be run in the interpreter: of a rung its last launch."""
    prelude = read_source(PRELUDE / Dialect.CUDA)
    for case in CASES:
        yield case.name, "foreign", source_launch(case), code_of(case, prelude)
    for name, kernel, problem in rungs():
        number = kernel.source.stem[:2]
        if name.startswith("rows/") and number in SLOW:
            continue
        steps = kernel.steps(kernel, kernel.config, problem)
        buffers, unset = starting_buffers(steps, problem)
        yield name, "fitted" if int(number) % 2 else "tested", *launch_of_step(steps[-1], buffers, unset, facts)


def source_launch(case: ForeignCase) -> SourceLaunch:
    return SourceLaunch(
        case.name,
        opencl_text(case),
        f"predictions/{case.file}",
        case.entry,
        case.global_size,
        case.local_size,
        case.arguments(),
    )


def code_of(case: ForeignCase, prelude: str) -> Code:
    compiled = compile_for_nvidia(cuda_text(case, prelude), case.entry, ARCHITECTURE)
    if compiled.resources is None or "SASS" not in compiled.texts:
        raise ValueError(f"{case.name}: {'; '.join(compiled.missing) or 'no machine code'}")
    listing = parse_sass(compiled.texts["SASS"], case.entry)
    return Code(listing, compiled.resources.registers, compiled.resources.local_bytes)


def compare(folder: Path, device: str) -> list[Compared]:
    """Predict what `folder` holds times and counters of."""
    facts = find_device(device)
    names = [each["name"] for each in json.loads((folder / "manifest.json").read_text())]
    times, counters = json.loads((folder / "times.json").read_text()), read_counters(folder / "cold.csv", names)
    found = []
    for name, kind, launch, code in launches(facts):
        counted = count(launch, code, facts, FITTED)
        answer, work = timed(name, "", counted, facts, FITTED), counted.work
        own = {
            "instructions": work.warps * work.instructions.issued,
            "l1_hit_rate": answer.l1_hits,
            "l2_sectors": work.miss_sectors,
            "l2_hit_rate": answer.cold_l2_hits,
            "dram_read": float(answer.cold_dram_read_bytes),
            "dram_written": 32.0 * work.traffic.cold_written,
        }
        seen = counters[name]
        seen["l1_hit_rate"] = seen["l1_hits"] / max(seen["l1_sectors"], 1.0)
        seen["l2_hit_rate"] = min(1.0, seen["l2_hits"] / max(seen["l2_sectors"], 1.0))
        found.append(
            Compared(
                name, kind, answer.seconds, answer.low, answer.high, measured_seconds(times[name]), answer.limiter.name,
                answer.runner_up.name, own, seen,
            )
        )  # fmt: skip
        print(f"{name:45} {1e6 * answer.seconds:10.1f} us, measured {1e6 * found[-1].measured:10.1f}", flush=True)
    return found


def record(found: list[Compared], folder: Path, date: str, environment: dict[str, Any]) -> dict[str, Any]:
    """The record as plain data."""
    return {
        "date": date,
        "environment": environment,
        "constants": asdict(FITTED),
        "rows": [asdict(each) for each in found],
        "micro": json.loads((folder / "micro.json").read_text()),
    }
