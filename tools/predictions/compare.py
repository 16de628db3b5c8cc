"""Predicts what was measured, and sets both side by side."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tilewright.analysis.explain.plans import first_buffers, small_arrays
from tilewright.analysis.inspect.nvidia import compile_for_nvidia
from tilewright.analysis.inspect.sass import parse_sass
from tilewright.analysis.predict.answer import launch_of_step
from tilewright.analysis.predict.constants import Constants
from tilewright.analysis.predict.facts import DeviceFacts
from tilewright.analysis.predict.launch import Code, Counted, SourceLaunch, count
from tilewright.core.kernel import PRELUDE, Dialect
from tilewright.core.plan import Plan
from tilewright.core.source import read_source
from tilewright.core.types import element_type, numpy_dtype

from .build import ARCHITECTURE, rungs
from .cases import CASES, ForeignCase, cuda_text, opencl_text

DEVICE = "h200"


@dataclass(frozen=True)
class Counters:
    """What Nsight Compute counted for one launch, caches empty at its beginning."""

    instructions: int
    l1_sectors: int
    l1_hits: int
    l2_load_sectors: int
    l2_load_hits: int
    l2_sectors: int
    dram_read: int
    dram_written: int


def read_counters(path: Path, names: list[str]) -> dict[str, Counters]:
    """The profiler's table, whose rows are the launches in the order of `names`."""
    rows = list(csv.DictReader(path.open()))
    units, launches = rows[0], [each for each in rows[1:] if not each["Kernel Name"].startswith("cupy_")]
    assert len(launches) == len(names), (len(launches), len(names))

    def number(row: dict[str, str], key: str) -> int:
        scale = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}.get(units[key], 1.0)
        return round(float(row[key].replace(",", "")) * scale)

    return {
        name: Counters(
            *(
                number(row, f"{key}.sum")
                for key in (
                    "smsp__inst_executed", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
                    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit", "lts__t_sectors_srcunit_tex_op_read",
                    "lts__t_sectors_srcunit_tex_op_read_lookup_hit", "lts__t_sectors_srcunit_tex", "dram__bytes_read",
                    "dram__bytes_write",
                )
            )
        )
        for name, row in zip(names, launches, strict=True)
    }  # fmt: skip


def counted_cases(facts: DeviceFacts, constants: Constants) -> Iterator[tuple[str, Counted]]:
    """Every kernel that was measured, counted for the device: the last launch of a rung."""
    prelude = read_source(PRELUDE / Dialect.CUDA)
    for case in CASES:
        yield case.name, count(source_launch(case), code_of(case, prelude), facts, constants)
    for name, kernel, problem in rungs():
        steps = kernel.steps(kernel, kernel.config, problem)
        buffers = first_buffers(problem, small_arrays(problem))
        for buffer, nbytes in Plan(problem, steps).scratch.items():
            buffers[buffer] = np.zeros(-(-nbytes // element_type(problem.dtype).itemsize), numpy_dtype(problem.dtype))
        yield name, count(*launch_of_step(steps[-1], buffers, facts), facts, constants)


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
    assert compiled.resources is not None
    listing = parse_sass(compiled.texts["SASS"], case.entry)
    return Code(listing, compiled.resources.registers, compiled.resources.local_bytes)
