"""Runs cases under Oclgrind, an independent interpreter of LLVM code: a child with a time limit for each sweep."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tilewright.errors import NoDevice
from tilewright.runtime.children import ChildRun, run_child

from .cuda import own_path
from .driven import SAID, save_cases
from .explained import Outcome
from .shapes import Case, chosen
from .sweeps import Sweep, cases_of, cost

# Optimised code has an instruction that Oclgrind 21.10 cannot follow unset values through (freeze), and it knows no prefetch.
BUILD = "-cl-opt-disable -D__builtin_prefetch(...)="
LOCAL_BYTES = "65536"  # Oclgrind has 32768 unless told otherwise, and plans for GPUs use more
CHECKS = (
    "--data-races",
    "--uninitialized",
    "--max-errors",
    "100000",
    "--local-mem-size",
    LOCAL_BYTES,
    "--build-options",
    BUILD,
)
# Unset values may be carried to where no one uses them, and Oclgrind calls some values unset that are set: bytes of a word
# of which others are unset, once it was shifted, and lanes of 16 that were shuffled. So what is stored is judged by the result,
# bit by bit or by its bound; what decides and what is an address are faults.
CARRIED = re.compile(r"Uninitialized value written to (local|private|global) memory")
CHATTER = re.compile(r"\d+ warnings? generated")  # of the compiler
START_S = 20.0  # for a child to start and to end its last case, added to the time of its cases
MOST_WORDS = 6  # of Oclgrind's messages that are kept for a case


@dataclass
class Told:
    """What Oclgrind has said since the last case ended: messages, and how many unset values were only carried."""

    messages: list[str] = field(default_factory=list)
    carried: int = 0


def version() -> str:
    """Oclgrind's own name and version; NoDevice if it is not installed."""
    path = shutil.which("oclgrind")
    if path is None:
        raise NoDevice("oclgrind is not on PATH; Debian and Ubuntu have a package of that name")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=20).stdout
    return next((line.strip() for line in said.splitlines() if line.strip()), "Oclgrind")


def sanitize(sweeps: Sequence[Sweep], shapes: int, most_cost: float, seconds: float) -> tuple[list[Outcome], list[str]]:
    """The cases of every sweep; what each did, and a sentence about each child."""
    outcomes, notes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, sweep in enumerate(sweeps):
            cases = chosen([case for case in cases_of([sweep]) if cost(case) <= most_cost and runs_here(case)], shapes)
            path = Path(folder) / f"{number}.pickle"
            save_cases(cases, path)
            watched = [sys.executable, "-m", "tools.sanitize.oclgrind_child", str(path), f"{seconds:.1f}"]
            # Oclgrind's options are no part of the cache's keys: what was built with others must not be found.
            child = run_child(
                ["oclgrind", *CHECKS, *watched], seconds + START_S, own_path() | {"XDG_CACHE_HOME": folder}
            )
            own, carried = outcomes_of(child, cases)
            outcomes += own
            notes.append(
                f"{sweep.family}, plans for {sweep.device.name}: {len(own)} of {len(cases)} cases"
                f"{f'; {child.ending}' if child.ending else ''}; {carried:,} values that Oclgrind calls unset were stored, or "
                f"given to built-in functions: results judge them"
            )
    return outcomes, notes


def runs_here(case: Case) -> bool:
    """Whether every kernel is plain OpenCL C."""
    return all({feature for feature, _ in step.kernel.requires} <= {"cpu", "gpu"} for step in case.plan.steps)


def outcomes_of(child: ChildRun, cases: Sequence[Case]) -> tuple[list[Outcome], int]:
    """What was said about each case, and how many unset values were only carried about in all of them."""
    outcomes: list[Outcome] = []
    told, carried = Told(), 0
    for line in child.stderr.splitlines():
        if line.startswith(SAID):
            said = json.loads(line.removeprefix(SAID))
            case = cases[said["number"]]
            words = tuple(dict.fromkeys(told.messages))[:MOST_WORDS]
            fault = "; ".join(filter(None, (said["fault"], *words)))
            outcomes.append(
                Outcome(case.kernels[-1], case.device.name, str(case.problem), fault, seconds=said["seconds"])
            )
            carried += told.carried
            told = Told()
        else:
            listen(told, line)
    if child.ending and len(outcomes) < len(cases):
        case = cases[len(outcomes)]
        fault = "; ".join((f"the child: {child.ending}", *told.messages[:MOST_WORDS]))
        outcomes.append(Outcome(case.kernels[-1], case.device.name, str(case.problem), fault))
    return outcomes, carried


def listen(told: Told, line: str) -> None:
    """Takes note of a line of Oclgrind's: messages begin at its left edge, and say further down what was done where.

    Oclgrind takes a built-in function that is given unset lanes for control flow. Such lanes lie beyond an edge of C, and what
    becomes of them is not stored.
    """
    if CARRIED.match(line):
        told.carried += 1
    elif line and not line[0].isspace() and not CHATTER.match(line):
        told.messages.append(re.sub(r"0x[0-9a-f]+", "an address", line.strip()))
    elif "call spir_func" in line and told.messages and told.messages[-1].startswith("Controlflow depends"):
        told.messages.pop()
        told.carried += 1
