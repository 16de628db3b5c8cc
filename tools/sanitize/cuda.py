"""Runs cases with a CUDA counterpart under NVIDIA's compute-sanitizer: a child with a time limit for each family and tool.

It needs numpy, msgspec, NVRTC and a CUDA toolkit, and no OpenCL. Plans are scanned before the time begins.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from tilewright.core.device import DeviceInfo
from tilewright.core.kernel import FEATURE_PRELUDES
from tilewright.core.problem import Gemm
from tilewright.core.types import FROM_ML_DTYPES
from tilewright.dispatch.choice import product_candidates
from tilewright.errors import NoDevice
from tilewright.runtime.children import ChildRun, run_child
from tilewright.runtime.cuda.information import list_devices

from .devices import HOPPER_FEATURES, gpu
from .driven import SAID, save_cases
from .explained import Outcome
from .lines import MOVED
from .shapes import Case, chosen
from .sweeps import Sweep, cases_of

ROOT = Path(__file__).parents[2]
TOOLS = ("memcheck", "racecheck", "initcheck")
FOUND = 9  # the exit code of compute-sanitizer if it found anything
MARK = "========="  # what each line of compute-sanitizer begins with
START_S = 8.0  # for a child to open the device under a tool, before its own limit counts
PRODUCTS = ("float32", "float64", "int8", "float16", "complex64", "float8_e5m2")
MOST_WORDS = 8  # lines of the tool that are kept for a case
LARGEST = 1 << 27  # multiply-adds of a case: under these tools a GPU is some hundred times slower


def find_sanitizer() -> str:
    """The path of compute-sanitizer; NoDevice if it is not installed."""
    found = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    if found is None:
        raise NoDevice("compute-sanitizer is neither on PATH nor in /usr/local/cuda/bin: install NVIDIA's CUDA toolkit")
    return found


def first_gpu() -> DeviceInfo:
    """The facts of the GPU that the child will open; NoDevice if there is none."""
    infos = list_devices()
    if not infos:
        raise NoDevice("no CUDA device: the driver offers none")
    return infos[0]


def sweeps_for(device: DeviceInfo) -> tuple[Sweep, ...]:
    """Products and moves, as a CUDA device of these facts plans them; of types that NumPy knows here."""
    known = tuple(dtype for dtype in PRODUCTS if dtype not in FROM_ML_DTYPES or find_spec("ml_dtypes"))
    return Sweep("gemm", device, known), Sweep("moves", device, (), MOVED)


def cuda_cases(sweep: Sweep, shapes: int, processes: int) -> list[Case]:
    """What a child runs: up to `shapes` cases for each kernel and type, none too large."""
    small = [case for case in cases_of([sweep], processes) if is_small(case)]
    return chosen(small, shapes)


def is_small(case: Case) -> bool:
    problem = case.problem
    return not isinstance(problem, Gemm) or problem.batch * problem.m * problem.n * problem.k <= LARGEST


def without_cuda() -> Iterator[Outcome]:
    """The kernels that have no CUDA text, and why."""
    hopper = gpu("a GPU like the H200", "NVIDIA Corporation", HOPPER_FEATURES, 132, 32)
    problems = [
        Gemm(2048, 2048, 2048, dtype) for dtype in ("float16", "bfloat16", "int8", "float32", "float64", "complex128")
    ]
    problems += [Gemm(2048, 2048, 2048, precision=each) for each in ("tf32", "fp32_split")]
    kernels = {kernel.name: kernel for problem in problems for kernel in product_candidates(problem, hopper)}
    for kernel in kernels.values():
        foreign = [feature for feature, _ in kernel.requires if feature in FEATURE_PRELUDES and feature != "nvidia"]
        if foreign:
            reason = f"it uses {', '.join(foreign)}, which only its OpenCL C reaches: it has no CUDA text"
            yield Outcome(kernel.name, "CUDA", "", unread=f"{kernel.name}: {reason}")


def sanitize(shapes: int, seconds: float) -> tuple[list[Outcome], list[str]]:
    """All children, one after the other; what each case did under each tool, and a sentence about each child."""
    sanitizer, device = find_sanitizer(), first_gpu()
    outcomes, notes = list(without_cuda()), []
    sweeps = sweeps_for(device)
    share = seconds / len(TOOLS) / len(sweeps)
    with tempfile.TemporaryDirectory() as folder:
        for sweep in sweeps:
            cases = cuda_cases(sweep, shapes, os.cpu_count() or 1)
            path = Path(folder) / f"{sweep.family}.pickle"
            save_cases(cases, path)
            for tool in TOOLS:
                child = run_child(
                    command(sanitizer, tool, path, max(1.0, share - START_S)), share + START_S, own_path()
                )
                own = outcomes_of(child, cases, tool)
                outcomes += own
                notes.append(f"{tool}, {sweep.family}: {len(own)} of {len(cases)} cases{ended(child)}")
    return outcomes, notes


def own_path() -> dict[str, str]:
    """The environment in which a child finds the package and these tools."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]))
    }


def command(sanitizer: str, tool: str, path: Path, seconds: float) -> list[str]:
    """The child's command line."""
    watched = [sys.executable, "-m", "tools.sanitize.cuda_child", str(path), f"{seconds:.1f}"]
    return [sanitizer, "--tool", tool, "--error-exitcode", str(FOUND), "--print-limit", "50", *watched]


def ended(child: ChildRun) -> str:
    """How the child ended, unless as it should."""
    if not child.ending:
        return ""
    known = {f"exit code {FOUND}": "the tool found something"}
    return f"; {known.get(child.ending, f'{child.ending}: {child.telling_line()}')}"


def outcomes_of(child: ChildRun, cases: Sequence[Case], tool: str) -> list[Outcome]:
    """What the child said about each case, with the tool's words before its line; those after the last are a row of their own."""
    outcomes: list[Outcome] = []
    words: list[str] = []
    for line in child.stdout.splitlines():
        if line.startswith(MARK):
            words += complaint(line)
        elif line.startswith(SAID):
            said = json.loads(line.removeprefix(SAID))
            case = cases[said["number"]]
            fault = "; ".join(filter(None, (said["fault"], *words[:MOST_WORDS])))
            name = f"{case.kernels[-1]} ({tool})"
            outcomes.append(Outcome(name, case.device.name, str(case.problem), fault, seconds=said["seconds"]))
            words = []
    if words or (child.ending and child.ending != f"exit code {FOUND}"):
        fault = "; ".join(filter(None, (child.ending, child.telling_line(), *words[:MOST_WORDS])))
        outcomes.append(Outcome(f"the child itself ({tool})", "CUDA", "after its last case", fault))
    return outcomes


def complaint(line: str) -> list[str]:
    """The words of a line of compute-sanitizer that tells of a fault, or none."""
    text = line.removeprefix(MARK).strip()
    idle = (
        "",
        "COMPUTE-SANITIZER",
        "ERROR SUMMARY: 0 errors",
        "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
    )
    return [] if text in idle else [text]
