"""Answers of `why` with canned measurements: no device is opened, nothing is compiled."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from example_records import ENVIRONMENT

from tilewright.advice import ask
from tilewright.advice.answer import Answer
from tilewright.analysis.inspect.record import Inspection
from tilewright.core.custom import custom_kernel
from tilewright.core.device import DeviceInfo, Peaks
from tilewright.core.kernel import Kernel
from tilewright.core.problem import compulsory_bytes
from tilewright.core.problems import make_problem
from tilewright.core.records import Record, Row, RowStatus, Samples
from tilewright.kernels import find_kernel

H200 = Peaks({"float32": 65070.0, "float16": 500_000.0}, 4183.0, 33300.0)
TWO_CORES = Peaks({"float32": 284.0}, 13.0, 374.0)
SIGNATURE = (
    "__kernel void own(const int M, const int N, const int K, __global const REAL* A, __global const REAL* B, "
    "__global REAL* C)"
)
GUARD = "if (row >= M || column >= N) return;"


def kernel_of(
    folder: Path, body: str, local: tuple[str, ...] = ("32", "8"), sizes: tuple[str, ...] = ("N", "M")
) -> Kernel:
    """A product of the test's own: `body` stands between the braces, line 3 is its first."""
    path = folder / "own.cl"
    path.write_text(f"{SIGNATURE}\n{{\n{body}\n}}\n")
    return custom_kernel(path, sizes, local)


def copy_of(folder: Path, body: str, operation: str, local: tuple[str, ...] = ("32", "8")) -> Kernel:
    """A copy or transpose of the test's own."""
    path = folder / "own.cl"
    path.write_text(
        "__kernel void own(const int ROWS, const int COLUMNS, const int OFFSET, __global const REAL* input, "
        f"__global REAL* output)\n{{\n{body}\n}}\n"
    )
    return custom_kernel(path, ("COLUMNS", "ROWS"), local, operation=operation)


def answer_of(
    kernel: Kernel | str, seconds: float, info: DeviceInfo, peaks: Peaks, size: tuple[int, ...] = (4096,),
    code: Inspection | None = None, **fields: Any,
) -> Answer:  # fmt: skip
    """The answer as if the kernel had been measured in `seconds`. `fields` change its row."""
    chosen = find_kernel(kernel) if isinstance(kernel, str) else kernel
    problem = make_problem(chosen, size)
    wall = fields.pop("wall", seconds)
    row = Row(
        chosen.name, "", problem.title, size, problem.flops, compulsory_bytes(problem),
        samples=Samples((wall,) * 3, (seconds,) * 3),
    )  # fmt: skip
    row = replace(row, **fields)
    row = row if row.status is RowStatus.OK else replace(row, samples=Samples())
    record = Record("kernel", problem.dtype, replace(ENVIRONMENT, device=info), peaks, (row,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ask, "run_kernel", lambda *_, **__: (record, None))
        patch.setattr(ask, "machine_code", lambda *_, **__: (code, "" if code else "the machine code: none here"))
        return ask.why_kernel(chosen, size, device=SimpleNamespace(info=info))


def answer_by_counts(kernel: Kernel | str, model: str, size: tuple[int, ...] = ()) -> Answer:
    """The answer of a device model, without machine code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ask, "machine_code", lambda *_, **__: (None, "the machine code: none here"))
        return ask.why_kernel(kernel, size, device_model=model)
