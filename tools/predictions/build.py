"""Compiles the kernels for a GPU, offline, and writes what `measure.py` needs."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.analysis.explain.plans import scalars_of
from tilewright.core.kernel import PRELUDE, Dialect, Kernel, render
from tilewright.core.plan import Plan
from tilewright.core.problem import Problem
from tilewright.core.problems import make_problem
from tilewright.core.source import read_source
from tilewright.errors import BuildFailed
from tilewright.kernels import find_ladder
from tilewright.runtime.cuda.nvrtc import find_nvrtc

from .cases import CACHES, CASES, cuda_text

ARCHITECTURE = "sm_90"
OPTIONS = ("-lineinfo",)
# Kernels whose second launch would find other work than the first.
RESTORED = ("bitonic_step", "bitonic_local", "shortest_paths", "frontier", "random_walks", "butterflies")
RUNG_SIZES = {
    "rows": ((1024,) * 3,),
    "tiles": ((1024,) * 3, (2048,) * 3),
    "transpose": ((2048,) * 2, (4096,) * 2),
}


def rungs() -> Iterator[tuple[str, Kernel, Problem]]:
    """The rungs of the ladders that GPUs run, at their sizes."""
    for ladder, sizes in RUNG_SIZES.items():
        for kernel in find_ladder(ladder).kernels:
            for size in sizes:
                if "sequential" not in kernel.name:
                    yield f"{kernel.name} {'x'.join(map(str, size))}", kernel, make_problem(kernel, size, "float32")


def compile_into(folder: Path, name: str, text: str, entry: str, options: tuple[str, ...] = ()) -> str:
    """Machine code by NVRTC: the name of its file."""
    nvrtc = find_nvrtc(ARCHITECTURE)
    if nvrtc is None:
        raise BuildFailed(entry, ARCHITECTURE, "NVRTC is not here")
    file = "".join(each if each.isalnum() else "_" for each in name) + ".cubin"
    (folder / file).write_bytes(nvrtc.compile(text, entry, ARCHITECTURE, (*OPTIONS, *options)).cubin)
    (folder / file).with_suffix(".cu").write_text(text)
    return file


def build(folder: Path) -> None:
    """Write machine code, `manifest.json` and the programs of the GPU's side into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [*foreign_entries(folder), *rung_entries(folder)]
    (folder / "manifest.json").write_text(json.dumps(entries, indent=1))
    (folder / "caches.cu").write_text(cuda_text(CACHES, read_source(PRELUDE / Dialect.CUDA)))
    package = folder / "predictions"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text('"""Times and counts kernels."""\n')
    for name in ("measure.py", "cases.py", "micro.py"):
        shutil.copy(Path(__file__).parent / name, package / name)


def foreign_entries(folder: Path) -> Iterator[dict[str, Any]]:
    prelude = read_source(PRELUDE / Dialect.CUDA)
    for case in CASES:
        text = cuda_text(case, prelude)
        yield {
            "name": case.name, "case": case.name, "entry": case.entry, "arguments": [],
            "cubin": compile_into(folder, case.name, text, case.entry),
            "grid": [a // b for a, b in zip(case.global_size, case.local_size, strict=True)],
            "block": list(case.local_size), "restore": case.name in RESTORED,
        }  # fmt: skip


def rung_entries(folder: Path) -> Iterator[dict[str, Any]]:
    for name, kernel, problem in rungs():
        steps = kernel.steps(kernel, kernel.config, problem)
        step = steps[-1]
        text = render(step.kernel, step.config, step.problem, Dialect.CUDA)
        ndrange = step.config.ndrange(step.problem)
        sizes = {each.name: each.elements for each in problem.operands}
        sizes |= {buffer: nbytes // 4 for buffer, nbytes in Plan(problem, steps).scratch.items()}
        scalars = scalars_of(step)
        arguments = [
            (each.name, "buffer", sizes[step.buffer_of(each.name)])
            if each.pointer
            else (each.name, *typed(scalars[each.name]))
            for each in step.kernel.signature.parameters
        ]
        yield {
            "name": name, "case": "", "entry": step.kernel.signature.entry, "arguments": arguments,
            "cubin": compile_into(folder, name, text, step.kernel.signature.entry, step.kernel.options),
            "grid": [a // b for a, b in zip(ndrange.global_size, ndrange.local_size, strict=True)],
            "block": list(ndrange.local_size), "restore": False,
        }  # fmt: skip


def typed(value: Any) -> tuple[str, Any]:
    """A scalar argument of a rung: sizes are int, factors float."""
    return ("float32", float(value)) if isinstance(value, float | np.floating) else ("int32", int(value))
