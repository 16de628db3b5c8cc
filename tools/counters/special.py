"""Compares the rules of constant memory, atomic functions and private arrays with an NVIDIA GPU's counters.

python -m tools.counters.special all FOLDER      on the machine with the GPU: compiles, runs under ncu, compares, writes
                                                 FOLDER/special.json and prints the table (needs nvcc, ncu, CuPy);
                                                 the page's record, benchmarks/h200-special-counters.json, is a copy
python -m tools.counters.special run FOLDER      what ncu runs: every kernel once, with a check of its result
"""

import argparse
import csv
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.analysis.explain import Explanation, explain_source
from tilewright.analysis.explain.totals import totals

from .compare import EQUAL, MERGED
from .special_patterns import ATOMIC, CONSTANT, GROUP, ITEMS, LOCAL_ATOMIC, PRIVATE, SPECIALS, Special

ARCHITECTURE, N = "sm_90", 5
# Counters by rule, as sums over the launch; names that this ncu does not know are left out, and said.
COUNTERS = {
    CONSTANT: ("idc__requests", "idc__requests_lookup_hit", "idc__requests_lookup_miss", "smsp__inst_executed"),
    ATOMIC: (
        "l1tex__t_requests_pipe_lsu_mem_global_op_red", "l1tex__t_sectors_pipe_lsu_mem_global_op_red",
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom",
        "lts__t_requests_op_red", "lts__t_sectors_op_red", "lts__t_requests_op_atom", "lts__t_sectors_op_atom",
        "lts__d_atomic_input_cycles_active", "lts__t_sectors_srcunit_tex_op_red", "lts__t_sectors_srcunit_tex_op_atom",
    ),
    LOCAL_ATOMIC: (
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom", "l1tex__data_pipe_lsu_wavefronts_mem_shared",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom", "smsp__inst_executed_op_shared_atom",
        "smsp__inst_executed_op_shared_atom_dot_alu", "smsp__inst_executed_op_shared_atom_dot_cas",
    ),
    PRIVATE: (
        "l1tex__t_requests_pipe_lsu_mem_local_op_ld", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld",
        "l1tex__t_requests_pipe_lsu_mem_local_op_st", "l1tex__t_sectors_pipe_lsu_mem_local_op_st",
    ),
}  # fmt: skip
TIMES = ("gpu__time_duration", "sm__cycles_active")
ARGUMENTS = 8  # loads of a kernel's own arguments that a warp may make from constant memory
DIFFERS = "differs"


def counted_cost(rule: str, counted: Mapping[str, float], expected: Mapping[str, int]) -> tuple[int, ...]:
    """What the counters say of the predicted costs; negative if a counter is missing."""

    def count(name: str) -> int:
        return round(counted.get(name, -1))

    if rule == CONSTANT:  # a warp also loads arguments, one address each
        requests = count("idc__requests")
        others, rest = divmod(requests - expected["cost"], ITEMS // 32)
        return (expected["cost"] if rest == 0 and 0 <= others <= ARGUMENTS else requests,)
    if rule == LOCAL_ATOMIC:
        return (count("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom"),)
    if rule == ATOMIC:
        sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op"
        return (max(count(f"{sectors}_red"), count(f"{sectors}_atom")),)
    sectors = "l1tex__t_sectors_pipe_lsu_mem_local_op"
    return count(f"{sectors}_ld"), count(f"{sectors}_st")


def judged(special: Special, counted: Mapping[str, float], expected: Mapping[str, int]) -> str:
    """EQUAL if the counters are what is predicted; MERGED if they are less, and the compiler is known to merge lanes here."""
    found = counted_cost(special.rule, counted, expected)
    costs = costs_of(special.rule, expected)
    if found == costs:
        return EQUAL
    less = all(0 <= own <= predicted for own, predicted in zip(found, costs, strict=True))
    return MERGED if special.merged and less else DIFFERS


def costs_of(rule: str, expected: Mapping[str, int]) -> tuple[int, ...]:
    """The predicted costs that counters are compared with."""
    return (expected["loaded"], expected["stored"]) if rule == PRIVATE else (expected["cost"],)


def explained(special: Special) -> Explanation:
    """The kernel as `explain` sees it, all work-groups."""
    arguments: dict[str, Any] = {**special.arrays(), "n": N}
    return explain_source(special.opencl, global_size=(ITEMS,), local_size=(GROUP,), arguments=arguments, groups="all")


def predicted(explanation: Explanation, rule: str) -> dict[str, int]:
    """The sums that counters are compared with."""
    sums = totals(explanation)
    if rule == CONSTANT:
        return {"requests": sums.constant_requests, "cost": sums.constant_cost}
    if rule == PRIVATE:
        own = explanation.private_accesses
        return {
            "requests": sums.private_requests,
            "loaded": sum(each.cost for each in own if each.operation == "load"),
            "stored": sum(each.cost for each in own if each.operation == "store"),
        }
    own = tuple(each for each in explanation.accesses if each.is_atomic)
    return {
        "requests": sums.atomic_requests,
        "cost": sum(each.cost for each in own),
        "turns": sums.atomic_turns,
        "updates": sums.atomic_updates,
        "hottest": max((each.hottest for each in own), default=0),
    }


def build(folder: Path) -> None:
    """Compile every kernel to FOLDER/specialNN.cubin, except for those that are there with the same text. CalledProcessError
    if nvcc refuses one; it says why."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, special in enumerate(SPECIALS):
        source = folder / f"special{number:02}.cu"
        if source.exists() and source.read_text() == special.cuda and source.with_suffix(".cubin").exists():
            continue
        source.write_text(special.cuda)
        command = ["nvcc", "-cubin", "-lineinfo", f"-arch={ARCHITECTURE}", "-o", f"{source.stem}.cubin", source.name]
        subprocess.run(command, cwd=folder, check=True)


def run(folder: Path) -> None:
    """Launch every kernel once, in order; FOLDER/results.json says which results equal the interpreter's."""
    cupy: Any = importlib.import_module("cupy")
    verdicts = []
    for number, special in enumerate(SPECIALS):
        module = cupy.RawModule(path=str(folder / f"special{number:02}.cubin"))
        arrays = special.arrays()
        if "c" in arrays:
            table = arrays.pop("c")
            place = cupy.ndarray(table.shape, table.dtype, module.get_global("c"))
            place.set(table)
        buffers = {name: cupy.asarray(array) for name, array in arrays.items()}
        arguments = (buffers["index"], buffers["o"], np.int32(N))
        module.get_function("pattern")((ITEMS // GROUP,), (GROUP,), arguments)
        expected = np.load(folder / f"expected{number:02}.npy")
        verdicts.append("right" if np.array_equal(buffers["o"].get(), expected) else "differs")
    (folder / "results.json").write_text(json.dumps(verdicts))


def known_metrics(wanted: list[str]) -> list[str]:
    """Those of the metrics that ncu knows for the GPU at hand."""
    listed = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0] for line in listed.splitlines() if line.strip()}
    missing = [name for name in wanted if name not in names]
    print(f"not known to this ncu: {', '.join(missing) or 'none'}")
    return [name for name in wanted if name in names]


def count(folder: Path) -> list[dict[str, float]]:
    """Run under ncu; for each launch of a pattern, the counters by name."""
    wanted = list(dict.fromkeys([*(name for names in COUNTERS.values() for name in names), *TIMES]))
    metrics = ",".join(f"{name}.{'max' if name == 'sm__cycles_active' else 'sum'}" for name in known_metrics(wanted))
    report = folder / "special.ncu-rep"
    own = [sys.executable, "-m", "tools.counters.special", "run", str(folder)]
    command = ["ncu", "--clock-control", "none", "-f", "-k", "pattern", "--metrics", metrics, "-o", str(report), *own]
    subprocess.run(command, check=True)
    shown = ["ncu", "--import", str(report), "--csv", "--page", "raw", "--print-units", "base"]
    text = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    rows = list(csv.reader(text[text.index('"ID"') :].splitlines()))
    head, _, *launches = rows
    return [dict(numbers(head, row)) for row in launches]


def numbers(head: list[str], row: list[str]) -> Iterator[tuple[str, float]]:
    """The metrics of a row that have a value, without the suffix of their names."""
    for name, value in zip(head, row, strict=True):
        digits = value.replace(",", "")
        if "__" in name and digits.replace(".", "", 1).isdecimal():
            yield name.rsplit(".", 1)[0], float(digits)


def compare(folder: Path, launches: list[dict[str, float]], sums: list[dict[str, int]]) -> list[dict[str, Any]]:
    """Predictions and counters side by side, each launch in one row."""
    results = json.loads((folder / "results.json").read_text())
    rows = []
    for special, counted, expected, result in zip(SPECIALS, launches, sums, results, strict=True):
        own = {name: counted[name] for name in (*COUNTERS[special.rule], *TIMES) if name in counted}
        rows.append(
            {
                "name": special.name,
                "rule": special.rule,
                "result": result,
                "predicted": expected,
                "counted": own,
                "verdict": judged(special, counted, expected),
            }
        )
    return rows


def everything(folder: Path) -> int:
    """The number of kernels whose counters differ from the prediction."""
    build(folder)
    sums = []
    for number, special in enumerate(SPECIALS):
        explanation = explained(special)
        np.save(folder / f"expected{number:02}.npy", explanation.outputs["o"])
        sums.append(predicted(explanation, special.rule))
    rows = compare(folder, count(folder), sums)
    (folder / "special.json").write_text(json.dumps(rows, indent=1))
    for row in rows:
        print(f"{row['verdict']:8} {row['result']:8} {row['name']:48} {row['predicted']} {row['counted']}")
    return sum(row["verdict"] == DIFFERS for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.counters.special")
    parser.add_argument("action", choices=("all", "run"))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.action == "run":
        run(options.folder)
    else:
        print(f"{everything(options.folder)} of {len(SPECIALS)} differ")


if __name__ == "__main__":
    main()
